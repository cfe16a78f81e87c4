"""The negative mean log-likelihood of a table, exact over all joint states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.objectives.objective import Expansion, Objective
from mrfit.parameterizations.canonical import Canonical

Floats = NDArray[np.float64]

MOST_STATES = 2**22  # joint states: a few vectors of 32 MB


class JointStates:
    """Functions of all joint states, as arrays with one axis for each variable.

    The log-potentials are a tensor product of one small matrix for each variable, applied axis after axis; no feature
    matrix is formed. Cost and memory grow with the number of joint states.
    """

    def __init__(self, parameters: Canonical) -> None:
        self.shape = parameters.domain.shape
        n_states = float(np.prod(np.array(self.shape, float)))
        if n_states > MOST_STATES:
            raise InputError(
                f"The exact likelihood goes over all {n_states:.2g} joint states of {len(self.shape)} variables; the "
                f"limit is {MOST_STATES:.2g}. Use the pseudo-likelihood, or fewer variables."
            )
        stride = np.concatenate([np.cumprod(self.shape[::-1])[-2::-1], [1]]).astype(np.int64)
        # Where each parameter enters: its own states, and all other variables in their first.
        assignments = map(parameters.assignment, range(parameters.n_parameters))
        self._place = np.array([sum(int(stride[i]) * s for i, s in each) for each in assignments], np.int64)

    def potentials(self, w: Floats) -> Floats:
        """Sum of the parameters whose features are active, for every joint state."""
        out = np.zeros(self.shape)
        out.ravel()[self._place] = w
        for axis in range(out.ndim):
            turned = np.moveaxis(out, axis, 0)
            turned[1:] += turned[0]
        return out

    def moments(self, p: Floats) -> Floats:
        """Sum of ``p`` over the joint states in which each feature is active: the adjoint of `potentials`."""
        out = p.copy()
        for axis in range(out.ndim):
            turned = np.moveaxis(out, axis, 0)
            turned[0] += turned[1:].sum(axis=0)
        return np.asarray(out.ravel()[self._place], np.float64)

    def log_probabilities(self, w: Floats) -> tuple[Floats, float]:
        """log p of every joint state, and log Z."""
        potentials = self.potentials(w)
        largest = float(potentials.max())
        log_z = largest + float(np.log(np.exp(potentials - largest).sum()))
        return potentials - log_z, log_z


class Likelihood(Objective):
    """log Z(w) - w . (mean of the features over the rows)."""

    def __init__(self, parameters: Canonical, rows: UniqueRows) -> None:
        self.n_parameters = parameters.n_parameters
        self.states = JointStates(parameters)
        empirical = np.zeros(self.states.shape)
        np.add.at(empirical, tuple(rows.codes.T), rows.sample_weight / rows.total_weight)
        self._observed = self.states.moments(empirical)

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        value, mean, _ = self._at(w)
        return value, mean - self._observed

    def expand(self, w: Floats) -> Expansion:
        value, mean, p = self._at(w)

        def product(v: Floats) -> Floats:
            """The covariance of the features times v."""
            return self.states.moments(p * (self.states.potentials(v) - float(mean @ v)))

        return Expansion(value, mean - self._observed, mean * (1.0 - mean), product)  # features are 0 or 1

    def probabilities(self, w: Floats) -> Floats:
        """p(x) of every joint state, an array with one axis for each variable."""
        return self._at(w)[2]

    def _at(self, w: Floats) -> tuple[float, Floats, Floats]:
        """Value, mean of every feature under the model, and p."""
        log_p, log_z = self.states.log_probabilities(w)
        p = np.exp(log_p)
        return log_z - float(self._observed @ w), self.states.moments(p), p
