"""Internal: the explorer, an interactive page of a model: its document, the page as one file, its server."""
