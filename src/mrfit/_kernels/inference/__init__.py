"""Kernels of exact inference, message passing and most probable states."""
