"""Internal: the command line; what `mrfit --help` shows is public."""
