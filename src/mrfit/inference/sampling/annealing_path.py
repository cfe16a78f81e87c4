"""The path of distributions between two, as Gibbs sweeps need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.sampling.gibbs_sweeps import Couplings, potentials_couplings, sweep_couplings
from mrfit._kernels.sampling.gibbs_tables import SIDE_BY_SIDE, Incidence, potentials_tables, sweep_tables
from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors

_STEEPEST = 1000.0  # log-odds that single precision still represents to 1e-4
_DROP = 20.0  # nats by which an impossible cell of a softened table lies below all others


@dataclass(frozen=True, eq=False)
class AnnealingPath:
    """base^(1 - beta) target^beta for beta from 0 to 1, with the fastest kernel for it.

    Binary variables with finite tables over at most two of them have a kernel of their own.
    """

    base: Factors
    target: Factors
    model: Couplings | Incidence
    sweep: Callable[..., None]
    potentials: Callable[..., None]
    state_type: type
    constants: tuple[float, float] = (0.0, 0.0)  # of base and target, which couplings leave out

    @classmethod
    def between(cls, base: Factors, target: Factors, *, soft: bool = False) -> AnnealingPath:
        """Return the path from finite tables to tables that may contain minus infinity.

        On a soft path impossible cells have finite low values, so that chains that begin anywhere can leave them.
        Otherwise chains at beta > 0 must not begin in one.
        """
        with np.errstate(over="ignore"):
            if abs(target.values[np.isfinite(target.values)]).sum() == np.inf:
                raise InputError("The tables are so large that their sums overflow; subtract a constant from each.")
        pairs = [_pairs(factors) for factors in (base, target)]
        if pairs[0] is not None and pairs[1] is not None:
            couplings = _couplings(target.shape, pairs[0], pairs[1])
            if _steepest(couplings) <= _STEEPEST:
                constants = pairs[0].constant, pairs[1].constant
                return cls(base, target, couplings, sweep_couplings, potentials_couplings, np.float32, constants)
        incidence = _incidence(base, softened(target) if soft else target)
        return cls(base, target, incidence, sweep_tables, potentials_tables, np.int32)

    def log_base(self, codes: NDArray[Any]) -> Floats:
        """Return the sum of the base's tables at rows of codes."""
        return self._log_potential(0, codes)

    def log_target(self, codes: NDArray[Any]) -> Floats:
        """Return the sum of the target's tables: minus infinity at impossible rows, on a soft path too."""
        return self._log_potential(1, codes)

    def _log_potential(self, end: int, codes: NDArray[Any]) -> Floats:
        if not isinstance(self.model, Couplings):
            return (self.base, self.target)[end].log_potential(codes)
        x, model = codes.astype(np.float64), self.model
        both = x[:, np.repeat(np.arange(x.shape[1]), np.diff(model.starts))] * x[:, model.neighbours]
        return np.asarray(self.constants[end] + x @ model.fields[end] + 0.5 * (both @ model.couplings[end]))


def softened(factors: Factors) -> Factors:
    """Return factors whose impossible cells are improbable instead, so that chains can leave them."""
    if not factors.has_impossible_states:
        return factors
    values = factors.values.copy()
    for cells in np.split(values, np.cumsum([len(table) for table in factors.tables])[:-1]):
        finite = cells[np.isfinite(cells)]
        cells[np.isneginf(cells)] = (finite.min() if len(finite) else 0.0) - _DROP
    return factors.with_values(values)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """A constant, h_i x_i and J_ij x_i x_j, i < j; the two ends of a pair ascend, and pairs may repeat."""

    constant: float
    fields: Floats
    ends: NDArray[np.int64]  # (pairs, 2)
    couplings: Floats


