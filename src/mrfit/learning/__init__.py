"""Internal: learning a network from rows; one value says how, and gives the model with all there is to say about it."""

from mrfit.learning.fitted import Fit, Fitted, Gain, Score
from mrfit.learning.learner import Learner
from mrfit.learning.start import HELD_AT

__all__ = ["HELD_AT", "Fit", "Fitted", "Gain", "Learner", "Score"]
