"""Minimization of a quadratic plus a penalty, by its matrix or by products with it."""

from mrfit.solvers.quadratics.quadratic import Quadratic
from mrfit.solvers.quadratics.quadratic_minimum import minimize_quadratic, needs_matrix

__all__ = ["Quadratic", "minimize_quadratic", "needs_matrix"]
