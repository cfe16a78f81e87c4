"""A distribution given covariates, combined with the distribution of covariates in rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Scope
from mrfit.core.errors import InputError, listed
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.row_scores import log_z_at_states

_MOST_STATES = 2**20  # of the covariates together
_NEVER = 30.0  # nats below the rarest state that occurs: practically impossible


@dataclass(frozen=True, eq=False)
class BesideRows:
    """log p(x | z), which becomes a distribution of x and z with the shares of z in rows.

    Parameters
    ----------
    factors, covariates
        The tables, and the numbers of the covariates z.
    log_z
        Log Z of every joint state of the covariates; NaN where it does not occur in the rows.
    log_share
        Logarithm of the share of rows with each joint state.
    """

    factors: Factors
    covariates: Scope
    log_z: Floats
    log_share: Floats

    @classmethod
    def of(cls, factors: Factors, covariates: Scope, rows: UniqueRows) -> BesideRows:
        shape = tuple(factors.shape[z] for z in covariates)
        if prod(shape) > _MOST_STATES:
            names = listed([rows.domain.names[z] for z in covariates])
            raise InputError(
                f"The covariates {names} have {prod(shape):.2g} joint states; a check takes at most {_MOST_STATES:,}. "
                "Use fewer."
            )
        states, number = np.unique(rows.codes[:, list(covariates)], axis=0, return_inverse=True)
        log_z, log_share = np.full(shape, np.nan), np.full(shape, -np.inf)
        log_z[tuple(states.T)] = log_z_at_states(factors, covariates, states, names=rows.domain.names)
        log_share[tuple(states.T)] = np.log(np.bincount(number.ravel(), rows.sample_weight) / rows.total_weight)
        return cls(factors, covariates, log_z, log_share)

    @property
    def joint(self) -> Factors:
        """Tables of p(x | z) times the share of z."""
        table = self.log_share - self.log_z
        return self.factors.times(
            [(self.covariates, np.where(np.isnan(table), np.nanmin(table) - _NEVER, table).ravel())]
        )

    def log_p(self, codes: NDArray[np.integer]) -> Floats:
        """Return log p(x | z) of rows of codes, whose states of covariates occur in the rows."""
        log_z = self.log_z[tuple(codes[:, list(self.covariates)].T)]
        return np.asarray(self.factors.log_potential(codes) - log_z, np.float64)
