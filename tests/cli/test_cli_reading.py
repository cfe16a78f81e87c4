"""The options that say how a table is read, on every command that reads one."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from forked import run_apart
from mrfit.cli.progress import reading_progress

Shell = Callable[..., Any]

BITS = np.random.default_rng(0).integers(0, 2, (60, 3))
READERS = [
    ["fit"],
    ["structure"],
    ["spectrum", "--estimator", "pseudo-counts", "--folds", "2", "--max-order", "0"],
    ["score", "m.mrf"],
]


def text(names: list[str], columns: list[Any], separator: str = ",") -> str:
    rows = [names, *zip(*columns, strict=True)]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path, shell: Shell) -> Path:
    """A table, one with a number for each row, one with bars, and a model."""
    a, b, c = BITS.T.tolist()
    (tmp_path / "t.csv").write_text(text(["a", "b", "c"], [a, b, c]))
    (tmp_path / "id.csv").write_text(text(["id", "a", '"b, c"', "b", "c"], [range(60), a, b, b, c]))
    (tmp_path / "bars.txt").write_text(text(["a", "b", "c"], [a, b, c], "|"))
    assert shell("fit", "t.csv", "-o", "m.mrf", "--quiet").code == 0
    return tmp_path


def n_variables(document: dict[str, Any]) -> int:
    return len(document["columns"]) if "columns" in document else int(document["n_variables"])


@pytest.mark.parametrize("command", READERS[:3], ids=lambda command: command[0])
def test_columns_are_chosen(shell: Shell, folder: Path, command: list[str]) -> None:
    refused = shell(*command, "id.csv")
    assert refused.code == 2
    assert "Column 'id' has a different value in nearly every row (60 in 60 rows)" in refused.err
    assert "--exclude NAME,..." in refused.err
    assert "--include NAME,..." in refused.err
    for options, expected in (
        (["--exclude", "id"], 4),
        (["--exclude", 'id,"b, c"'], 3),
        (["--exclude", "id", "--exclude", '"b, c"'], 3),
        (["--columns", "a, b"], 2),
        (["--columns", "id,a", "--include", "id"], 2),
    ):
        ran = shell(*command, "id.csv", "--json", *options)
        assert (ran.code, ran.err) == (0, "")
        assert n_variables(ran.document) == expected


@pytest.mark.parametrize("command", READERS[:3], ids=lambda command: command[0])
@pytest.mark.parametrize("option", ["--columns", "--exclude", "--include"])
def test_unknown_columns(shell: Shell, folder: Path, command: list[str], option: str) -> None:
    ran = shell(*command, "id.csv", option, "idd")
    assert ran.code == 2
    assert f"{option} NAME,... names 'idd', which the table lacks. Did you mean 'id'?" in ran.err
    assert shell(*command, "id.csv", option, "a,,b").code == 2


def test_a_model_has_chosen_its_columns(shell: Shell, folder: Path) -> None:
    expected = shell("score", "m.mrf", "t.csv").out
    assert shell("score", "m.mrf", "id.csv").out == expected
    assert shell("score", "m.mrf", "id.csv", "--exclude", "id").out == expected
    ran = shell("score", "m.mrf", "id.csv", "--exclude", "a")
    assert (ran.code, ran.out) == (2, "")
    assert "'a'" in ran.err
    ran = shell("fit", "id.csv", "--exclude", 'id,"b, c"', "--valid", "t.csv", "--strength", "1,2", "--json")
    assert ran.code == 0


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_standard_input(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO((folder / "bars.txt").read_bytes())))
    assert shell(*command, "-", "--json").code == 0
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO((folder / "t.csv").read_bytes())))
    ran = shell(*command, "-", "--format", "parquet")
    assert ran.code == 2
    assert "'standard input' cannot be read" in ran.err


@pytest.mark.parametrize(
    "command",
    [
        "fit - --valid -",
        "fit - --test -",
        "fit t.csv --valid - --test -",
        "fit - --like -",
        "fit t.csv --like - --valid -",
        "structure - --valid - --select valid",
        "score - -",
    ],
)
def test_standard_input_once(shell: Shell, folder: Path, command: str) -> None:
    ran = shell(*command.split())
    assert ran.code == 2
    assert "cannot both be standard input (-), which can be read once" in ran.err


@pytest.mark.parametrize("command", ["show -", "theory -", "score - t.csv", "fit t.csv --like -"])
def test_a_model_on_standard_input_where_there_is_none(
    shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    ran = shell(*command.split())
    assert ran.code == 2
    assert "no standard input" in ran.err


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_pipes(shell: Shell, folder: Path, command: list[str]) -> None:
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=lambda: (folder / "pipe").write_bytes((folder / "t.csv").read_bytes()))
    writer.start()
    assert shell(*command, "pipe", "--json").code == 0
    writer.join()


def test_standard_input_of_a_process(shell: Shell, folder: Path) -> None:
    """Both names of standard input work: for a pipe, and in a real shell for files and process substitution."""
    first, table = shell("score", "m.mrf", "t.csv").out, (folder / "t.csv").read_bytes()
    for name in ("-", "/dev/stdin"):
        ran = run_apart("score", "m.mrf", name, cwd=folder, input=table)
        assert (ran.returncode, ran.stdout.decode(), ran.stderr) == (0, first, b"")
    python = f'"{sys.executable}" -m mrfit'
    script = f"{python} score m.mrf /dev/stdin < t.csv && {python} score m.mrf <(gzip -c bars.txt)"
    ran = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, timeout=120, check=True)
    assert ran.stdout.decode() == 2 * first


def test_separators_encodings_and_spellings(shell: Shell, folder: Path) -> None:
    (folder / "odd.csv").write_bytes("é~b\nx~-9\ny~1\nx~0\n".encode("latin-1"))
    ran = shell("fit", "odd.csv")
    assert ran.code == 2
    assert "byte 1 (line 1) is 0xe9. Say how it is encoded, for instance --encoding latin-1." in ran.err
    options = ["--encoding", "latin-1", "--separator", "~", "--na-values", "-9,none", "--missing", "drop", "--json"]
    document = shell("structure", "odd.csv", *options).document
    assert (document["n_rows"], document["dropped"], document["n_variables"]) == (2, 1, 2)
    assert "2 rows (1 dropped), 2 variables" in shell("structure", "odd.csv", *options[:-1]).out


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--separator", "ab"], "--separator ab cannot separate"),
        (["--encoding", "klingon"], "--encoding klingon is unknown"),
        (["--format", "xlsx"], "'xlsx'"),
        (["--na-values", ""], "--na-values"),
    ],
)
def test_wrong_options(shell: Shell, folder: Path, options: list[str], named: str) -> None:
    ran = shell("fit", "t.csv", *options)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert named in ran.err


@pytest.mark.parametrize("command", READERS[:2], ids=lambda command: command[0])
def test_what_is_odd_is_told_on_stderr(shell: Shell, folder: Path, command: list[str]) -> None:
    (folder / "years.csv").write_text(text(["2001", "2002", "2003"], BITS.T.tolist()))
    ran = shell(*command, "years.csv", "--json")
    assert ran.code == 0
    (note,) = ran.notes
    assert "its first line (2001, 2002, 2003) is taken for the names of the columns; pass --no-header" in note
    assert ran.document["n_rows"] == 60
    assert shell(*command, "years.csv", "--quiet").err == ""
    assert shell(*command, "years.csv", "--header", "--json").err == ""
    assert shell(*command, "years.csv", "--no-header", "--json").document["n_rows"] == 61


def test_one_column_is_told(shell: Shell, folder: Path) -> None:
    ran = shell("fit", "bars.txt", "--separator", ",", "--json")
    assert ran.code == 0
    assert "'bars.txt': it has one column, 'a|b|c'; if that should be several" in ran.err
    assert "--separator '|'" in ran.err


def test_a_directory_and_a_pattern(shell: Shell, folder: Path) -> None:
    (folder / "parts").mkdir()
    lines = (folder / "t.csv").read_text().splitlines(keepends=True)
    for part in range(3):
        (folder / "parts" / f"{part}.csv").write_text("".join([lines[0], *lines[1 + 20 * part : 21 + 20 * part]]))
    expected = shell("score", "m.mrf", "t.csv").out
    assert shell("score", "m.mrf", "parts").out == expected
    assert shell("score", "m.mrf", "parts/*.csv").out == expected
    assert shell("fit", "parts", "--json").document["n_rows"] == 60


def test_structures_of_every_form(shell: Shell, folder: Path) -> None:
    for name in ("edges.csv", "graph.graphml", "structure.json"):
        assert shell("structure", "t.csv", "-o", name, "--quiet").code == 0
        assert shell("fit", "t.csv", "--structure", f"edges:{name}", "--json").code == 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_for_many_bytes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar appears on a terminal only, and disappears when all is read."""
    monkeypatch.setattr("sys.stderr", Terminal())
    with reading_progress(quiet=True) as silent:
        assert silent is None
    with reading_progress(quiet=False) as follow:
        assert follow is not None
        follow(10, 1000)
        follow(1000, 1000)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
    with reading_progress(quiet=False) as follow:
        assert follow is not None
        follow(25_000_000, 100_000_000)
        follow(50_000_000, 100_000_000)
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "reading" in shown
    assert "50.0/100.0 MB" in shown


