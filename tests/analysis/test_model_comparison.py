"""Two models side by side."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import mrfit
from mrfit.core.errors import InputError

HOSTILE = "</script><b>"
NAMES = ("a", "b", HOSTILE)


@cache
def _columns() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    a = draw.integers(0, 2, 500)
    return {"a": a, "b": a ^ (draw.random(500) < 0.2), HOSTILE: a + draw.integers(0, 2, 500)}


@cache
def _model(names: tuple[str, ...] = NAMES, **options: Any) -> mrfit.MarkovNetwork:
    return mrfit.learn({name: _columns()[name] for name in names}, **options).model


@cache
def _without_edge() -> mrfit.MarkovNetwork:
    """a and b alone are joined."""
    return mrfit.learn(_columns(), structure=mrfit.FixedStructure(mrfit.Structure.from_edges(3, [(0, 1)]))).model


def test_edges_of_one_or_both() -> None:
    found = mrfit.compare(_without_edge(), _model())
    assert [(edge.source, edge.target) for edge in found.edges_in("both")] == [("a", "b")]
    assert not found.edges_in("a")
    assert {(edge.source, edge.target) for edge in found.edges_in("b")} == {("a", HOSTILE), ("b", HOSTILE)}
    back = mrfit.compare(_model(), _without_edge())
    assert [edge.difference for edge in back.edges] == [-edge.difference for edge in found.edges]
    assert "1 edge in both, 2 only in A, 0 only in B" in back.text()


def test_parameters_that_differ_most_come_first() -> None:
    a, b = _without_edge(), _model()
    found = mrfit.compare(a, b)
    assert {each.name for each in found.parameters} == set(b.parameters.names())
    values = dict(zip(b.parameters.names(), b.w, strict=True))
    assert all(each.b == values[each.name] for each in found.parameters)
    assert all(each.a == 0 for each in found.parameters if HOSTILE in each.name and each.order == 2)
    sizes = [abs(each.b - each.a) for each in found.parameters]
    assert sizes == sorted(sizes, reverse=True)
    line = found.text(top=1).splitlines()
    assert line[-1] == f"  ... and {len(sizes) - 1} more"


@pytest.mark.parametrize("word", ["spectral", "full"])
def test_coordinates_make_no_difference(word: str) -> None:
    found = mrfit.compare(_model(), _model().to_parameterization(word))
    assert found.coordinates == "canonical"
    assert max(abs(each.difference) for each in found.parameters) < 1e-9
    both = mrfit.compare(_model().to_parameterization("spectral"), _model().to_parameterization("spectral"))
    assert both.coordinates == "spectral"
    assert len(both.parameters) == len(_model().to_parameterization("spectral").w)
    assert not any(each.difference for each in both.parameters)


def test_the_order_of_variables_makes_no_difference() -> None:
    a, b = _model(), _model((HOSTILE, "b", "a"))
    found = mrfit.compare(a, b, _columns())
    assert len(found.parameters) == len(a.w)
    assert max(abs(each.difference) for each in found.parameters) < 1e-4
    assert found.scores is not None
    assert found.scores.b == pytest.approx(b.pll(_columns()), abs=1e-12)


@pytest.mark.parametrize("metric", ["pll", "ll"])
def test_scores_have_paired_standard_errors(metric: str) -> None:
    a, b = _without_edge(), _model()
    rows = {"pll": (a.pll_rows, b.pll_rows), "ll": (a.ll_rows, b.ll_rows)}[metric]
    one, other = (score(_columns()) for score in rows)
    scores = mrfit.compare(a, b, _columns(), metric=metric).scores
    assert scores is not None
    assert (scores.n_rows, scores.metric) == (500, metric)
    np.testing.assert_allclose((scores.a, scores.b), (one.mean(), other.mean()))
    np.testing.assert_allclose(scores.difference.mean, (other - one).mean())
    np.testing.assert_allclose(scores.difference.standard_error, (other - one).std() / np.sqrt(500))
    told = scores.to_dict()
    assert told["standard_error"] == scores.difference.standard_error


def test_names_are_never_markup() -> None:
    found = mrfit.compare(_without_edge(), _model(), _columns())
    text = found._repr_html_()
    assert set(re.findall(r"</?(\w+)", text)) <= {"table", "caption", "tbody", "tr", "th", "td"}
    assert "&lt;/script&gt;" in text


def test_one_layout_for_both_and_their_difference() -> None:
    figure = mrfit.compare(_without_edge(), _model()).figure(title="two")
    words = [text.get_text() for text in figure.axes[0].texts]
    assert {"two", "A", "B", "difference B - A"} <= set(words)
    nodes = [np.asarray(dots.get_offsets()) for dots in figure.axes[0].collections[1::2]]
    assert len(nodes) == 3
    for other in nodes[1:]:
        np.testing.assert_allclose(np.ptp(other - nodes[0], axis=0), 0, atol=1e-12)


def test_other_variables_and_states_are_refused() -> None:
    with pytest.raises(InputError, match="B has variables that A has not: '</script><b>'"):
        mrfit.compare(_model(("a", "b")), _model())
    text = mrfit.learn({**_columns(), "a": np.where(_columns()["a"], "yes", "no")}).model
    with pytest.raises(InputError, match="The states of 'a' are '0', '1' in A and 'no', 'yes' in B"):
        mrfit.compare(_model(), text)
    with pytest.raises(InputError, match="no metric 'auc'"):
        mrfit.compare(_model(), _model(), metric="auc")


def test_other_covariates_are_refused() -> None:
    given = _model(covariates=("b",))
    assert mrfit.compare(given, given, _columns()).edges_in("both")
    with pytest.raises(InputError, match="The covariates of A are 'b', those of B none"):
        mrfit.compare(given, _model())


def test_impossible_states_have_no_parameters_to_compare() -> None:
    full = _model().to_parameterization("full")
    zero = mrfit.MarkovNetwork(full.parameters, np.where(np.arange(len(full.w)) == len(full.w) - 1, -np.inf, full.w))
    with pytest.raises(InputError, match="impossible under B"):
        mrfit.compare(_model(), zero)


def _items(seed: int, turned: bool) -> dict[str, np.ndarray]:
    """Two five-state items that rise together, or fall; and a third beside them."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 5, 600)
    noisy = np.clip(a + rng.integers(-1, 2, 600), 0, 4)
    return {"a": a, "b": 4 - noisy if turned else noisy, "c": rng.integers(0, 5, 600)}


