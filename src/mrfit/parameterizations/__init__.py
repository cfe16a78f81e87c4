"""Internal: which features a structure has, in five kinds of coordinates."""
