"""Exact inference: enumeration and junction trees."""
