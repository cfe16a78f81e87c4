"""Internal: which features a structure has, in six kinds of coordinates."""
