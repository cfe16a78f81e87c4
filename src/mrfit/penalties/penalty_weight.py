"""Weights of the terms of a penalty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit.core.errors import InputError


def check_weight(weight: NDArray[np.float64], *, of: str, each: str) -> None:
    """Refuse weights that are negative or infinite, in two passes without a temporary: there may be 2^24 of them."""
    if weight.ndim != 1 or not (weight.min(initial=0.0) >= 0.0 and weight.max(initial=0.0) < np.inf):
        raise InputError(f"The weight of {of} penalty is one finite number, zero or more, for each {each}.")
