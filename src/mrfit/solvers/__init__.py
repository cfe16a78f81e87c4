"""Internal: how objectives and penalties are minimised together."""
