"""Which minimiser takes which penalty."""

from __future__ import annotations

from mrfit._typing import Floats
from mrfit.core.linear_systems import divided
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.solvers.quadratics import orthant as faces
from mrfit.solvers.quadratics.active_manifold import ManifoldSearch
from mrfit.solvers.quadratics.quadratic import Quadratic


def needs_matrix(penalty: NonsmoothPenalty, w: Floats) -> bool:
    """Whether a penalty is worth the matrix of a quadratic around w, also where products are cheaper."""
    return penalty.thresholds is None and penalty.curvature(w) is not None


def minimize_quadratic(quadratic: Quadratic, penalty: NonsmoothPenalty, *, tolerance: float) -> Floats:
    """The v at which quadratic(v) + penalty(v) is least, found to a violation of ``tolerance``.

    What the penalty says of itself decides how: any prox is enough, and more is faster.
    """
    matrix, threshold = quadratic.matrix, penalty.thresholds
    if matrix is not None and penalty.is_free(len(quadratic.w)).all():
        return quadratic.w - divided(matrix, quadratic.gradient)
    if threshold is None:
        return ManifoldSearch(quadratic, penalty, tolerance=tolerance).run()
    if matrix is None:
        return faces.by_products(quadratic, penalty, threshold, tolerance=tolerance)
    return faces.by_matrix(quadratic, matrix, penalty, threshold, tolerance=tolerance)
