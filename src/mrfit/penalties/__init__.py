"""Penalties: functions of the parameters that are added to an objective.

A penalty with kinks derives from `NonsmoothPenalty` (five methods), a smooth one from `SmoothPenalty`.
``penalty.added_to(objective, total_weight=...)`` gives what `mrfit.solvers.minimize` takes. To choose a penalty of your
own by a word, wrap it in a `PenaltySpec` (`SparsePenaltySpec` if it makes zeros, else
`ConvexPenaltySpec`) and register that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.learning.parameter_layout import ParameterLayout
    from mrfit.learning.penalty_spec import PenaltySpec
    from mrfit.learning.penalty_specs import ConvexPenaltySpec, SparsePenaltySpec
    from mrfit.penalties.cluster_penalty import ClusterPenalty
    from mrfit.penalties.group_l1 import GroupL1
    from mrfit.penalties.hierarchical_l1 import HierarchicalL1
    from mrfit.penalties.l1 import WeightedL1
    from mrfit.penalties.l2 import Ridge
    from mrfit.penalties.penalty import NonsmoothPenalty, Penalty, Scaled, SmoothPenalty, Trait, ZeroPenalty

__all__ = [
    "ClusterPenalty",
    "ConvexPenaltySpec",
    "GroupL1",
    "HierarchicalL1",
    "NonsmoothPenalty",
    "ParameterLayout",
    "Penalty",
    "PenaltySpec",
    "Ridge",
    "Scaled",
    "SmoothPenalty",
    "SparsePenaltySpec",
    "Trait",
    "WeightedL1",
    "ZeroPenalty",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.learning.parameter_layout": ("ParameterLayout",),
        "mrfit.learning.penalty_specs": (
            "ConvexPenaltySpec",
            "SparsePenaltySpec",
        ),
        "mrfit.learning.penalty_spec": ("PenaltySpec",),
        "mrfit.penalties.group_l1": ("GroupL1",),
        "mrfit.penalties.hierarchical_l1": ("HierarchicalL1",),
        "mrfit.penalties.l1": ("WeightedL1",),
        "mrfit.penalties.l2": ("Ridge",),
        "mrfit.penalties.penalty": (
            "ZeroPenalty",
            "NonsmoothPenalty",
            "Penalty",
            "Scaled",
            "SmoothPenalty",
            "Trait",
        ),
        "mrfit.penalties.cluster_penalty": ("ClusterPenalty",),
    },
)
