"""Which way to hold parameters over all joint states takes least."""

from __future__ import annotations

from mrfit.parameterizations.agreement import SaturatedAgreement
from mrfit.parameterizations.generalized_ising import GeneralizedIsing
from mrfit.parameterizations.ising import Ising
from mrfit.parameterizations.joint import Joint, Listed, Saturated
from mrfit.parameterizations.parameterization import Parameterization


def joint_of(parameters: Parameterization) -> Joint:
    """Without a list of scopes where all of them are wanted, if there is a way."""
    binary = all(c <= 2 for c in parameters.domain.shape)
    if parameters.structure.is_saturated and parameters.is_minimal:
        return Saturated(parameters)
    if parameters.structure.is_saturated and binary and isinstance(parameters, Ising | GeneralizedIsing):
        return SaturatedAgreement(parameters, shared=isinstance(parameters, Ising))
    return Listed(parameters)
