"""An objective that reuses its last expansion, and counts its passes over the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mrfit._typing import Floats
from mrfit.objectives.hessian import Hessian
from mrfit.objectives.objective import Expansion, ExplicitHessian, Objective, read_only


def _is_same(a: Floats, b: Floats) -> bool:
    """Return whether two points are equal; the first entries mostly decide."""
    return a is b or (np.array_equal(a[:1024], b[:1024]) and np.array_equal(a, b))


class CachedObjective(Objective):
    """A cache of the last expansion, so that a solver that begins where another ended gets it for free.

    ``passes`` counts the evaluations and Hessian products that were computed.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.n_parameters, self.n_cells, self.is_convex = objective.n_parameters, objective.n_cells, objective.is_convex
        self.passes = self._passes_at_hessian = 0
        self._point: Floats | None = None
        self._expansion: Expansion | None = None
        self._hessian: Hessian | None = None

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        if self._expansion is not None and np.array_equal(w, self._point):  # type: ignore[arg-type]
            return self._expansion.value, self._expansion.gradient
        self.passes += 1
        return self.objective.value_and_gradient(w)

    def expand(self, w: Floats) -> Expansion:
        if self._expansion is None or not _is_same(w, self._point):  # type: ignore[arg-type]
            self._point = self._expansion = None  # release memory before the next one is computed
            self.passes += 1
            found = self.objective.expand(w)
            self._point = read_only(w)
            explicit = found.explicit and self._remembered(found.explicit)
            self._expansion = replace(found, product=self._counted(found.product), explicit=explicit)
        return self._expansion

    def rough_hessian(self) -> Floats | None:
        return self.objective.rough_hessian()

    def forget(self) -> None:
        """Drop the cache and the counts, as a benchmark needs."""
        self._point = self._expansion = self._hessian = None
        self.passes = self._passes_at_hessian = 0

    def _remembered(self, explicit: ExplicitHessian) -> ExplicitHessian:
        """Return an explicit Hessian that is cached when computed, and whose cost is counted."""

        def hessian() -> Hessian:
            self.passes += round(explicit.products)
            self._hessian, self._passes_at_hessian = explicit.hessian(), self.passes
            return self._hessian

        def previous() -> Callable[[], Hessian] | None:
            latest = self._hessian
            return None if latest is None else lambda: latest

        def spent() -> int:
            return self.passes - self._passes_at_hessian

        return replace(explicit, hessian=hessian, previous=previous, spent=spent)

    def _counted(self, product: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        def counted(v: Floats) -> Floats:
            self.passes += 1
            return product(v)

        return counted
