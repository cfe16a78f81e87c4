"""How strongly two variables hold together, whatever the coordinates of the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit.domain import Domain
from mrfit.factors import Factors
from mrfit.nodes.pair_weights import CODINGS, PairWeights

Floats = NDArray[np.float64]

_IMPOSSIBLE = -30.0  # in the place of minus infinity: what parameters without a finite optimum are held at
_LOG_ODDS = CODINGS["01"][1]  # the scale of log odds ratios


def pair_strengths(factors: Factors, domain: Domain) -> Floats:
    """The strength of every pair, (variables, variables), zero where two are not joined.

    For two variables of two states each it is the log odds ratio, positive where their second states go together; the
    same scale goes for all (see `PairWeights`).
    """
    weights = PairWeights.of(factors.with_values(np.maximum(factors.values, _IMPOSSIBLE)), domain)
    return np.asarray(weights.matrix * (_LOG_ODDS / CODINGS[weights.coding][1]))
