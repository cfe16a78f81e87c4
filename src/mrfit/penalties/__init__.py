"""Penalties: functions of the parameters that are added to an objective.

A penalty with kinks derives from `NonsmoothPenalty` (five methods), a smooth one from `SmoothPenalty`.
``penalty.added_to(objective, total_weight=...)`` gives what `mrfit.solvers.minimize` takes. To choose a penalty of your
own by a word, wrap it in a `PenaltyChoice` (`Sparse` if it makes zeros, else `Penalized`) and register that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.learning.layout import Layout
    from mrfit.learning.penalized import Penalized, Sparse
    from mrfit.learning.penalty_choice import PenaltyChoice
    from mrfit.penalties.group import GroupL1
    from mrfit.penalties.hierarchical import HierarchicalL1
    from mrfit.penalties.l1 import L1
    from mrfit.penalties.l2 import L2
    from mrfit.penalties.penalty import NonsmoothPenalty, NoPenalty, Penalty, Scaled, SmoothPenalty, Trait
    from mrfit.penalties.tied import Tied

__all__ = [
    "L1",
    "L2",
    "GroupL1",
    "HierarchicalL1",
    "Layout",
    "NoPenalty",
    "NonsmoothPenalty",
    "Penalized",
    "Penalty",
    "PenaltyChoice",
    "Scaled",
    "SmoothPenalty",
    "Sparse",
    "Tied",
    "Trait",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.learning.layout": ("Layout",),
        "mrfit.learning.penalized": (
            "Penalized",
            "Sparse",
        ),
        "mrfit.learning.penalty_choice": ("PenaltyChoice",),
        "mrfit.penalties.group": ("GroupL1",),
        "mrfit.penalties.hierarchical": ("HierarchicalL1",),
        "mrfit.penalties.l1": ("L1",),
        "mrfit.penalties.l2": ("L2",),
        "mrfit.penalties.penalty": (
            "NoPenalty",
            "NonsmoothPenalty",
            "Penalty",
            "Scaled",
            "SmoothPenalty",
            "Trait",
        ),
        "mrfit.penalties.tied": ("Tied",),
    },
)
