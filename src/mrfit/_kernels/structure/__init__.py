"""Kernels of structure learning: regressions of each variable on the others, and their paths."""
