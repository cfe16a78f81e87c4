"""Internal: questions to a distribution with names, and what is answered."""
