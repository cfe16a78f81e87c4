"""Standard streams: results on standard output, everything else on standard error, nothing with --quiet."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba.core.caching import NullCache

import mrfit
from forked import run_apart
from mrfit._kernels.machine_code import compiled
from mrfit._kernels.machine_code import load as shipped
from mrfit._kernels.machine_code.cache import KernelCache
from mrfit.cli.output import note_compiling
from mrfit.data.named_datasets import catalogue
from mrfit.model.markov_network import MarkovNetwork

Shell = Callable[..., Any]

COMMANDS = [
    ["fit"],
    ["structure"],
    ["score"],
    ["show"],
    ["theory"],
    ["query"],
    ["sample"],
    ["impute"],
    ["logz"],
    ["infer"],
    ["data", "list"],
    ["data", "get"],
    ["data", "path"],
    ["demo"],
]
TABLE = "smoker,cough\nyes,no\nno,yes\nyes,yes\nno,no\nyes,yes\n"


@pytest.fixture
def folder(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table, a model of it, and a place with one file of named data that is not what it should be."""
    (tmp_path / "t.csv").write_text(TABLE)
    assert shell("fit", "t.csv", "-o", "m.mrf", "--quiet").code == 0
    place = tmp_path / "data" / "nltcs"
    place.mkdir(parents=True)
    for split in ("train", "valid", "test"):
        (place / f"{split}.csv.gz").write_bytes(b"")
    monkeypatch.setenv("MRFIT_DATA", str(tmp_path / "data"))
    return tmp_path


