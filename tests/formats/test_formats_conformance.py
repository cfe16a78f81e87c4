"""Models, data and answers that nobody in this project wrote: every file is read, and means what it should."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import FactorNetwork, read_network
from mrfit.formats.input_file import read_input
from mrfit.formats.libdai import read_tab
from mrfit.formats.libra_data import read_marginals, read_rows
from mrfit.formats.merged import merged
from mrfit.formats.uai_evidence import read_evidence
from mrfit.formats.uai_results import read_mar, read_pr
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.objectives.row_scores import pll_of_factors
from mrfit.registry import FORMATS

UAI = ["CSP_12", "DBN_11", "Grids_11", "Grids_12", "Grids_15", "ObjectDetection_34", "Pedigree_11", "Pedigree_12"]
UAI += ["Promedus_15", "Promedus_24", "Segmentation_11", "Segmentation_14", "linkage_24"]


def expected_of(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return document


def log_z(network: FactorNetwork) -> float:
    engine = Enumeration()
    return engine.run(engine.plan(network.factors), network.factors).log_z


def assert_comes_back(network: FactorNetwork) -> None:
    """Check the round trip through every format, table by table; learned models drop constants."""
    tables, constant = merged(network.factors)
    for word, kind in FORMATS.items():
        found, other = merged(kind.read(kind.write(network), word).factors)
        assert other == pytest.approx(0.0 if word == "mrf" else constant, abs=1e-9)
        lonely = {scope: np.zeros(table.size) for scope, table in found.items() if scope not in tables}
        assert found.keys() == (lonely | tables).keys()
        expected = np.concatenate([(lonely | tables)[scope] for scope in found])
        np.testing.assert_allclose(np.concatenate([*found.values()]), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", UAI)
def test_uai_2014(name: str, conformance_dir: Path) -> None:
    folder = conformance_dir / "uai2014"
    network = read_network(folder / f"{name}.uai.gz")
    expected = expected_of(folder)[name]
    marginals = read_mar(folder / f"{name}.uai.MAR.gz")
    assert tuple(map(len, marginals)) == network.domain.shape
    (evidence,) = read_evidence(folder / f"{name}.uai.evid", network.domain.shape)
    for i, state in evidence.items():
        assert marginals[i].tolist() == np.eye(network.domain.shape[i])[state].tolist()
    assert read_pr(folder / f"{name}.uai.PR") == pytest.approx(expected["lnZ"], rel=5e-6)
    assert_comes_back(network)


@pytest.mark.parametrize("name", ["testfast", "hoi1", "hoi3", "zeroes1", "jtreemapbug"])
def test_libdai_factor_graphs(name: str, conformance_dir: Path) -> None:
    folder = conformance_dir / "libdai"
    network = read_network(folder / f"{name}.fg")
    expected = expected_of(folder)[name]
    assert log_z(network) == pytest.approx(expected["lnZ"], abs=1e-9)
    engine = Enumeration()
    posterior = engine.run(engine.plan(network.factors), network.factors)
    for label, p in expected.get("marginals", {}).items():
        np.testing.assert_allclose(posterior.marginal((network.domain.index(f"v{label}"),)), p, atol=1e-9)
    assert_comes_back(network)


def test_libdai_states_up_to_39(conformance_dir: Path) -> None:
    network = read_network(conformance_dir / "libdai" / "maxprodbug2.fg.gz")
    assert max(network.domain.shape) == 39
    assert np.isneginf(network.tables.values).sum() == 200
    assert_comes_back(network)


@pytest.mark.parametrize(
    ("model", "rows", "total"),
    [("hoi1", "hoi1_data", -16.489284672), ("em_2var_result", "2var_data", -23.429689714)],
)
def test_libdai_rows_with_unknown_states(model: str, rows: str, total: float, conformance_dir: Path) -> None:
    """The sum over rows of the log-probability of what is known."""
    folder = conformance_dir / "libdai"
    network = read_network(folder / f"{model}.fg")
    normaliser, found = log_z(network), 0.0
    for row in read_tab(folder / f"{rows}.tab").codes_of(network.domain):
        keep = np.array([(row < 0) | (row == x) for x in np.ndindex(network.domain.shape)]).all(axis=1)
        codes = np.array(list(np.ndindex(network.domain.shape)))[keep]
        found += float(np.logaddexp.reduce(network.log_potential(codes))) - normaliser
    assert found == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize("name", ["cold", "tree6", "test1"])
def test_libra_log_z(name: str, conformance_dir: Path) -> None:
    folder = conformance_dir / "libra"
    network = read_network(folder / f"{name}.mn")
    assert log_z(network) == pytest.approx(expected_of(folder)[f"{name}.mn"]["lnZ"], abs=1e-9)
    assert_comes_back(network)


def test_libra_scores(conformance_dir: Path) -> None:
    """Unnormalised, of features with negated conditions."""
    folder = conformance_dir / "libra"
    network = read_network(folder / "cold.mn")
    scores = network.log_potential(read_rows(folder / "cold.data.gz", network.domain.shape).codes)
    lines = read_input(folder / "cold.score.log.gz").decode().splitlines()
    np.testing.assert_allclose(scores, [float(line) for line in lines[1:-1]], atol=1e-6)
    assert scores.mean() == pytest.approx(2.396384, abs=1e-6)
    assert scores.std() / math.sqrt(len(scores)) == pytest.approx(0.042935, abs=1e-6)


def test_libra_pseudo_log_likelihoods(conformance_dir: Path) -> None:
    """The model has 294 variables."""
    folder = conformance_dir / "libra"
    network = read_network(folder / "msweb-cl.mn.gz")
    rows = read_rows(folder / "msweb.test.gz", network.domain.shape)
    scores = pll_of_factors(network.factors, rows.codes.astype(np.uint8))
    lines = read_input(folder / "msweb-cl.pll.log").decode().splitlines()
    np.testing.assert_allclose(scores, [float(line) for line in lines[1:-1]], atol=1e-6)
    assert scores.mean() == pytest.approx(-9.830564213, abs=1e-9)
    assert_comes_back(network)


@pytest.mark.parametrize("name", ["test1", "test1-f", "test1-ev1", "mpe/test1-ev1"])
def test_libra_tables_and_features(name: str, conformance_dir: Path) -> None:
    """Marginals without evidence; an empty factor, and variables in none."""
    folder = conformance_dir / "libra"
    network = read_network(folder / f"{name}.mn")
    engine = Enumeration()
    posterior = engine.run(engine.plan(network.factors), network.factors)
    stored = folder / f"{name.removesuffix('-f')}.bp.marg"
    if stored.exists():
        (answer,) = read_marginals(stored)
        for i, p in enumerate(answer):
            np.testing.assert_allclose(posterior.marginal((i,)), p, atol=1e-9)
    assert_comes_back(network)


def test_every_row_and_marginal_file_of_libra(conformance_dir: Path) -> None:
    folder = conformance_dir / "libra"
    rows = [path for end in ("ev", "ev1", "q", "q1", "mpe") for path in folder.rglob(f"*.{end}") if path.is_file()]
    assert len(rows) == 12
    for path in rows:
        assert read_rows(path, (2, 2, 2, 2)).codes.shape[1] == 4
    for path in folder.glob("*.marg"):
        for answer in read_marginals(path):
            np.testing.assert_allclose([p.sum() for p in answer], 1.0, atol=1e-5)
    assert len(read_rows(folder / "msweb.q.gz", (2,) * 294).codes) > 0


def test_no_model_is_left_out(conformance_dir: Path) -> None:
    """Every file with a known suffix is read."""
    names = ("uai2014", "libdai", "libra")
    files = [path for name in names for path in (conformance_dir / name).rglob("*") if path.is_file()]
    models = [path for path in files if path.name.removesuffix(".gz").endswith((".uai", ".fg", ".mn"))]
    assert len(models) == 27
    for path in models:
        assert isinstance(read_network(path), FactorNetwork)
