"""Internal: how sure estimates are."""
