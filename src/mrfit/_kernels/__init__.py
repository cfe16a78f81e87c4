"""Compiled loops: free functions on flat arrays, and the only room that imports numba."""
