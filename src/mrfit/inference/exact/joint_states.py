"""All joint states under the parameters of a complete basis: enumeration by transforms.

Learning uses this module instead of `Enumeration`. It computes log Z and the moments of all features from parameters,
without tables of scopes, in O(variables * states) and without a second array of that size.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.core.domain import Domain
from mrfit.core.transforms import exponentiate
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.enumeration import MOST_CELLS, Enumeration
from mrfit.inference.plan import Plan, as_float
from mrfit.parameterizations.joint import Joint, Listed
from mrfit.parameterizations.parameterization import Parameterization

_VECTORS = 12  # of all joint states that learning holds at most
_SECONDS = 4e-10  # an evaluation, for each joint state and variable


def plan_joint_states(shape: tuple[int, ...]) -> Plan:
    """Plan the exact likelihood of variables with these numbers of states: memory in all, time for an evaluation."""
    n_states = prod(shape)
    return Plan(
        engine=Enumeration.word,
        shape=shape,
        task="The exact likelihood",
        n_cells=n_states,
        max_cells=MOST_CELLS,
        n_bytes=8 * _VECTORS * n_states,
        forecast=_SECONDS * as_float(n_states) * len(shape),
        why="transforms give the moments of all features at once",
        suggestion="Use the pseudo-likelihood, or fewer variables.",
    )


def weighted_states(domain: Domain, weight: Floats) -> UniqueRows:
    """Return all joint states with positive weight as rows; ``weight`` is in C order, the last variable fastest."""
    codes = np.stack(np.unravel_index(np.arange(weight.size), domain.shape), axis=1)
    return UniqueRows.from_codes(domain, codes.astype(np.uint8), np.ravel(weight))


class Sums(NamedTuple):
    """Sums over all joint states at one vector of parameters; a tuple, because learning makes thousands a second."""

    log_z: float
    moments: Floats  # ``total`` times the mean of every basis function
    total: float
    log_potentials: Floats  # at the requested positions


class JointStates:
    """Distributions over all joint states, as functions of the vector of parameters, in the order of the basis.

    Too many states are refused before anything is allocated.
    """

    def __init__(self, parameters: Joint | Parameterization, *, jobs: int = 1) -> None:
        plan_joint_states(parameters.base.shape).check()
        self.joint = parameters if isinstance(parameters, Joint) else Listed(parameters)
        self.base, self.jobs = self.joint.base, jobs

    def log_potentials(self, w: Floats) -> Floats:
        return self.base.potentials(self.joint.spread(w), jobs=self.jobs)

    def log_probabilities(self, w: Floats) -> Floats:
        potentials = self.log_potentials(w)
        largest, total = exponentiate(potentials.copy(), jobs=self.jobs)
        potentials -= largest + np.log(total)
        return potentials

    def sums(self, w: Floats, positions: Indices) -> Sums:
        """Return log Z and all moments, by two transforms and one pass of exponentials over one vector."""
        a = self.log_potentials(w)
        at = a[positions]
        largest, total = exponentiate(a, jobs=self.jobs)
        return Sums(largest + float(np.log(total)), self.base.moments(a, jobs=self.jobs), total, at)

    def probabilities(self, w: Floats, log_z: float) -> Floats:
        """Return the probabilities of all joint states, for a known log Z."""
        return np.exp(self.log_potentials(w) - log_z)

    def covariance_product(self, p: Floats, v: Floats, mean: float) -> Floats:
        """Return the covariance of all features under ``p`` times ``v``, given the ``mean`` of v . features."""
        change = self.log_potentials(v)
        change -= mean
        change *= p
        return self.joint.gather(self.base.moments(change, jobs=self.jobs))
