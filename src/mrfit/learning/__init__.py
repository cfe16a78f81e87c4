"""Learning the parameters of a given structure, at one strength and number of groups or over a grid of them."""

from mrfit.learning.driver import learn
from mrfit.learning.fits import Fit, Gain, Learned
from mrfit.learning.problem import HELD_AT
from mrfit.learning.settings import OBJECTIVES, PENALTIES, Settings

__all__ = ["HELD_AT", "OBJECTIVES", "PENALTIES", "Fit", "Gain", "Learned", "Settings", "learn"]
