"""Round trip: a table, its model, the model's scores and its description."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mrfit import MarkovNetwork

Shell = Callable[..., Any]
Row = tuple[str, ...]

NAMES = ("Müdigkeit", "smokes a lot", "città", "grade")
STATES = (("nie", "öfter als 3×"), ("no", "yes, daily"), ("Milano", "Roma", "São Paulo"), ("1", "2", "10"))


@pytest.fixture
def rows(rng: np.random.Generator) -> list[Row]:
    """150 answers in words, with every state and some dependence."""
    smokes = rng.random(150) < 0.4
    tired = rng.random(150) < np.where(smokes, 0.8, 0.3)
    city = rng.integers(0, 3, 150)
    grade = np.where(rng.random(150) < 0.5, city, rng.integers(0, 3, 150))
    codes = np.stack([tired, smokes, city, grade], axis=1).astype(int)
    return [tuple(STATES[i][code] for i, code in enumerate(row)) for row in codes]


@pytest.fixture
def survey(tmp_path: Path, rows: list[Row]) -> Path:
    return written(tmp_path / "survey.csv", NAMES, rows)


def text(names: Sequence[str] | None, rows: Sequence[Row], delimiter: str = ",") -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter).writerows([names, *rows] if names else rows)
    return buffer.getvalue().encode()


def written(path: Path, names: Sequence[str] | None, rows: Sequence[Row]) -> Path:
    """A table as the suffix of its name says."""
    if path.suffix == ".parquet":
        pq.write_table(pa.table(dict(zip(names or (), map(list, zip(*rows, strict=True)), strict=True))), path)
        return path
    content = text(names, rows, {".tsv": "\t", ".txt": ";"}.get(Path(path.name.removesuffix(".gz")).suffix, ","))
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def bits(rng: np.random.Generator, n_rows: int, n_variables: int) -> list[Row]:
    """Rows of 0/1 that hang together through a common cause."""
    cause = rng.random((n_rows, 1)) < 0.5
    return [tuple(map(str, row)) for row in (rng.random((n_rows, n_variables)) < np.where(cause, 0.7, 0.2)).astype(int)]


def parameters(path: Path) -> dict[str, float]:
    model = MarkovNetwork.load(path)
    return dict(zip(model.parameters.names(), model.w.tolist(), strict=True))


def test_fit_score_show(shell: Shell, survey: Path) -> None:
    fitted = shell("fit", survey, "-o", "survey.mrf", "--json")
    assert (fitted.code, fitted.err) == (0, "")
    scored = shell("score", "survey.mrf", survey, "--json")
    assert scored.document["rows"] == 150
    assert scored.document["pll"] == pytest.approx(fitted.document["train_pll"], abs=1e-12)
    shown = shell("show", "survey.mrf")
    assert shown.code == 0
    assert "smokes a lot: 'no', 'yes, daily'" in shown.out
    assert "Müdigkeit=öfter als 3× & smokes a lot=yes, daily" in shown.out


def test_fit_reports_what_it_did(shell: Shell, survey: Path, rows: list[Row]) -> None:
    document = shell("fit", survey, "--valid", survey, "--strength", "2", "--json").document
    assert document["n_rows"] == 150
    assert document["n_distinct_rows"] == len(set(rows))
    assert document["n_variables"] == 4
    # One a state beyond the first, and products of those for pairs: 1 + 1 + 2 + 2 and 1 + 2 + 2 + 2 + 2 + 4.
    assert document["n_parameters"] == 6 + 13
    # A cell is a variable with one joint state of all others.
    others = [{row[:i] + row[i + 1 :] for row in rows} for i in range(4)]
    assert document["n_cells"] == sum(map(len, others))
    assert document["strength"] == 2.0
    assert document["valid_pll"] == pytest.approx(document["train_pll"], abs=1e-12)
    assert document["violation"] <= 1e-6
    assert document["status"] == "converged"
    assert document["iterations"] >= 1
    assert document["evaluations"] >= document["iterations"]
    assert document["seconds"] >= 0
    assert document["output"] is None


def test_summary_in_words(shell: Shell, survey: Path) -> None:
    ran = shell("fit", survey, "--valid", survey, "--strength", "1,10", "-o", "m.mrf")
    assert (ran.code, ran.err) == (0, "")
    assert "150 rows" in ran.out
    assert ran.out.count("  best\n") == 1  # the strength that is kept
    assert "wrote m.mrf" in ran.out
    assert "no model written" in shell("fit", survey).out


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.tsv.gz", "t.txt", "t.txt.gz", "t.parquet"])
def test_every_kind_of_file_gives_the_same_model(
    shell: Shell, tmp_path: Path, survey: Path, rows: list[Row], name: str
) -> None:
    written(tmp_path / name, NAMES, rows)
    assert shell("fit", survey, "-o", "a.mrf", "--quiet").code == 0
    assert shell("fit", name, "-o", "b.mrf", "--quiet").code == 0
    assert (tmp_path / "a.mrf").read_bytes() == (tmp_path / "b.mrf").read_bytes()


def test_the_order_of_rows_changes_nothing(shell: Shell, tmp_path: Path, survey: Path, rows: list[Row]) -> None:
    written(tmp_path / "back.csv", NAMES, rows[::-1])
    shell("fit", survey, "-o", "a.mrf")
    shell("fit", "back.csv", "-o", "b.mrf")
    assert (tmp_path / "a.mrf").read_bytes() == (tmp_path / "b.mrf").read_bytes()


def test_columns_are_matched_by_name(shell: Shell, tmp_path: Path, survey: Path, rows: list[Row]) -> None:
    shell("fit", survey, "-o", "m.mrf")
    moved = [(f"person {k}", *row[::-1]) for k, row in enumerate(rows)]
    written(tmp_path / "moved.tsv", ("who", *NAMES[::-1]), moved)
    expected = shell("score", "m.mrf", survey, "--json").document
    assert shell("score", "m.mrf", "moved.tsv", "--json").document == expected


def test_states_are_matched_by_name(shell: Shell, tmp_path: Path, rows: list[Row], survey: Path) -> None:
    """A table that lacks some states, or spells numbers otherwise, is read with the model's coding."""
    shell("fit", survey, "-o", "m.mrf")
    some = [row for row in rows if row[2] == "Roma" and row[3] != "1"]
    written(tmp_path / "some.csv", NAMES, some)
    written(tmp_path / "spelled.csv", NAMES, [(*row[:3], f"+{row[3]}.0") for row in some])
    lines = shell("score", "m.mrf", survey, "--per-row").out.splitlines()
    expected = [line for row, line in zip(rows, lines, strict=True) if row[2] == "Roma" and row[3] != "1"]
    assert shell("score", "m.mrf", "some.csv", "--per-row").out.splitlines() == expected
    assert shell("score", "m.mrf", "spelled.csv", "--per-row").out.splitlines() == expected


