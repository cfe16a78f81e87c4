"""What to do with a table, and how long it will take."""
