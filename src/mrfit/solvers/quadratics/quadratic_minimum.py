"""Choice of the algorithm that minimises a quadratic plus a penalty."""

from __future__ import annotations

from mrfit._typing import Floats
from mrfit.core.linear_systems import divided
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.solvers.quadratics import orthant as faces
from mrfit.solvers.quadratics.active_manifold import ManifoldSearch
from mrfit.solvers.quadratics.quadratic import Quadratic


def needs_matrix(penalty: NonsmoothPenalty, w: Floats) -> bool:
    """Return whether a penalty makes the matrix of a quadratic worthwhile, even where products are cheaper.

    Parameters
    ----------
    penalty : NonsmoothPenalty
        Penalty that is added to the quadratic.
    w : array of shape (n,)
        Point around which the quadratic is.

    Returns
    -------
    bool

    See Also
    --------
    minimize_quadratic : Takes a quadratic with or without its matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import WeightedL1
    >>> from mrfit.solvers.quadratics import needs_matrix
    >>> needs_matrix(WeightedL1(1.0, np.ones(2)), np.zeros(2))
    False
    """
    return penalty.thresholds is None and penalty.curvature(w) is not None


def minimize_quadratic(quadratic: Quadratic, penalty: NonsmoothPenalty, *, tolerance: float) -> Floats:
    """Return the point that minimizes a quadratic plus a penalty.

    The algorithm depends on what the penalty provides: any prox is enough, and more is faster.

    Parameters
    ----------
    quadratic : Quadratic
        Smooth part.
    penalty : NonsmoothPenalty
        Part with kinks.
    tolerance : float
        Largest violation of optimality: entry of the least subgradient.

    Returns
    -------
    array of shape (n,)

    See Also
    --------
    minimize : Minimize an objective that is not quadratic.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import WeightedL1
    >>> from mrfit.solvers.quadratics import Quadratic, minimize_quadratic
    >>> quadratic = Quadratic.of_matrix(np.zeros(2), np.array([1.0, -3.0]), np.eye(2))
    >>> minimize_quadratic(quadratic, WeightedL1(1.0, np.ones(2)), tolerance=1e-9)
    array([0., 2.])
    """
    matrix, threshold = quadratic.matrix, penalty.thresholds
    if matrix is not None and penalty.is_free(len(quadratic.w)).all():
        return quadratic.w - divided(matrix, quadratic.gradient)
    if threshold is None:
        return ManifoldSearch(quadratic, penalty, tolerance=tolerance).run()
    if matrix is None:
        return faces.by_products(quadratic, penalty, threshold, tolerance=tolerance)
    return faces.by_matrix(quadratic, matrix, penalty, threshold, tolerance=tolerance)
