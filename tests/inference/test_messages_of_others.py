"""Messages and mean field against values that nobody in this project computed: libDAI's and Libra's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mrfit.core.factors import Factors
from mrfit.formats.libra_data import read_marginals, read_rows
from mrfit.formats.models import read_network
from mrfit.inference.engine import Engine, Posterior
from mrfit.inference.messages.belief_propagation import BeliefPropagation
from mrfit.inference.messages.max_product import MaxBeliefs, MaxProduct
from mrfit.inference.messages.mean_field import MeanField
from mrfit.inference.messages.tree_reweighted import TreeReweighted


def _run(engine: Engine, product: Factors) -> Posterior:
    return engine.run(engine.plan(product), product)


def _singles(found: Posterior, product: Factors) -> np.ndarray:
    return np.array([found.marginal((i,)) for i in range(len(product.shape))])


def _libdai(directory: Path, name: str) -> tuple[Factors, dict]:
    folder = directory / "libdai"
    (file,) = folder.glob(f"{name}.fg*")
    return read_network(file).factors, json.loads((folder / "expected.json").read_text())[name]


def _block(text: str, method: str) -> np.ndarray:
    """The marginals under a method's line of libDAI's table."""
    lines = text.splitlines()
    begin = next(k for k, line in enumerate(lines) if line.split("\t")[0].strip() == method)
    rows = []
    for line in lines[begin + 1 :]:
        if not line.startswith("# ({x"):
            break
        rows.append([float(number) for number in line.split("(")[-1].rstrip(")").split(",")])
    return np.array(rows)


@pytest.mark.parametrize("schedule", ["auto", "sequential", "flooding", "residual"])
def test_libdai_belief_propagation(schedule: str, conformance_dir: Path) -> None:
    """Its BP rows: all schedules have one fixed point, with these errors."""
    product, expected = _libdai(conformance_dir, "testfast")
    found = _run(BeliefPropagation(schedule), product)  # type: ignore[arg-type]
    assert found.log_z == pytest.approx(expected["loopy_bp"]["lnZ_bethe"], abs=5e-10)
    assert found.log_z - expected["lnZ"] == pytest.approx(7.187e-4, abs=5e-8)
    exact = np.array(list(expected["marginals"].values()))
    assert np.abs(_singles(found, product) - exact).sum(axis=1).max() / 2 == pytest.approx(8.924e-3, abs=5e-7)
    text = (conformance_dir / "libdai" / "testfast.out").read_text()
    np.testing.assert_allclose(_singles(found, product), _block(text, "BP_SEQFIX"), rtol=5e-4)


def test_libdai_mean_field(conformance_dir: Path) -> None:
    product, expected = _libdai(conformance_dir, "testfast")
    found = _run(MeanField(), product)
    assert found.log_z == pytest.approx(expected["mean_field"]["lnZ_lower_bound"], abs=5e-9)
    text = (conformance_dir / "libdai" / "testfast.out").read_text()
    np.testing.assert_allclose(_singles(found, product), _block(text, "MF"), rtol=5e-4)


def test_libdai_bounds_enclose_log_z(conformance_dir: Path) -> None:
    """Its own tree-reweighted rows were made without trees; so the truth is what the bound is held against."""
    product, expected = _libdai(conformance_dir, "testfast")
    upper = _run(TreeReweighted(), product)
    assert expected["lnZ"] < upper.log_z < expected["lnZ"] + 0.4
    assert upper.log_z < _run(TreeReweighted(max_trees=0), product).log_z - 0.5


@pytest.mark.parametrize("name", ["testfast", "hoi1", "hoi3", "zeroes1", "jtreemapbug", "maxprodbug2"])
def test_libdai_states(name: str, conformance_dir: Path) -> None:
    product, expected = _libdai(conformance_dir, name)
    found = _run(MaxProduct(), product)
    assert isinstance(found, MaxBeliefs)
    assert found.score == pytest.approx(expected["ln_max"], abs=1e-8)
    if states := expected.get("map_states"):
        assert found.state.tolist() in [list(state.values()) for state in states]


@pytest.mark.parametrize("name", ["zeroes1", "jtreemapbug"])
def test_libdai_forests(name: str, conformance_dir: Path) -> None:
    product, expected = _libdai(conformance_dir, name)
    found = _run(BeliefPropagation(), product)
    assert found.exact
    assert found.log_z == pytest.approx(expected["lnZ"], abs=1e-10)
    np.testing.assert_allclose(_singles(found, product), list(expected["marginals"].values()), atol=1e-11)


def test_libra_stopped_after_ten_floods(conformance_dir: Path) -> None:
    """Its stored run has not converged, though its graph is a tree; ours stops there too if it is told to."""
    folder = conformance_dir / "libra"
    product = read_network(folder / "msweb-cl.mn.gz").factors
    stopped = _run(BeliefPropagation("flooding", tolerance=0.0, max_sweeps=10), product)
    stored = np.loadtxt(folder / "msweb-cl.bp.marg")
    np.testing.assert_allclose(_singles(stopped, product), stored, rtol=0, atol=1e-11)
    expected = json.loads((folder / "expected.json").read_text())["msweb-cl.mn"]
    found = _run(BeliefPropagation(), product)
    assert found.exact
    assert found.log_z == pytest.approx(expected["lnZ"], abs=1e-9)
    np.testing.assert_allclose(_singles(found, product)[:, 1], expected["exact_marginal_of_state_1"], atol=1e-9)


def test_libra_mean_field(conformance_dir: Path) -> None:
    """Its own stopped at 1e-3."""
    folder = conformance_dir / "libra"
    product = read_network(folder / "msweb-cl.mn.gz").factors
    found = _run(MeanField(), product)
    np.testing.assert_allclose(_singles(found, product), np.loadtxt(folder / "msweb-cl.mf.marg"), rtol=0, atol=1e-2)
    expected = json.loads((folder / "expected.json").read_text())["msweb-cl.mn"]["mean_field_from_uniform"]
    assert found.log_z == pytest.approx(expected["lnZ_lower_bound"], abs=1e-7)


@pytest.mark.parametrize(("model", "stored"), [("test1", "test1"), ("test1-f", "test1"), ("test1-ev1", "test1-ev1")])
def test_libra_chains(model: str, stored: str, conformance_dir: Path) -> None:
    """Tables, features, and an empty feature block: belief propagation is exact on a chain."""
    product = read_network(conformance_dir / "libra" / f"{model}.mn").factors
    expected = np.loadtxt(conformance_dir / "libra" / f"{stored}.bp.marg")
    found = _run(BeliefPropagation(), product)
    assert found.exact
    np.testing.assert_allclose(_singles(found, product), expected, rtol=0, atol=1e-9)


def test_libra_features_are_factors(conformance_dir: Path) -> None:
    """Each line of a model without blocks is a factor of its own, as in Libra; several have the same variables."""
    product = read_network(conformance_dir / "libra" / "cold.mn").factors
    assert len(product.scopes) == 26
    found = _run(BeliefPropagation(), product)
    plain = _fixed_point(product)
    np.testing.assert_allclose(_singles(found, product), plain, atol=1e-7)
    exact = json.loads((conformance_dir / "libra" / "expected.json").read_text())["cold.mn"]["marginals"]
    assert not found.exact
    assert np.abs(_singles(found, product) - exact).max() > 0.01


def test_libra_with_evidence(conformance_dir: Path) -> None:
    """Its runs on a chain, row after row of evidence; they converge."""
    folder = conformance_dir / "libra"
    for model, rows, answers in (("test1", "test1.ev", "test1.bp.ev"), ("test1-f", "test1.ev", "test1.bp.ev")):
        product = read_network(folder / f"{model}.mn").factors
        for codes, expected in zip(
            read_rows(folder / rows, product.shape).codes, read_marginals(folder / f"{answers}.marg"), strict=True
        ):
            known = {i: int(s) for i, s in enumerate(codes) if s >= 0}
            left = product.given(known)
            found = _run(BeliefPropagation(), left)
            for i, p in enumerate(expected):
                own = np.eye(2)[known[i]] if i in known else found.marginal((i,))
                np.testing.assert_allclose(own, p, atol=1e-9)


def _fixed_point(product: Factors) -> np.ndarray:
    """Probabilities of the second of two states by flooding log-ratios between every factor and its variables."""
    edges = [(f, k, i) for f, scope in enumerate(product.scopes) for k, i in enumerate(scope)]
    to_variable = dict.fromkeys(edges, 0.0)
    for _ in range(2000):
        belief = np.zeros(len(product.shape))
        for (_, _, i), message in to_variable.items():
            belief[i] += message
        sent = {edge: belief[edge[2]] - message for edge, message in to_variable.items()}
        for f, k, i in edges:
            scope = product.scopes[f]
            weighed = np.exp(product.table(f)).reshape([2] * len(scope))
            for axis, j in enumerate(scope):
                if axis != k:
                    along = np.exp([0.0, sent[f, axis, j]]).reshape([2 if a == axis else 1 for a in range(len(scope))])
                    weighed = weighed * along
            new = np.log(weighed.sum(axis=tuple(axis for axis in range(len(scope)) if axis != k)))
            to_variable[f, k, i] = 0.5 * to_variable[f, k, i] + 0.5 * float(new[1] - new[0])
    p = 1.0 / (1.0 + np.exp(-belief))
    return np.stack([1.0 - p, p], axis=1)


def test_libra_best_state(conformance_dir: Path) -> None:
    """Two are tied."""
    found = _run(MaxProduct(), read_network(conformance_dir / "libra" / "test1.mn").factors)
    assert isinstance(found, MaxBeliefs)
    assert found.state.tolist() in ([0, 0, 0, 0], [1, 1, 1, 1])
