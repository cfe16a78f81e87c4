"""Checks that a part of your own keeps the promises of its kind: the ones that mrfit's own tests run.

Each takes a function that makes the part, or the part itself, and raises an `AssertionError` that names the broken
promise. They need numpy and no test framework: call them from a test of any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.testing.engines import check_engine
    from mrfit.testing.formats import check_format
    from mrfit.testing.methods import check_method
    from mrfit.testing.objectives import check_objective
    from mrfit.testing.parameterizations import check_parameterization
    from mrfit.testing.penalties import check_penalty
    from mrfit.testing.structure_learners import check_structure_learner

__all__ = [
    "check_engine",
    "check_format",
    "check_method",
    "check_objective",
    "check_parameterization",
    "check_penalty",
    "check_structure_learner",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.testing.engines": ("check_engine",),
        "mrfit.testing.formats": ("check_format",),
        "mrfit.testing.methods": ("check_method",),
        "mrfit.testing.objectives": ("check_objective",),
        "mrfit.testing.parameterizations": ("check_parameterization",),
        "mrfit.testing.penalties": ("check_penalty",),
        "mrfit.testing.structure_learners": ("check_structure_learner",),
    },
)
