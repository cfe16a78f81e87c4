"""Objectives: smooth functions of the parameters that solvers minimise, as means over rows.

`ConditionalCells` compresses rows to what an objective such as `PseudoLikelihood` needs; `mrfit.solvers.minimize` takes
it from there. An objective of your own derives from `Objective`: a value, a gradient and an `Expansion` with products
of the Hessian. To choose it by a word, wrap it in an `ObjectiveSpec` (mostly a `PseudoLikelihoodSpec`) and register
that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrfit._lazy import exports

if TYPE_CHECKING:
    from mrfit.learning.backend import PseudoLikelihoodBackend
    from mrfit.learning.objective_specs import (
        LikelihoodSpec,
        LogRiseSpec,
        ObjectiveSpec,
        PseudoLikelihoodSpec,
        RiseSpec,
    )
    from mrfit.objectives.conditional_loss import ConditionalLoss
    from mrfit.objectives.counts.conditional_cells import ConditionalCells
    from mrfit.objectives.likelihood import Likelihood
    from mrfit.objectives.objective import Expansion, ExplicitHessian, Objective
    from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
    from mrfit.objectives.screening import InteractionScreening, LogInteractionScreening
    from mrfit.objectives.tree_likelihood import TreeLikelihood

__all__ = [
    "ConditionalCells",
    "ConditionalLoss",
    "Expansion",
    "ExplicitHessian",
    "InteractionScreening",
    "Likelihood",
    "LikelihoodSpec",
    "LogInteractionScreening",
    "LogRiseSpec",
    "Objective",
    "ObjectiveSpec",
    "PseudoLikelihood",
    "PseudoLikelihoodBackend",
    "PseudoLikelihoodSpec",
    "RiseSpec",
    "TreeLikelihood",
]

# Loaded on first use, also because some of these build on this package.
__getattr__, __dir__ = exports(
    __name__,
    {
        "mrfit.objectives.counts.conditional_cells": ("ConditionalCells",),
        "mrfit.learning.backend": ("PseudoLikelihoodBackend",),
        "mrfit.learning.objective_specs": (
            "LikelihoodSpec",
            "LogRiseSpec",
            "ObjectiveSpec",
            "PseudoLikelihoodSpec",
            "RiseSpec",
        ),
        "mrfit.objectives.conditional_loss": ("ConditionalLoss",),
        "mrfit.objectives.likelihood": ("Likelihood",),
        "mrfit.objectives.objective": (
            "Expansion",
            "ExplicitHessian",
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
