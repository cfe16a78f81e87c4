"""`PYTHONPATH=tests python -m fuzz --cases 10000` runs so many cases; `--case N` runs one again."""

from __future__ import annotations

import argparse
import sys
import time

from fuzz.checks import memory_limit, problem_of


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("--cases", type=int, default=10_000, help="how many cases (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (default %(default)s)")
    parser.add_argument("--case", type=int, help="only this one")
    arguments = parser.parse_args()
    first = arguments.first if arguments.case is None else arguments.case
    count = arguments.cases if arguments.case is None else 1
    begun, failures = time.monotonic(), 0
    with memory_limit():
        for number in range(first, first + count):
            problem = problem_of(number)
            if problem is not None:
                failures += 1
                sys.stdout.write(f"PYTHONPATH=tests python -m fuzz --case {number}\n  {problem}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{count:,} cases, {failures} failures, {time.monotonic() - begun:.0f} seconds\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
