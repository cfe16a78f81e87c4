"""Recorded output of commands over real data: `make golden` makes the record again."""
