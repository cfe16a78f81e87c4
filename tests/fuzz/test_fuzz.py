"""A part of the fuzzer in every run of the tests: the same cases in the same order, as many as time allows."""

from __future__ import annotations

import time

from fuzz.checks import memory_limit, problem_of

SECONDS = 3  # `make fuzz` runs as many cases as one likes


def test_no_case_does_what_none_may_do() -> None:
    """Exit 0 or 2, one line, no traceback, no hang, no large allocation, nothing half-written, inputs untouched."""
    end, number, problems = time.monotonic() + SECONDS, 0, {}
    with memory_limit():
        while time.monotonic() < end:
            problem = problem_of(number)
            if problem is not None:
                problems[f"PYTHONPATH=tests python -m fuzz --case {number}"] = problem
            number += 1
    assert number > 0
    assert not problems, "\n".join(f"{command}\n  {problem}" for command, problem in problems.items())
