"""Sampling error of frequencies: z-scores and p-values against probabilities that may have an error themselves."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, stdtr

from mrfit._typing import Floats

_MANY = 25.0  # rows expected with and without a state from which on the normal distribution holds
_EXACT = 1e-6  # of the variance of counts: less is no error of the model's side


def z_scores(model: Floats, data: Floats, error: Floats, n_rows: Floats) -> Floats:
    """(probability - frequency) / standard error of both; of a state that never occurs that is half a row."""
    return np.asarray((model - data) / np.sqrt(_variance(model, error, n_rows)), np.float64)


def p_values(model: Floats, data: Floats, error: Floats, *, n_rows: Floats, n_groups: float) -> Floats:
    """Two-sided p of frequencies in so many rows each, if the probabilities hold.

    ``error`` is the standard error of each probability, found from ``n_groups`` independent groups. Counts are
    binomial; where the probability has an error and few rows are expected, negative binomial with the same mean and
    variance; where many are, normal, with Student's t for an error from few groups (Welch 1947).
    """
    flipped = model > 0.5  # so that few are few
    p, k = np.where(flipped, 1.0 - model, model), n_rows * np.where(flipped, 1.0 - data, data)
    mean, extra = n_rows * p, (n_rows * error) ** 2
    out = _two_sided(*_binomial(p, np.clip(k, 0.0, n_rows), n_rows))
    loose = extra > _EXACT * mean
    out[loose] = _two_sided(*_negative_binomial(mean[loose], extra[loose], k[loose]))
    many = mean >= _MANY
    own = p * (1.0 - p) / n_rows + error**2
    uncertain = np.maximum(error**2 / np.maximum(own, 1e-300), 1e-6)  # the part of the model's side
    degrees = np.clip((n_groups - 1.0) / uncertain**2, 1.0, 1e9)
    z = np.abs(data - model)[many] / np.sqrt(own[many])
    out[many] = 2.0 * stdtr(degrees[many], -z)
    return np.minimum(out, 1.0)


def _variance(model: Floats, error: Floats, n_rows: Floats) -> Floats:
    return np.maximum(model * (1.0 - model) / n_rows + error**2, (0.5 / n_rows) ** 2)


def _two_sided(lower: Floats, upper: Floats) -> Floats:
    return 2.0 * np.minimum(lower, upper)


def _binomial(p: Floats, k: Floats, n: Floats) -> tuple[Floats, Floats]:
    """P(X <= k) and P(X >= k); weights make counts that are no whole numbers."""
    lower = np.where(k >= n, 1.0, betainc(np.maximum(n - k, 1e-9), k + 1.0, 1.0 - p))
    return lower, np.where(k <= 0, 1.0, betainc(np.maximum(k, 1e-9), n - k + 1.0, p))


def _negative_binomial(mean: Floats, extra: Floats, k: Floats) -> tuple[Floats, Floats]:
    """P(X <= k) and P(X >= k) of the negative binomial distribution with this mean and the variance mean + extra."""
    mean = np.maximum(mean, 1e-12)
    r = mean**2 / extra
    q = r / (r + mean)
    lower = np.asarray(betainc(r, k + 1.0, q), np.float64)
    return lower, np.where(k <= 0, 1.0, betainc(np.maximum(k, 1e-9), r, 1.0 - q))
