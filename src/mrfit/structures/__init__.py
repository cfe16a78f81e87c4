"""Structure learners: which variables interact, from rows.

A structure learner of your own derives from `StructureLearner` and returns a `LearnedStructure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.learning.chains.likelihood_growth import Grown
    from mrfit.structures.base import LearnedStructure, StructureLearner
    from mrfit.structures.simple import Complete, Given, Independent, Learned, Tree, UpToOrder
    from mrfit.structures.structure import Structure

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
        "mrfit.learning.chains.likelihood_growth": ("Grown",),
        "mrfit.structures.base": (
            "LearnedStructure",
            "StructureLearner",
        ),
        "mrfit.structures.simple": (
            "Complete",
            "Given",
            "Independent",
            "Learned",
            "Tree",
            "UpToOrder",
        ),
        "mrfit.structures.structure": ("Structure",),
    },
)
