"""Plain twins of what is compiled: written from the definitions, slow and obvious."""
