"""Small tables and problems for the checks."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Scope
from mrfit.core.domain import Domain
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure

SHAPES = ((2, 2, 2), (2, 3, 2, 2), (3, 1, 2), (3,))


def domain_of(shape: tuple[int, ...]) -> Domain:
    """Return variables x0, x1, ... with states s0, s1, ..."""
    return Domain.from_states({f"x{i}": [f"s{s}" for s in range(c)] for i, c in enumerate(shape)})


def random_rows(rng: np.random.Generator, shape: tuple[int, ...], n_rows: int) -> UniqueRows:
    """Draw a weighted table in which neighbouring columns depend on each other."""
    codes = rng.integers(0, shape, (n_rows, len(shape)))
    for i in range(1, len(shape)):
        follows = rng.random(n_rows) < 0.4
        codes[follows, i] = codes[follows, i - 1] % shape[i]
    return UniqueRows.from_codes(domain_of(shape), codes.astype(np.uint8), rng.uniform(0.1, 3.0, n_rows))


def structures(n_variables: int) -> list[Structure]:
    """Return all pairs, a chain, and no interactions."""
    chain = Structure.from_edges(n_variables, [(i - 1, i) for i in range(1, n_variables)])
    return [Structure.complete(n_variables), chain, Structure.independent(n_variables)]


def problems(
    rng: np.random.Generator, shapes: tuple[tuple[int, ...], ...] = SHAPES
) -> Iterator[tuple[UniqueRows, Canonical, Floats]]:
    """Yield rows, parameters and a point, of every shape and structure."""
    for shape in shapes:
        rows = random_rows(rng, shape, 12)
        for structure in structures(len(shape)):
            parameters = Canonical(rows.domain, structure)
            for size in (0.0, 1.0):
                yield rows, parameters, size * rng.standard_normal(parameters.n_parameters)


FACTORS: dict[str, tuple[tuple[int, ...], list[Scope]]] = {
    "tree": ((2, 2, 2, 2, 2), [(0, 1), (0, 2), (1, 3), (1, 4)]),
    "cycle": ((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (3, 0)]),
    "a variable in no scope": ((2, 3, 2, 2), [(0, 1), (3,)]),
    "one scope, turned": ((2, 3, 4), [(2, 0, 1)]),
    "one variable": ((4,), [(0,)]),
    "nested and repeated": ((2, 2, 3), [(0, 1, 2), (1, 0), (1, 2), (1,), (1,)]),
    "disconnected": ((2, 2, 3, 2), [(0, 1), (3, 2)]),
    "no scopes": ((2, 3), []),
    "an empty scope": ((2, 3), [(), (0, 1), ()]),
    "no variables": ((), [()]),
    "many states": ((2, 5, 3, 4), [(0, 1), (3, 1), (2, 0), (3, 2, 0)]),
    "variables of one state": ((1, 2, 1, 3, 1), [(0,), (0, 1), (4, 3, 2), (1, 3), (2, 4)]),
}


def random_factors(
    rng: np.random.Generator, shape: tuple[int, ...], scopes: list[Scope], *, zeros: float = 0.0
) -> Factors:
    """Draw tables with a share of impossible cells; one joint state always stays possible."""
    possible = rng.integers(0, shape) if shape else np.empty(0, int)
    tables = []
    for scope in scopes:
        table = 2.0 * rng.standard_normal([shape[i] for i in scope if shape[i] > 1])
        state = tuple(possible[i] for i in scope if shape[i] > 1)
        allowed = table[state]
        table = np.where(rng.random(table.shape) < zeros, -np.inf, table)
        table[state] = allowed
        tables.append((scope, table.ravel()))
    return Factors.from_tables(shape, tables)


def joint_states(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the codes of all joint states, the last variable fastest."""
    number = np.arange(prod(shape))
    digits = [number // prod(shape[i + 1 :]) % c for i, c in enumerate(shape)]
    return np.array(digits, np.int64).reshape(len(shape), len(number)).T
