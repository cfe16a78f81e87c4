"""`mrfit sample` and `mrfit impute`."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from mrfit import Dataset

Shell = Callable[..., Any]

TABLE = 'smoker,"cough, dry",age\n' + "yes,yes,old\nno,no,young\nyes,no,old\nno,no,middle\nyes,yes,middle\n" * 6
HOLES = 'id,smoker,"cough, dry",note\n007,yes,?,"a, b"\n008,NA,no,\n009, yes ,yes,1.50\n'


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, shell: Shell) -> Path:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "holes.csv").write_text(HOLES)
    assert shell("fit", "t.csv", "-o", "m.mrf", "--quiet").code == 0
    return tmp_path


def test_drawn_rows_by_name(shell: Shell, folder: Path) -> None:
    ran = shell("sample", "m.mrf", "-n", "50", "--evidence", "smoker=yes", "-o", "rows.csv")
    assert (ran.code, ran.out, ran.err) == (0, "50 rows of 3 variables to rows.csv\n", "")
    head, *rows = (folder / "rows.csv").read_text().splitlines()
    assert head == 'smoker,"cough, dry",age'
    assert len(rows) == 50
    assert all(row.startswith("yes,") for row in rows)
    assert Dataset.from_file(folder / "rows.csv").n_rows == 50


def test_the_same_rows_in_every_form(shell: Shell, folder: Path) -> None:
    """And for the same seed, whatever the number of threads."""
    for name in ("rows.csv", "rows.csv.gz", "rows.parquet"):
        assert shell("sample", "m.mrf", "-n", "20", "-o", name, "--quiet").out == ""
    text = (folder / "rows.csv").read_bytes()
    assert gzip.decompress((folder / "rows.csv.gz").read_bytes()) == text
    assert parquet.read_table(folder / "rows.parquet").column_names == ["smoker", "cough, dry", "age"]
    assert shell("sample", "m.mrf", "-n", "20", "--jobs", "1").out.encode() == text
    assert shell("sample", "m.mrf", "-n", "20", "--seed", "1").out.encode() != text
    document = shell("sample", "m.mrf", "-n", "20", "-o", "rows.csv", "--json").document
    about = {"exact": True, "remarks": []}
    assert document == {"rows": 20, "variables": 3, **about, "output": "rows.csv", "seed": 0}


def test_only_what_is_missing_is_filled_in(shell: Shell, folder: Path) -> None:
    """Spellings and columns that the model does not know are kept; variables without a column are added."""
    ran = shell("impute", "m.mrf", "holes.csv", "-o", "full.csv")
    assert (ran.code, ran.out) == (0, "5 missing values of 3 rows filled in, to full.csv\n")
    head, *rows = (folder / "full.csv").read_text().splitlines()
    assert head == 'id,smoker,"cough, dry",note,age'
    assert rows[0].startswith('007,yes,yes,"a, b",')
    assert rows[1].startswith(("008,no,no,,", "008,yes,no,,"))
    assert rows[2].startswith("009, yes ,yes,1.50,")
    assert all(row.rpartition(",")[2] in ("old", "middle", "young") for row in rows)


def test_types_of_parquet_columns_are_kept(shell: Shell, folder: Path) -> None:
    (folder / "n.csv").write_text("a,b\n" + "0,true\n1,false\n1,false\n0,true\n" * 5)
    shell("fit", "n.csv", "-o", "n.mrf", "--quiet")
    table = pa.table({"a": [0, None, 1], "b": [None, True, False], "w": [0.5, None, 2.0]})
    parquet.write_table(table, folder / "holes.parquet")
    document = shell("impute", "n.mrf", "holes.parquet", "-o", "full.parquet", "--json").document
    assert (document["missing"], document["rows"], document["dropped"]) == (2, 3, 0)
    full = parquet.read_table(folder / "full.parquet")
    assert full.schema == table.schema
    assert full.to_pydict() == {"a": [0, 0, 1], "b": [True, True, False], "w": [0.5, None, 2.0]}


def test_weights_in_front_of_rows_become_a_column(shell: Shell, folder: Path) -> None:
    (folder / "d.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n9 1 1 9\n")
    (folder / "d.data").write_text("2|*,1\n0,*\n")
    assert shell("impute", "d.uai", "d.data").out == "v0,v1,weight\n1,1,2.0\n0,0,1.0\n"
    (folder / "e.data").write_text("*,1\n0,*\n")
    assert shell("impute", "d.uai", "e.data").out == "v0,v1\n1,1\n0,0\n"


def test_several_drawn_copies(shell: Shell) -> None:
    out = shell("impute", "m.mrf", "holes.csv", "--how", "draw", "--draws", "30").out.splitlines()
    assert out[0].startswith("draw,id,")
    assert len(out) == 1 + 30 * 3
    assert len({line.partition(",")[2] for line in out[1:] if ",007," in line}) > 1
    assert shell("impute", "m.mrf", "holes.csv", "--how", "draw", "--draws", "30").out.splitlines() == out
    once = shell("impute", "m.mrf", "holes.csv", "--how", "draw").out.splitlines()
    assert [line.partition(",")[2] for line in out[:4]] == once


def test_unknown_values(shell: Shell, folder: Path) -> None:
    (folder / "odd.csv").write_text("smoker,age\nyes,?\nperhaps,old\n?,old\n")
    ran = shell("impute", "m.mrf", "odd.csv")
    assert (ran.code, ran.out) == (2, "")
    assert "'perhaps' (row 2), which is not one of its states" in ran.err
    assert "--unknown drop" in ran.err
    assert len(shell("impute", "m.mrf", "odd.csv", "--unknown", "drop").out.splitlines()) == 3


def test_standard_streams(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(HOLES.encode())))
    assert shell("impute", "m.mrf", "-").out == shell("impute", "m.mrf", "holes.csv").out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("sample m.mrf -o m.mrf", "does not say which kind of table"),
        ("sample m.mrf -o holes.csv --no-clobber", "exists and is not to be overwritten"),
        ("sample m.mrf -o rows.txt", "let it end in .csv, .csv.gz or .parquet"),
        ("sample m.mrf -o nowhere/rows.csv", "nowhere does not exist"),
        ("sample m.mrf --json", "-o - and --json both want standard output"),
        ("sample m.mrf -n 0", "0 is not in the range x>=1"),
        ("sample m.mrf -n 99999999999", "take 3e+11 bytes; the limit is 4.3e+09. Draw fewer at a time"),
        ("sample m.mrf --evidence smoker=x", "has no state 'x'"),
        ("sample absent.mrf", "no file 'absent.mrf'"),
        ("sample large.uai", "Variable 'v0' has 300 states; rows hold at most 255"),
        ("impute m.mrf holes.csv -o holes.csv", "-o holes.csv is what DATA reads"),
        ("impute m.csv holes.csv -o m.csv", "-o m.csv is what MODEL reads"),
        ("impute m.mrf holes.csv --draws 3", "--draws 3 needs --how draw"),
        ("impute m.mrf absent.csv", "no file 'absent.csv'"),
        ("impute m.mrf foreign.csv", "The domain or model has 'smoker', 'cough, dry', 'age'"),
        ("impute - -", "cannot both be standard input"),
        ("impute zero.uai zero.csv", "The values of row 2 have probability zero"),
    ],
)
def test_wrong_calls(shell: Shell, folder: Path, arguments: str, complaint: str) -> None:
    """One line, and nothing is written."""
    files = {
        "m.csv": "",
        "foreign.csv": "x,y\n1,2\n",
        "large.uai": f"MARKOV\n1\n300\n1\n1 0\n300\n{'1 ' * 300}\n",
        "zero.uai": "MARKOV\n3\n2 2 2\n2\n2 0 1\n2 1 2\n4\n1 1 1 0\n4\n1 1 1 1\n",
        "zero.csv": "v0,v1,v2\n0,1,?\n1,1,?\n",
    }
    for name, content in files.items():
        (folder / name).write_text(content)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ran = shell(*arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert complaint in ran.err
    assert ran.err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.fixture
def dense(folder: Path) -> str:
    """A model of 44 variables, all joined, and a row of which one is known."""
    n = 44
    pairs = [(i, j) for j in range(n) for i in range(j)]
    scopes, tables = (f"2 {i} {j}\n" for i, j in pairs), "4 1 1 1 1.02\n" * len(pairs)
    (folder / "dense.uai").write_text(f"MARKOV\n{n}\n{'2 ' * n}\n{len(pairs)}\n{''.join(scopes)}\n{tables}")
    (folder / "d.csv").write_text(",".join(f"v{i}" for i in range(n)) + "\n1" + ",?" * (n - 1) + "\n")
    return "dense.uai"


def test_a_note_says_that_rows_are_not_exact(shell: Shell, dense: str) -> None:
    drawn = shell("sample", dense, "-n", "3", "-o", "rows.csv")
    assert "note: The rows are from Gibbs chains" in drawn.err
    filled = shell("impute", dense, "d.csv", "--how", "draw", "-o", "full.csv")
    assert "note: 1 of 1 rows have too many missing values for an exact answer" in filled.err
    for command in (("sample", dense, "-n", "3"), ("impute", dense, "d.csv", "--how", "draw", "--draws", "2")):
        document = shell(*command, "-o", "out.csv", "--json").document
        assert document["exact"] is False
        assert any("Gibbs chains" in text for text in document["remarks"])
    exact = shell("impute", "m.mrf", "holes.csv", "--how", "draw", "-o", "full.csv", "--json").document
    assert (exact["exact"], exact["remarks"]) == (True, [])


def test_scores_of_a_dense_model_have_an_error_or_a_reason(shell: Shell, dense: str, folder: Path) -> None:
    """Rows with very many missing values are refused by name, with what helps here."""
    ran = shell("score", dense, "d.csv", "--missing", "observed")
    assert ran.code == 2
    assert "'v1', 'v2'" in ran.err
    assert "Leave out rows with so many missing values (--missing drop)" in ran.err
    assert "--engine" not in ran.err
    (folder / "whole.csv").write_text((folder / "d.csv").read_text().replace("?", "0"))
    rows = shell("score", dense, "whole.csv", "--metric", "ll", "--per-row")
    assert "note: The standard error of log Z, and of all scores together, is 0.0" in rows.err
    document = shell("score", dense, "whole.csv", "--metric", "ll", "--json").document
    assert document["exact"] is False
    assert document["log_z_error"] > 0.0
    assert shell("score", dense, "whole.csv", "--json").document["exact"] is True
