"""Finite-sample bounds on the error of every parameter, for the likelihood and the pseudo-likelihood, with proof.

Bradley and Guestrin (2012) bound the error of maximum (pseudo-)likelihood estimates by C_min; Chou et al. (2018) put
their Lemma 1 into the bound. This is a bound of the same kind with every constant derived here.

Let f be the mean over n independent rows of a loss whose expectation is least at w*, and C > 0 the smallest eigenvalue
of its expected Hessian there. Features have values in an interval of length rho. The loss is a sum over conditionals
(one, of all variables, for the likelihood); a parameter takes part in q of them, a conditional has d parameters.
Let g(R) = (exp(-R) - 1 + R) / R^2, R = rho sqrt(d) eps, and b = eps C g(R) for the likelihood, half of that for the
pseudo-likelihood. Then every minimiser of f plus a convex penalty whose gradient at w* has norm b / 2 or less is
within eps of w* in the Euclidean norm, hence in every parameter, with probability 1 - delta if

    n >= 2 m (G / b)^2 log(4 m / delta)             G = rho for the likelihood, 2 q rho for the pseudo-likelihood
    n >= 2 q d rho^2 / C log(2 m / delta)           pseudo-likelihood only

Proof. (1) An entry of the gradient of one row at w* has mean zero: it is the mean of a feature less its value, for the
pseudo-likelihood a sum of q such with conditional means. It lies in an interval of length G, so Hoeffding's inequality
for m entries gives ||grad f(w*)|| < b / 2 but with probability delta / 2. (2) The Hessian of the likelihood at w* is
the same for all rows. That of the pseudo-likelihood for one row, sum over i of the covariance of the features given
all but x_i, is positive semidefinite and at most q d rho^2 / 4: u . H u sums variances of u . features, each at most
rho^2 / 4 (sum of |u| over d parameters)^2, and each u_t occurs q times. By the matrix Chernoff inequality (Tropp 2012,
Theorem 1.1) its mean has an eigenvalue below C / 2 with probability delta / 2 at most. (3) Along w* + t u with
||u|| = eps, h(t) = f(w* + t u) has |h'''| <= R h'': a third central moment is at most the range times the variance. So
h(1) - h(0) >= h'(0) + g(R) h''(0) (Bach 2010, Proposition 1), and with the penalty, convex, the sum at w* + u exceeds
that at w* by more than -b eps + b eps = 0. What is convex and larger on a whole sphere has its minimisers inside.

For rho = 1 and eps <= 2 the rows of Theorem 1's form, 2^9 q^2 m^2 / (C eps)^2 log(2 m (m + 1) / delta), are never
fewer, so that it holds too. Since d <= m, R <= 2 sqrt(m), so that g(R) >= 1 / (4 sqrt(m)): it is 1 / (2 R) or more from
R = 1.6 on, and at least 0.31 before. Hence 2 m (G / b)^2 = 32 m q^2 / (C eps g)^2 <= 2^9 q^2 m^2 / (C eps)^2. And
C <= q d / 4 by (2), so that 2 q d / C is below it as well. For the likelihood G and b make it smaller still.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.parameterizations.parameterization import Parameterization


@dataclass(frozen=True)
class Composition:
    """Sizes of the sum that an objective is.

    Parameters
    ----------
    n_parameters
        m: number of parameters.
    n_together
        d: most parameters in one conditional; all of them for the likelihood.
    n_conditionals
        q: most conditionals that a parameter takes part in, the size of the largest scope; None for the likelihood.
    feature_range
        rho: largest difference of two values of one feature.
    """

    n_parameters: int
    n_together: int
    n_conditionals: int | None = None
    feature_range: float = 1.0

    @classmethod
    def of_likelihood(cls, parameters: Parameterization) -> Composition:
        m = parameters.n_parameters
        return cls(m, m, None, parameters.feature_range)

    @classmethod
    def of_pseudo_likelihood(cls, parameters: Parameterization) -> Composition:
        structure = parameters.structure
        size_of_scope = np.bincount(parameters.scope_of_parameter, minlength=structure.n_scopes)
        of_variable, first = np.zeros(structure.n_variables, np.int64), 0
        for block in structure.blocks.values():
            sizes = size_of_scope[first : first + len(block)]
            np.add.at(of_variable, block, sizes[:, None])
            first += len(block)
        orders = parameters.order_of_parameter
        return cls(parameters.n_parameters, int(of_variable.max()), int(orders.max()), parameters.feature_range)

    @property
    def repetitions(self) -> int:
        """Number of terms of a row's gradient that contain one feature: q, or 1 for the likelihood."""
        return self.n_conditionals or 1

    @property
    def gradient_range(self) -> float:
        """G."""
        return self.feature_range * (1.0 if self.n_conditionals is None else 2.0 * self.n_conditionals)


