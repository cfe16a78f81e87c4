"""Pseudo-log-likelihood of single rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.cells import gather
from mrfit._kernels.scoring import row_scores
from mrfit.objectives.likelihood import JointStates
from mrfit.parameterizations.canonical import Canonical
from mrfit.workers import available_jobs, deal, run

Floats = NDArray[np.float64]

_WORTH_A_THREAD = 2_000_000  # features times rows


def row_pll(parameters: Canonical, w: Floats, codes: NDArray[np.uint8]) -> Floats:
    """sum over variables of log p(x_i | rest) for every row of codes, shape (rows,)."""
    conditionals = parameters.conditionals
    w_slots = np.empty(len(conditionals.parameter_of_slot))
    gather(w, conditionals.parameter_of_slot, w_slots)
    first_indicator = np.concatenate([[0], np.cumsum(parameters.n_free)])
    variables = np.searchsorted(first_indicator, conditionals.conditions, side="right") - 1
    states = (conditionals.conditions - first_indicator[variables] + 1).astype(np.uint8)
    columns = np.ascontiguousarray(codes.T)
    n_features = np.diff(conditionals.feature_start)

    def score(first: int, last: int) -> Floats:
        scores = np.zeros(len(codes))
        row_scores(
            columns, parameters.n_free, conditionals.feature_start, conditionals.condition_start,
            variables, states, conditionals.slot_start, w_slots, first, last, scores,
        )  # fmt: skip
        return scores

    jobs = available_jobs() if n_features.sum() * len(codes) > _WORTH_A_THREAD else 1
    parts = run(score, deal(n_features + 1.0, jobs))
    return sum(parts, start=np.zeros(len(codes)))


def row_ll(parameters: Canonical, w: Floats, codes: NDArray[np.uint8]) -> Floats:
    """Log-likelihood of every row, exact over all joint states."""
    log_p, _ = JointStates(parameters).log_probabilities(w)
    return np.asarray(log_p[tuple(codes.T)], np.float64)
