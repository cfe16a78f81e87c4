"""Compiling kernels, and finding the code that was compiled before."""
