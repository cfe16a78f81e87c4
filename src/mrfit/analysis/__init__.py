"""One folder for each question about a table or a model: computation, record and picture together."""