def test_addresses(shell: Shell, folder: Path) -> None:
    here, there = (shell("score", "m.mrf", data, "--json") for data in ("t.csv", f"file://{folder}/t.csv"))
    assert there.code == 0
    assert there.out == here.out.replace('"t.csv"', f'"file://{folder}/t.csv"')
    refused = shell("fit", "nonsense://t.csv")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert "'nonsense://t.csv' cannot be reached" in refused.err


@pytest.mark.parametrize("command", ["fit", "structure", "stability"])
def test_memory_is_kept_to(shell: Shell, folder: Path, command: str) -> None:
    refused = shell(command, "t.csv", "--memory", "100B")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert "'t.csv': Its rows need about" in refused.err
    assert "100 B may be used" in refused.err
    assert "--memory 16GB" in refused.err


def test_where_memory_is_known_before_or_not_needed(shell: Shell, folder: Path) -> None:
    planned = shell("plan", "t.csv", "--memory", "100B").out
    assert planned.startswith("5 of 5 steps need more memory than 100 B\n")
    assert planned.count("too much memory") == 5
    assert shell("fit", "t.csv", "--memory", "100B", "--structure", "tree", "--in-parts", "--quiet").code == 0


@pytest.mark.parametrize("name", ["family.csv", "family.txt"])
def test_sequences_are_refused_by_name(shell: Shell, folder: Path, name: str) -> None:
    (folder / name).write_text(">first\nACDE\n>second\nACDF\n")
    refused = shell("fit", name)
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert f"'{name}' begins with '>first', as files of sequences in FASTA format do" in refused.err


def test_text_in_parquet_that_is_not_utf8_is_refused(shell: Shell, folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    ends, text = np.array([0, 1, 3], np.int32), b"a\xff\xfe"
    column = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(text)])
    parquet.write_table(pa.table({"a": column, "b": ["x", "y"]}), folder / "bad.parquet")
    refused = shell("fit", "bad.parquet")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert "Column 'a' is declared as text and holds bytes that are not UTF-8" in refused.err
