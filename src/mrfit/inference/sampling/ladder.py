"""Temperatures of parallel tempering, spaced so that all neighbours swap equally often."""

from __future__ import annotations

from math import ceil

import numpy as np

from mrfit._typing import Floats

_FIRST, _CURVATURE = 8, 1.5  # rungs of the first ladder, denser near the base
_PER_BARRIER, _BESIDE = 1.5, 2  # rungs for a unit of the barrier, and rungs in addition
MOST_RUNGS = 48
_LEAST = 1e-3  # rejection rate between neighbours, so that no two rungs coincide


def first_ladder() -> Floats:
    return np.asarray((np.arange(_FIRST) / (_FIRST - 1)) ** _CURVATURE)


def adapted_ladder(betas: Floats, rejections: Floats) -> Floats:
    """Return rungs with equal rejection rates, estimated from those of an earlier ladder (Syed et al., 2022).

    The rejection rates of neighbours add up to the communication barrier, which hardly depends on the ladder.
    Interpolating beta in the accumulated barrier equalizes them. The best number of rungs for non-reversible swaps is
    proportional to the barrier.
    """
    barrier = np.concatenate(([0.0], np.cumsum(np.maximum(rejections, _LEAST))))
    n = min(ceil(_PER_BARRIER * barrier[-1]) + _BESIDE, MOST_RUNGS)
    betas = np.interp(np.linspace(0.0, barrier[-1], n), barrier, betas)
    betas[0], betas[-1] = 0.0, 1.0
    return np.asarray(betas)