def test_counts_are_repeated_rows(shell: Shell, tmp_path: Path, survey: Path, rows: list[Row]) -> None:
    counts = [(*row, str(count)) for row, count in Counter(rows).items()]
    written(tmp_path / "counts.csv", (*NAMES, "how often"), counts)
    shell("fit", survey, "-o", "a.mrf")
    document = shell("fit", "counts.csv", "--weight", "how often", "-o", "b.mrf", "--json").document
    assert document["n_rows"] == document["n_distinct_rows"] == len(counts)
    assert parameters(tmp_path / "a.mrf") == parameters(tmp_path / "b.mrf")
    weighted = shell("score", "a.mrf", "counts.csv", "--weight", "how often", "--json").document
    assert weighted["pll"] == pytest.approx(shell("score", "a.mrf", survey, "--json").document["pll"], abs=1e-12)


@pytest.mark.parametrize("name", ["t.data", "t.data.gz"])
def test_weights_of_libra_files(shell: Shell, tmp_path: Path, rng: np.random.Generator, name: str) -> None:
    rows = bits(rng, 120, 4)
    weighted = [(f"{count}|{row[0]}", *row[1:]) for row, count in Counter(rows).items()]
    written(tmp_path / name, None, weighted)
    written(tmp_path / "plain.data", None, rows)
    shell("fit", "plain.data", "-o", "a.mrf")
    shell("fit", name, "-o", "b.mrf")
    assert parameters(tmp_path / "a.mrf") == parameters(tmp_path / "b.mrf")
    assert list(MarkovNetwork.load(tmp_path / "a.mrf").domain.names) == ["v0", "v1", "v2", "v3"]


