"""The covariance of features over the rows, as an estimate of the Hessian of the likelihood.

At the optimum the model and the rows agree in the means of all features, and nearly in their covariances, which are the
Hessian of the likelihood. To allow for few rows, the estimate is shrunk a little towards the covariance of independent
variables.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.tree_states import TreeStates
from mrfit.parameterizations.centring import centred_map, products_of_states

MOST_ROWS = 20_000
_MOST_PARAMETERS = 5_000
_MOST_WORK = 4e10  # multiplications: a few seconds
_DENSE = 0.1  # share of nonzero features from which dense matrices are multiplied
_SHRINKAGE = 0.1
_SMOOTHING = 0.5  # rows, for states that never occur


def feature_covariance(states: TreeStates, rows: UniqueRows, *, most_rows: int = MOST_ROWS) -> Floats | None:
    """Return a positive definite matrix from at most ``most_rows`` rows; None for more parameters than pay off."""
    n = states.parameters.n_parameters
    n_rows = min(rows.n_distinct, most_rows, int(_MOST_WORK / max(n, 1) ** 2))
    if not 0 < n <= _MOST_PARAMETERS:
        return None
    out = observed_covariance(states, rows, np.arange(n_rows) * rows.n_distinct // n_rows)
    out *= 1.0 - _SHRINKAGE
    out += _SHRINKAGE * independent_covariance(states, rows)
    return out


def observed_covariance(states: TreeStates, rows: UniqueRows, chosen: Indices) -> Floats:
    """Return the covariance of features over the chosen rows."""
    n = states.parameters.n_parameters
    second, first = np.zeros((n, n)), np.zeros(n)
    share = rows.sample_weight[chosen] / rows.sample_weight[chosen].sum()
    for begin, cells in states.cells(rows, chosen):
        features = states.features(cells)
        weight = share[begin : begin + len(cells)]
        first += features.T @ weight
        if features.nnz < _DENSE * np.prod(features.shape):
            second += (features.T @ features.multiply(weight[:, None])).toarray()
        else:
            dense = features.toarray()
            second += dense.T @ (weight[:, None] * dense)
    second -= np.outer(first, first)
    return second


def independent_covariance(states: TreeStates, rows: UniqueRows) -> Floats:
    """Return the covariance of features of independent variables with the frequencies of the rows.

    Products of centred indicators are then uncorrelated, except for those of states of one variable, which are slightly
    correlated. That correlation is left out.
    """
    canonical = states.parameters.canonical
    frequency = _frequencies(rows)
    spread = states.parameters.canonical_map.T @ centred_map(canonical, frequency)
    variance = products_of_states(canonical, frequency * (1.0 - frequency))
    return np.asarray((spread @ sparse.diags_array(variance) @ spread.T).toarray(), np.float64)


def _frequencies(rows: UniqueRows) -> Floats:
    """Return smoothed frequencies of states, (variables, most states); zeros where a variable has fewer states."""
    shape = rows.domain.shape
    out = np.zeros((len(shape), max(shape, default=1)))
    for i, c in enumerate(shape):
        count = np.bincount(rows.codes[:, i], rows.sample_weight, minlength=c)
        out[i, :c] = (count + _SMOOTHING / c) / (rows.total_weight + _SMOOTHING)
    return out
