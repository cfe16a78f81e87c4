"""The strength (lambda) that every penalty has."""

from __future__ import annotations

import numpy as np

from mrfit.core.errors import InputError


def checked_strength(strength: float) -> float:
    if not 0 < strength < np.inf:
        raise InputError(f"The strength of a penalty must be positive and finite; got {strength:g}.")
    return strength
