"""Structure learners, which find the interactions of variables from rows.

To add a structure learner, derive from `StructureLearner` and return a `LearnedStructure`.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
