"""Internal: the command line. Commands and their options are public."""
