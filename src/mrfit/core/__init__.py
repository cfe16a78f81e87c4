"""Internal: basic types and numerics for every package: errors, domains, threads, linear algebra, factors."""
