"""`mrfit` called in this process, as in the tests of the command line."""

from cli.conftest import shell

__all__ = ["shell"]
