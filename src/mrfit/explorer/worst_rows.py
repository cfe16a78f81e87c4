"""The rows of data that a model expects least, and their unusual states."""

from __future__ import annotations

from typing import Any

import numpy as np

from mrfit.data.encoding import UNOBSERVED
from mrfit.data.unique_rows import UniqueRows
from mrfit.model.markov_network import MarkovNetwork
from mrfit.objectives.row_scores import conditional_distributions

_SURPRISES = 3  # states listed for each row


def worst_rows(model: MarkovNetwork, rows: UniqueRows, n_rows: int) -> list[dict[str, Any]]:
    """Return distinct rows without missing cells, the lowest pseudo-log-likelihood first.

    ``surprises`` are the least expected [variable, state, probability given all others].
    """
    complete = np.flatnonzero((rows.codes != UNOBSERVED).all(axis=1) & (rows.sample_weight > 0))
    scores = model.row_scores("pll")(model.parameters, model.w, rows.codes[complete], jobs=1)
    chosen = np.argsort(scores, kind="stable")[:n_rows]
    codes, weight = rows.codes[complete[chosen]], rows.sample_weight[complete[chosen]]
    expected = [
        p[np.arange(len(codes)), codes[:, i]] for i, p in enumerate(conditional_distributions(model.factors, codes))
    ]
    surprises = np.argsort(np.array(expected), axis=0, kind="stable")[:_SURPRISES]
    return [
        {
            "score": float(scores[k]) if np.isfinite(scores[k]) else None,
            "weight": float(weight[row]),
            "surprises": [[int(v), int(codes[row, v]), float(expected[v][row])] for v in surprises[:, row]],
        }
        for row, k in enumerate(chosen.tolist())
    ]
