"""Internal: pictures, but for what docs/api.md lists."""
