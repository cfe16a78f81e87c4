"""Parameterizations: the features of a structure, in six kinds of coordinates.

To add a parameterization, derive from `Parameterization` and define the number of features of a scope, the features and
their names.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
