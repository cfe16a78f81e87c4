"""Checks that a part of your own keeps the promises of its kind: the ones that mrfit's own tests run.

Each takes a function that makes the part, or the part itself, and raises an `AssertionError` that names the broken
promise. They need numpy and no test framework: call them from a test of any.
"""

from mrfit._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
