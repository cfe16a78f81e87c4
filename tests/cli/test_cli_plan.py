"""`mrfit plan`, and lists of items from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.planted_items import planted_items
from mrfit.cli.main import main


@pytest.fixture
def items(tmp_path: Path) -> Path:
    matrix, path = planted_items(n_rows=600, n_items=40, density=0.05), tmp_path / "rows.items"
    lines = (" ".join(map(str, matrix.indices[a:b])) for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_plan_is_less_than_a_screen(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(data_dir / "nltcs" / "train.csv.gz"), "--memory", "1MB"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert lines[0].endswith("steps need more memory than 1 MB")
    assert "16 columns" in lines[1]
    assert any(line.startswith("the same, rows not held") and "too much memory" in line for line in lines)


def test_a_plan_as_json_reads_no_more_than_it_says(items: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(items), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["n_rows"], plan["n_columns"]) == (600, 40)
    assert [step["name"] for step in plan["steps"]][:2] == ["read", "structure by l1 paths"]
    assert all(step["fits"] and step["seconds"] >= 0 for step in plan["steps"])


@pytest.mark.parametrize("size", ["big", "0", "-1GB", "1.2.3GB"])
def test_a_memory_that_is_no_size(size: str, items: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(items), "--memory", size]) == 2
    assert "write it like 8GB" in capsys.readouterr().err


@pytest.mark.parametrize("most", [2**28, 100], ids=["codes", "lists"])
def test_lists_are_learned_scored_and_shown(
    most: int, items: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers are the same whether rows have codes or stay lists."""
    monkeypatch.setattr("mrfit.data.item_lists.MOST_CODES", most)
    edges, model = items.with_name("edges.csv"), items.with_name("model.mrf")
    assert main(["structure", str(items), "--bound", "path", "--max-degree", "2", "-o", str(edges), "--quiet"]) == 0
    fit = ["fit", str(items), "--structure", f"edges:{edges}", "--valid", str(items), "-o", str(model), "--json"]
    assert main([*fit, "--no-check"]) == 0
    fitted = json.loads(capsys.readouterr().out)
    assert main(["score", str(model), str(items), "--json"]) == 0
    score = json.loads(capsys.readouterr().out)
    assert score["rows"] == 600
    assert score["pll"] == pytest.approx(fitted["valid_pll"], abs=1e-9)
    assert score["pll"] == pytest.approx(-7.538014845, abs=1e-6)
    assert main(["show", str(model)]) == 0
    assert "=1 & " in capsys.readouterr().out


def test_what_lists_cannot_is_said_in_one_line(
    items: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mrfit.data.item_lists.MOST_CODES", 100)
    assert main(["structure", str(items), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "stored as lists" in said
    assert "--bound path" in said
