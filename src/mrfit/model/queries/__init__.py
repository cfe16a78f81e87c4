"""Internal: queries to a distribution with names, and their answers."""
