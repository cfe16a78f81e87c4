"""Inference engines: log Z and marginals of `mrfit.Factors`, exact or approximate.

An engine first plans from shape and scopes alone, with cells, bytes and seconds, and then runs the plan. An engine of
your own derives from `Engine` and returns a `Posterior`.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
