"""Bits, elementary functions, random numbers and transforms that other kernels use."""
