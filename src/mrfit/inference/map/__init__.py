"""Most probable states."""
