"""Plain assertions with messages; no test framework is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mrfit.core.errors import InputError


def close(found: Any, expected: Any, what: str, *, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Fail unless two arrays or numbers agree."""
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, err_msg=what)


def same(found: Any, expected: Any, what: str) -> None:
    """Fail unless two arrays or numbers are equal, to the last bit."""
    np.testing.assert_array_equal(found, expected, err_msg=what)


@contextmanager
def refused(pattern: str, what: str) -> Iterator[None]:
    """Fail unless the body raises an `InputError` whose message has the pattern."""
    message = None
    try:
        yield
    except InputError as error:
        message = str(error)
    assert message is not None, f"{what} must be refused with an InputError that says {pattern!r}."
    assert re.search(pattern, message), f"{what}: the message {message!r} does not say {pattern!r}."
