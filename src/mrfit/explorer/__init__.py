"""Internal: the explorer, a page on which a model is seen and asked: its document, the page as one file, its server."""