def run_process(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mrfit", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(shell: Shell, command: list[str]) -> None:
    ran = shell(*command, "--help-all")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: mrfit {' '.join(command)} ")
    for option in ("--json", "--seed", "--jobs", "--quiet"):
        assert option in ran.out
    short = shell(*command, "--help")
    assert (short.code, short.err) == (0, "")
    assert shell(*command, "-h").out == short.out


def test_overview(shell: Shell) -> None:
    ran = shell("--help")
    assert ran.code == 0
    assert all(name in ran.out for name in ("fit", "score", "show", "data", "demo"))
    assert shell("--version").out == f"mrfit, version {mrfit.__version__}\n"
    assert all(name in shell("data", "--help").out for name in ("list", "get", "path"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "t.csv"],
        ["fit", "t.csv", "--valid", "t.csv", "--strength", "1,2", "--structure", "tree"],
        ["score", "m.mrf", "t.csv"],
        ["score", "m.mrf", "t.csv", "--per-row"],
        ["show", "m.mrf"],
        ["query", "m.mrf", "--evidence", "smoker=yes"],
        ["query", "m.mrf", "--plan"],
        ["sample", "m.mrf", "-o", "rows.csv"],
        ["impute", "m.mrf", "t.csv", "-o", "full.csv"],
        ["logz", "m.mrf"],
        ["infer", "m.mrf", "--task", "MAR"],
        ["data", "list"],
        ["data", "path", "nltcs"],
        ["data", "path", "nltcs:train"],
    ],
    ids=" ".join,
)
def test_one_json_document_and_nothing_else(shell: Shell, folder: Path, arguments: list[str]) -> None:
    ran = shell(*arguments, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert type(ran.document) is dict
    assert shell(*arguments, "--json", "--quiet").document.keys() == ran.document.keys()


def test_quiet_fit_prints_nothing(shell: Shell, folder: Path) -> None:
    ran = shell("fit", "t.csv", "-o", "again.mrf", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (folder / "again.mrf").read_bytes() == (folder / "m.mrf").read_bytes()


def test_common_options_do_not_change_a_fit(shell: Shell, folder: Path) -> None:
    shell("fit", "t.csv", "-o", "again.mrf", "--jobs", "2", "--json")
    assert (folder / "again.mrf").read_bytes() == (folder / "m.mrf").read_bytes()
    shell("fit", "t.csv", "-o", "seeded.mrf", "--seed", "7")
    models = [MarkovNetwork.load(folder / name) for name in ("m.mrf", "seeded.mrf")]
    np.testing.assert_array_equal(models[0].w, models[1].w)
    assert [model.provenance["learner"]["seed"] for model in models] == [0, 7]


def test_list_of_data_sets(shell: Shell, folder: Path) -> None:
    document = shell("data", "list", "--json").document
    assert document["directory"] == str(folder / "data")
    assert [entry["name"] for entry in document["sets"]] == [entry.name for entry in catalogue()]
    present = {entry["name"]: entry["present"] for entry in document["sets"]}
    assert present["nltcs"]
    assert not present["kdd"]
    assert document["sets"][0]["splits"] == {"train": 16181, "valid": 2157, "test": 3236}
    assert len(shell("data", "list").out.splitlines()) == len(catalogue())


def test_paths_of_data_sets(shell: Shell, folder: Path) -> None:
    place = folder / "data" / "nltcs"
    assert shell("data", "path", "nltcs:valid").out == f"{place / 'valid.csv.gz'}\n"
    assert shell("data", "path", "nltcs").out.splitlines() == [
        str(place / f"{split}.csv.gz") for split in ("train", "valid", "test")
    ]
    assert shell("data", "path", "nltcs", "--json").document["paths"]["nltcs"][0] == str(place / "train.csv.gz")


def test_fetched_files_are_checked(shell: Shell, folder: Path) -> None:
    ran = shell("data", "get", "nltcs")
    assert (ran.code, ran.out) == (2, "")
    assert "checksum" in ran.err


def test_no_connection(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str) -> bytes:
        raise OSError("no route to host")

    monkeypatch.setattr("mrfit.data.named_datasets.downloaded", refuse)
    ran = shell("data", "get", "nltcs", "--data", "place")
    assert (ran.code, ran.out) == (2, "")
    assert "no route to host" in ran.err
    assert ran.err.count("\n") == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_interrupted_fit_writes_nothing(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mrfit.learning.Learner.fit", interrupt)
    ran = shell("fit", "t.csv", "-o", "new.mrf")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err.split("\n") == ["", "mrfit: interrupted; nothing was written.", ""]  # a new line ends the ^C
    assert not (folder / "new.mrf").exists()


def test_a_full_disk_leaves_the_old_model(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    ran = shell("fit", "t.csv", "--strength", "7", "-o", "m.mrf", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "mrfit: Cannot write m.mrf: No space left on device.\n"
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_demo_as_json(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrfit.cli.demo._STRENGTHS", (3.0,))  # README's test runs the whole
    ran = shell("demo", "--json", "-o", "digits")
    assert (ran.code, ran.err) == (0, "")
    assert ran.document["rows"] == {"train": 1078, "valid": 359, "test": 360}
    scores = ran.document["test_pll"]
    assert scores["independent"] < scores["tree"] < scores["complete"] < 0
    assert max(ran.document["violation"].values()) <= 1e-6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["digits.mrf", "digits.png"]
    assert shell("show", "digits.mrf", "--json").document["n_variables"] == 64


def test_as_a_process(folder: Path) -> None:
    ran = run_process("fit", "t.csv", "-o", "process.mrf", "--json", cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("{")
    assert (folder / "process.mrf").read_bytes() == (folder / "m.mrf").read_bytes()
    ran = run_apart("fit", "absent.csv", cwd=folder)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr == b"mrfit: There is no file 'absent.csv'; check the path.\n"


def test_installed_script(folder: Path) -> None:
    script = Path(sys.executable).with_name("mrfit")
    if not script.exists():
        pytest.skip("mrfit is not installed as a script beside this Python")
    ran = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, f"mrfit, version {mrfit.__version__}\n")


def test_a_reader_that_leaves_early(folder: Path) -> None:
    """`mrfit data list | head -1` ends without a word of complaint."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        ran = subprocess.run(
            [sys.executable, "-m", "mrfit", "data", "list"],
            cwd=folder,
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert ran.stderr == ""
    assert ran.returncode == 141


def test_the_first_call_says_that_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The note comes before compilation: on a terminal, or anywhere if the package's own code should have been used."""
    said: list[str] = []
    monkeypatch.setattr("mrfit.cli.output.note", said.append)
    monkeypatch.setattr(shipped, "shipped", lambda: shipped.Shipped(None))
    compile_one()
    note_compiling(quiet=True)
    compile_one()
    note_compiling(quiet=False)
    compile_one()
    assert said == []
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True))
    note_compiling(quiet=False)
    compile_one()
    compile_one()
    assert [line.startswith("compiling for this machine, once") for line in said] == [True]
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: False))
    monkeypatch.setattr(shipped, "shipped", lambda: shipped.Shipped(None, "it is for numba 0"))
    note_compiling(quiet=False)
    compile_one()
    assert said[1].startswith("it is for numba 0: compiling for this machine, once")


def compile_one() -> None:
    """A kernel that no earlier run can have kept."""
    kernel = compiled.njit()(lambda x: x + 1)
    kernel._cache = KernelCache(kernel.py_func, compiled._say)
    kernel._cache._kept = NullCache()
    assert kernel(1) == 2
