"""Whether chains agree, and what their draws are worth.

Rank-normalised split R-hat and effective sample size after Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021),
Rank-normalization, folding, and localization, Bayesian Analysis 16(2). Draws are (draws, chains).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from mrfit._typing import Floats


def r_hat(draws: ArrayLike) -> float:
    """The larger of R-hat of the ranks (do chains agree where they are) and of the ranks of distances from the median
    (and how far they spread). 1 where all draws are equal, infinity where every chain stays at its own value.
    """
    x = _halves(draws)
    folded = abs(x - np.median(x))
    return max(split_r_hat(*_moments(_normal_scores(z))) for z in (x, folded))


def effective_sample_size(draws: ArrayLike) -> float:
    """How many independent draws would give the mean of the ranks as well (bulk ESS).

    By autocorrelations over all halves of chains, added in pairs as long as their sums are positive and made to fall
    (Geyer, 1992). Never more than S log10 S of S draws. Not a number where all draws are equal.
    """
    z = _normal_scores(_halves(draws))
    n, m = z.shape
    between, within = _variances(*_moments(z))
    if not between > 0.0:
        return np.nan
    rho = 1.0 - (within - _autocovariance(z).mean(axis=1)) / between
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)[: max((n - 1) // 2, 1)]  # the last lags have hardly a draw
    negative = np.flatnonzero(pairs <= 0.0)
    end = int(negative[0]) if len(negative) else len(pairs) - 1
    half_pair = max(rho[2 * end], 0.0)  # of the first that is not added whole
    tau = max(2.0 * np.minimum.accumulate(pairs[:end]).sum() - 1.0 + half_pair, 1.0 / np.log10(n * m))
    return float(n * m / tau)


def split_r_hat(mean: Floats, variance: Floats, n: int) -> float:
    """From means and variances of the halves of chains, each of ``n`` draws."""
    between, within = _variances(mean, variance, n)
    if between == 0.0:
        return 1.0
    return float(np.sqrt(between / within)) if within > 0.0 else np.inf


def r_hat_of_frequencies(frequency: Floats, n: int) -> Floats:
    """R-hat of quantities that are 0 or 1, from how often they are 1 in each half chain of ``n`` draws, (..., halves).

    Ranks of two values are an affine map of them, and so are distances from the median: neither changes R-hat.
    """
    within = (frequency * (1.0 - frequency)).mean(axis=-1) * n / (n - 1)
    total = within * (n - 1) / n + frequency.var(axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total == 0.0, 1.0, np.sqrt(total / within))


def _halves(draws: ArrayLike) -> Floats:
    """First and second halves of all chains as chains; the middle draw of an odd number is left out."""
    x = np.asarray(draws, np.float64)
    half = len(x) // 2
    return np.concatenate((x[:half], x[len(x) - half :]), axis=1)


def _normal_scores(x: Floats) -> Floats:
    """Quantiles of the normal distribution at the ranks (Blom, 1958); equal values share their mean rank."""
    _, which, counts = np.unique(x, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[which].reshape(x.shape)
    return np.asarray(ndtri((ranks - 0.375) / (x.size + 0.25)))


def _moments(z: Floats) -> tuple[Floats, Floats, int]:
    return z.mean(axis=0), z.var(axis=0, ddof=1), len(z)


def _variances(mean: Floats, variance: Floats, n: int) -> tuple[float, float]:
    """Of all draws, with what chains differ by; and within chains."""
    within = float(variance.mean())
    return within * (n - 1) / n + float(mean.var(ddof=1)), within


def _autocovariance(z: Floats) -> Floats:
    """At every lag, of each chain, (lags, chains)."""
    n = len(z)
    padded = np.fft.rfft(z - z.mean(axis=0), 2 * n, axis=0)
    return np.asarray(np.fft.irfft(abs(padded) ** 2, axis=0)[:n] / n)
