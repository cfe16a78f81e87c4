"""Advice on a table: the commands to run, and how long they take."""
