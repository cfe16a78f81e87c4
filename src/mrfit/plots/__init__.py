"""Internal: pictures, except for those that docs/api.md lists."""
