"""The cheapest representation of parameters over all joint states."""

from __future__ import annotations

from mrfit.parameterizations.agreement import SaturatedAgreement
from mrfit.parameterizations.generalized_ising import GeneralizedIsing
from mrfit.parameterizations.ising import Ising
from mrfit.parameterizations.joint import Joint, Listed, Saturated
from mrfit.parameterizations.parameterization import Parameterization


def joint_of(parameters: Parameterization) -> Joint:
    """Return a representation without a list of scopes if all of them are in the structure and one exists."""
    binary = all(c <= 2 for c in parameters.domain.shape)
    if parameters.structure.is_saturated and parameters.is_minimal:
        return Saturated(parameters)
    if parameters.structure.is_saturated and binary and isinstance(parameters, Ising | GeneralizedIsing):
        return SaturatedAgreement(parameters, shared=isinstance(parameters, Ising))
    return Listed(parameters)
