"""Parameterizations: which features a structure has, in six kinds of coordinates.

A parameterization of your own derives from `Parameterization`: how many features a scope has, which, and their names.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
