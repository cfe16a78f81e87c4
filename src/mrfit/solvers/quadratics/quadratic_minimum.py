"""Choice of the algorithm that minimises a quadratic plus a penalty."""

from __future__ import annotations

from mrfit._typing import Floats
from mrfit.core.linear_systems import divided
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.solvers.quadratics import orthant as faces
from mrfit.solvers.quadratics.active_manifold import ManifoldSearch
from mrfit.solvers.quadratics.quadratic import Quadratic


def needs_matrix(penalty: NonsmoothPenalty, w: Floats) -> bool:
    """Return whether a penalty makes the matrix of a quadratic around w worthwhile, even where products are cheaper."""
    return penalty.thresholds is None and penalty.curvature(w) is not None


def minimize_quadratic(quadratic: Quadratic, penalty: NonsmoothPenalty, *, tolerance: float) -> Floats:
    """Return the v that minimises quadratic(v) + penalty(v), to a violation of ``tolerance``.

    The algorithm depends on what the penalty provides: any prox is enough, and more is faster.
    """
    matrix, threshold = quadratic.matrix, penalty.thresholds
    if matrix is not None and penalty.is_free(len(quadratic.w)).all():
        return quadratic.w - divided(matrix, quadratic.gradient)
    if threshold is None:
        return ManifoldSearch(quadratic, penalty, tolerance=tolerance).run()
    if matrix is None:
        return faces.by_products(quadratic, penalty, threshold, tolerance=tolerance)
    return faces.by_matrix(quadratic, matrix, penalty, threshold, tolerance=tolerance)
