"""A model with covariates, at one state of each."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit import UniqueRows, learn
from mrfit.core.errors import InputError
from mrfit.explorer.at_covariates import covariate_states, model_at, rows_at
from mrfit.explorer.document import Document
from populations import random_rows


def test_it_is_the_distribution_given_these_states(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2, 2), 120)
    model = learn(rows, covariates=("x1",)).model
    known = covariate_states(model, {"x1": "s2"})
    shown, part = model_at(model, known), rows_at(rows, known)
    assert shown.domain.names == part.domain.names == ("x0", "x2", "x3")
    assert part.total_weight == rows.sample_weight[rows.codes[:, 1] == 2].sum()
    for name in shown.domain.names:
        expected = model.conditional(name, {"x1": "s2", **({} if name == "x3" else {"x3": "s1"})})
        found = shown.conditional(name, {} if name == "x3" else {"x3": "s1"})
        assert found == pytest.approx(expected, abs=1e-12)
    assert Document.of(shown, title="t", rows=part).content["scores"][0]["value"] == pytest.approx(shown.pll(part))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "choose a state of each: --evidence x1=s0"),
        ({"x1": "s9"}, "no state 's9'"),
        ({"x1": "s0", "x0": "s0"}, "set it on"),
    ],
)
def test_what_is_given_must_be_the_covariates(rng: np.random.Generator, given: dict[str, str], told: str) -> None:
    model = learn(random_rows(rng, (2, 2, 2), 80), covariates=("x1",)).model
    with pytest.raises(InputError, match=told):
        covariate_states(model, given)


def test_states_that_no_row_has(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (3, 2), 20)
    some = rows.codes[:, 0] < 2
    with pytest.raises(InputError, match="No row of the data has 'x0=s2'"):
        rows_at(UniqueRows.from_codes(rows.domain, rows.codes[some], rows.sample_weight[some]), {0: 2})
