"""Kernels of objectives, penalties and solvers."""
