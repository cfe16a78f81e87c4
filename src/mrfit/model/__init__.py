"""Internal, but for what docs/reference.md lists: networks, and the questions that they answer."""
