"""Sizes of interactions by the number of their variables."""
