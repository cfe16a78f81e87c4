"""G-squared and residuals: what others found, what simulation says, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mrfit
from mrfit import L2, Learner, MarkovNetwork, NoPenalty, UniqueRows
from mrfit.analysis.goodness.goodness import g_squared
from mrfit.analysis.goodness.residual_plot import draw_residuals
from mrfit.core.errors import InputError
from mrfit.learning.objective_specs import LIKELIHOOD
from mrfit.parameterizations.canonical import Canonical
from mrfit.plots.page import save_figure
from mrfit.structures.structure import Structure
from populations import domain_of

Named = Callable[[str, str], UniqueRows]

MAXIMUM = Learner(penalty=NoPenalty(), objective=LIKELIHOOD)


def _true(order: int = 2, size: float = 0.6, n: int = 4) -> MarkovNetwork:
    parameters = Canonical(domain_of((2,) * n), Structure.up_to_order(n, order))
    return MarkovNetwork(parameters, size * np.cos(np.arange(parameters.n_parameters)))


def _drawn(model: MarkovNetwork, n_rows: int, seed: int) -> UniqueRows:
    return UniqueRows.of(model.sample(n_rows, seed=seed, jobs=1))


def test_g_squared_of_all_pairs(named_rows: Named) -> None:
    """The log-likelihood is that of a Poisson regression by another program."""
    rows = named_rows("czech", "data")
    found = MAXIMUM.fit(rows).model.goodness(rows)
    saturated = float(rows.sample_weight @ np.log(rows.sample_weight / rows.total_weight))
    assert found.statistic == pytest.approx(2 * (saturated + 6666.80913721), abs=1e-5)
    assert found.degrees == 64 - 1 - 21
    assert found.is_fitted
    assert len(found.triples) == 20
    assert all(np.isnan(pair.residual) for pair in found.pairs)


def test_residuals_have_variance_one_under_the_model() -> None:
    """Residuals of triples are checked in tables that the model is fitted to and in new ones."""
    truth = _true()
    fitted, new = [], []
    for seed in range(40):
        rows = _drawn(truth, 500, seed)
        model = MAXIMUM.fit(rows).model
        fitted += [each.residual for each in model.goodness(rows).triples]
        new += [each.residual for each in truth.goodness(rows).pairs]
    for values in (fitted, new):  # 240 and 360 of them, a few correlated
        assert np.mean(values) == pytest.approx(0.0, abs=0.2)
        assert np.var(values) == pytest.approx(1.0, abs=0.25)


def test_a_triple_that_the_model_misses_is_named() -> None:
    truth = _true(order=3, size=1.2)
    rows = _drawn(truth, 4000, 0)
    found = mrfit.bootstrap_goodness(MAXIMUM.fit(rows).model, rows, tables=19)
    assert found.p == pytest.approx(1 / 20)
    assert found.triples[0].adjusted < 0.01
    assert abs(found.triples[0].residual) >= abs(found.triples[-1].residual)


def test_p_of_sparse_tables_keeps_its_level() -> None:
    """Nine tables give one of p = 0.1, ..., 1, each about as often if the model is true, since every table is refitted.

    The tables are drawn from an estimate, hence "about": of 1,180 tables as small as these an eighth, not a tenth, had
    0.1.
    """
    truth, found = _true(), []
    for seed in range(40):
        rows = _drawn(truth, 60, seed)
        model = Learner(penalty=L2(0.1)).fit(rows).model
        found.append(mrfit.bootstrap_goodness(model, rows, tables=9, seed=1000 + seed))
    p = np.array([each.p for each in found])
    assert p.mean() == pytest.approx(0.55, abs=3 * 0.287 / np.sqrt(40))
    assert np.mean(p < 0.15) == pytest.approx(0.125, abs=3 * np.sqrt(0.125 * 0.875 / 40))
    assert found[0].is_sparse
    assert "9 tables drawn from the model and learned from again" in found[0].describe()
    assert found[0].to_dict()["tables"] == 9


def test_new_rows_cost_no_degrees_of_freedom() -> None:
    truth = _true()
    found = mrfit.bootstrap_goodness(truth, _drawn(truth, 4000, 1), tables=50)
    assert not found.is_fitted
    assert found.degrees == 15
    plain = truth.goodness(_drawn(truth, 4000, 1))
    assert found.p == pytest.approx(plain.p, abs=0.2)
    assert "learned" not in found.describe()


def test_failures_are_counted_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _drawn(_true(), 200, 0)
    model = MAXIMUM.fit(rows).model
    usual, learned = Learner.fit, iter([False, True, True])

    def sometimes(self: Learner, *args: Any, **settings: Any) -> Any:
        if not next(learned):
            raise InputError("a bad table")
        return usual(self, *args, **settings)

    monkeypatch.setattr(Learner, "fit", sometimes)
    found = mrfit.bootstrap_goodness(model, rows, tables=3)
    assert found.failures == {"a bad table": 1}
    assert found.p in (pytest.approx(1 / 3), pytest.approx(2 / 3), pytest.approx(1.0))
    learned = iter([False, False])
    with pytest.raises(InputError, match="failed in each of 2 drawn tables: a bad table"):
        mrfit.bootstrap_goodness(model, rows, tables=2)
    with pytest.raises(InputError, match="At least one table"):
        mrfit.bootstrap_goodness(model, rows, tables=0)


def test_a_cell_that_is_impossible() -> None:
    assert g_squared(np.array([0.0, 1.0]), np.array([1.0, 1.0])) == np.inf
    assert g_squared(np.array([0.5, 0.5]), np.array([2.0, 2.0])) == 0.0


def test_too_many_joint_states_are_refused() -> None:
    model = _true(n=17)
    with pytest.raises(InputError, match="too many"):
        model.goodness(_drawn(_true(n=17), 5, 0))


def test_the_picture_has_pairs_below_and_triples_above(tmp_path: Path) -> None:
    truth = _true(n=5)
    found = truth.goodness(_drawn(truth, 300, 0))
    values = np.asarray(draw_residuals(found, title="t").images[0].get_array())
    pair = found.pairs[0]
    a, b = (truth.domain.index(name) for name in pair.variables)
    assert values[b, a] == pytest.approx(pair.residual)
    triple = found.triples[0]
    a, b = (truth.domain.index(name) for name in triple.variables[:2])
    assert values[a, b] == pytest.approx(triple.residual)
    save_figure(draw_residuals(found).figure, tmp_path / "r.svg")  # type: ignore[arg-type]
