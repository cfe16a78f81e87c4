"""Moments of a model by each kind of engine: enumeration, a junction tree, or chains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mrfit.analysis.goodness.row_moments import Moments


@dataclass(frozen=True, eq=False)
class Portrait:
    """The moments of a model, and log Z with its standard error.

    Parameters
    ----------
    exact
        Whether log Z and all single variables are; pairs that share no scope may still have errors.
    n_rows
        Independent rows that the distribution of sums is from; infinitely many where it is exact.
    n_groups
        Independent groups of rows that errors are from.
    is_known
        Whether the numbers may be believed: chains that do not mix have numbers too.
    """

    engine: str
    why: str
    exact: bool
    moments: Moments
    log_z: float
    error: float = 0.0
    n_rows: float = np.inf
    is_known: bool = True
    n_groups: float = np.inf
    remarks: tuple[str, ...] = ()
