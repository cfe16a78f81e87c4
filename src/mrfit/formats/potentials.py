"""Potentials from their logarithms, in doubles that neither overflow nor vanish."""

from __future__ import annotations

import math

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors

_LARGEST = 700.0  # doubles end at 709.8, and are accurate to the last digit down to -708.4


def potentials(factors: Factors, instead: str) -> tuple[Floats, float]:
    """Return exp of all tables, and the sum of the shifts subtracted from tables before.

    A table is shifted only if necessary, to the middle of the range of doubles. A table that spans more than this range
    is refused, because a possible state would become impossible; ``instead`` tells the user what to do then.
    """
    values = factors.values.copy()
    shifts = []
    if np.abs(values, where=values > -np.inf, out=np.zeros_like(values)).max(initial=0.0) > _LARGEST:
        sizes = [len(table) for table in factors.tables]
        for table in np.split(values, np.cumsum(sizes)[:-1]):  # views
            finite = table[table > -np.inf]
            if np.abs(finite).max(initial=0.0) <= _LARGEST:
                continue
            low, high = float(finite.min()), float(finite.max())
            if high - low > 2 * _LARGEST:
                raise InputError(
                    f"A table spans {high - low:.4g} nats, and potentials that are not logarithms hold "
                    f"{2 * _LARGEST:g}. {instead}"
                )
            shift = low + (high - low) / 2
            table -= shift
            shifts.append(shift)
    return np.exp(values), math.fsum(shifts)


def logarithms(values: Floats) -> Floats:
    """Invert the exponential: minus infinity where a potential is zero."""
    with np.errstate(divide="ignore"):
        return np.log(values)
