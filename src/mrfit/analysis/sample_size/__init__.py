"""Number of rows that a study needs."""
