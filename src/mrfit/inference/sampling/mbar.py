"""log Z of every rung of a ladder from the draws of all rungs (Bennett, 1976; Shirts and Chodera, 2008)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from mrfit._typing import Floats

_BINS = 4096  # of gains: the draws of a bin are counted at their mean
_STEPS, _TOLERANCE = 50, 1e-10  # of Newton's method; three to five steps are usual
_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class LogZs:
    """log Z of rungs minus that of the first, and the influence of each replicate, (replicates, rungs).

    Replicates are independent: the standard error of a rung is the norm of its column.
    """

    values: Floats
    influences: Floats


def log_zs(betas: Floats, gains: Floats) -> LogZs:
    """Return the maximum likelihood estimate of log Z given draws of all rungs, by Newton's method.

    ``gains`` are log target minus log base of each draw, (rungs, draws, replicates). A rung's density is exp(beta gain)
    times the base's, so draws with nearly equal gains are alike, and are counted together. The influence of a replicate
    is its part of the score times the inverse Hessian. It is valid only at the maximum: short of it, it is too small.
    """
    middle, counts = _binned(gains)  # (bins,), (bins, replicates)
    total, n_each = counts.sum(axis=1), float(gains.shape[1] * gains.shape[2])
    exponents = np.outer(middle, betas)
    f = _by_trapezoids(betas, gains.mean(axis=(1, 2)))
    value = _objective(f, exponents, total, n_each)
    for _ in range(_STEPS):
        hessian, p = _hessian(f, exponents, total)
        step = np.zeros(len(f))
        step[1:] = -np.linalg.lstsq(hessian, (n_each - total @ p)[1:], rcond=None)[0]
        for halving in range(_HALVINGS):
            tried = f + step * 0.5**halving
            if (reached := _objective(tried, exponents, total, n_each)) < value:
                break
        else:
            break  # as near as rounding allows
        f, value = tried, reached
        if abs(step).max() < _TOLERANCE:
            break
    hessian, p = _hessian(f, exponents, total)
    scores = gains.shape[1] - counts.T @ p  # (replicates, rungs)
    influences = np.zeros_like(scores)
    influences[:, 1:] = -np.linalg.lstsq(hessian, scores[:, 1:].T, rcond=None)[0].T
    return LogZs(f, influences)


def _hessian(f: Floats, exponents: Floats, total: Floats) -> tuple[Floats, Floats]:
    """Return the Hessian of all rungs but the first, and the probability of each rung for the draws of a bin."""
    p = softmax(exponents - f, axis=1)
    full = np.diag(total @ p) - (p * total[:, None]).T @ p
    return np.asarray(full[1:, 1:]), np.asarray(p)


def _binned(gains: Floats) -> tuple[Floats, Floats]:
    """Return the mean gains of nonempty bins, and the number of draws of each replicate in them."""
    low, high, n = gains.min(), gains.max(), gains.shape[2]
    bins = np.minimum((gains - low) * (_BINS / max(high - low, 1e-300)), _BINS - 1).astype(np.int64)
    used, position = np.unique(bins, return_inverse=True)
    position = position.reshape(gains.shape)
    counts = np.bincount((position * n + np.arange(n)).ravel(), minlength=len(used) * n).reshape(-1, n)
    sums = np.bincount(position.ravel(), gains.ravel(), len(used))
    return np.asarray(sums / counts.sum(axis=1)), counts.astype(np.float64)


def _by_trapezoids(betas: Floats, means: Floats) -> Floats:
    """Return log Z by thermodynamic integration, as a start."""
    return np.concatenate(([0.0], np.cumsum(np.diff(betas) * (means[1:] + means[:-1]) / 2)))


def _objective(f: Floats, exponents: Floats, total: Floats, n_each: float) -> float:
    """Return the convex objective. At its minimum the expected number of draws of every rung is the actual one."""
    return float(total @ logsumexp(exponents - f, axis=1) + n_each * f.sum())