def test_first_line_as_names_or_not(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "years.csv").write_text("2019,2020\n1,0\n0,1\n1,1\n")
    (tmp_path / "words.csv").write_text("yes,no\nno,yes\nyes,yes\n")
    assert shell("fit", "years.csv", "--no-header", "--json").document["n_rows"] == 4
    assert shell("fit", "years.csv", "--json").document["n_rows"] == 3  # what no row holds, and grows, are names
    assert shell("fit", "years.csv", "--header", "-o", "m.mrf", "--json").document["n_rows"] == 3
    assert shell("show", "m.mrf", "--json").document["domain"] == {"2019": ["0", "1"], "2020": ["0", "1"]}
    assert shell("fit", "words.csv", "--json").document["n_rows"] == 2
    assert shell("fit", "words.csv", "--no-header", "--json").document["n_rows"] == 3


def test_missing_values(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "holes.csv").write_text("a,b\nx,1\n,0\ny,NA\ny,1\nx,0\n")
    (tmp_path / "whole.csv").write_text("a,b\nx,1\ny,1\nx,0\n")
    dropped = shell("fit", "holes.csv", "--missing", "drop", "-o", "drop.mrf", "--json").document
    assert dropped["n_rows"] == 3
    shell("fit", "whole.csv", "-o", "whole.mrf")
    assert (tmp_path / "drop.mrf").read_bytes() == (tmp_path / "whole.mrf").read_bytes()

    assert shell("fit", "holes.csv", "--missing", "state", "-o", "state.mrf", "--json").document["n_rows"] == 5
    domain = shell("show", "state.mrf", "--json").document["domain"]
    assert domain == {"a": ["x", "y", "missing"], "b": ["0", "1", "missing"]}
    assert shell("score", "state.mrf", "holes.csv", "--json").document["rows"] == 5

    scored = shell("score", "drop.mrf", "holes.csv", "--missing", "drop", "--json").document
    assert (scored["rows"], scored["dropped"]) == (3, 2)
    assert "2 dropped" in shell("score", "drop.mrf", "holes.csv", "--missing", "drop").out


def test_unknown_states_can_be_dropped(shell: Shell, tmp_path: Path, survey: Path, rows: list[Row]) -> None:
    shell("fit", survey, "-o", "m.mrf")
    written(tmp_path / "more.csv", NAMES, [*rows, ("nie", "no", "Paris", "1")])
    scored = shell("score", "m.mrf", "more.csv", "--unknown", "drop", "--json").document
    assert scored == {**shell("score", "m.mrf", survey, "--json").document, "dropped": 1}


def test_row_scores_average_to_the_mean(shell: Shell, tmp_path: Path, survey: Path, rows: list[Row]) -> None:
    shell("fit", survey, "-o", "m.mrf")
    mean = shell("score", "m.mrf", survey, "--json").document["pll"]
    ran = shell("score", "m.mrf", survey, "--per-row")
    values = [float(line) for line in ran.out.splitlines()]
    assert len(values) == 150
    assert np.mean(values) == pytest.approx(mean, abs=1e-9)
    document = shell("score", "m.mrf", survey, "--per-row", "--json").document
    assert document["pll"] == mean
    np.testing.assert_allclose(document["per_row"], values, rtol=1e-9)
    assert f"{mean:.4f} nats a row" in shell("score", "m.mrf", survey).out

    weight = [k % 3 for k in range(150)]
    written(tmp_path / "w.csv", (*NAMES, "w"), [(*row, str(w)) for row, w in zip(rows, weight, strict=True)])
    weighted = shell("score", "m.mrf", "w.csv", "--weight", "w", "--json").document
    assert weighted["pll"] == pytest.approx(np.average(values, weights=weight), abs=1e-9)


