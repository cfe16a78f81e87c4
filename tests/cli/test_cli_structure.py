"""`mrfit structure` and `mrfit fit --structure learned`."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from mrfit.cli.main import main


@pytest.fixture
def chain(tmp_path: Path, rng: np.random.Generator) -> Path:
    """Four variables in a chain a - b - c - d, and e alone."""
    n = 4000
    columns = [rng.integers(0, 2, n)]
    for _ in range(3):
        columns.append(np.where(rng.random(n) < 0.85, columns[-1], 1 - columns[-1]))
    columns.append(rng.integers(0, 2, n))
    path = tmp_path / "chain.csv"
    lines = ["a,b,c,d,e", *(",".join(map(str, row)) for row in np.stack(columns, axis=1).tolist())]
    path.write_text("\n".join(lines) + "\n")
    return path


TRUE = {("a", "b"), ("b", "c"), ("c", "d")}


@pytest.mark.parametrize(
    "options",
    [
        ["--select", "ebic", "--rule", "and"],
        ["--select", "strength", "--select-strength", "60", "--rule", "and"],
        ["--max-degree", "2", "--bound", "graph"],
    ],
    ids=" ".join,
)
def test_finds_the_chain(chain: Path, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["structure", str(chain), "--json", *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {(edge["source"], edge["target"]) for edge in document["edges"]} == TRUE
    assert document["n_edges"] == 3
    assert document["largest_degree"] == 2
    assert (document["violation"] is None) == ("graph" in options)
    assert (document["violation"] or 0.0) <= 1e-5
    assert all(edge["strength"] > 1.0 for edge in document["edges"])


def test_held_out_rows_choose_a_price(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--price", "valid", "--valid", str(chain)]
    assert main(["structure", str(chain), *chosen]) == 0
    assert re.search(r"score more than [\d.]+ \(chosen on held-out rows\)", "".join(capsys.readouterr()))
    assert main(["fit", str(chain), "--structure", "learned", *chosen]) == 0


@pytest.mark.parametrize("bound", ["gain", "path", "top", "graph", "joint"])
def test_every_bound_writes_what_it_learned(
    bound: str, chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files in all forms, a picture, and a fit that reads the edges back."""
    for name in ("edges.csv", "graph.graphml", "structure.json"):
        assert main(["structure", str(chain), "--max-degree", "1", "--bound", bound, "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 0
    plot = tmp_path / "network.png"
    assert main(["structure", str(chain), "--bound", bound, "--plot", str(plot), "--quiet"]) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()
    assert main(["fit", str(chain), "--structure", f"edges:{tmp_path / 'edges.csv'}", "--json"]) == 0
    read_back = json.loads(capsys.readouterr().out)
    learned_here = ["fit", str(chain), "--structure", "learned", "--max-degree", "1", "--bound", bound, "--json"]
    assert main(learned_here) == 0
    directly = json.loads(capsys.readouterr().out)
    assert directly["n_edges"] == read_back["n_edges"]
    assert directly["train_pll"] == read_back["train_pll"]


@pytest.mark.parametrize("layout", ["force", "circle"])
def test_a_layout_is_saved_and_shared(layout: str, chain: Path, tmp_path: Path) -> None:
    """Pictures of one layout are the same file, also when it is read back; and none of them is titled by a path."""
    learn = ["structure", str(chain), "--select", "ebic", "--rule", "and", "--require", "d,e", "--quiet"]
    places, again = tmp_path / "places.csv", tmp_path / "again.json"
    first = ["--layout", layout, "--save-layout", str(places), "--plot", str(tmp_path / "a.svg")]
    assert main([*learn, *first]) == 0
    assert places.read_text().startswith("name,x,y\na,")
    second = ["--layout", str(places), "--save-layout", str(again), "--plot", str(tmp_path / "b.pdf")]
    assert main([*learn, *second]) == 0
    assert list(json.loads(again.read_text())) == list("abcde")
    assert (tmp_path / "b.pdf").read_bytes().startswith(b"%PDF-")
    written = (tmp_path / "a.svg").read_text()
    assert "<!-- chain: 4 conditional associations among 5 variables -->" in written
    assert "<!-- 4,000 rows, 5 variables, 4 edges -->" in written


@pytest.mark.parametrize(("title", "said"), [("Women, 2020", True), ("", False)])
def test_a_picture_has_the_title_it_is_given(title: str, said: bool, chain: Path, tmp_path: Path) -> None:
    plot = tmp_path / "network.svg"
    assert main(["structure", str(chain), "--plot", str(plot), "--title", title, "--quiet"]) == 0
    written = plot.read_text()
    assert ("<!-- Women, 2020 -->" in written) == said
    assert "<!-- chain" not in written


def test_required_and_forbidden_edges(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["--require", "a,e", "--forbid", "a,b", "--select", "ebic", "--json"]
    assert main(["structure", str(chain), *wanted]) == 0
    edges = {(edge["source"], edge["target"]) for edge in json.loads(capsys.readouterr().out)["edges"]}
    assert ("a", "e") in edges
    assert ("a", "b") not in edges


@pytest.mark.parametrize("select", ["valid", "theory"])
def test_weaker_selections_keep_the_chain(select: str, chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Held-out rows choose for prediction, theory's constant for estimation: both let some false edges in."""
    held_out = ["--valid", str(chain)] if select == "valid" else []
    assert main(["structure", str(chain), "--select", select, *held_out, "--json"]) == 0
    edges = {(edge["source"], edge["target"]) for edge in json.loads(capsys.readouterr().out)["edges"]}
    assert edges >= TRUE


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-degree", "0"], "at least 1"),
        (["--select", "strength"], "positive strength; got None. Give one: --select-strength 200."),
        (["--select", "strength", "--select-strength", "-1"], "positive strength"),
        (["--select", "valid"], "held-out rows"),
        (["--gamma", "2", "--select", "ebic"], "gamma"),
        (["--require", "a"], "--require"),
        (["--require", "a,zz"], "'zz'"),
        (["--require", "a,a"], "two different"),
        (["--require", "a,b", "--forbid", "b,a"], "both required and forbidden"),
        (["--bound", "nonsense"], "nonsense"),
        (["--price", "cheap"], "at least 0, or 'valid'"),
        (["--price", "-1"], "at least 0, or 'valid'"),
        (["--price", "valid"], "give validation rows"),
        (["--price", "2", "--bound", "top"], "needs --bound gain"),
        (["--price", "2", "--select", "ebic"], "needs --select degree"),
        (["--price", "2", "--valid", "held-out.csv"], "needs --select valid, --price valid or --bound joint"),
        (["-o", "edges.xyz"], ".graphml"),
        (["--plot", "network.xyz"], ".png"),
        (["--title", "a title"], "add --plot FILE"),
        (["--layout", "circle"], "add --plot FILE"),
        (["--layout", "spiral", "--plot", "n.png"], "choose force or circle, or name a file that exists"),
        (["--save-layout", "places.txt"], ".csv or .json"),
        (["-o", "absent/edges.csv"], "absent"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_options(
    options: list[str],
    said: str,
    chain: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """One line, exit code 2, nothing written."""
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert main(["structure", str(chain), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert sorted(tmp_path.iterdir()) == before


def _scale(path: Path, labels: str, rng: np.random.Generator) -> Path:
    """Two questions on a scale that are answered in opposite ways."""
    a = rng.integers(0, len(labels), 400)
    b = np.where(rng.random(400) < 0.8, len(labels) - 1 - a, rng.integers(0, len(labels), 400))
    path.write_text("a,b\n" + "".join(f"{labels[i]},{labels[j]}\n" for i, j in zip(a, b, strict=True)))
    return path


@pytest.mark.parametrize(
    ("labels", "sign", "shown"),
    [
        ("12345", -1, r"^ +\|\d+\.\d{2}\|  a - b, one falling as the other rises$"),
        ("vwxyz", 0, r"^ +\|\d+\.\d{2}\|  a - b$"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--select", "ebic"]])
def test_an_edge_has_a_direction_only_where_states_have_an_order(
    labels: str, sign: int, shown: str, options: list[str], tmp_path: Path, rng: np.random.Generator, capsys
) -> None:
    table, out = _scale(tmp_path / "scale.csv", labels, rng), tmp_path / "edges.csv"
    assert main(["structure", str(table), *options, "-o", str(out)]) == 0
    assert re.search(shown, capsys.readouterr().out, re.MULTILINE)
    with out.open(encoding="utf-8") as lines:
        record = next(csv.DictReader(lines))
    assert int(record["sign"]) == sign
    assert float(record["weight"]) > 0  # norms have no sign


def test_a_structure_without_edges_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "noise.csv"
    table.write_text("a,b\n" + "0,0\n0,1\n1,0\n1,1\n" * 10 + "1,1\n")
    assert main(["structure", str(table), "--select", "ebic"]) == 0
    assert "No edges: a - b lowers 2 x loss by 0.0, at a price of 3.7 (1 x 3.71)." in capsys.readouterr().out
    assert main(["structure", str(table), "--select", "ebic", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["remarks"][0].startswith("No edges")


@pytest.mark.parametrize(
    ("lines", "beginning"),
    [
        ("0,0\n0,1\n1,0\n1,1\n" * 10 + "1,1\n", "No edges: a - b lowers"),
        ("0,0\n1,1\n" * 200, "The criterion of 2 of 2 variables was still falling"),
    ],
    ids=["noise", "copies"],
)
def test_a_fit_says_of_its_structure_what_learning_the_structure_says(
    lines: str, beginning: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b\n" + lines)
    fit = ["fit", str(table), "--structure", "learned", "--select", "ebic"]
    said = {}
    for name, command in {"structure": ["structure", str(table), "--select", "ebic"], "fit": fit}.items():
        assert main([*command, "--json"]) == 0
        said[name] = json.loads(capsys.readouterr().out)["remarks"]
        assert main(command) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert all(remark in printed for remark in said[name])
    assert said["structure"][0].startswith(beginning)
    assert said["fit"] == said["structure"]
    assert main([*fit, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
