"""Internal: what is minimised, with its gradient and curvature."""
