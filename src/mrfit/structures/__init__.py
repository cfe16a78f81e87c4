"""Structure learners: which variables interact, from rows.

A structure learner of your own derives from `StructureLearner` and returns a `LearnedStructure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.learning.chains.likelihood_growth import LikelihoodGrowth
    from mrfit.structures.base import LearnedStructure, StructureLearner
    from mrfit.structures.simple import (
        AllInteractions,
        ChowLiuTree,
        CompleteGraph,
        FixedStructure,
        Learned,
        NoInteractions,
    )
    from mrfit.structures.structure import Structure

__all__ = [
    "AllInteractions",
    "ChowLiuTree",
    "CompleteGraph",
    "FixedStructure",
    "Learned",
    "LearnedStructure",
    "LikelihoodGrowth",
    "NoInteractions",
    "Structure",
    "StructureLearner",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.learning.chains.likelihood_growth": ("LikelihoodGrowth",),
        "mrfit.structures.base": (
            "LearnedStructure",
            "StructureLearner",
        ),
        "mrfit.structures.simple": (
            "CompleteGraph",
            "FixedStructure",
            "NoInteractions",
            "Learned",
            "ChowLiuTree",
            "AllInteractions",
        ),
        "mrfit.structures.structure": ("Structure",),
    },
)
