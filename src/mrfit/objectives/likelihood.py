"""The negative mean log-likelihood of a table, exact over all joint states."""

from __future__ import annotations

from functools import cache, partial
from math import prod
from typing import NamedTuple

import numpy as np

from mrfit._kernels.fitting.state_products import scale_and_subtract
from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.joint_states import JointStates
from mrfit.objectives.objective import Expansion, Objective, read_only
from mrfit.parameterizations.joint import Joint
from mrfit.parameterizations.parameterization import Parameterization


class LikelihoodPoint(NamedTuple):
    """All joint states under the model at one vector of parameters."""

    log_z: float
    gradient: Floats  # mean of every feature less that of the rows
    partial_moments: Floats
    observed: Floats | None  # to be added to them
    log_potentials: Floats  # of the rows' states

    @property
    def moments(self) -> Floats:
        """Means of every function of the base."""
        return self.partial_moments if self.observed is None else self.partial_moments + self.observed

    def covariance(self, joint: Joint, chosen: Indices) -> Floats:
        return joint.covariance(self.partial_moments, chosen, also=self.observed)


class Likelihood(Objective):
    """log Z(w) - w . (mean of the features over the rows).

    Value and gradient cost two transforms over all joint states and one pass of exponentials.
    """

    def __init__(self, parameters: Joint | Parameterization, rows: UniqueRows, *, jobs: int = 1) -> None:
        self.states = JointStates(parameters, jobs=jobs)
        self.joint, self.base = self.states.joint, self.states.base
        self.n_parameters, self.n_cells = self.joint.n_parameters, prod(rows.domain.shape)
        self._rows = self.base.positions(rows.codes)
        self._share = rows.sample_weight / rows.total_weight
        empirical = np.zeros(self.base.size)
        np.add.at(empirical, self._rows, self._share)
        self._all_observed = self.base.moments(empirical, jobs=jobs)
        self._observed = self.joint.gather(self._all_observed)

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        point = self._at(w)
        return self._value(point), point.gradient

    def expand(self, w: Floats) -> Expansion:
        w = read_only(w)
        point = self._at(w)
        probabilities: list[Floats] = []  # few methods ask for products, and all states are a long vector

        def product(v: Floats) -> Floats:
            """The covariance of the features times v."""
            if not probabilities:
                probabilities.append(self.states.probabilities(w, point.log_z))
            mean = float(point.gradient @ v) + float(self._observed @ v)
            return self.states.covariance_product(probabilities[0], v, mean)

        return Expansion(
            value=self._value(point),
            gradient=point.gradient,
            diagonal=cache(lambda: self.joint.variances(point.moments)),
            product=product,
            # Of all sets of variables some are large: what is not looked up takes longer than products.
            block=None
            if self.joint.is_whole_base and not self.base.is_closed
            else partial(point.covariance, self.joint),
            dual=lambda t: self._mixed_entropy(w, point, t),
        )

    def gradient_products(self, w: Floats) -> Floats:
        """The mean over rows of the outer products of their own gradients: how features vary around the model's means.

        That is around the rows' own means, and the distance of both.
        """
        _, gradient = self.value_and_gradient(w)
        observed = self.joint.covariance(self._all_observed, np.arange(self.n_parameters))
        return observed + np.outer(gradient, gradient)

    def probabilities(self, w: Floats) -> Floats:
        """p(x) of every joint state, an array with one axis for each variable."""
        return self.base.by_state(np.exp(self.states.log_probabilities(w)))

    def _at(self, w: Floats) -> LikelihoodPoint:
        log_z, moments, total, of_rows = self.states.sums(w, self._rows)
        if not self.joint.is_whole_base:
            moments /= total
            return LikelihoodPoint(log_z, self.joint.gather(moments) - self._observed, moments, None, of_rows)
        # The gradient takes the place of the moments, one vector of all joint states less; observed ones added again,
        # they are the moments.
        gradient = self.joint.gather(moments)
        scale_and_subtract(gradient, 1.0 / total, self._observed)
        moments[0] = 0.0
        return LikelihoodPoint(log_z, gradient, moments, self._all_observed, of_rows)

    def _value(self, point: LikelihoodPoint) -> float:
        # The mean of the rows' log-potentials is w . observed, without another pass over all parameters.
        return point.log_z - float(self._share @ point.log_potentials)

    def _mixed_entropy(self, w: Floats, point: LikelihoodPoint, t: float) -> float:
        """Entropy of t * model + (1 - t) * table, whose features differ from the table's by t times the gradient.

        The dual of the likelihood is maximum entropy. Beside the rows the mixture is t * model, whose entropy is known
        from log Z, so that only the rows are gone through.
        """
        log_p = point.log_potentials - point.log_z
        p = np.exp(log_p)
        entropy = self._value(point) - float(point.gradient @ w)
        beside, log_beside = 1.0 - float(p.sum()), -entropy - float(p @ log_p)
        mixed = t * p + (1.0 - t) * self._share
        positive = mixed > 0
        inside = float(mixed[positive] @ np.log(mixed[positive]))
        return -inside - (t * (log_beside + np.log(t) * beside) if t > 0 else 0.0)
