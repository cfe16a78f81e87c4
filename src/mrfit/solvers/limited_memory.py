"""The limited memory of quasi-Newton methods (Nocedal 1980)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.linear_systems import Factor, at_least
from mrfit.objectives.objective import Expansion
from mrfit.solvers.method import CompositeProblem, Method, State


@dataclass(frozen=True)
class CurvaturePairs:
    """An approximate inverse Hessian: a first guess, corrected by the latest pairs (move, change of gradient).

    Pairs are ordered from the oldest. ``divide`` divides vectors, or columns, by the first guess: a rough Hessian that
    the objective provides, or the diagonal of the Hessian at the start.
    """

    divide: Callable[[Floats], Floats]
    pairs: tuple[tuple[Floats, Floats], ...] = ()

    @classmethod
    def at(cls, expansion: Expansion, rough: Floats | None) -> CurvaturePairs:
        if rough is not None:
            return cls(Factor.of(rough).divide)
        # A parameter whose feature never occurs has no curvature of its own; any positive scale will do.
        scale = at_least(expansion.diagonal(), 1e-8)
        return cls(lambda r: (r.T / scale).T)

    def extended(self, move: Floats, change: Floats, *, memory: int) -> CurvaturePairs:
        """Return the approximation with one pair more and at most ``memory`` pairs; skip a pair without curvature.

        Only pairs with move . change > 0 keep the approximation positive definite.
        """
        if move @ change <= 1e-12 * np.linalg.norm(move) * np.linalg.norm(change):
            return self
        return replace(self, pairs=(*self.pairs, (move, change))[-memory:])

    def inverse_times(self, v: Floats, free: NDArray[np.bool_]) -> Floats:
        """Multiply by the approximate inverse on the free parameters, by the two-loop recursion.

        Pairs are restricted to these parameters, which in a sparse model are few.
        """
        at = np.flatnonzero(free)
        q = v[at]
        pairs = [(s, y) for s, y in ((s[at], y[at]) for s, y in self.pairs) if s @ y > 0]
        coefficients = []
        for s, y in reversed(pairs):
            a = float(s @ q) / float(s @ y)
            coefficients.append(a)
            q -= a * y
        if pairs:
            s, y = pairs[-1]
            # B^-1 v is rescaled by (s . y) / (y . B^-1 y). The guess B was made at the start: its shape stays useful,
            # its size is corrected along the latest pair (Nocedal and Wright 2006, eq. 7.20, with a matrix for the
            # identity).
            # B may be a large matrix: divide by it once, both columns together.
            q, scaled = self.divide(_put(np.stack([q, y], axis=1), at, len(v)))[at].T
            q = q * (float(s @ y) / float(y @ scaled))
        else:
            q = self.divide(_put(q, at, len(v)))[at]
        for (s, y), a in zip(pairs, reversed(coefficients), strict=True):
            q += (a - float(y @ q) / float(s @ y)) * s
        return _put(q, at, len(v))


def _put(values: Floats, at: NDArray[np.int64], n: int) -> Floats:
    """Return an array of zeros with these entries, or rows, filled in."""
    out = np.zeros((n, *values.shape[1:]))
    out[at] = values
    return out


@dataclass(frozen=True)
class QuasiNewtonState(State):
    curvature: CurvaturePairs  # of the smooth part


@dataclass(frozen=True)
class LimitedMemory(Method[QuasiNewtonState]):
    """Common part of quasi-Newton methods: the start, and the stored pairs.

    Parameters
    ----------
    memory : int, default 20
        Number of stored pairs of moves and gradient changes.
    """

    memory: int = 20

    def start(self, problem: CompositeProblem, w: Floats) -> QuasiNewtonState:
        expansion = problem.expand(w)
        curvature = CurvaturePairs.at(expansion, problem.objective.rough_hessian())
        return QuasiNewtonState(w, expansion.value, expansion.gradient, curvature)
