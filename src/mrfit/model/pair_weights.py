"""Weights of pairs for centralities: edge weights, or those of another coding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.domain import Domain, Variable
from mrfit.core.errors import InputError, listed
from mrfit.core.factors import Factors
from mrfit.structures.edge_signs import ranks_of
from mrfit.structures.edge_weights import EdgeWeights, Scores, centered, norms

WEIGHT = "weight"
# The meaning of a weight, and its ratio to the norm of the pair's centered table. With states 0 and 1 and the
# parameter w that table is (w, -w, -w, w) / 4, of norm |w| / 2. With states -1 and +1 the same distribution has w / 4.
CODINGS = {
    "01": ("states 0 and 1: a weight is the log odds ratio of two variables given the others", 2.0),
    "signs": ("states -1 and +1: a weight is a quarter of the log odds ratio given the others", 0.5),
    "tables": ("tables: a weight is the norm of the centered log-table of two variables", 1.0),
}
_IMPOSSIBLE = "Some states of this model are impossible: weights between variables would be infinite."
_DUST = 1e-12  # of the largest weight: rounding that centering leaves where the weight is zero


@dataclass(frozen=True, eq=False)
class PairWeights:
    """Weight of every pair of variables.

    Attributes
    ----------
    names : tuple of str
        Variables, in the order of the matrix.
    coding : str
        ``weight`` for edge weights; ``01``, ``signs`` or ``tables`` for another coding, see ``meaning``.
    matrix : array of shape (n_variables, n_variables)
        Symmetric weights: zero for pairs without an edge, positive for pairs without a sign.
    has_sign : bool array of shape (n_variables, n_variables)
        Pairs whose weights have a sign: both variables are binary or ordered.
    unit : str or None
        Unit of edge weights; None in other codings.
    """

    names: tuple[str, ...]
    coding: str
    matrix: Floats
    has_sign: NDArray[np.bool_]
    unit: str | None = None

    @classmethod
    def of_edges(cls, names: tuple[str, ...], edges: EdgeWeights, scores: Scores) -> PairWeights:
        """Return the edge weights of a model; ``scores`` are None for variables whose edges have no sign."""
        if not np.isfinite(edges.values).all():
            raise InputError(_IMPOSSIBLE)
        scored = np.array([own is not None for own in scores], bool)
        has_sign = scored[:, None] & scored[None, :]
        return cls(names, WEIGHT, edges.matrix(len(names)), has_sign, edges.unit)

    @classmethod
    def of(cls, factors: Factors, domain: Domain, coding: str) -> PairWeights:
        """Return weights in a coding, for a distribution with any tables.

        A table over more than two variables contributes to each pair by its mean over all states of the others.
        """
        _check(coding, domain)
        if factors.has_impossible_states:
            raise InputError(_IMPOSSIBLE)
        scale = CODINGS[coding][1]
        ranks = [_centred_ranks(variable) for variable in domain]
        matrix = np.zeros((len(domain), len(domain)))
        for pairs, tables in _by_shape(_tables(factors)):
            centred = centered(tables)
            sizes = scale * norms(centred)
            for (a, b), table, size in zip(pairs, centred, sizes.tolist(), strict=True):
                matrix[a, b] = matrix[b, a] = size * _sign(ranks[a], ranks[b], table)
        matrix[np.abs(matrix) <= _DUST * np.abs(matrix).max(initial=0.0)] = 0.0
        ordered = np.array([rank is not None for rank in ranks], bool)
        return cls(domain.names, coding, matrix, ordered[:, None] & ordered[None, :])

    @property
    def called(self) -> tuple[str, str | None]:
        """Name of a weight in legends, and its unit."""
        return ("edge weight" if self.coding == WEIGHT else f"weight, coding {self.coding}"), self.unit

    @property
    def meaning(self) -> str:
        """Description of the coding, with the unit."""
        return CODINGS[self.coding][0] if self.coding in CODINGS else f"edge weight: {self.unit}"

    @property
    def of_pairs(self) -> Floats:
        """Weights by pair a < b, in the order of `mrfit.analysis.stability.resampled_networks.pairs_of`."""
        return np.asarray(self.matrix[np.triu_indices(len(self.names), 1)], np.float64)


def _check(coding: str, domain: Domain) -> None:
    if coding not in CODINGS:
        raise InputError(f"There is no coding {coding!r}; choose one of {listed([WEIGHT, *CODINGS])}.")
    larger = [variable.name for variable in domain if variable.n_states > 2]
    if larger and coding != "tables":
        raise InputError(
            f"The coding {coding!r} needs variables with two states; {larger[0]!r} has more. Choose 'tables'."
        )


def _tables(factors: Factors) -> dict[tuple[int, int], Floats]:
    """Return for every pair a < b in a scope the sum of all tables that contain both, averaged over the others."""
    found: dict[tuple[int, int], Floats] = {}
    for pair, table in _pair_tables(factors):
        found[pair] = found[pair] + table if pair in found else table
    return found


def _pair_tables(factors: Factors) -> Iterator[tuple[tuple[int, int], Floats]]:
    for scope, values in zip(factors.scopes, factors.tables, strict=True):
        table = values.reshape([factors.shape[i] for i in scope])
        for (k, a), (m, b) in combinations(enumerate(scope), 2):
            others = tuple(axis for axis in range(len(scope)) if axis not in (k, m))
            mean = table.mean(axis=others) if others else table
            yield ((a, b), mean) if a < b else ((b, a), mean.T)


def _by_shape(tables: dict[tuple[int, int], Floats]) -> Iterator[tuple[list[tuple[int, int]], Floats]]:
    """Yield pairs whose tables have one shape, and the tables, (pairs, states, states), to center thousands at once."""
    groups: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for pair, table in tables.items():
        groups.setdefault(table.shape, []).append(pair)
    for pairs in groups.values():
        yield pairs, np.array([tables[pair] for pair in pairs])


def _sign(first: Floats | None, second: Floats | None, centred: Floats) -> float:
    """Return the sign of the slope of a table along the ranks of its states; 1 where these have no order."""
    if first is None or second is None:
        return 1.0
    return float(np.copysign(1.0, first @ centred @ second))


def _centred_ranks(variable: Variable) -> Floats | None:
    ranks = ranks_of(variable)
    return None if ranks is None else ranks - ranks.mean()
