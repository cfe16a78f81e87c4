"""One count of edges, parameters, values and groups for a model, wherever it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mrfit import UniqueRows
from mrfit.cli.main import main
from mrfit.explorer.document import Document
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L1
from mrfit.learning.tying_specs import HardTied, SoftTied
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.simple import Learned
from mrfit.structures.structure import Structure
from populations import domain_of, random_rows

SPARSE = (
    "--penalty l1 --strength 25",
    "--penalty l1 --strength 25 --objective likelihood",
    "--penalty group --strength 20",
)


def _table(path: Path) -> str:
    """Eight answers of four states, neighbours alike, and three columns of noise."""
    rng = np.random.default_rng(3)
    column, columns = rng.integers(0, 4, 300), []
    for _ in range(5):
        column = np.where(rng.random(300) < 0.6, column, rng.integers(0, 4, 300))
        columns.append(column)
    columns += [rng.integers(0, 3, 300) for _ in range(3)]
    lines = [",".join(f"v{k}" for k in range(8)), *(",".join(map(str, row)) for row in np.stack(columns, 1).tolist())]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize(
    "how",
    [
        *SPARSE,
        "--penalty l1 --strength 25 --ordered all",
        "--penalty l2 --strength 1",
        "--penalty tied --groups 2 --strength 1",
        "--penalty hard --groups 3 --strength 1 --pin-zero",
    ],
)
def test_every_command_counts_alike(how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, file = _table(tmp_path / "t.csv"), str(tmp_path / "m.mrf")

    def printed(*command: str) -> str:
        assert main([*command]) == 0
        return capsys.readouterr().out

    command = ("fit", data, *how.split(), "--no-check", "-o", file)
    told, text = json.loads(printed(*command, "--json")), printed(*command)
    model = MarkovNetwork.load(file)
    shown = json.loads(printed("show", file, "--json"))
    for name in ("n_edges", "n_parameters"):
        assert told[name] == shown[name] == getattr(model, name)
    assert told["n_nonzero"] == model.n_parameters == np.count_nonzero(model.w)
    assert told["n_nonzero_scopes"] == shown["n_scopes"] == model.n_scopes
    assert told["n_distinct"] == model.n_distinct
    assert told.get("n_groups") == model.n_groups == (None if shown["groups"] is None else len(shown["groups"]))
    sizes = f"8 variables, {model.n_edges:,} edges, {model.n_parameters:,} parameters"
    assert sizes in printed("show", file)
    assert sizes in repr(model)
    document = Document.of(model, title="m").content
    assert sum(each["nonzero"] for each in document["parameters"]) == model.n_parameters
    assert len(document["edges"]) == model.n_edges == len(model.graph.edges) == len(model.edges)
    if model.n_parameters < told["n_candidate_parameters"]:
        assert (
            f"\nnot zero: {model.n_edges:,} of {told['n_candidate_edges']:,} edges, {model.n_parameters:,} of" in text
        )
    assert text.startswith(f"learned {model.n_edges:,} edges, {model.n_parameters:,} parameters")


@pytest.mark.parametrize("how", SPARSE)
def test_what_a_penalty_has_set_to_zero_is_not_in_the_model(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, file = _table(tmp_path / "t.csv"), str(tmp_path / "m.mrf")
    assert main(["fit", data, *how.split(), "--no-check", "-o", file, "--json"]) == 0
    told, model = json.loads(capsys.readouterr().out), MarkovNetwork.load(file)
    assert 0 < told["n_edges"] < told["n_candidate_edges"] == 28
    assert told["n_parameters"] < told["n_candidate_parameters"]
    assert len(model.structure.edges) == model.n_edges


def test_a_pair_of_zeros_is_no_edge_of_a_model_made_by_hand() -> None:
    parameters = Canonical(domain_of((2, 2, 2)), Structure.of_pairs(3, np.array([[0, 1], [1, 2]])))
    w = np.zeros(parameters.n_parameters)
    w[np.flatnonzero(parameters.order_of_parameter == 2)[1]] = 0.5
    model = MarkovNetwork(parameters, w)
    assert (model.n_parameters, model.n_edges, model.n_scopes, model.n_distinct, model.n_groups) == (1, 1, 1, 1, None)
    assert model.edges.tolist() == [[1, 2]]
    assert len(model.graph.edges) == 1


def test_softly_tied_values_are_counted_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rng: np.random.Generator
) -> None:
    """Soft groups hold different values, so no column of distinct values is shown; hard groups have one."""
    data = _table(tmp_path / "t.csv")
    for penalty, is_hard in (("tied", False), ("hard", True)):
        assert main(["fit", data, "--penalty", penalty, "--groups", "2", "--strength", "1", "--no-check"]) == 0
        out = capsys.readouterr().out
        header = next(line for line in out.splitlines() if "lambda" in line and "train pll" in line)
        assert ("distinct" in header) is is_hard
        assert ("soft tying" in out) is not is_hard
    rows = random_rows(rng, (2,) * 5, 200)
    soft, hard = (
        Learner(penalty=penalty).fit(rows).model for penalty in (SoftTied(1.0, groups=2), HardTied(1.0, groups=2))
    )
    assert (soft.n_groups, hard.n_groups) == (2, 2)
    assert hard.n_distinct == 2
    assert soft.n_distinct == soft.n_parameters


def test_pruned_models_score_as_before(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2, 2), 300)
    fit = Learner(penalty=L1(8.0)).fit(rows).best
    assert fit.model.n_edges < 6
    assert fit.model.pll(rows) == pytest.approx(fit.train, abs=1e-12)
    assert len(fit.solution.w) == len(fit.model.w)


@pytest.mark.parametrize("bound", ["gain", "path", "joint"])
def test_degrees_beyond_the_bound_have_a_reason(bound: str) -> None:
    """One variable that all others copy has them all as neighbours, whatever it chose itself."""
    rng = np.random.default_rng(0)
    hub = rng.integers(0, 2, 1000)
    codes = np.stack([hub, *(np.where(rng.random(1000) < 0.8, hub, 1 - hub) for _ in range(6))], axis=1)
    rows = UniqueRows.from_codes(domain_of((2,) * 7), codes.astype(np.uint8), np.ones(1000))
    learned = Learned(max_degree=2, bound=bound).learn(rows)
    largest = int(learned.structure.degrees.max())
    assert largest > 2
    if bound == "joint":
        assert any("The bound is on the edges that a variable owns" in remark for remark in learned.remarks)
        return
    (said,) = (remark for remark in learned.remarks if remark.startswith("Degrees"))
    assert said == (
        f"Degrees go up to {largest}: each variable chooses at most 2 neighbours; the rule 'or' keeps an edge that "
        "either of its variables chose."
    )
    within = Learned(max_degree=2, rule="and").learn(rows)
    assert within.structure.degrees.max() <= 2
    assert not any(remark.startswith("Degrees") for remark in within.remarks)


def test_one_graph_exceeds_its_bound_by_required_pairs_alone(rng: np.random.Generator) -> None:
    """No variable chooses for itself there, so no rule joins two choices."""
    required = tuple(("x0", f"x{j}") for j in range(1, 5))
    learned = Learned(max_degree=2, bound="graph", require=required).learn(random_rows(rng, (2,) * 5, 200))
    (said,) = (remark for remark in learned.remarks if remark.startswith("Degrees"))
    assert "required pairs were added" in said
    assert "rule" not in said
