"""Internal: learning a network from rows; one value says how, and gives the model with all there is to say about it."""

from mrfit.learning.fit_result import Fit, Fitted, Gain, Score
from mrfit.learning.initialization import HELD_AT
from mrfit.learning.learner import Learner

__all__ = ["HELD_AT", "Fit", "Fitted", "Gain", "Learner", "Score"]