def test_show_lists_the_strongest_first(shell: Shell, tmp_path: Path, survey: Path) -> None:
    shell("fit", survey, "-o", "m.mrf")
    document = shell("show", "m.mrf", "--json", "--top", "3").document
    assert document["domain"] == {name: list(states) for name, states in zip(NAMES, STATES, strict=True)}
    assert (document["n_variables"], document["n_edges"], document["n_scopes"]) == (4, 6, 10)
    assert document["n_parameters"] == 19
    expected = parameters(tmp_path / "m.mrf")
    for order, entries in document["strongest"].items():
        found = [(entry["name"], entry["value"]) for entry in entries]
        rivals = sorted(
            (item for item in expected.items() if item[0].count(" & ") == int(order) - 1),
            key=lambda item: -abs(item[1]),
        )
        assert found == rivals[:3]
    assert document["provenance"]["penalty"] == {"name": "l2", "strength": 1.0, "free_orders": []}
    assert document["provenance"]["data"]["rows"] == 150
    assert shell("show", "m.mrf", "--json", "--top", "0").document["strongest"] == {"1": [], "2": []}


@pytest.mark.parametrize(
    ("structure", "n_edges", "n_parameters"),
    [("independent", 0, 6), ("tree", 3, None), ("complete", 6, 19), ("order:1", 0, 6), ("order:3", 6, 31)],
)
def test_structures(shell: Shell, survey: Path, structure: str, n_edges: int, n_parameters: int | None) -> None:
    document = shell("fit", survey, "--structure", structure, "--json").document
    assert document["n_edges"] == n_edges
    assert n_parameters in (None, document["n_parameters"])


@pytest.mark.parametrize(
    "content",
    [
        "Müdigkeit,smokes a lot\ncittà,grade\n",
        "# who goes with whom\ncittà, grade\n\nsmokes a lot, Müdigkeit\n",
        "source\ttarget\tweight\nsmokes a lot\tMüdigkeit\t3\ncittà\tgrade\t1\n",
    ],
    ids=["plain", "comments", "header"],
)
def test_structure_from_a_file(shell: Shell, tmp_path: Path, survey: Path, content: str) -> None:
    (tmp_path / "edges.txt").write_text(content, encoding="utf-8")
    shell("fit", survey, "--structure", "edges:edges.txt", "-o", "m.mrf")
    pairs = [name for name in parameters(tmp_path / "m.mrf") if " & " in name]
    assert len(pairs) == 1 + 4
    assert pairs[0] == "Müdigkeit=öfter als 3× & smokes a lot=yes, daily"


def test_declared_states(shell: Shell, tmp_path: Path, survey: Path) -> None:
    states = {"città": ["Roma", "Milano", "Paris", "São Paulo"]}
    (tmp_path / "states.json").write_text(json.dumps(states, ensure_ascii=False), encoding="utf-8")
    shell("fit", survey, "--states", "states.json", "-o", "m.mrf")
    domain = shell("show", "m.mrf", "--json").document["domain"]
    assert domain["città"] == states["città"]
    assert domain["grade"] == ["1", "2", "10"]


def test_the_best_strength_on_held_out_rows_is_kept(shell: Shell, tmp_path: Path, rng: np.random.Generator) -> None:
    """Few rows of unrelated columns: the weakest penalty wins on the rows it saw, not on others."""
    noise = [tuple(map(str, row)) for row in rng.integers(0, 2, (400, 6))]
    written(tmp_path / "train.csv", tuple("abcdef"), noise[:30])
    written(tmp_path / "valid.csv", tuple("abcdef"), noise[30:])
    ran = shell("fit", "train.csv", "--valid", "valid.csv", "--strength", "0.01,300,1", "-o", "m.mrf", "--json")
    path = ran.document["path"]
    assert [fit["strength"] for fit in path] == [300.0, 1.0, 0.01]  # strongest first, each from the one before
    assert max(path, key=lambda fit: fit["train_pll"])["strength"] == 0.01
    best = max(path, key=lambda fit: fit["valid_pll"])
    assert best["strength"] == 300.0
    assert {name: ran.document[name] for name in best} == best
    assert shell("show", "m.mrf", "--json").document["provenance"]["penalty"]["strength"] == 300.0
    scored = shell("score", "m.mrf", "valid.csv", "--json").document
    assert scored["pll"] == pytest.approx(best["valid_pll"], abs=1e-12)


def test_without_held_out_rows_the_weakest_penalty_is_kept(shell: Shell, survey: Path) -> None:
    document = shell("fit", survey, "--strength", "1,100,10", "--json").document
    assert document["strength"] == 1.0
    assert document["valid_pll"] is None