@dataclass(frozen=True)
class Guarantee:
    """Rows with which the errors of all parameters are below Lemma 1's, and below those for the optimal k-means.

    ``regularization`` is the largest lambda, against the mean over rows, that an L2 penalty, or soft tying with the
    true groups, may have beside Lemma 1's error: the gradient of either at w* is at most lambda ||w*||.
    """

    n_samples: float
    n_samples_kmeans: float
    regularization: float

    @classmethod
    def of(
        cls, error: float, kmeans_error: float, w: Floats, c_min: float, composition: Composition, *, delta: float
    ) -> Guarantee:
        """Guarantee for the errors allowed by Lemma 1 and by optimal k-means, at the true parameters ``w``."""
        size = float(np.linalg.norm(w))
        gradient = 0.5 * harmless_gradient(error, c_min, composition)
        return cls(
            rows_for_error(error, c_min, composition, delta),
            rows_for_error(kmeans_error, c_min, composition, delta),
            gradient / size if size else math.inf,
        )


def harmless_gradient(error: float, c_min: float, composition: Composition) -> float:
    """b: gradients at the truth whose norm is below it move no minimiser by ``error`` or more."""
    if math.isinf(error):
        return math.inf if c_min else 0.0
    reach = composition.feature_range * math.sqrt(composition.n_together) * error
    certain = 1.0 if composition.n_conditionals is None else 0.5  # of the expected curvature, the rows' has so much
    return certain * c_min * error * _curvature_kept(reach)


def _curvature_kept(reach: float) -> float:
    """g(R) = (exp(-R) - 1 + R) / R^2, from 1/2 down; a series where the difference would lose its digits."""
    if reach < 1e-3:
        return 0.5 - reach / 6.0 + reach * reach / 24.0
    return (math.expm1(-reach) + reach) / reach / reach


def rows_for_error(error: float, c_min: float, composition: Composition, delta: float) -> float:
    """Rows with which no parameter is off by ``error`` or more, with probability 1 - delta.

    Infinite where no error is allowed or C_min is zero; one where any error is.
    """
    if not error >= 0.0 or not 0.0 <= c_min < math.inf:
        raise InputError(
            f"error is {error} and c_min {c_min}; expected zero or more, and a finite c_min. Use largest_error and "
            "smallest_eigenvalue."
        )
    if not 0.0 < delta < 1.0:
        raise InputError(f"delta is {delta}; expected a probability of failure between 0 and 1, such as 0.05.")
    if error == 0.0 or c_min == 0.0:
        return math.inf
    if math.isinf(error):
        return 1.0
    m = composition.n_parameters
    # Divided before it is squared: b^2 of a nearly flat likelihood would underflow.
    ratio = composition.gradient_range / harmless_gradient(error, c_min, composition)
    return max(1.0, 2.0 * m * ratio * ratio * math.log(4.0 * m / delta), _rows_for_curvature(c_min, composition, delta))


def _rows_for_curvature(c_min: float, composition: Composition, delta: float) -> float:
    if composition.n_conditionals is None:
        return 0.0
    largest = 0.25 * composition.n_conditionals * composition.n_together * composition.feature_range**2
    return 8.0 * largest / c_min * math.log(2.0 * composition.n_parameters / delta)
