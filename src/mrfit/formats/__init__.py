"""Internal: models and structures as files."""
