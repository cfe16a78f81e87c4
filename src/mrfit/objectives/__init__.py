"""Objectives: smooth functions of the parameters that solvers minimise, as means over rows.

`ConditionalCells` compresses rows to what an objective such as `PseudoLikelihood` needs, and `mrfit.solvers.minimize`
minimises it. To write your own objective, derive from `Objective`: a value, a gradient and an `Expansion` with products
of the Hessian. To choose it by name, wrap it in an `ObjectiveSpec` (mostly a `PseudoLikelihoodSpec`) and register
that.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