def test_ordered_models_are_compared_by_their_slopes() -> None:
    """Canonical parameters would list one slope as (5, 5), (4, 5), (5, 4), and without its sign."""
    one, other = (mrfit.learn(_items(k, turned=k == 1), parameterization="ordered").model for k in (0, 1))
    found = mrfit.compare(one, other)
    slopes = [dict(zip(model.parameters.names(), model.w.tolist(), strict=True)) for model in (one, other)]
    edge = next(each for each in found.edges if {each.source, each.target} == {"a", "b"})
    assert (edge.a, edge.b) == pytest.approx(tuple(own["a × b"] for own in slopes))
    assert edge.a > 0 > edge.b
    assert edge.difference == pytest.approx(slopes[1]["a × b"] - slopes[0]["a × b"])
    assert [each.name for each in found.parameters if each.order == 2].count("a × b") == 1
    assert sum(each.order == 2 for each in found.parameters) == 3
    assert (found.coordinates, found.unit) == ("ordered", "log odds ratio per step")
    assert "difference B - A" in found.text()


def test_ordered_models_with_variables_in_another_order_are_compared() -> None:
    columns = _items(0, turned=False)
    one = mrfit.learn(columns, parameterization="ordered").model
    other = mrfit.learn(dict(reversed(columns.items())), parameterization="ordered").model
    found = mrfit.compare(one, other)
    assert max(abs(each.difference) for each in (*found.edges, *found.parameters)) < 1e-4
    assert len(found.parameters) == len(one.w)


def test_a_variable_that_only_one_model_orders_counts_as_a_category() -> None:
    """Both are then measured by one kind of weight."""
    columns = _items(0, turned=True)
    one = mrfit.learn(columns, parameterization="ordered").model
    found = mrfit.compare(one, mrfit.learn(columns).model)
    assert not any(each.has_sign for each in found.edges)
    assert found.unit == "norm of the centered table, no sign"
    assert all(each.a >= 0 and each.b >= 0 for each in found.edges)
