"""Penalties: functions of the parameters that are added to an objective.

A penalty with kinks derives from `NonsmoothPenalty` (five methods), a smooth one from `SmoothPenalty`.
``penalty.added_to(objective, total_weight=...)`` gives what `mrfit.solvers.minimize` takes. To choose a penalty of your
own by a word, wrap it in a `PenaltyChoice` (`Sparse` if it makes zeros, else `Penalized`) and register that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.learning.parameter_layout import Layout
    from mrfit.learning.penalty_spec import PenaltyChoice
    from mrfit.learning.penalty_specs import Penalized, Sparse
    from mrfit.penalties.cluster_penalty import Tied
    from mrfit.penalties.group_l1 import GroupL1
    from mrfit.penalties.hierarchical_l1 import HierarchicalL1
    from mrfit.penalties.l1 import L1
    from mrfit.penalties.l2 import L2
    from mrfit.penalties.penalty import NonsmoothPenalty, NoPenalty, Penalty, Scaled, SmoothPenalty, Trait

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
        "mrfit.learning.parameter_layout": ("Layout",),
        "mrfit.learning.penalty_specs": (
            "Penalized",
            "Sparse",
        ),
        "mrfit.learning.penalty_spec": ("PenaltyChoice",),
        "mrfit.penalties.group_l1": ("GroupL1",),
        "mrfit.penalties.hierarchical_l1": ("HierarchicalL1",),
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
        "mrfit.penalties.cluster_penalty": ("Tied",),
    },
)