def test_warm_starts_reach_the_same_optimum(shell: Shell, survey: Path) -> None:
    path = shell("fit", survey, "--strength", "30,3,0.3", "--json").document["path"]
    alone = [shell("fit", survey, "--strength", strength, "--json").document for strength in ("30", "3", "0.3")]
    np.testing.assert_allclose([fit["train_pll"] for fit in path], [fit["train_pll"] for fit in alone], atol=1e-7)


def test_all_solvers_reach_the_same_optimum(shell: Shell, survey: Path) -> None:
    found = [shell("fit", survey, "--solver", solver, "--json").document for solver in ("newton", "lbfgs", "owlqn")]
    for other in found[1:]:
        assert found[0]["train_pll"] == pytest.approx(other["train_pll"], abs=1e-6)


def test_l1_from_the_shell(shell: Shell, tmp_path: Path, survey: Path) -> None:
    """Zeros are counted, shown and kept; the file says how they came about."""
    ran = shell("fit", survey, "--penalty", "l1", "--strength", "1000,8,0.1", "-o", "m.mrf", "--json")
    assert (ran.code, ran.err) == (0, "")
    none, some, most = (fit["n_nonzero"] for fit in ran.document["path"])
    assert none == 6 < some < most <= ran.document["n_candidate_parameters"] == 19
    assert ran.document["n_nonzero"] == most == sum(value != 0 for value in parameters(tmp_path / "m.mrf").values())
    assert ran.document["violation"] <= 1e-6
    provenance = shell("show", "m.mrf", "--json").document["provenance"]
    assert provenance["penalty"] == {"name": "l1", "strength": 0.1, "free_orders": [1]}
    assert provenance["solver"]["name"] == "owlqn"


def test_l1_with_free_orders_of_ones_own(shell: Shell, survey: Path) -> None:
    """None at all, or all."""
    fit = ("fit", survey, "--penalty", "l1", "--strength", "1000", "--json", "--free-orders")
    assert shell(*fit, "").document["n_nonzero"] == 0
    assert shell(*fit, "1,2").document["n_nonzero"] == 19


def test_parameters_the_penalty_leaves_alone(shell: Shell, tmp_path: Path, survey: Path, rows: list[Row]) -> None:
    """Single variables without a penalty reproduce the frequencies of the table."""
    shell("fit", survey, "--structure", "independent", "--free-orders", "1", "--strength", "1e6", "-o", "m.mrf")
    share = Counter(row[1] for row in rows)
    assert parameters(tmp_path / "m.mrf")["smokes a lot=yes, daily"] == pytest.approx(
        np.log(share["yes, daily"] / share["no"]), abs=1e-4
    )


def test_two_runs_write_the_same_bytes(shell: Shell, tmp_path: Path, rng: np.random.Generator) -> None:
    """However many threads there are; a second run replaces the first one's file."""
    written(tmp_path / "t.csv", None, bits(rng, 600, 14))
    contents = []
    for jobs in ("1", "1", "2", "3", "-1"):
        assert shell("fit", "t.csv", "--strength", "10,1", "--jobs", jobs, "-o", "m.mrf", "--quiet").code == 0
        contents.append((tmp_path / "m.mrf").read_bytes())
    assert len(set(contents)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.mrf", "t.csv"]


def test_a_solver_stopped_early_says_so(shell: Shell, tmp_path: Path, survey: Path) -> None:
    ran = shell("fit", survey, "--max-iterations", "1", "--strength", "0.001", "-o", "m.mrf", "--json")
    assert ran.code == 0
    (warning,) = ran.notes
    assert warning.startswith("mrfit: warning: penalty strength 0.001 ")
    assert ran.document["status"] != "converged"
    assert ran.document["iterations"] == 1
    assert ran.document["violation"] > 1e-6
    assert (tmp_path / "m.mrf").exists()


@pytest.mark.parametrize(
    "content", ["a\n1\n0\n1\n", "a,b\nx,0\nx,1\n", "a,b\nx,y\n"], ids=["column", "constant", "row"]
)
def test_small_tables(shell: Shell, tmp_path: Path, content: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    for structure in ("complete", "independent", "tree", "order:3"):
        ran = shell("fit", "t.csv", "--structure", structure, "-o", "m.mrf", "--json")
        assert ran.document["status"] == "converged"
        assert shell("score", "m.mrf", "t.csv", "--json").document["pll"] == pytest.approx(ran.document["train_pll"])
