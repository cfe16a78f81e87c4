"""Properties of parameterizations, from the features of all joint states: ranks, and effects of exchanges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit import Domain, Structure
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.registry import PARAMETERIZATIONS
from mrfit_papers.unit import Unit

Floats = NDArray[np.float64]

# The lines of the table. "C" is canonical with a reference category that differs between variables.
WORDS = {
    "F": "full",
    "I": "ising",
    "GI": "generalized-ising",
    "C": "canonical",
    "C1": "canonical",
    "C2": "canonical",
    "S": "spectral",
}


def parameterization(name: str, n: int, *, c: int = 2) -> Parameterization:
    """Return a parameterization of all sets of n variables with c states."""
    domain = Domain.from_states({f"x{i}": [str(state) for state in range(c)] for i in range(n)})
    structure = Structure.up_to_order(n, n)
    references = {"C": (1, *(0,) * (n - 1)), "C1": (0,) * n, "C2": (c - 1,) * n}
    if name in references:
        return Canonical(domain, structure, references[name])
    return PARAMETERIZATIONS.called(WORDS[name])(domain, structure)


def joint_features(parameters: Parameterization) -> Floats:
    """Return features of all joint states, in C order: shape (states, parameters); small domains only."""
    shape = parameters.domain.shape
    states = np.indices(shape).reshape(len(shape), prod(shape))
    columns = []
    for scope in parameters.structure.scopes:
        cells = np.ravel_multi_index(tuple(states[list(scope)]), [shape[i] for i in scope])
        columns.append(parameters.features(tuple(scope))[cells])
    return np.hstack(columns)


def with_constant(features: Floats) -> Floats:
    return np.hstack([np.ones((len(features), 1)), features])


def moved(features: Floats, n: int, *, flip: tuple[int, ...] = (), swap: tuple[int, int] = (0, 0)) -> Floats:
    """Return the features of every state of n binary variables after flipping values, or exchanging two variables."""
    by_state = np.swapaxes(features.reshape(*(2,) * n, -1), *swap)
    return np.flip(by_state, flip).reshape(features.shape)


def is_symmetric_in_values(features: Floats, n: int, flips: Iterable[tuple[int, ...]] | None = None) -> bool:
    """Return whether flipping values (by default of one variable) only exchanges features or their signs.

    It then does the same with parameters. Constants do not count: they belong to the normalisation.
    """
    own = _as_set(features, signed=True)
    flips = [(i,) for i in range(n)] if flips is None else flips
    return all(_as_set(moved(features, n, flip=flip), signed=True) == own for flip in flips)


def is_symmetric_in_variables(features: Floats, n: int) -> bool:
    """Return whether exchanging two variables only exchanges features."""
    own = _as_set(features, signed=False)
    return all(_as_set(moved(features, n, swap=swap), signed=False) == own for swap in combinations(range(n), 2))


def _as_set(features: Floats, *, signed: bool) -> list[tuple[float, ...]]:
    """Return the columns up to a constant and, if ``signed``, up to their signs; in a canonical order."""
    centred = np.round(features - features.mean(axis=0), 9)
    if signed:
        first = centred[np.argmax(centred != 0, axis=0), np.arange(centred.shape[1])]
        centred = centred * np.where(first < 0, -1.0, 1.0)
    return sorted(map(tuple, centred.T + 0.0))


def most_after_flip(features: Floats, n: int) -> int | None:
    """Return how many parameters one parameter may become when a variable's values are flipped; None if not unique."""
    everything = with_constant(features)
    if np.linalg.matrix_rank(everything) < max(everything.shape):
        return None
    flipped = [moved(everything, n, flip=(i,)) for i in range(n)]
    return max(int((np.abs(np.linalg.solve(everything, each))[1:] > 1e-9).sum(axis=0).max()) for each in flipped)


def n_meanings(name: str, n: int) -> int:
    """Return how many feature matrices a vector of parameters may refer to, if only the kind is known."""
    if name != "C":
        return 1
    kind = parameterization(name, n)
    every = (Canonical(kind.domain, kind.structure, reference) for reference in product((0, 1), repeat=n))
    return len({joint_features(each).tobytes() for each in every})


@dataclass(frozen=True)
class SpecProperties(Unit):
    """One parameterization of all sets of n variables with c states."""

    parameterization: str
    n: int
    c: int = 2

    kind: ClassVar[str] = "spec-properties"

    def data(self) -> tuple[tuple[str, str], ...]:
        return ()

    def describe(self) -> str:
        return f"{self.parameterization}, {self.n} variables with {self.c} states"

    def cost(self) -> float:
        return 1e-3 * float(self.c) ** (2 * self.n)

    def run(self) -> dict[str, Any]:
        features = joint_features(parameterization(self.parameterization, self.n, c=self.c))
        everything = with_constant(features)
        n_states, n_parameters = everything.shape
        rank = int(np.linalg.matrix_rank(everything))
        found = {
            "states": n_states,
            # In generalized Ising the empty set has a constant for each value that all variables could share, else one.
            "parameters": n_parameters + (self.c - 1 if self.parameterization == "GI" else 0),
            "rank": rank,
            "null": n_parameters - rank,
            "complete": rank == n_states,
            "minimal": rank == n_parameters,
        }
        if self.c == 2:
            found |= {
                "values": is_symmetric_in_values(features, self.n),
                "variables": is_symmetric_in_variables(features, self.n),
                "meanings": n_meanings(self.parameterization, self.n),
                "after_flip": most_after_flip(features, self.n),
            }
        return found
