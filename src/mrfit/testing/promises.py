"""Run every promise of a part, and name in the failure the broken one and its case."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

Promise = Callable[..., None]


def check_promises(promises: Iterable[Promise], case: Any, *more: Any, seed: int = 0) -> None:
    """Call each promise with the case, further arguments, and a random generator of its own."""
    for promise in promises:
        try:
            promise(case, *more, np.random.default_rng(seed))
        except Exception as problem:
            problem.add_note(f"The promise {promise.__name__!r} of {case!r}: {(promise.__doc__ or '').strip()}")
            raise


def as_cases(made: Any) -> list[Any]:
    """Return a list of cases, from one case or several."""
    return list(made) if isinstance(made, list | tuple) else [made]
