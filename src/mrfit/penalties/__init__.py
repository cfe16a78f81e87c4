"""Penalties: functions of the parameters that are added to an objective.

A penalty with kinks derives from `NonsmoothPenalty` (five methods), a smooth one from `SmoothPenalty`.
``penalty.added_to(objective, total_weight=...)`` gives what `mrfit.solvers.minimize` takes. To choose a penalty of your
own by a word, wrap it in a `PenaltySpec` (`SparsePenaltySpec` if it makes zeros, else
`ConvexPenaltySpec`) and register that.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
