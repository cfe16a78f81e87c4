"""Gain of a scope, against the gain of a fit that contains it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from mrfit.learning import Learner
from mrfit.learning.chains.scope_gains import scope_gains
from mrfit.learning.objective_specs import LIKELIHOOD
from mrfit.learning.penalty_specs import NoPenalty
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.simple import FixedStructure
from mrfit.structures.structure import Structure
from populations import full_rows


@pytest.mark.parametrize(("shape", "order"), [((2, 2, 2), 2), ((2, 3, 2), 2), ((2, 3, 2, 2), 3)])
def test_a_whole_table_gains_what_the_likelihood_gains(
    shape: tuple[int, ...], order: int, rng: np.random.Generator
) -> None:
    rows, n = full_rows(rng, shape), len(shape)
    lower = Learner(FixedStructure(Structure.up_to_order(n, order)), NoPenalty(), LIKELIHOOD).fit(rows).best
    share = rows.sample_weight / rows.total_weight
    wanted = float(share @ np.log(share)) - lower.train
    parameters = Canonical(rows.domain, lower.model.structure)
    scopes = np.arange(n)[None]
    gain = scope_gains(parameters, lower.model.w, scopes, rows, order=tuple(range(n)))
    assert gain == pytest.approx(wanted, abs=1e-7)
    # Of parameters that were not learned too: what smaller sets lack is not counted.
    rough = scope_gains(parameters, np.zeros_like(lower.model.w), scopes, rows, order=tuple(range(n)))
    assert rough == pytest.approx(wanted, abs=1e-3)


def test_sets_keep_their_order_and_known_ones_gain_nothing(rng: np.random.Generator) -> None:
    rows = full_rows(rng, (2, 3, 2, 2))
    structure = Structure.from_scopes(4, [(0, 1, 2), *combinations(range(4), 2)])
    fitted = Learner(FixedStructure(structure), NoPenalty(), LIKELIHOOD).fit(rows).best
    scopes = np.array([(1, 2, 3), (0, 1, 3), (0, 1, 2), (0, 2, 3)])
    parameters = Canonical(rows.domain, structure)
    gains = scope_gains(parameters, fitted.model.w, scopes, rows, order=(0, 1, 2, 3))
    again = scope_gains(parameters, fitted.model.w, scopes[::-1], rows, order=(3, 2, 1, 0))
    np.testing.assert_allclose(gains, again[::-1], atol=1e-12)
    assert gains[2] == pytest.approx(0.0, abs=1e-6)
    assert (np.delete(gains, 2) > 1e-4).all()
