"""Penalties: functions of the parameters that are added to an objective.

A penalty with kinks derives from `NonsmoothPenalty` (five methods), a smooth one from `SmoothPenalty`.
``penalty.added_to(objective, total_weight=...)`` returns the arguments of `mrfit.solvers.minimize`. To choose your own
penalty by name, wrap it in a `PenaltySpec` (`SparsePenaltySpec` if it makes zeros, else `ConvexPenaltySpec`) and
register that.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
