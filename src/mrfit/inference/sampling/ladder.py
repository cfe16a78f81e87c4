"""Temperatures of parallel tempering, placed so that neighbours swap equally often."""

from __future__ import annotations

from math import ceil

import numpy as np

from mrfit._typing import Floats

_FIRST, _CURVATURE = 8, 1.5  # rungs before anything is known, denser where the base is
_PER_BARRIER, _BESIDE = 1.5, 2  # rungs for a unit of the barrier, and in addition
MOST_RUNGS = 48
_LEAST = 1e-3  # rejections between neighbours, so that no two rungs coincide


def first_ladder() -> Floats:
    return np.asarray((np.arange(_FIRST) / (_FIRST - 1)) ** _CURVATURE)


def adapted_ladder(betas: Floats, rejections: Floats) -> Floats:
    """Rungs between which rejections are equal, as those of an earlier ladder say (Syed et al., 2022).

    Rejections of neighbours add up to the communication barrier, which hardly depends on the ladder. As many rungs as
    are best for non-reversible swaps grow in proportion to it.
    """
    barrier = np.concatenate(([0.0], np.cumsum(np.maximum(rejections, _LEAST))))
    n = min(ceil(_PER_BARRIER * barrier[-1]) + _BESIDE, MOST_RUNGS)
    placed = np.interp(np.linspace(0.0, barrier[-1], n), barrier, betas)
    placed[0], placed[-1] = 0.0, 1.0
    return np.asarray(placed)
