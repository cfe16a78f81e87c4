"""Internal: what every package may use: errors, domains, threads, linear algebra, factors."""
