"""Checks of networks learned from real data, against what was found of them by independent prototypes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mrfit import L2, FitResult, Learned, UniqueRows, learn

Rows = Callable[[str, str], UniqueRows]


def fitted(rows: UniqueRows, rule: str, *, strength: float = 1.0) -> FitResult:
    return learn(rows, Learned(max_degree=5, bound="gain", rule=rule), penalty=L2(strength))


def test_kdd_has_a_phantom_mode_by_one_rule_and_none_by_the_other(named_rows: Rows) -> None:
    """Its exact log-likelihood on test rows is -12.72, and the largest error of a marginal 0.998."""
    rows = named_rows("kdd", "train")
    either, both = fitted(rows, "or"), fitted(rows, "and")
    check = either.check(rows)
    assert check.exact
    assert check.max_marginal_error == pytest.approx(0.998, abs=1e-3)
    assert check.phantom_mode is not None
    assert "(>= 0.99) is on rows with about 61 of 64 variables" in check.phantom_mode.text
    assert "the data have 0.5 on average and 50 at most" in check.phantom_mode.text
    assert either.model.check(named_rows("kdd", "test")).ll == pytest.approx(-12.72, abs=5e-3)
    by_chains = either.check(rows, engine="ais")
    assert by_chains.ll is not None
    assert by_chains.ll_error is not None
    assert check.ll == pytest.approx(by_chains.ll, abs=4 * by_chains.ll_error)
    assert by_chains.phantom_mode is not None
    assert both.check(rows).phantom_mode is None
    assert both.check(rows, engine="ais").phantom_mode is None


def test_nltcs_has_no_phantom_mode_but_a_misfit(named_rows: Rows) -> None:
    rows = named_rows("nltcs", "train")
    check = fitted(rows, "or", strength=0.1).check(rows)
    assert check.exact
    assert check.phantom_mode is None
    assert check.max_marginal_error == pytest.approx(0.03, abs=5e-3)
    assert not check.is_alike  # 0.03 of 16,181 rows is eight standard errors
    assert check.verdict.startswith("misfit: ")


def test_msweb_has_a_phantom_mode_that_only_chains_can_see(named_rows: Rows) -> None:
    """No tree fits. Real rows are as heavy as 35 of 294."""
    rows = named_rows("msweb", "train")
    check = fitted(rows, "or").check(rows)
    assert not check.exact
    assert check.phantom_mode is not None
    assert check.phantom_mode.mass > 0.99
    assert check.phantom_mode.sum > 100
    assert check.phantom_mode.data_max == 35
    assert check.ll is not None
    assert check.ll < -50


def test_a_tree_of_msweb_has_none(named_rows: Rows) -> None:
    rows = named_rows("msweb", "train")
    for engine in ("tree", "ais"):
        check = learn(rows, "tree", penalty=L2(1.0)).check(rows, engine=engine)
        assert check.phantom_mode is None
        assert check.max_marginal_error is not None
        assert check.max_marginal_error < 0.02
