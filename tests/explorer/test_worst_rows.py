"""Rows that a model expects least."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit import UniqueRows, learn
from mrfit.data.encoding import UNOBSERVED
from mrfit.explorer.worst_rows import worst_rows
from mrfit.objectives.row_scores import pll_of_factors
from populations import random_rows


def test_the_lowest_scores_come_first_with_what_is_least_expected(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2), 60)
    model = learn(rows).model
    worst = worst_rows(model, rows, 4)
    scores = pll_of_factors(model.factors, rows.codes)
    assert [row["score"] for row in worst] == pytest.approx(np.sort(scores)[:4].tolist())
    number = int(np.argmin(scores))
    assert worst[0]["weight"] == rows.sample_weight[number]
    for v, state, p in worst[0]["surprises"]:
        assert state == rows.codes[number, v]
        others = {f"x{i}": f"s{rows.codes[number, i]}" for i in range(3) if i != v}
        assert p == pytest.approx(model.conditional(f"x{v}", others)[f"s{state}"])
    assert [p for _, _, p in worst[0]["surprises"]] == sorted(p for _, _, p in worst[0]["surprises"])


def test_rows_with_missing_cells_are_left_out(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 2, 2), 30)
    model = learn(rows).model
    codes = rows.codes.copy()
    codes[1:, 0] = UNOBSERVED
    assert len(worst_rows(model, UniqueRows.from_codes(rows.domain, codes, rows.sample_weight), 9)) == 1
