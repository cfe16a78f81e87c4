"""Structure learners: which variables interact, from rows.

A structure learner of your own derives from `StructureLearner` and returns a `LearnedStructure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.stochastic.growth import Grown
    from mrfit.structure.learner import LearnedStructure, StructureLearner
    from mrfit.structure.learners import Complete, Given, Independent, Learned, Tree, UpToOrder
    from mrfit.structure.structure import Structure

__all__ = [
    "Complete",
    "Given",
    "Grown",
    "Independent",
    "Learned",
    "LearnedStructure",
    "Structure",
    "StructureLearner",
    "Tree",
    "UpToOrder",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.stochastic.growth": ("Grown",),
        "mrfit.structure.learner": (
            "LearnedStructure",
            "StructureLearner",
        ),
        "mrfit.structure.learners": (
            "Complete",
            "Given",
            "Independent",
            "Learned",
            "Tree",
            "UpToOrder",
        ),
        "mrfit.structure.structure": ("Structure",),
    },
)
