"""Inference engines: log Z and marginals of `mrfit.Factors`, exact or approximate.

An engine first plans from shape and scopes alone, and forecasts cells, bytes and seconds. It then runs the plan. To
write your own engine, derive from `Engine` and return a `Posterior`.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
