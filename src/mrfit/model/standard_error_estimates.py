"""Standard errors of estimates, with intervals, Wald tests and information criteria."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import ndtri

from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError, listed
from mrfit.core.linear_systems import at_least, mirrored

KINDS = ("sandwich", "model")

_FLAT = 1e-10  # of the curvature of single parameters: a direction with less is flat
# Where states are separated the optimum is at infinity. Solvers stop on the way, where gradients hardly vary and the
# sandwich is small. The curvature reveals that: an error this large, in log-odds, means that there is no estimate.
_UNKNOWN = 10.0
_MOVED = 1e-6  # squared component along flat directions above which a parameter is undetermined


@dataclass(frozen=True)
class ScoreCurvature:
    """The second-order properties of an objective at its optimum, from which errors follow.

    Parameters
    ----------
    hessian
        Hessian of the mean objective without its penalty, H / N.
    products
        Mean over rows of the outer products of their gradients, J / N.
    stiffness
        Second derivatives of the penalty, which is added to the sum over rows.
    value
        Mean objective without its penalty.
    n_rows, total_weight
        Number of independent rows, and the weight of all.
    """

    hessian: Floats
    products: Floats
    stiffness: Floats
    value: float
    n_rows: float
    total_weight: float

    def errors(self, kind: str, *, held: Indices, remarks: tuple[str, ...] = ()) -> StandardErrors:
        """Return the standard errors; ``held`` are parameters at a bound because their optimum is not finite."""
        if kind not in KINDS:
            raise InputError(f"There are no errors of the kind {kind!r}; choose one of {listed(KINDS)}.")
        hessian = self.hessian + np.diag(self.stiffness) / self.total_weight
        inverse, lost = _pseudo_inverse(hessian) if len(held) else (_inverse(hessian), held)
        covariance = _symmetric(inverse @ self.products @ inverse if kind == "sandwich" else inverse) / self.n_rows
        unknown = np.diag(inverse) / self.n_rows > _UNKNOWN**2
        unknown[held] = unknown[lost] = True
        covariance[unknown] = covariance[:, unknown] = np.nan
        n_effective = float(np.vdot(inverse, self.products))
        return StandardErrors(
            kind,
            covariance,
            effective_parameters=n_effective,
            claic=2.0 * (self.n_rows * self.value + n_effective),
            clbic=2.0 * self.n_rows * self.value + float(np.log(self.n_rows)) * n_effective,
            remarks=remarks,
        )


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """Standard errors and covariance of estimated parameters; ``model.errors`` after learning with ``errors=...``.

    Parameters
    ----------
    kind : {"sandwich", "model"}
        Estimator of the covariance, see Notes.
    covariance : array of shape (n_parameters, n_parameters)
        Covariance of all estimates; NaN for those without a finite optimum.
    effective_parameters : float
        tr(J H^-1): about the number of parameters for a likelihood, and more for a pseudo-likelihood.
    claic : float
        Composite Akaike information criterion: -2 times the (pseudo-)log-likelihood of all rows, plus 2
        ``effective_parameters`` (Varin and Vidoni 2005). Smaller is better.
    clbic : float
        Composite Bayesian information criterion: the same with log N times ``effective_parameters`` (Gao and Song
        2010).
    remarks : tuple of str, default ()
        Sentences on what the errors do not cover, such as the bias of a penalty.

    See Also
    --------
    Learner.fit : Takes ``errors="sandwich"`` or ``errors="model"``.
    MarkovNetwork.intervals : Confidence intervals of the parameters.
    MarkovNetwork.wald_tests : A test of every interaction.

    Notes
    -----
    With the gradient s_r of row r, J = sum of s_r s_r' and H the second derivatives at the optimum, penalty included:

    * ``sandwich``: H^-1 J H^-1, right for the pseudo-likelihood and where the model is wrong (Godambe 1960);
    * ``model``: H^-1, right for the likelihood of a true model, and too small for a pseudo-likelihood.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> model = mrfit.learn(table, penalty="none", errors="sandwich").model
    >>> model.errors.standard_errors.round(2)
    array([1.22, 1.22, 1.73])
    """

    kind: str
    covariance: Floats
    effective_parameters: float
    claic: float
    clbic: float
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        covariance = np.asarray(self.covariance, np.float64)
        if covariance.ndim != 2 or len(set(covariance.shape)) != 1:
            raise InputError(f"A covariance is a square matrix; got an array of shape {covariance.shape}.")
        covariance.flags.writeable = False
        object.__setattr__(self, "covariance", covariance)

    @property
    def standard_errors(self) -> Floats:
        """Standard error of each parameter, the square root of the diagonal of ``covariance``."""
        return np.sqrt(np.diag(self.covariance))

    def intervals(self, w: Floats, level: float) -> Floats:
        """Return Wald confidence intervals, which contain the true value in a share ``level`` of tables.

        Parameters
        ----------
        w : array of shape (n_parameters,)
            Estimates, in the order of ``covariance``.
        level : float
            Coverage, between 0 and 1.

        Returns
        -------
        array of shape (n_parameters, 2)
        """
        if not 0.0 < level < 1.0:
            raise InputError(f"The level of intervals lies between 0 and 1; got {level:g}. Use 0.95, say.")
        reach = float(ndtri(0.5 + level / 2.0)) * self.standard_errors
        return np.stack([w - reach, w + reach], axis=1)


def _inverse(matrix: Floats) -> Floats:
    """Invert a positive definite matrix; refuse one whose parameters are not identified."""
    scale = 1.0 / np.sqrt(at_least(np.diag(matrix), _FLAT))
    factor, failed = dpotrf((matrix * scale * scale[:, None]).T, lower=True, overwrite_a=True)
    if failed or (np.diag(factor) ** 2 < _FLAT).any():
        raise InputError(
            "Some parameters are not identified: others can make up for them in any table, so they have no errors. "
            "Use canonical or spectral coordinates, a penalty (l2), or a sparser structure."
        )
    inverse = mirrored(dpotri(factor, lower=True, overwrite_c=True)[0])
    return np.asarray(scale * inverse * scale[:, None], np.float64)


def _pseudo_inverse(matrix: Floats) -> tuple[Floats, Indices]:
    """Invert a matrix except along flat directions, where the optimum is at infinity; return the lost parameters.

    A parameter at a bound takes others with it: where b never occurs without a, the parameter of b falls and that of
    a and b rises, and only their sum is known. For the other parameters the pseudo-inverse is the inverse.
    """
    scale = 1.0 / np.sqrt(at_least(np.diag(matrix), _FLAT))
    values, vectors = eigh(matrix * scale * scale[:, None], check_finite=False)
    flat = values < _FLAT
    lost = np.flatnonzero((vectors[:, flat] ** 2).sum(axis=1) > _MOVED)
    bent = scale[:, None] * vectors[:, ~flat]
    return np.asarray((bent / values[~flat]) @ bent.T, np.float64), lost


def _symmetric(matrix: Floats) -> Floats:
    """Return the symmetric part, which removes the rounding of products."""
    return np.asarray(0.5 * (matrix + matrix.T), np.float64)
