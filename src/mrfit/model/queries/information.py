"""Entropies and odds of probabilities that have errors."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, inf, log

import numpy as np
from scipy.special import entr

from mrfit._typing import Floats

_SECOND_ORDER = 3.0  # factor on the bias, in the error of an entropy
_FROM_THE_END = 2.0  # standard errors from 0 and 1 within which log-odds may be infinite


def information(
    table: Floats, deviations: Floats | None, terms: Sequence[tuple[float, Sequence[int]]]
) -> tuple[float, float | None]:
    """Return a sum of entropies of margins of a joint table, in nats, and its standard error.

    Parameters
    ----------
    table
        Probabilities, one axis for each variable.
    deviations
        See `Posterior.deviations`, in C order of the table; None where they are unknown.
    terms
        A factor and the remaining axes, for each entropy.

    Notes
    -----
    The error is that of the first-order (delta) method and, in quadrature, three times the second-order bias, sum
    var / 2p. Near independence the mutual information is quadratic in the deviations, so the first-order error
    vanishes where the estimate is small by chance; the second term covers that case. A cell that no chain visited
    counts with its error as its probability.
    """
    value, bias = 0.0, 0.0
    moved = np.zeros(0 if deviations is None else deviations.shape[1])
    for factor, axes in terms:
        dropped = tuple(axis for axis in range(table.ndim) if axis not in axes)
        p = table.sum(axis=dropped).ravel()
        value += factor * float(entr(p).sum())
        if deviations is not None and deviations.shape[1]:
            parts = deviations.reshape(*table.shape, -1).sum(axis=dropped).reshape(len(p), -1)
            error = np.sqrt((parts**2).sum(axis=1))
            live = error > 0.0
            at = np.maximum(p, error)[live]
            moved -= factor * ((np.log(at) + 1.0) @ parts[live])
            bias -= factor * float((error[live] ** 2 / (2.0 * at)).sum())
    return value, None if deviations is None else hypot(float(np.linalg.norm(moved)), _SECOND_ORDER * bias)


def log_odds(p: float, error: float | None) -> tuple[float, float | None]:
    """Return log p / (1 - p) and its standard error.

    Where the probability may be 0 or 1, the error of the log-odds is infinite. Their value is then that at a
    probability of one error from there.
    """
    if not error:
        return _log_odds(p), error
    inside = min(max(p, error), 1.0 - error) if error < 0.5 else 0.5
    is_open = min(p, 1.0 - p) > _FROM_THE_END * error
    return _log_odds(inside), error / (p * (1.0 - p)) if is_open else inf


def _log_odds(p: float) -> float:
    if p in (0.0, 1.0):
        return -inf if p == 0.0 else inf
    return log(p) - log(1.0 - p)
