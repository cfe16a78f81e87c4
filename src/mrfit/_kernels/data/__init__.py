"""Kernels of tables: packed codes, distinct rows, counts of pairs."""
