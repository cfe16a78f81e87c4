"""Objectives: smooth functions of the parameters that solvers minimise, as means over rows.

`ConditionalCells` compresses rows to what an objective such as `PseudoLikelihood` needs; `mrfit.solvers.minimize` takes
it from there. An objective of your own derives from `Objective`: a value, a gradient and an `Expansion` with products
of the Hessian. To choose it by a word, wrap it in an `ObjectiveChoice` (mostly a `PseudoLikelihoodChoice`) and register
that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.learning.backend import PseudoCoordinates
    from mrfit.learning.objective_specs import (
        LikelihoodChoice,
        LogRiseChoice,
        ObjectiveChoice,
        PseudoLikelihoodChoice,
        RiseChoice,
    )
    from mrfit.objectives.conditional_loss import ConditionalLoss
    from mrfit.objectives.counts.conditional_cells import ConditionalCells
    from mrfit.objectives.likelihood import Likelihood
    from mrfit.objectives.objective import Expansion, Explicit, Objective
    from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
    from mrfit.objectives.screening import InteractionScreening, LogInteractionScreening
    from mrfit.objectives.tree_likelihood import TreeLikelihood

__all__ = [
    "ConditionalCells",
    "ConditionalLoss",
    "Expansion",
    "Explicit",
    "InteractionScreening",
    "Likelihood",
    "LikelihoodChoice",
    "LogInteractionScreening",
    "LogRiseChoice",
    "Objective",
    "ObjectiveChoice",
    "PseudoCoordinates",
    "PseudoLikelihood",
    "PseudoLikelihoodChoice",
    "RiseChoice",
    "TreeLikelihood",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.objectives.counts.conditional_cells": ("ConditionalCells",),
        "mrfit.learning.backend": ("PseudoCoordinates",),
        "mrfit.learning.objective_specs": (
            "LikelihoodChoice",
            "LogRiseChoice",
            "ObjectiveChoice",
            "PseudoLikelihoodChoice",
            "RiseChoice",
        ),
        "mrfit.objectives.conditional_loss": ("ConditionalLoss",),
        "mrfit.objectives.likelihood": ("Likelihood",),
        "mrfit.objectives.objective": (
            "Expansion",
            "Explicit",
            "Objective",
        ),
        "mrfit.objectives.pseudo_likelihood": ("PseudoLikelihood",),
        "mrfit.objectives.screening": (
            "InteractionScreening",
            "LogInteractionScreening",
        ),
        "mrfit.objectives.tree_likelihood": ("TreeLikelihood",),
    },
)