def _pairs(factors: Factors) -> _Pairs | None:
    """Return finite tables over at most two binary variables as fields and couplings; None for any others."""
    if factors.has_impossible_states or max(factors.shape, default=1) > 2:
        return None
    live = [[i for i in scope if factors.shape[i] > 1] for scope in factors.scopes]
    size = np.array([len(scope) for scope in live], np.int64)
    if size.max(initial=0) > 2:
        return None
    begins, n = np.cumsum(2**size) - 2**size, factors.n_variables
    single = np.array([scope for scope in live if len(scope) == 1], np.int64).reshape(-1)
    ends = np.array([scope for scope in live if len(scope) == 2], np.int64).reshape(-1, 2)
    low, high = (factors.values[begins[size == 1] + k] for k in range(2))
    none, second, first, both = (factors.values[begins[size == 2] + k] for k in range(4))
    changes = np.concatenate((high - low, first - none, second - none))
    fields = np.bincount(np.concatenate((single, ends[:, 0], ends[:, 1])), changes, n).astype(np.float64)
    constant = float(factors.values[begins].sum())
    return _Pairs(constant, fields, np.sort(ends, axis=1), both - first - second + none)


def _couplings(shape: tuple[int, ...], base: _Pairs, target: _Pairs) -> Couplings:
    """Return each pair once for either end, with its coupling in base and target."""
    n = len(shape)
    half = np.concatenate((base.ends, target.ends))
    keys, position = np.unique(half @ np.array([n, 1]), return_inverse=True)
    values = np.zeros((2, len(keys)))
    np.add.at(values[0], position[: len(base.ends)], base.couplings)
    np.add.at(values[1], position[len(base.ends) :], target.couplings)
    near, far = np.concatenate((keys // n, keys % n)), np.concatenate((keys % n, keys // n))
    order = np.lexsort((far, near))
    starts = np.concatenate(([0], np.cumsum(np.bincount(near, minlength=n))))
    both = np.ascontiguousarray(np.tile(values, 2)[:, order])
    variables, fields = np.flatnonzero(np.array(shape) == 2), np.stack((base.fields, target.fields))
    return Couplings(variables, starts, far[order], fields, both)


def _steepest(model: Couplings) -> float:
    n = model.fields.shape[1]
    ends = np.repeat(np.arange(n), np.diff(model.starts))
    sums = [np.bincount(ends, abs(row), n) + abs(h) for row, h in zip(model.couplings, model.fields, strict=True)]
    return float(np.max(sums, initial=0.0))


def _incidence(base: Factors, target: Factors) -> Incidence:
    """Return the tables of every variable, as kernels take them. One-state variables have none: their code is 0."""
    shape = target.shape
    found: list[list[tuple[int, int, int, list[tuple[int, int]]]]] = [[] for _ in shape]
    values: list[Floats] = []
    begin = 0

    def add(cells: Floats, live: list[int], answers: list[int], is_target: int) -> None:
        """Add the cells of a table over live variables, in that order, for updates of the variables in answers."""
        nonlocal begin
        strides, step = dict[int, int](), 1
        for i in reversed(live):
            strides[i] = step
            step *= shape[i]
        for i in answers:
            found[i].append((begin, strides[i], is_target, [(j, strides[j]) for j in strides if j != i]))
        values.append(cells)
        begin += len(cells)

    for is_target, factors in enumerate((base, target)):
        for scope, table in zip(factors.scopes, factors.tables, strict=True):
            live = [i for i in scope if shape[i] > 1]
            turned = [i for i in live[:-1] if shape[i] >= SIDE_BY_SIDE]  # each needs a copy with its axis last
            add(table, live, [i for i in reversed(live) if i not in turned], is_target)
            for i in turned:
                order = [j for j in live if j != i] + [i]
                cells = table.reshape([shape[j] for j in live]).transpose([live.index(j) for j in order])
                add(cells.ravel(), order, [i], is_target)
    flat = [incidence for incidences in found for incidence in incidences]
    others = [pair for incidence in flat for pair in incidence[3]]
    return Incidence(
        states=_ints(shape),
        starts=_ends(len(incidences) for incidences in found),
        begins=_ints(incidence[0] for incidence in flat),
        steps=_ints(incidence[1] for incidence in flat),
        is_target=_ints(incidence[2] for incidence in flat),
        other_starts=_ends(len(incidence[3]) for incidence in flat),
        others=_ints(j for j, _ in others),
        strides=_ints(stride for _, stride in others),
        values=np.concatenate([np.empty(0), *values]),
    )


def _ints(numbers: Any) -> NDArray[np.int64]:
    return np.array([*numbers], np.int64)


def _ends(lengths: Any) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(_ints(lengths), dtype=np.int64)))
