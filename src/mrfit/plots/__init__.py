"""Internal: pictures, except for those that docs/reference.md lists."""
