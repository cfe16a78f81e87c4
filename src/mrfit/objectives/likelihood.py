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
    """The model at one vector of parameters, over all joint states."""

    log_z: float
    gradient: Floats  # model mean of every feature minus that of the rows
    partial_moments: Floats
    observed: Floats | None  # to be added to the partial moments
    log_potentials: Floats  # of the rows' states

    @property
    def moments(self) -> Floats:
        """Means of every basis function."""
        return self.partial_moments if self.observed is None else self.partial_moments + self.observed

    def covariance(self, joint: Joint, chosen: Indices) -> Floats:
        return joint.covariance(self.partial_moments, chosen, also=self.observed)


class Likelihood(Objective):
    """Negative mean log-likelihood of rows, in nats, exact over all joint states.

    log Z(w) - w . (mean of the features over the rows).

    Parameters
    ----------
    parameters : Parameterization
        Coordinates to fit.
    rows : UniqueRows
        Rows to fit, complete.
    jobs : int, default 1
        Number of threads of transforms and exponentials; the result does not depend on it.

    See Also
    --------
    TreeLikelihood : The same for sparse structures of many variables.
    LikelihoodSpec : Choose the likelihood in a `Learner`.
    PseudoLikelihood : An approximation for any number of variables.

    Notes
    -----
    Value and gradient cost two transforms over all joint states and one pass of exponentials. The dual is maximum
    entropy; with a penalty on all parameters, solutions have a duality gap.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import Likelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.solvers import LBFGS, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = Likelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> round(minimize(objective, LBFGS()).value, 3)
    1.33
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
        probabilities: list[Floats] = []  # computed on demand: few solvers need products, and it is a long vector

        def product(v: Floats) -> Floats:
            """Return the covariance of the features times v."""
            if not probabilities:
                probabilities.append(self.states.probabilities(w, point.log_z))
            mean = float(point.gradient @ v) + float(self._observed @ v)
            return self.states.covariance_product(probabilities[0], v, mean)

        return Expansion(
            value=self._value(point),
            gradient=point.gradient,
            diagonal=cache(lambda: self.joint.variances(point.moments)),
            product=product,
            # With all interactions, blocks of large scopes cannot be looked up, and take longer than products.
            block=None
            if self.joint.is_whole_base and not self.base.is_closed
            else partial(point.covariance, self.joint),
            dual=lambda t: self._mixed_entropy(w, point, t),
        )

    def gradient_products(self, w: Floats) -> Floats:
        """Return the mean outer product of the gradients of single rows.

        It is the rows' own covariance plus the outer product of the mean gradient.
        """
        _, gradient = self.value_and_gradient(w)
        observed = self.joint.covariance(self._all_observed, np.arange(self.n_parameters))
        return observed + np.outer(gradient, gradient)

    def probabilities(self, w: Floats) -> Floats:
        """Return p(x) of every joint state, an array with one axis for each variable."""
        return self.base.by_state(np.exp(self.states.log_probabilities(w)))

    def _at(self, w: Floats) -> LikelihoodPoint:
        log_z, moments, total, of_rows = self.states.sums(w, self._rows)
        if not self.joint.is_whole_base:
            moments /= total
            return LikelihoodPoint(log_z, self.joint.gather(moments) - self._observed, moments, None, of_rows)
        # The gradient overwrites the moments, which saves one vector of all joint states. The moments are the gradient
        # plus the observed moments.
        gradient = self.joint.gather(moments)
        scale_and_subtract(gradient, 1.0 / total, self._observed)
        moments[0] = 0.0
        return LikelihoodPoint(log_z, gradient, moments, self._all_observed, of_rows)

    def _value(self, point: LikelihoodPoint) -> float:
        # w . observed is the mean of the rows' log-potentials, which are at hand; the sum over all parameters is not
        # needed.
        return point.log_z - float(self._share @ point.log_potentials)

    def _mixed_entropy(self, w: Floats, point: LikelihoodPoint, t: float) -> float:
        """Return the entropy of t * model + (1 - t) * table, whose features differ from the table's by t * gradient.

        The dual of the likelihood is maximum entropy. Outside the rows the mixture is t * model, whose entropy follows
        from log Z, so that only the rows are visited.
        """
        log_p = point.log_potentials - point.log_z
        p = np.exp(log_p)
        entropy = self._value(point) - float(point.gradient @ w)
        outside, log_outside = 1.0 - float(p.sum()), -entropy - float(p @ log_p)
        mixed = t * p + (1.0 - t) * self._share
        positive = mixed > 0
        inside = float(mixed[positive] @ np.log(mixed[positive]))
        return -inside - (t * (log_outside + np.log(t) * outside) if t > 0 else 0.0)
