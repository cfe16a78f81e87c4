"""Display of models, learners, structures and fits in Python and notebooks; parameters as a table and as a graph."""

from __future__ import annotations

import builtins
import re
from typing import Any

import numpy as np
import pytest

import mrfit
from mrfit.core.errors import InputError
from mrfit.registry import PARAMETERIZATIONS
from mrfit.structures.structure import Structure

HOSTILE = "</script><script>alert('x')</script>&\""


def _fitted(**options: Any) -> mrfit.FitResult:
    first = np.random.default_rng(0).integers(0, 2, 300)
    columns = {"a": first, "b": 1 - first ^ (np.arange(300) % 5 == 0), HOSTILE: np.arange(300) % 3}
    return mrfit.learn(columns, **options)


def test_short_texts() -> None:
    fitted = _fitted()
    assert repr(fitted.model) == "<MarkovNetwork: 3 variables, 3 edges, 9 parameters; l2, strength 1>"
    assert repr(fitted.model.structure) == "<Structure: 3 variables, 3 edges>"
    assert repr(Structure.up_to_order(5, 3)) == "<Structure: 5 variables, 10 edges, sets of up to 3 variables>"
    learner = mrfit.Learner(mrfit.Learned(max_degree=5), mrfit.L1((1.0, 3.0)), folds=4)
    told = "structure learned (at most 5 neighbours), l1, strengths 1, 3, pseudo-likelihood, 4-fold cross-validation"
    assert repr(learner) == f"<Learner: {told}>"
    assert re.fullmatch(r"<FitResult: 3 variables.*; best of 1: strength 1; pll -[\d.]+>", repr(fitted))


def test_nothing_prints_whole_arrays() -> None:
    fitted = _fitted(penalty=mrfit.SoftTied(groups=(1, 2), strength=(1.0, 5.0)), folds=2)
    for part in (fitted, fitted.best, fitted.gain, fitted.model):
        assert len(repr(part)) < 200
        assert "array" not in repr(part)


@pytest.mark.parametrize("penalty", [mrfit.L2(), mrfit.SoftTied(groups=2, strength=1.0)], ids=["l2", "tied"])
def test_names_are_never_markup(penalty: Any) -> None:
    fitted = _fitted(penalty=penalty)
    learner = mrfit.Learner(penalty=penalty)
    for part in (fitted, fitted.model, fitted.model.structure, learner):
        text = part._repr_html_()
        assert set(re.findall(r"</?(\w+)", text)) <= {"table", "caption", "tbody", "tr", "th", "td", "iframe"}
    assert "&lt;/script&gt;&lt;script&gt;" in fitted.model._repr_html_()


@pytest.mark.parametrize("word", PARAMETERIZATIONS)
def test_a_frame_of_all_parameters(word: str) -> None:
    model = _fitted(parameterization=word).model
    frame = model.to_frame()
    assert list(frame) == ["name", "order", "variables", "states", "value", "error", "group"]
    assert list(frame["name"]) == list(model.parameters.names())
    np.testing.assert_array_equal(frame["value"], model.w)
    assert all(len(variables) == order for variables, order in zip(frame["variables"], frame["order"], strict=True))
    assert frame["group"].isna().all()
    for name, variables, states in zip(frame["name"], frame["variables"], frame["states"], strict=True):
        if word == "ordered" and len(variables) > 1:
            assert name == " × ".join(variables)
        elif states:
            assert name == " & ".join(f"{v}={s}" for v, s in zip(variables, states, strict=True))
        else:
            assert word in ("spectral", "ising")


def test_a_frame_of_tied_parameters_has_their_groups() -> None:
    model = _fitted(penalty=mrfit.HardTied(groups=2, strength=1.0)).model
    frame = model.to_frame()
    assert frame.groupby("group")["value"].nunique().tolist() == [1, 1]


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    model, usual = _fitted().model, builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return usual(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match="pip install pandas"):
        model.to_frame()


def test_a_graph_with_weights() -> None:
    model = _fitted().model
    frame, graph = model.to_frame().set_index("variables"), model.graph
    assert set(graph.nodes) == {"a", "b", HOSTILE}
    weight = graph.edges["a", "b"]["weight"]
    assert weight == frame.loc[[("a", "b")], "value"].item()
    assert weight < 0  # a and b exclude each other
    table = model.factors.table(model.factors.scopes.index((0, 2))).reshape(2, -1)
    centered = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    assert graph.edges["a", HOSTILE]["weight"] == pytest.approx(np.linalg.norm(centered))


def test_a_graph_averages_over_the_states_of_others() -> None:
    model = _fitted(structure="order:3").model
    states = [len(variable.states) for variable in model.domain]
    log_p = model.factors.log_potential(np.array(list(np.ndindex(*states)))).reshape(states)
    odds = log_p[1, 1] + log_p[0, 0] - log_p[0, 1] - log_p[1, 0]  # at every state of the third
    assert model.graph.edges["a", "b"]["weight"] == pytest.approx(odds.mean())
