"""Learning the parameters of a given structure, at one strength and number of groups or over a grid of them."""

from mrfit.learning.driver import learn
from mrfit.learning.fits import Fit, Gain, Learned
from mrfit.learning.settings import OBJECTIVES, PENALTIES, SEARCHES, Settings
from mrfit.learning.start import HELD_AT

__all__ = ["HELD_AT", "OBJECTIVES", "PENALTIES", "SEARCHES", "Fit", "Gain", "Learned", "Settings", "learn"]
