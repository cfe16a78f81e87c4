"""The sum of an objective and a penalty."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.parameterizations.canonical import Canonical
from populations import SHAPES, STRUCTURES, penalized, pseudo_likelihood, random_rows


def test_penalty_stands_against_the_sum_over_rows(rng: np.random.Generator) -> None:
    """Penalized is the mean objective plus the penalty over the total weight."""
    rows = random_rows(rng, SHAPES["mixed"], 40, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](len(rows.domain)))
    w = rng.standard_normal(parameters.n_parameters)
    with_penalty = penalized(rows, parameters, strength=3.0).value_and_gradient(w)[0]
    without = pseudo_likelihood(rows, parameters).value_and_gradient(w)[0]
    assert with_penalty - without == pytest.approx(1.5 * (w @ w) / rows.sample_weight.sum(), rel=1e-12)
