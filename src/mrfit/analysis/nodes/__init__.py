"""Internal: what single variables are in a network: how central, how predictable, and in which community."""
