"""Internal: the edge weight, the one number for the strength of association of two variables, given all others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices

# Scores of the states of each variable; None for categories, which have no order. Two states always have 0 and 1.
Scores = tuple[Floats | None, ...]

LOG_ODDS, PER_STEP, SIZE = range(3)
UNITS = {
    LOG_ODDS: "log odds ratio",
    PER_STEP: "log odds ratio per step",
    SIZE: "norm of the centered table, no sign",
}
_DUST = 1e-12  # smaller weights, relative to the largest, are rounding errors


@dataclass(frozen=True, eq=False)
class EdgeWeights:
    """The edge weight of every edge of a network.

    It describes the table of the two variables in log p, averaged over the states of all others if larger scopes
    contain both. The table is centered (zero-sum gauge: its rows and columns sum to zero), so that the weight belongs
    to the distribution and not to the coordinates of a model.

    ================================ =======================================================================
    two states each                  the log odds ratio given the others
    ordered, or ordered and binary   the log odds ratio per step of both scores (the least-squares slope)
    categories                       the Frobenius norm of the centered table; it has no sign
    ================================ =======================================================================

    Parameters
    ----------
    edges
        (edges, 2).
    values
        (edges,); infinite if a table makes some states impossible.
    kinds
        Key of `UNITS` for each value, (edges,).
    """

    edges: Indices
    values: Floats
    kinds: Indices

    @property
    def has_sign(self) -> NDArray[np.bool_]:
        return np.asarray(self.kinds != SIZE, np.bool_)

    @property
    def signs(self) -> Indices:
        """-1, 0 or 1 for every edge; 0 if a weight has no sign or is zero."""
        return np.where(self.has_sign, np.sign(self.values), 0).astype(np.int64)

    @property
    def unit(self) -> str:
        """Name of the unit of all values: "log odds ratio"."""
        return unit_of(self.kinds)

    @property
    def columns(self) -> tuple[str, ...]:
        """Keys of each record of `rows`, available without edges too."""
        return ("source", "target", "weight", "sign", "unit")

    def rows(self, names: Sequence[str]) -> Iterator[dict[str, str | float]]:
        """Yield one record for each edge, the largest weight first, with names of variables."""
        for k in np.argsort(-np.abs(self.values), kind="stable").tolist():
            a, b = self.edges[k].tolist()
            weight, sign, unit = float(self.values[k]), int(self.signs[k]), UNITS[int(self.kinds[k])]
            yield {"source": names[a], "target": names[b], "weight": weight, "sign": sign, "unit": unit}

    def among(self, edges: Indices) -> EdgeWeights:
        """Return the weights of some of the edges, in their order; ``edges`` must be sorted like these."""
        if len(edges) == len(self.edges):
            return self
        chosen = np.flatnonzero(np.isin(*(pairs @ np.array([1 << 32, 1]) for pairs in (self.edges, edges))))
        return replace(self, edges=self.edges[chosen], values=self.values[chosen], kinds=self.kinds[chosen])

    def matrix(self, n_variables: int) -> Floats:
        """Return the symmetric matrix of weights, (variables, variables); zero for pairs without an edge."""
        out = np.zeros((n_variables, n_variables))
        a, b = self.edges.T
        out[a, b] = out[b, a] = self.values
        return out


def unit_of(kinds: Iterable[int]) -> str:
    """Return the unit of edge weights of some kinds; for two states one step is the change of state."""
    found = set(np.asarray(kinds, np.int64).ravel().tolist())
    odds = UNITS[PER_STEP if PER_STEP in found else LOG_ODDS]
    if SIZE not in found:
        return odds
    return UNITS[SIZE] if len(found) == 1 else f"{odds}; categories: {UNITS[SIZE]}"


def same_scores(first: Floats | None, second: Floats | None) -> bool:
    """Whether a variable has the same scores in two models; categories have none in both."""
    if first is None or second is None:
        return first is second
    return bool(np.array_equal(first, second))


def unit_of_scores(scores: Scores) -> str:
    """Return the unit of the weights of all pairs of variables with these scores."""
    n_two, n_ordered, n_categories = (
        sum(s is not None and len(s) == 2 for s in scores), sum(s is not None and len(s) > 2 for s in scores),
        sum(s is None for s in scores),
    )  # fmt: skip
    kinds = [LOG_ODDS] * (n_two > 1) + [PER_STEP] * (n_ordered > 1 or n_ordered * n_two > 0)
    return unit_of(kinds + [SIZE] * (n_categories > 0 and len(scores) > 1))


def signed_pairs(scores: Scores) -> NDArray[np.bool_]:
    """Whether the weight of each pair a < b has a sign, in row order of the upper triangle."""
    scored = np.array([own is not None for own in scores], bool)
    a, b = np.triu_indices(len(scores), 1)
    return np.asarray(scored[a] & scored[b], np.bool_)


def default_scores(shape: Iterable[int]) -> Scores:
    """Return the scores of unordered variables: 0 and 1 for two states."""
    return tuple(np.array([0.0, 1.0]) if c == 2 else None for c in shape)


def kind_of(first: Floats | None, second: Floats | None) -> int:
    """Return the key of `UNITS` for the weight of two variables with these scores."""
    if first is None or second is None:
        return SIZE
    return LOG_ODDS if len(first) == len(second) == 2 else PER_STEP


def weights_of_tables(tables: Floats, first: Floats | None, second: Floats | None) -> Floats:
    """Return the edge weights of pairs of variables, from their tables in log p.

    Parameters
    ----------
    tables
        (pairs, states, states), not necessarily centered.
    first, second
        Scores of the states of the first and the second variable of every pair; None for categories.
    """
    if first is None or second is None:
        return norms(centered(tables))
    u, v = first - first.mean(), second - second.mean()
    return np.asarray((tables @ v) @ u / ((u @ u) * (v @ v)), np.float64)


def weight_of_coefficients(coefficients: Floats) -> float:
    """Return the edge weight of a coefficient table (states - 1, states - 1) with the first state as reference.

    A single coefficient is a log odds ratio, with its sign.
    """
    if coefficients.size == 1:
        return float(coefficients.item())
    return float(norms(centered(np.pad(coefficients, ((1, 0), (1, 0)))[None]))[0])


def centered(tables: Floats) -> Floats:
    """Remove main effects from tables: the rows and columns of the result sum to zero."""
    rows, columns = tables.mean(axis=1, keepdims=True), tables.mean(axis=2, keepdims=True)
    return np.asarray(tables - rows - columns + tables.mean(axis=(1, 2), keepdims=True), np.float64)


def norms(tables: Floats) -> Floats:
    """Return the Frobenius norm of each table, (pairs, states, states), also if squares of its entries overflow."""
    _, exponent = np.frexp(np.abs(tables).max(axis=(1, 2), keepdims=True))
    scale = np.ldexp(1.0, exponent - 1)  # a power of two: dividing by it loses no digit
    return np.asarray(scale[:, 0, 0] * np.linalg.norm(tables / scale, axis=(1, 2)), np.float64)


def without_dust(values: Floats) -> Floats:
    """Set weights to zero that are rounding errors relative to the largest one."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    return np.where(np.abs(values) <= _DUST * largest, 0.0, values)
