"""One pair has one edge weight, wherever it is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import networkx
import numpy as np
import pytest

import mrfit
from mrfit import MarkovNetwork
from mrfit.analysis.model_card import ModelCard
from mrfit.explorer.document import Document
from mrfit.explorer.two_models import document_of_two
from mrfit.formats.graphs import save_structure
from mrfit.parameterizations.full import Full
from mrfit.plots.network_plot import plot_network
from mrfit.structures.edge_weights import centered, unit_of_scores, weight_of_coefficients, weights_of_tables
from mrfit.structures.structure import Structure
from populations import domain_of

UNITS = {
    "two": "log odds ratio",
    "ordered": "log odds ratio per step",
    "categories": "norm of the centered table, no sign",
}


def _columns(states: int) -> dict[str, np.ndarray]:
    """Two variables that fall together, and one beside them."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, states, 800)
    b = np.where(rng.random(800) < 0.5, states - 1 - a, rng.integers(0, states, 800))
    return {"a": a, "b": b, "c": rng.integers(0, states, 800)}


def _model(kind: str) -> MarkovNetwork:
    own = {"parameterization": "ordered"} if kind == "ordered" else {}
    return mrfit.learn(_columns(2 if kind == "two" else 4), penalty=mrfit.L2(strength=(1.0,)), **own).model


@pytest.mark.parametrize("kind", UNITS)
def test_one_pair_has_one_weight_everywhere(kind: str, tmp_path: Path) -> None:
    model, other = _model(kind), _model(kind).to_parameterization("spectral")
    weight = model.edge_weights[0]  # of a and b
    assert (weight > 0) == (kind == "categories")
    found = {"graph": model.graph["a"]["b"]["weight"], "coordinates": other.edge_weights[0]}
    card = ModelCard.of(model).to_dict()
    found["show"] = next(edge["weight"] for edge in card["edges"] if (edge["source"], edge["target"]) == ("a", "b"))
    found["nodes"] = model.nodes().weights.matrix[0, 1]
    compared = mrfit.compare(model, other)
    found["compare"] = next(edge.a for edge in compared.edges if (edge.source, edge.target) == ("a", "b"))
    document = Document.of(model, title="one").content
    found["explorer"] = next(w for a, b, w in document["edges"] if (a, b) == (0, 1))
    both = document_of_two(model, other, titles=("one", "two")).content
    found["two models"] = both["other"]["weights"][0]
    units = {
        card["edge_weight"],
        model.nodes().weights.unit,
        compared.unit,
        document["edge_weight"],
        both["edge_weight"],
    }
    structure = Structure.from_edges(3, model.structure.edges)
    save_structure(tmp_path / "graph.graphml", structure, model.domain, model.weighted_edges)
    graph = networkx.read_graphml(tmp_path / "graph.graphml")
    found["graphml"] = graph["a"]["b"]["weight"]
    save_structure(tmp_path / "graph.json", structure, model.domain, model.weighted_edges)
    told = json.loads((tmp_path / "graph.json").read_text())
    found["json"] = next(edge["weight"] for edge in told["edges"] if (edge["source"], edge["target"]) == ("a", "b"))
    assert found == pytest.approx(dict.fromkeys(found, weight), rel=1e-5)
    assert units | {graph.graph["edge_weight"], told["edge_weight"]} == {UNITS[kind]}


@pytest.mark.parametrize("kind", UNITS)
def test_the_legend_of_a_picture_has_round_weights_and_the_unit(kind: str) -> None:
    """Its largest round weight is at most that of the strongest edge, and more than half of it."""
    model = _model(kind)
    words = [text.get_text() for text in plot_network(model).texts]
    assert f"edge weight ({UNITS[kind]})" in words
    legend = [float(found[1]) for word in words if (found := re.match(r"[|+−]([\d.]+)", word))]
    assert 0.5 < max(legend) / np.abs(model.edge_weights).max() <= 1.0


