"""Convergence diagnostics of chains.

Rank-normalised split R-hat and effective sample size follow Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021),
Rank-normalization, folding, and localization, Bayesian Analysis 16(2). Draws are (draws, chains).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from mrfit._typing import Floats


def r_hat(draws: ArrayLike) -> float:
    """Return the larger R-hat of the ranks and of the ranks of distances from the median.

    The first tells whether chains agree in location, the second whether they agree in spread. It is 1 where all draws
    are equal, and infinity where every chain stays at its own value.
    """
    x = _halves(draws)
    folded = abs(x - np.median(x))
    return max(split_r_hat(*_moments(_normal_scores(z))) for z in (x, folded))


def effective_sample_size(draws: ArrayLike) -> float:
    """Return the number of independent draws that would give the mean of the ranks as precisely (bulk ESS).

    It uses autocorrelations over all halves of chains. Pairs of lags are added as long as their sums are positive, and
    made monotone (Geyer, 1992). It never exceeds S log10 S for S draws, and is NaN where all draws are equal.
    """
    z = _normal_scores(_halves(draws))
    n, m = z.shape
    between, within = _variances(*_moments(z))
    if not between > 0.0:
        return np.nan
    rho = 1.0 - (within - _autocovariance(z).mean(axis=1)) / between
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)[: max((n - 1) // 2, 1)]  # the last lags have few draws
    negative = np.flatnonzero(pairs <= 0.0)
    end = int(negative[0]) if len(negative) else len(pairs) - 1
    half_pair = max(rho[2 * end], 0.0)  # of the first pair that is not added whole
    tau = max(2.0 * np.minimum.accumulate(pairs[:end]).sum() - 1.0 + half_pair, 1.0 / np.log10(n * m))
    return float(n * m / tau)


def split_r_hat(mean: Floats, variance: Floats, n: int) -> float:
    """Return R-hat from means and variances of the halves of chains, each of ``n`` draws."""
    between, within = _variances(mean, variance, n)
    if between == 0.0:
        return 1.0
    return float(np.sqrt(between / within)) if within > 0.0 else np.inf


def r_hat_of_frequencies(frequency: Floats, n: int) -> Floats:
    """Return R-hat of 0/1 quantities from their frequencies in each half chain of ``n`` draws, (..., halves).

    Ranks of two values are an affine map of the values, and so are distances from the median: neither changes R-hat.
    """
    within = (frequency * (1.0 - frequency)).mean(axis=-1) * n / (n - 1)
    total = within * (n - 1) / n + frequency.var(axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total == 0.0, 1.0, np.sqrt(total / within))


def _halves(draws: ArrayLike) -> Floats:
    """Return the first and second halves of all chains as chains, without the middle draw of an odd number."""
    x = np.asarray(draws, np.float64)
    half = len(x) // 2
    return np.concatenate((x[:half], x[len(x) - half :]), axis=1)


def _normal_scores(x: Floats) -> Floats:
    """Return normal quantiles at the ranks (Blom, 1958); equal values share their mean rank."""
    _, which, counts = np.unique(x, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[which].reshape(x.shape)
    return np.asarray(ndtri((ranks - 0.375) / (x.size + 0.25)))


def _moments(z: Floats) -> tuple[Floats, Floats, int]:
    return z.mean(axis=0), z.var(axis=0, ddof=1), len(z)


def _variances(mean: Floats, variance: Floats, n: int) -> tuple[float, float]:
    """Return the variance of all draws, which includes that between chains, and the variance within chains."""
    within = float(variance.mean())
    return within * (n - 1) / n + float(mean.var(ddof=1)), within


def _autocovariance(z: Floats) -> Floats:
    """Return the autocovariance of each chain at every lag, (lags, chains)."""
    n = len(z)
    padded = np.fft.rfft(z - z.mean(axis=0), 2 * n, axis=0)
    return np.asarray(np.fft.irfft(abs(padded) ** 2, axis=0)[:n] / n)
