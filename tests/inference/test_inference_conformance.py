"""Exact answers to models of others: marginals, log Z and most probable states that nobody in this project computed."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import Dataset, FactorNetwork, Factors, read_network
from mrfit.formats.libdai import read_tab
from mrfit.formats.libra_data import read_marginals, read_rows
from mrfit.formats.uai_evidence import read_evidence
from mrfit.formats.uai_results import read_mar, read_pr
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.row_runs import RowRuns
from mrfit.learning.specification import learn

UAI = ["CSP_12", "DBN_11", "Grids_11", "Grids_12", "Grids_15", "ObjectDetection_34", "Pedigree_11", "Pedigree_12"]
UAI += ["Promedus_15", "Promedus_24", "Segmentation_11", "Segmentation_14", "linkage_24"]
TREE = JunctionTree()


def _expected(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return document


@pytest.mark.parametrize("name", UAI)
def test_uai_2014(name: str, conformance_dir: Path) -> None:
    """All marginals to the digits of the files, log Z to theirs, and the largest product."""
    folder = conformance_dir / "uai2014"
    network = read_network(folder / f"{name}.uai.gz")
    (known,) = read_evidence(folder / f"{name}.uai.evid", network.domain.shape)
    factors = network.factors.given(known)
    plan = TREE.plan(factors)
    assert plan.n_bytes < 1.5e9
    found, expected = TREE.run(plan, factors), _expected(folder)[name]
    assert found.log_z == pytest.approx(expected["lnZ"], abs=1e-6)
    assert found.log_z / np.log(10) == pytest.approx(read_pr(folder / f"{name}.uai.PR") / np.log(10), rel=5e-6)
    for i, p in enumerate(read_mar(folder / f"{name}.uai.MAR.gz")):
        if i not in known:
            mine = found.marginal((i,))
            np.testing.assert_allclose(mine, p, atol=1e-6)
            np.testing.assert_allclose(mine[p > 1e-12], p[p > 1e-12], rtol=1e-5)
    codes, largest = TREE.best(plan, factors)
    assert largest == pytest.approx(expected["ln_max"], abs=1e-6)
    assert factors.log_potential(codes[None])[0] == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("name", ["testfast", "hoi1", "hoi3", "zeroes1", "jtreemapbug", "maxprodbug2"])
def test_libdai(name: str, conformance_dir: Path) -> None:
    """Up to 39 states, cells in any order, hard zeros, ties."""
    folder = conformance_dir / "libdai"
    path = folder / f"{name}.fg"
    network = read_network(path if path.exists() else folder / f"{name}.fg.gz")
    expected = _expected(folder)[name]
    found, best = network.marginals(engine="tree"), network.map()
    assert found.log_z == pytest.approx(expected["lnZ"], abs=1e-9)
    assert best.log_potential == pytest.approx(expected["ln_max"], abs=1e-8)
    for label, p in expected["marginals"].items():
        np.testing.assert_allclose([*found[f"v{label}"].values()], p, atol=1e-9)


def test_libdai_exact_block(conformance_dir: Path) -> None:
    """The printed marginals of the 4 x 4 grid, and its most probable state."""
    folder = conformance_dir / "libdai"
    found = read_network(folder / "testfast.fg")
    lines = (folder / "testfast.out").read_text().split("EXACT", 1)[1].splitlines()
    printed = [line for line in lines if line.startswith("# ({x")][:16]
    assert len(printed) == 16
    marginals = found.marginals()
    for line in printed:
        label = line.split("{x", 1)[1].split("}", 1)[0]
        values = [float(x) for x in line.split(", (", 1)[1].rstrip(")").split(",")]
        np.testing.assert_allclose([*marginals[f"v{label}"].values()], values, rtol=5e-4)
    best = "".join(found.map().states.values())
    assert best == "1000100110001010"


@pytest.mark.parametrize(
    ("model", "rows", "total"),
    [("hoi1", "hoi1_data", -16.489284672), ("em_2var_result", "2var_data", -23.429689714)],
)
def test_libdai_rows_with_unknown_states(model: str, rows: str, total: float, conformance_dir: Path) -> None:
    """log p of what each row holds, from rows run together."""
    folder = conformance_dir / "libdai"
    network = read_network(folder / f"{model}.fg")
    codes = np.array(read_tab(folder / f"{rows}.tab").codes_of(network.domain))
    found = 0.0
    for row in codes:
        runs = RowRuns(network.factors, np.flatnonzero(row >= 0).tolist())
        found += float(runs.answers(row[None]).log_z[0])
    assert found - len(codes) * float(network.log_z()) == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize("model", ["test1", "test1-f"])
def test_libra_chain(model: str, conformance_dir: Path) -> None:
    """Marginals of every variable given every line of evidence, and the probability of whole queries."""
    folder = conformance_dir / "libra"
    network, expected = read_network(folder / f"{model}.mn"), _expected(folder)["test1.mn"]
    evidence = read_rows(folder / "test1.ev", network.domain.shape).codes
    queries = read_rows(folder / "test1.q", network.domain.shape).codes
    stored = list(read_marginals(folder / "test1.bp.ev.marg"))
    for row, query, answer, joint in zip(
        evidence, queries, stored, expected["query_exact_joint_log_prob"], strict=True
    ):
        given = {f"v{i}": str(state) for i, state in enumerate(row) if state >= 0}
        found = network.marginals([f"v{i}" for i in range(4)], evidence=given)
        np.testing.assert_allclose([[*found[f"v{i}"].values()] for i in range(4)], answer, atol=1e-9)
        both = {f"v{i}": str(state) for i, state in enumerate(query)} | given
        assert float(network.log_z(evidence=both)) - found.log_z == pytest.approx(joint, abs=1e-8)


@pytest.mark.parametrize(
    ("model", "evidence", "states"),
    [("test1", "test1.ev", "test1.ev.mpe"), ("mpe/test1-ev1", "test1.ev1", "test1-ev1.ev1.mpe")],
)
def test_libra_most_probable_states(model: str, evidence: str, states: str, conformance_dir: Path) -> None:
    """Evidence makes the optimum unique."""
    folder = conformance_dir / "libra"
    network = read_network(folder / f"{model}.mn")
    given = read_rows(folder / "mpe" / evidence, network.domain.shape).codes
    expected = read_rows(folder / "mpe" / states, network.domain.shape).codes
    for row, best in zip(given, expected, strict=True):
        found = network.map(evidence={f"v{i}": str(state) for i, state in enumerate(row) if state >= 0})
        assert [*found.states.values()] == [str(state) for state in best]


@pytest.mark.parametrize("name", ["tree6", "cold"])
def test_libra_trees_and_features(name: str, conformance_dir: Path) -> None:
    folder = conformance_dir / "libra"
    network, expected = read_network(folder / f"{name}.mn"), _expected(folder)[f"{name}.mn"]
    found = network.marginals(engine="tree")
    assert found.log_z == pytest.approx(expected["lnZ"], abs=1e-9)
    for i, p in enumerate(expected["marginals"]):
        np.testing.assert_allclose([*found[f"v{i}"].values()], p, atol=1e-9)
    if "map_state" in expected:
        assert [*network.map().states.values()] == [str(state) for state in expected["map_state"]]


def test_libra_large_tree(conformance_dir: Path) -> None:
    """294 variables: exact marginals, log-likelihood of rows, and of queries."""
    folder = conformance_dir / "libra"
    network, expected = read_network(folder / "msweb-cl.mn.gz"), _expected(folder)["msweb-cl.mn"]
    found = network.marginals()
    assert found.log_z == pytest.approx(expected["lnZ"], abs=1e-7)
    mine = [found[f"v{i}"]["1"] for i in range(294)]
    np.testing.assert_allclose(mine, expected["exact_marginal_of_state_1"], atol=1e-8)
    rows = read_rows(folder / "msweb.test.gz", network.domain.shape).codes
    assert network.log_potential(rows).mean() - found.log_z == pytest.approx(expected["mean_LL_msweb_test"], abs=1e-7)
    queries = read_rows(folder / "msweb.q.gz", network.domain.shape).codes
    for row, joint in zip(queries, expected["query_exact_joint_log_prob"], strict=True):
        given = {f"v{i}": str(state) for i, state in enumerate(row) if state >= 0}
        assert float(network.log_z(evidence=given)) - found.log_z == pytest.approx(joint, abs=1e-7)


def _pairwise_scores(tau: list[float], omega: dict[str, float], scores: list[int]) -> Factors:
    """exp(sum of tau_i s_i and omega_ij s_i s_j) of variables whose states have scores; pairs come in their order."""
    s, n = np.array(scores, float), len(tau)
    tables: list[tuple[tuple[int, ...], np.ndarray]] = [((i,), tau[i] * s) for i in range(n)]
    pairs = zip(combinations(range(n), 2), omega.values(), strict=True)
    return Factors.from_tables((len(scores),) * n, [*tables, *((pair, w * np.outer(s, s)) for pair, w in pairs)])


@pytest.mark.parametrize(("name", "scores"), [("jonas8", [-1, 1]), ("sim3", [0, 1, 2])])
def test_psychometric_log_likelihoods(name: str, scores: list[int], conformance_dir: Path) -> None:
    """All rows are scored exactly, at the published parameters."""
    folder = conformance_dir / "psychonetrics"
    expected = _expected(folder)[name]
    tau = expected["tau"]
    factors = _pairwise_scores([*tau.values()] if isinstance(tau, dict) else tau, expected["omega"], scores)
    values = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
    codes = np.searchsorted(scores, values)
    log_z = TREE.run(TREE.plan(factors), factors).log_z
    total = float((factors.log_potential(codes) - log_z).sum())
    assert total == pytest.approx(expected["loglik"], abs=1e-6)
    assert total == pytest.approx(expected["loglik_file"], abs=0.01)


def test_psychometric_maximum_likelihood(conformance_dir: Path) -> None:
    """All pairs of eight items, without a penalty: our optimum is theirs."""
    folder = conformance_dir / "psychonetrics"
    fitted = learn(Dataset.from_file(folder / "jonas8.csv"), objective="likelihood", penalty="none")
    network = FactorNetwork(fitted.model.domain, fitted.model.factors)
    rows = np.loadtxt(folder / "jonas8.csv", delimiter=",", skiprows=1)
    codes = (rows > 0).astype(np.int64)
    total = float((network.log_potential(codes) - float(network.log_z())).sum())
    assert total == pytest.approx(_expected(folder)["jonas8"]["loglik"], abs=1e-6)
