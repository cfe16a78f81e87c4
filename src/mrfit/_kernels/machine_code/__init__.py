"""Compilation of kernels, and loading of code compiled earlier."""
