"""Formats of model files, and the functions that read and write them.

To add a format, define a `ModelFormat`: a word, a suffix, and functions from bytes to a `mrfit.FactorNetwork` and back.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
