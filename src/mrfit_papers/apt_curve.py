"""Learning curves of tying: test pseudo-log-likelihood against the number of training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mrfit import Learned
from mrfit.learning.objective_specs import PSEUDO_LIKELIHOOD
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit_papers.apt_cell import GRIDS, METHODS
from mrfit_papers.curve import Curve, CurvePoint
from mrfit_papers.subsample import TIED


@dataclass(frozen=True)
class PseudoLikelihoodPoint(CurvePoint):
    """A point of the learning curve of the pseudo-likelihood."""

    kind: ClassVar[str] = "apt-point"
    objective: ClassVar = PSEUDO_LIKELIHOOD
    learned: ClassVar = Learned(max_degree=5, bound="top")

    def penalty(self) -> PenaltySpec:
        return METHODS[self.method].penalty(GRIDS[self.quick])


class AptCurve(Curve):
    """A learning curve that is not in the paper, for the question that users have."""

    word = "apt-curve"
    title = "When tying pays: gains over L2 against the number of training rows"
    datasets: ClassVar = ("nltcs", "plants", "audio", "dna", "kosarek", "tmovie", TIED)
    quick_datasets: ClassVar = ("nltcs", TIED)
    point: ClassVar = PseudoLikelihoodPoint
    score: ClassVar = "pseudo-log-likelihood"
    about: ClassVar = (
        "at most 5 neighbours a variable (bound read as `top`), learned from the subset too; tied fits far from the "
        "best on validation rows are rough or left on their way, as in Table 1"
    )
