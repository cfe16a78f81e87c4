"""The best point of a quadratic plus a penalty, by its matrix or by products with it."""

from mrfit.solvers.quadratics.minimize import minimize_quadratic, needs_matrix
from mrfit.solvers.quadratics.quadratic import Quadratic

__all__ = ["Quadratic", "minimize_quadratic", "needs_matrix"]
