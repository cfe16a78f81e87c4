"""Internal: what is added to an objective, as functions of parameters."""