def test_regressions_without_a_penalty_have_the_weight_of_the_fitted_pair() -> None:
    """``mrfit structure`` and a fit of two variables report one number."""
    for states in (2, 4):
        columns = {name: values for name, values in _columns(states).items() if name != "c"}
        report = mrfit.Learned(max_degree=1).learn(mrfit.UniqueRows.of(columns)).report
        fitted = mrfit.learn(columns, penalty=mrfit.NoPenalty()).model
        assert report.weight[0] == pytest.approx(fitted.edge_weights[0], rel=0.03)
        assert report.unit == fitted.weighted_edges.unit


def test_an_impossible_cell_makes_a_weight_infinite() -> None:
    parameters = Full(domain_of((2, 2, 2)), Structure.from_edges(3, [(0, 1), (1, 2)]))
    w = np.zeros(parameters.n_parameters)
    w[[6, 10]] = -np.inf, 1.0  # a = b = 0, and b = c = 0
    model = MarkovNetwork(parameters, w)
    assert model.edge_weights.tolist() == [-np.inf, 1.0]
    assert model.edge_signs.tolist() == [-1, 1]


def test_a_reference_category_does_not_matter() -> None:
    """Dummy coefficients of one table against the first and the last state."""
    table = np.random.default_rng(0).normal(size=(3, 4))
    first = table - table[:1] - table[:, :1] + table[0, 0]
    last = table - table[-1:] - table[:, -1:] + table[-1, -1]
    turned = last[::-1, ::-1]
    weights = [weight_of_coefficients(each[1:, 1:]) for each in (first, turned)]
    assert weights[0] == pytest.approx(weights[1])
    assert weight_of_coefficients(np.array([[-0.7]])) == -0.7


def test_units_of_mixed_variables_are_all_named() -> None:
    two, five = np.arange(2.0), np.arange(5.0)
    assert unit_of_scores((two, two)) == "log odds ratio"
    assert unit_of_scores((two, five)) == "log odds ratio per step"
    assert unit_of_scores((two, two, five)) == "log odds ratio per step"
    assert unit_of_scores((two, two, None)) == "log odds ratio; categories: norm of the centered table, no sign"
    assert (
        unit_of_scores((two, five, None)) == "log odds ratio per step; categories: norm of the centered table, no sign"
    )


@pytest.mark.parametrize("kind", UNITS)
def test_resampled_networks_and_groups_have_the_weights_of_fits(kind: str) -> None:
    own = {"parameterization": "ordered"} if kind == "ordered" else {}
    learner = mrfit.Learner(penalty=mrfit.L2(strength=(1.0,)), **own)
    columns = _columns(2 if kind == "two" else 4)
    found = mrfit.bootstrap_edges(learner, columns, resamples=2)
    assert found.networks.sample == pytest.approx(_model(kind).edge_weights, abs=1e-6)
    assert found.unit == UNITS[kind]
    group = np.arange(800) % 2
    groups = mrfit.compare_groups(learner, {**columns, "g": group}, by="g", tests=["permutations"], permutations=1)
    first = mrfit.learn({name: values[group == 0] for name, values in columns.items()}, learner=learner).model
    assert groups.weights[0] == pytest.approx(first.edge_weights, abs=1e-6)
    assert (groups.unit, groups.has_sign.tolist()) == (UNITS[kind], [kind != "categories"] * 3)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_norms_of_very_large_and_small_tables(scale: float, rng: np.random.Generator) -> None:
    """Squares of their entries overflow, or vanish."""
    tables = rng.normal(size=(4, 3, 2))
    expected = np.linalg.norm(centered(tables), axis=(1, 2))
    np.testing.assert_allclose(weights_of_tables(scale * tables, None, None) / scale, expected, rtol=1e-14)
    assert weights_of_tables(np.zeros((1, 3, 2)), None, None).tolist() == [0.0]
