"""Internal, but for what docs/api.md lists: networks, and the questions that they answer."""
