"""Internal: which parameters share a value, but for `kmeans1d`."""
