"""Message passing: belief propagation and its relatives."""
