"""Internal: learning a network from rows; one value says how, and gives the model with all there is to say about it."""

from mrfit.learning.backend import HELD_AT
from mrfit.learning.fit_result import CandidateFit, FitResult, MeanScore, TyingGain
from mrfit.learning.learner import Learner

__all__ = ["HELD_AT", "CandidateFit", "FitResult", "Learner", "MeanScore", "TyingGain"]
