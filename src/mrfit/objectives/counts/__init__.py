"""Internal: rows compressed to what an objective needs of them."""
