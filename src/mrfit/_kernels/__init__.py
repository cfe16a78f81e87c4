"""Compiled loops: free functions on flat arrays, and the only package that imports numba."""
