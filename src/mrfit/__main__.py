"""`python -m mrfit` is the command line."""

from mrfit.cli.main import run

run()
