"""Learning curves of tying in likelihood: exact test log-likelihood against the number of training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mrfit import L1, L2, Learned, LikelihoodSpec
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit_papers.apt_cell import GRIDS, METHODS, PaperGrid
from mrfit_papers.curve import Curve, CurvePoint
from mrfit_papers.subsample import TIED

# Coarser than the paper's grid, and as wide: an evaluation here is a run over a junction tree.
GRID = PaperGrid((1, 2, 5, 20, 100), (0.01, 0.1, 1.0, 10.0, 100.0))


@dataclass(frozen=True)
class LikelihoodCurvePoint(CurvePoint):
    """A point of the learning curve of the exact likelihood, on edges that both ends selected."""

    kind: ClassVar[str] = "apt-ll-point"
    objective: ClassVar = LikelihoodSpec("tree")  # never chains, whose errors would hide the differences
    learned: ClassVar = Learned(max_degree=5, rule="and", with_tree=True)

    def penalty(self) -> PenaltySpec:
        """Return the penalty; all methods have the same strengths. L2 shrinks all parameters, as in the paper."""
        grid = GRIDS[True] if self.quick else GRID
        if self.method == "L2":
            return L2(grid.strengths, free_orders=())
        return L1(grid.strengths) if self.method == "l1" else METHODS[self.method].penalty(grid)


class AptCurveLl(Curve):
    """A learning curve that is not in the paper: whether tying improves the likelihood."""

    word = "apt-curve-ll"
    title = "When tying pays in likelihood: gains over L2 against the number of training rows"
    datasets: ClassVar = ("nltcs", "msnbc", "kdd", "plants", "jester", "dna", TIED)
    quick_datasets: ClassVar = ("nltcs", TIED)
    point: ClassVar = LikelihoodCurvePoint
    score: ClassVar = "log-likelihood"
    about: ClassVar = (
        "at most 5 neighbours a variable, edges that both ends chose and the Chow-Liu tree, learned from the subset "
        "too; the exact likelihood on a junction tree is what is maximised, what chooses and what is shown, and all "
        "methods choose from the same strengths"
    )
