"""Internal: learning again from parts of a table, and what stays the same."""
