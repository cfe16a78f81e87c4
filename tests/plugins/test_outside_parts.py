"""Five parts from outside the package: each fits, is cross-validated, saved, loaded, known by its word, and keeps its
promises."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import (
    FactorNetwork,
    Learner,
    MarkovNetwork,
    MarkovNetworkLearner,
    learn,
    read_network,
    register,
    write_network,
)
from mrfit.cli.main import main
from mrfit.testing import check_engine, check_format, check_objective, check_penalty, check_structure_learner
from plugins import correlated, json_tables, listing, ratio_matching, scad

FOLDER = Path(__file__).parent
FILES = ("scad", "ratio_matching", "correlated", "listing", "json_tables")
PARTS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "penalty": ({"penalty": scad.SCAD(3.0)}, {"penalty": "scad"}),
    "objective": ({"objective": ratio_matching.RatioMatchingChoice()}, {"objective": "ratio-matching"}),
    "structure": ({"structure": correlated.Correlated(0.1)}, {"structure": "correlated"}),
}
KINDS = (scad.SCAD, ratio_matching.RatioMatchingChoice, correlated.Correlated)


@pytest.fixture(name="rows")
def _rows(rng: np.random.Generator) -> np.ndarray:
    first = rng.integers(0, 2, 300)
    return np.column_stack([first, first ^ (rng.random(300) < 0.2), rng.integers(0, 2, 300)])


@pytest.mark.parametrize("name", FILES)
def test_each_is_short_and_on_the_page(name: str) -> None:
    """A part has at most 40 lines of code; docs/plugins.md shows the file as it is."""
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line.strip()]) <= 40
    page = (FOLDER.parents[1] / "docs" / "plugins.md").read_text(encoding="utf-8")
    assert text in re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("part", PARTS)
def test_a_learner_with_the_part_fits_selects_saves_and_loads(part: str, rows: np.ndarray, tmp_path: Path) -> None:
    made, _ = PARTS[part]
    chosen = learn(rows, **({"penalty": type(made["penalty"])((1.0, 30.0))} if part == "penalty" else made), folds=3)
    assert np.isfinite(chosen.best.held_out)
    fitted = learn(rows, **made)
    assert fitted.best.solution.converged
    assert fitted.best.train == pytest.approx(fitted.model.pll(rows), abs=1e-12)
    fitted.model.save(tmp_path / "m.mrf")
    again = MarkovNetwork.load(tmp_path / "m.mrf")
    np.testing.assert_array_equal(again.w, fitted.model.w)
    for kind in KINDS:
        register(kind)
    learner = Learner.from_dict(again.provenance["learner"])
    np.testing.assert_array_equal(learner.fit(rows).model.w, fitted.model.w)


@pytest.mark.parametrize("part", PARTS)
def test_its_word_is_known_to_python_and_the_command_line(part: str, rows: np.ndarray, tmp_path: Path) -> None:
    _, word = PARTS[part]
    for kind in KINDS:
        register(kind)
    by_word = MarkovNetworkLearner(**word).fit(rows)
    np.savetxt(tmp_path / "rows.csv", rows, "%d", delimiter=",", header="v0,v1,v2", comments="")
    option = [text for name, own in word.items() for text in (f"--{name}", own)]
    assert main(["fit", str(tmp_path / "rows.csv"), *option, "-o", str(tmp_path / "m.mrf"), "--quiet"]) == 0
    np.testing.assert_array_equal(MarkovNetwork.load(tmp_path / "m.mrf").w, by_word.model_.w)


def test_fits_that_are_not_convex_claim_a_stationary_point(rows: np.ndarray) -> None:
    for made in (PARTS["penalty"][0], PARTS["objective"][0]):
        assert learn(rows, **made).guarantee.startswith("a stationary point")


def test_ratio_matching_finds_the_truth(rng: np.random.Generator) -> None:
    """Many rows make it agree with the pseudo-likelihood."""
    first = rng.integers(0, 2, 20_000)
    rows = np.column_stack([first, first ^ (rng.random(20_000) < 0.2)])
    one, other = (learn(rows, objective=o).model.w for o in (ratio_matching.RatioMatchingChoice(), "pseudo-likelihood"))
    np.testing.assert_allclose(one, other, atol=0.02)


def test_correlated_finds_the_edge(rows: np.ndarray) -> None:
    assert learn(rows, correlated.Correlated(0.3)).model.structure.edges.tolist() == [[0, 1]]


def test_the_engine_answers_questions_of_a_fitted_model(rows: np.ndarray, tmp_path: Path) -> None:
    register(listing.Listing)
    model = learn(rows).model
    for engine in ("listing", listing.Listing()):
        found = model.log_z(engine=engine)
        assert (found.engine, found.exact) == ("listing", True)
        assert float(found) == pytest.approx(float(model.log_z(engine="tree")), rel=1e-12)
    model.save(tmp_path / "m.mrf")
    assert main(["logz", str(tmp_path / "m.mrf"), "--engine", "listing", "--quiet"]) == 0


def test_the_format_is_found_by_its_suffix(rows: np.ndarray, tmp_path: Path) -> None:
    register(json_tables.JSON)
    model = learn(rows).model
    network = FactorNetwork(model.domain, model.factors)
    write_network(tmp_path / "m.json", network)
    assert read_network(tmp_path / "m.json").domain == model.domain
    model.save(tmp_path / "m.mrf")
    assert main(["convert", str(tmp_path / "m.mrf"), str(tmp_path / "out.txt"), "--to", "json", "--quiet"]) == 0
    assert main(["logz", str(tmp_path / "m.json"), "--quiet"]) == 0


def test_all_of_them_keep_their_promises() -> None:
    check_penalty(
        lambda rng, n: [
            scad.SmoothlyClipped(0.7, np.ones(n, bool)),
            scad.SmoothlyClipped(2.0, rng.random(n) < 0.5),
            scad.SmoothlyClipped(2.0, np.zeros(n, bool)),
        ]
    )
    check_objective(ratio_matching.RatioMatching, threads=False)
    check_structure_learner(correlated.Correlated())
    check_engine(listing.Listing())
    check_format(json_tables.JSON)
