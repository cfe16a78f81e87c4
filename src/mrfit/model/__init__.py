"""Networks: what they are, and the questions that they answer."""
