"""Structure learners: which variables interact, from rows.

A structure learner of your own derives from `StructureLearner` and returns a `LearnedStructure`.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
