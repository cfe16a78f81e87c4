"""Seeded random misuse of the command line: damaged files, odd options, hostile models."""
