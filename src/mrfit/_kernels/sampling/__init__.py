"""Kernels of Gibbs chains and of moments of their states."""
