"""Two models in one document: the same places, all edges, and each answers for itself."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mrfit import learn
from mrfit.analysis.model_comparison import compare
from mrfit.core.factors import Factors
from mrfit.explorer.two_models import document_of_two
from mrfit.structures.structure import Structure
from populations import random_rows


def test_edges_of_both_and_what_each_says(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 2, 3), 80)
    a = learn(rows, structure=Structure.from_edges(3, [(0, 1), (1, 2)])).model
    b = learn(rows.on_columns([2, 1, 0]), structure=Structure.from_edges(3, [(0, 1)])).model  # x2 - x1
    found = compare(a, b, rows)
    told = json.loads(document_of_two(a, b, titles=("one", "two"), scores=found.scores).to_json())
    edges = zip(told["edges"], told["other"]["weights"], strict=True)
    assert {(i, j): (one != 0, other != 0) for (i, j, one), other in edges} == {
        (0, 1): (True, False),
        (1, 2): (True, True),
    }
    for model, part in ((a, told), (b, told["other"])):
        exact = model.marginals()
        for variable, p in zip(told["variables"], part["marginals"]["values"], strict=True):
            assert p == pytest.approx(list(exact[variable["name"]].values()), abs=1e-12)
    tables = [(scope, table) for scope, table in told["other"]["scopes"]]
    codes = rows.codes
    other = Factors.from_tables(a.domain.shape, tables).log_potential(codes)
    own = b.factors.log_potential(np.ascontiguousarray(codes[:, ::-1]))
    np.testing.assert_allclose(other - other[0], own - own[0], atol=1e-9)
    assert told["other"]["compared"]["difference"] == pytest.approx(found.scores.difference.mean)
