"""Internal: which variables interact, given or learned."""
