"""Checks that your own parts fulfil the contract of their kind: the ones that mrfit's own tests run.

Each takes a function that makes the part, or the part itself, and raises an `AssertionError` that names the broken
promise. They need numpy and no test framework: call them from any test.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
