"""Variables of a network: what others found, what must be so, and what is refused."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import Dataset, Learner, MarkovNetwork, NoPenalty, UniqueRows
from mrfit.analysis.nodes.communities import louvain, modularity, similarity_of_communities, similarity_of_members
from mrfit.analysis.nodes.node_measures import NodeMeasures
from mrfit.core.errors import InputError
from mrfit.model.pair_weights import PairWeights
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure
from populations import domain_of

Floats = Any


def _table(path: Path) -> dict[str, np.ndarray]:
    with path.open() as file:
        names, *lines = csv.reader(file)
    return {name: np.array(column) for name, column in zip(names, zip(*lines, strict=True), strict=True)}


def _rows(name: str, conformance_dir: Path, data_dir: Path) -> Dataset:
    if name == "jonas":
        return Dataset.from_file(conformance_dir / "psychonetrics" / "jonas8.csv")
    return Dataset.from_file(data_dir / name / "data.csv.gz")


def _network(weights: Floats, thresholds: Floats, domain: Any) -> MarkovNetwork:
    """Network with these parameters of states 0 and 1."""
    parameters = Canonical(domain, Structure.up_to_order(len(domain), 2))
    pairs = np.triu_indices(len(domain), 1)
    return MarkovNetwork(parameters, np.concatenate([thresholds, weights[pairs]]))


def _given(name: str, conformance_dir: Path, data_dir: Path) -> tuple[MarkovNetwork, Dataset]:
    rows = _rows(name, conformance_dir, data_dir)
    folder = conformance_dir / "applied" / "centrality"
    columns = _table(folder / f"{name}_weights.csv")
    weights = np.array([columns[variable] for variable in rows.domain.names]).astype(float)
    thresholds = _table(folder / f"{name}_predictability.csv")["threshold"].astype(float)
    return _network(weights, thresholds, rows.domain), rows


# -- what others found ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["jonas", "rochdale"])
def test_centrality(name: str, conformance_dir: Path, data_dir: Path) -> None:
    model, _ = _given(name, conformance_dir, data_dir)
    expected = _table(conformance_dir / "applied" / "centrality" / f"{name}_centrality.csv")
    found = model.nodes(paths=True)
    assert (found.weights.coding, found.weights.unit) == ("weight", "log odds ratio")
    for ours, theirs in {
        "strength": "strength",
        "expected_influence": "expected_influence",
        "expected_influence_two_steps": "expected_influence_2step",
        "closeness": "closeness_qgraph",
        "betweenness": "betweenness_qgraph",
    }.items():
        np.testing.assert_allclose(found.measures[ours], expected[theirs].astype(float), atol=1e-6)
    theirs = expected["louvain"]
    np.testing.assert_array_equal(found.community[:, None] == found.community, theirs[:, None] == theirs)


@pytest.mark.parametrize("name", ["jonas", "rochdale", "yeast"])
def test_predictability(name: str, conformance_dir: Path, data_dir: Path) -> None:
    model, rows = _given(name, conformance_dir, data_dir)
    expected = _table(conformance_dir / "applied" / "centrality" / f"{name}_predictability.csv")
    found = model.nodes(rows).predictability
    assert found is not None
    for ours, theirs in {
        "accuracy": "accuracy",
        "majority": "majority_share",
        "normalised_accuracy": "normalized_accuracy",
        "explained_deviance": "explained_deviance",
        "brier": "brier",
    }.items():
        np.testing.assert_allclose(getattr(found, ours), expected[theirs].astype(float), atol=1e-6)


# -- what must be so -----------------------------------------------------------------------------------------------


def _drawn(rng: np.random.Generator, shape: tuple[int, ...] = (2, 2, 2, 2), order: int = 2) -> MarkovNetwork:
    parameters = Canonical(domain_of(shape), Structure.up_to_order(len(shape), order))
    return MarkovNetwork(parameters, rng.normal(size=parameters.n_parameters))


def test_codings_differ_by_a_factor(rng: np.random.Generator) -> None:
    model = _drawn(rng)
    by = {coding: model.nodes(coding=coding).measures["expected_influence"] for coding in ("01", "signs", "tables")}
    np.testing.assert_allclose(by["01"], 4.0 * by["signs"])
    np.testing.assert_allclose(by["01"], 2.0 * by["tables"])


@pytest.mark.parametrize("word", ["spectral", "full"])
def test_weights_do_not_depend_on_coordinates(word: str, rng: np.random.Generator) -> None:
    model = _drawn(rng, (2, 3, 2), order=3)
    other = model.to_parameterization(word)
    np.testing.assert_allclose(other.nodes().weights.matrix, model.nodes().weights.matrix, atol=1e-10)


def test_states_in_another_order_turn_signs_and_change_no_size(rng: np.random.Generator) -> None:
    model = _drawn(rng)
    turned = MarkovNetwork(model.to_parameterization("canonical", reference="last").parameters, model.w)
    weights, others = model.nodes().weights.matrix, turned.nodes().weights.matrix
    np.testing.assert_allclose(others, weights, atol=1e-12)  # both variables of every pair are turned


def test_variables_without_an_order_have_no_sign(rng: np.random.Generator) -> None:
    rows = {"a": ["x", "y", "z"] * 40, "b": rng.integers(0, 2, 120), "c": rng.integers(0, 4, 120)}
    found = Learner(penalty=NoPenalty()).fit(rows).model.nodes(rows)
    assert found.weights.unit == "norm of the centered table, no sign"
    assert (found.weights.matrix >= 0).all()
    assert np.isnan(found.measures["expected_influence"]).tolist() == [True, True, True]
    assert not found.weights.has_sign[1, 2]
    assert Learner(penalty=NoPenalty()).fit(rows).model.nodes(coding="tables").weights.has_sign[1, 2]
    np.testing.assert_allclose(found.measures["strength"], found.weights.matrix.sum(axis=1))


def test_a_weight_is_the_norm_of_the_centred_table(rng: np.random.Generator) -> None:
    model = _drawn(rng, (3, 4))
    table = model.factors.table(model.factors.scopes.index((0, 1))).reshape(3, 4)
    centring = [np.eye(c) - 1 / c for c in (3, 4)]
    assert abs(model.nodes().weights.matrix[0, 1]) == pytest.approx(np.linalg.norm(centring[0] @ table @ centring[1]))


def test_bridges_are_what_leads_out_of_a_group(rng: np.random.Generator) -> None:
    model = _drawn(rng)
    names = model.domain.names
    found = model.nodes(groups={"one": names[:1], "rest": names[1:]})
    weights = found.weights.matrix
    np.testing.assert_allclose(
        found.measures["bridge_strength"], np.abs(weights[0]) + np.eye(4)[0] * abs(weights[0]).sum()
    )
    np.testing.assert_allclose(found.measures["bridge_expected_influence"][1:], weights[0, 1:])


def test_rows_with_missing_cells_predict_by_what_they_have(rng: np.random.Generator) -> None:
    model = _drawn(rng)
    codes = rng.integers(0, 2, (60, 4)).astype(np.uint8)
    whole = model.nodes(Dataset(model.domain, codes)).predictability
    codes = np.concatenate([codes, np.full((1, 4), 255, np.uint8)])
    partly = model.nodes(Dataset(model.domain, codes)).predictability
    assert whole is not None
    assert partly is not None
    for name, values in whole.to_dict().items():
        np.testing.assert_allclose(partly.to_dict()[name], values)


def test_of_what_does_not_vary_nothing_is_explained(rng: np.random.Generator) -> None:
    """Weights whose shares do not sum to one to the last digit."""
    model = _drawn(rng)
    codes = rng.integers(0, 2, (70, 4)).astype(np.uint8)
    codes[:, 1] = 0
    found = model.nodes(Dataset(model.domain, codes, rng.random(70))).predictability
    assert found is not None
    assert found.majority[1] == 1.0
    assert np.isnan([found.normalised_accuracy[1], found.explained_deviance[1]]).all()
    assert np.isfinite(found.normalised_accuracy[[0, 2, 3]]).all()


def test_two_cliques_are_two_communities() -> None:
    weights = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    weights[0, 3] = weights[3, 0] = 0.1
    label = louvain(weights)
    assert label.tolist() == [0, 0, 0, 1, 1, 1]
    assert modularity(weights, label) > 0.4
    assert modularity(np.zeros((3, 3)), np.arange(3)) == 0.0


def test_similarity_of_labellings() -> None:
    label, other = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    np.testing.assert_allclose(similarity_of_members(label, other), [2 / 3, 2 / 3, 1 / 4, 1 / 2])
    np.testing.assert_allclose(similarity_of_communities(label, other), [2 / 3, 1 / 2])
    np.testing.assert_allclose(similarity_of_members(label, label[::-1]), similarity_of_members(label[::-1], label))


# -- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"coding": "2"}, "no coding '2'"),
        ({"groups": {"one": ["x0"]}}, "in no group"),
        ({"groups": {"one": ["x0", "x1"], "two": ["x1"]}}, "in the groups"),
        ({"groups": {"one": ["other"]}}, "is no variable"),
        ({"groups": {"one": ["x0", "x1"]}}, "at least two groups"),
    ],
)
def test_what_is_refused(settings: dict[str, Any], said: str) -> None:
    model = MarkovNetwork(Canonical(domain_of((2, 2)), Structure.up_to_order(2, 2)), np.ones(3))
    with pytest.raises(InputError, match=said):
        model.nodes(**settings)


def test_two_states_only() -> None:
    model = MarkovNetwork(Canonical(domain_of((3, 2)), Structure.up_to_order(2, 2)), np.ones(5))
    with pytest.raises(InputError, match="has more"):
        model.nodes(coding="01")


def test_a_record_and_a_frame(rng: np.random.Generator) -> None:
    model = _drawn(rng)
    rows = UniqueRows.from_codes(model.domain, rng.integers(0, 2, (50, 4)).astype(np.uint8), np.ones(50))
    found = model.nodes(rows)
    assert isinstance(found, NodeMeasures)
    frame = found.to_frame()
    assert list(frame["variable"]) == list(model.domain.names)
    assert {"strength", "accuracy", "community"} <= set(frame)
    assert "4 variables" in repr(found)
    assert "strength" in found._repr_html_()
    assert PairWeights.of(model.factors, model.domain, "01").of_pairs.shape == (6,)
