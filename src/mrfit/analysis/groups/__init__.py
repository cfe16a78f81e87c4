"""Comparing the networks of groups of rows."""
