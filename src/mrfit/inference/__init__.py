"""Internal: log Z and marginals of factors."""
