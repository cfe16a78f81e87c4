"""Files that a command may write: no input, none twice, none half; and the standard streams."""

from __future__ import annotations

import io
import json
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
from mrfit.cli.output import print_json
from mrfit.core.domain import Domain
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure

Shell = Callable[..., Any]

TABLE = "smoker,cough\n" + "yes,no\nno,yes\nyes,yes\nno,no\nyes,yes\n" * 4


@pytest.fixture
def folder(tmp_path: Path, shell: Shell) -> Path:
    """Every kind of input, links to some of them, and a place with a named data set."""
    for name in ("t.csv", "v.csv"):
        (tmp_path / name).write_text(TABLE)
    (tmp_path / "s.json").write_text('{"smoker": ["no", "yes"]}')
    (tmp_path / "e.csv").write_text("smoker,cough\n")
    assert (
        shell("fit", "t.csv", "--penalty", "tied", "--groups", "1", "--strength", "1", "-o", "m.mrf", "--quiet").code
        == 0
    )
    (tmp_path / "soft.csv").symlink_to("t.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "t.csv")
    (tmp_path / "m.png").symlink_to("m.mrf")
    (tmp_path / "t.png").symlink_to("t.csv")
    (tmp_path / "t.json").symlink_to("t.csv")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("fit t.csv -o t.csv", "-o t.csv is what DATA reads"),
        ("fit t.csv -o ./t.csv", "what DATA reads"),
        ("fit t.csv -o soft.csv", "what DATA reads"),
        ("fit t.csv -o hard.csv", "what DATA reads"),
        ("fit soft.csv -o t.csv", "what DATA reads"),
        ("fit t.csv --valid v.csv -o v.csv", "what --valid reads"),
        ("fit t.csv --states s.json -o s.json", "what --states reads"),
        ("fit t.csv --structure edges:e.csv -o e.csv", "what --structure reads"),
        ("fit t.csv --valid v.csv --penalty tied --plot-scores t.png", "what DATA reads"),
        ("fit t.csv --valid v.csv --penalty tied -o x.png --plot-scores ./x.png", "name the same file"),
        ("structure t.csv -o t.csv", "-o t.csv is what DATA reads"),
        ("structure t.csv -o t.json", "what DATA reads"),
        ("structure t.csv --valid v.csv --select valid -o v.csv", "what --valid reads"),
        ("structure t.csv --plot t.png", "--plot t.png is what DATA reads"),
        ("structure t.csv -o x.png --output-format csv --plot x.png", "-o and --plot name the same file"),
        ("show m.mrf --plot m.png", "--plot m.png is what MODEL reads"),
        ("spectrum t.csv --plot t.png", "--plot t.png is what DATA reads"),
    ],
)
def test_no_output_is_an_input(shell: Shell, folder: Path, arguments: str, named: str) -> None:
    """Links are followed."""
    before = contents(folder)
    ran = shell(*arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert named in ran.err
    assert ran.err.count("\n") == 1
    assert contents(folder) == before
    assert (folder / "soft.csv").is_symlink()


def test_a_named_data_set_is_an_input(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "nltcs").mkdir()
    (folder / "nltcs" / "train.csv.gz").write_bytes(b"")
    monkeypatch.setenv("MRFIT_DATA", str(folder))
    ran = shell("fit", "nltcs:train", "-o", "nltcs/train.csv.gz")
    assert (ran.code, ran.err) == (2, "mrfit: -o nltcs/train.csv.gz is what DATA reads; choose another name.\n")


@pytest.mark.parametrize(
    "arguments",
    [
        "fit t.csv -o old.png",
        "fit t.csv --valid v.csv --penalty tied --plot-scores old.png",
        "structure t.csv -o old.png --output-format csv",
        "structure t.csv --plot old.png",
        "show m.mrf --plot old.png",
        "spectrum t.csv --plot old.png",
        "demo -o old",
    ],
)
def test_no_clobber(shell: Shell, folder: Path, arguments: str) -> None:
    """The option works on every command that writes."""
    (folder / "old.png").write_bytes(b"old")
    before = contents(folder)
    ran = shell(*arguments.split(), "--no-clobber")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "mrfit: Cannot write old.png: it exists and is not to be overwritten; name another file.\n"
    assert contents(folder) == before


def test_a_model_through_standard_streams(shell: Shell, folder: Path) -> None:
    """The model to standard output, its summary beside it, and back from standard input."""
    ran = run_apart("fit", "t.csv", "-o", "-", cwd=folder)
    assert ran.returncode == 0
    assert b"20 rows, 4 distinct, 2 variables" in ran.stderr
    (folder / "piped.mrf").write_bytes(ran.stdout)
    assert shell("fit", "t.csv", "-o", "named.mrf", "--quiet").code == 0
    assert (folder / "named.mrf").read_bytes() == ran.stdout
    for arguments in (["show", "/dev/stdin"], ["score", "-", "t.csv"]):
        through = run_apart(*arguments, cwd=folder, input=ran.stdout)
        by_name = shell(arguments[0], "piped.mrf", *arguments[2:])
        assert (through.returncode, through.stdout.decode()) == (0, by_name.out)
    tied = (folder / "m.mrf").read_bytes()
    assert run_apart("theory", "-", cwd=folder, input=tied).returncode == 0


@pytest.mark.parametrize("form", ["csv", "graphml", "json"])
def test_a_structure_on_standard_output(shell: Shell, folder: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output gets the same bytes as a file, whose name need not determine the form."""
    assert shell("structure", "t.csv", "-o", "named", "--output-format", form, "--quiet").code == 0
    stdout = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr("sys.stdout", stdout)
    assert shell("structure", "t.csv", "-o", "-", "--output-format", form).code == 0
    assert stdout.buffer.getvalue() == (folder / "named").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit t.csv -o - --json", "-o - and --json both want standard output"),
        ("structure t.csv -o - --json --output-format csv", "-o - and --json both want standard output"),
        ("structure t.csv -o -", "add --output-format csv"),
        ("structure t.csv --output-format csv", "--output-format csv is for an output"),
        ("structure t.csv --plot -", "type of picture"),
        ("score - -", "cannot both be standard input"),
    ],
)
def test_what_standard_streams_cannot_do(shell: Shell, folder: Path, arguments: str, message: str) -> None:
    ran = shell(*arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert not (folder / "-").exists()


def test_a_terminal_gets_no_model(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True, encoding="utf-8"))
    ran = shell("fit", "t.csv", "-o", "-")
    assert ran.code == 2
    assert "would write to the terminal" in ran.err


def test_a_model_into_a_pipe(shell: Shell, folder: Path) -> None:
    """`-o` names a pipe; it stays one."""
    os.mkfifo(folder / "pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((folder / "pipe").read_bytes()))
    reader.start()
    assert shell("fit", "t.csv", "-o", "pipe", "--quiet").code == 0
    reader.join()
    assert received[0].startswith(b"PK")
    assert (folder / "pipe").is_fifo()


@pytest.mark.parametrize("arguments", ["show m.mrf", "show m.mrf --json", "fit t.csv -o - --quiet", "--help"])
def test_standard_output_that_takes_no_more(
    shell: Shell, folder: Path, arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full device: one line and exit 2."""

    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(Full()))
    ran = shell(*arguments.split())
    monkeypatch.undo()
    assert (ran.code, ran.err) == (2, "mrfit: Cannot use standard output: No space left on device.\n")


def test_closed_streams(folder: Path) -> None:
    """`mrfit fit t.csv -o x.mrf >&- 2>&-` does its work in silence."""
    command = f"{sys.executable} -m mrfit fit t.csv -o closed.mrf >&- 2>&-"
    assert subprocess.run(command, shell=True, cwd=folder, timeout=120).returncode == 0
    assert (folder / "closed.mrf").exists()


def test_too_little_memory_is_one_line(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def allocate(*_: object, **__: object) -> None:
        np.empty(1 << 50)

    monkeypatch.setattr("mrfit.learning.Learner.fit", allocate)
    ran = shell("fit", "t.csv", "-o", "new.mrf")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("mrfit: There is not enough memory (Unable to allocate ")
    assert ran.err.endswith("). Use fewer columns, a sparser structure or a larger machine.\n")
    assert not (folder / "new.mrf").exists()


def write_wide(path: Path, n_columns: int) -> None:
    lines = [[f"c{k}" for k in range(n_columns)]]
    lines += [["01"[(k * k + row) % 2] for k in range(n_columns)] for row in range(3)]
    path.write_text("\n".join(map(",".join, lines)) + "\n")


@pytest.mark.parametrize(("structure", "n_columns"), [("complete", 10_100), ("tree", 16_000), ("order:2", 10_100)])
def test_what_is_too_wide_is_refused_with_figures(shell: Shell, tmp_path: Path, structure: str, n_columns: int) -> None:
    """Just beyond 5e7 scopes, and 4 GB of tables over all pairs: told before they are made."""
    write_wide(tmp_path / "wide.csv", n_columns)
    ran = shell("fit", "wide.csv", "--structure", structure)
    assert (ran.code, ran.out) == (2, "")
    assert f"{n_columns} variables" in ran.err.replace(",", "")
    assert "the limit is" in ran.err


@pytest.mark.parametrize("command", ["fit wide.csv --objective likelihood", "spectrum wide.csv"])
def test_more_joint_states_than_numbers_are_refused(shell: Shell, tmp_path: Path, command: str) -> None:
    """2,000 columns: the number of joint states is larger than any float."""
    write_wide(tmp_path / "wide.csv", 2_000)
    ran = shell(*command.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1


@pytest.fixture
def overflowing(tmp_path: Path) -> Path:
    """A model with the largest numbers there are, whose sums are none."""
    domain = Domain.from_states({"smoker": ["no", "yes"], "cough": ["no", "yes"]})
    parameters = Canonical(domain, Structure.complete(2))
    MarkovNetwork(parameters, np.array([1.7e308, 1.7e308, 1.7e308])).save(tmp_path / "large.mrf")
    return tmp_path / "large.mrf"


@pytest.mark.parametrize("options", [[], ["--json"], ["--per-row"], ["--per-row", "--json"], ["--metric", "ll"]])
def test_a_score_that_is_no_number_is_an_error(
    shell: Shell, folder: Path, overflowing: Path, options: list[str]
) -> None:
    ran = shell("score", "large.mrf", "t.csv", *options)
    assert (ran.code, ran.out) == (2, "")
    assert "a score that is not a finite number: its parameters are as large as 1.7e+308" in ran.err


def test_a_score_that_is_no_number_is_an_error_in_python_too(overflowing: Path) -> None:
    model = MarkovNetwork.load(overflowing)
    data = {"smoker": ["yes", "no"], "cough": ["yes", "no"]}
    for score in (model.pll, model.ll, model.pll_rows, model.ll_rows):
        with pytest.raises(ValueError, match="not a finite number"):
            score(data)


def test_numbers_that_are_not_finite_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [float("nan"), {"b": (float("inf"), 1.5)}], "c": -float("inf")})
    assert json.loads(capsys.readouterr().out) == {"a": [None, {"b": [None, 1.5]}], "c": None}


HOSTILE = "\x1b[2Jcl\x9bear\nmrfit: forged\r\u202eback\u2028\x07"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A model whose names, states and provenance hold what moves cursors and forges lines."""
    domain = Domain.from_states({HOSTILE: [HOSTILE, "yes"], "cough": ["no", HOSTILE]})
    parameters = Canonical(domain, Structure.complete(2))
    provenance = {HOSTILE: HOSTILE, "penalty": {HOSTILE: HOSTILE}}
    MarkovNetwork(parameters, np.array([1.0, 2.0, 3.0]), provenance).save(tmp_path / "hostile.mrf")
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "hostile.csv").write_text(f'"{HOSTILE}",cough\n' + "yes,no\nno,yes\nyes,yes\nno,no\n" * 9)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        "show hostile.mrf",
        "show hostile.mrf --json",
        "score hostile.mrf t.csv",
        "fit hostile.csv",
        "structure hostile.csv",
        "structure hostile.csv --json",
        "structure hostile.csv --require a,b",
        "spectrum hostile.csv --max-order 0 --folds 2",
    ],
)
def test_names_cannot_command_the_terminal(shell: Shell, hostile: Path, arguments: str) -> None:
    """Nor forge a line of ours."""
    ran = shell(*arguments.split())
    for text in (ran.out, ran.err):
        assert all(c.isprintable() for c in text.replace("\n", ""))
        assert not any(line.startswith("mrfit: forged") for line in text.splitlines())


def test_names_in_arguments_cannot_either(shell: Shell, folder: Path) -> None:
    for arguments in (["fit", f"{HOSTILE}.csv"], ["fit", "t.csv", f"--{HOSTILE}"], [HOSTILE]):
        ran = shell(*arguments)
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert ran.err[:-1].isprintable()


def test_a_ragged_row_in_another_encoding_is_one_line(folder: Path) -> None:
    """A separate process is needed: the libraries below print where Python cannot catch it."""
    (folder / "odd.csv").write_bytes(TABLE.encode() + b"caf\xe9\n")
    ran = run_apart("fit", "odd.csv", cwd=folder)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"mrfit: 'odd.csv' is not UTF-8 text: byte ")
    assert ran.stderr.count(b"\n") == 1


def test_a_huge_value_does_not_drown_the_message(shell: Shell, folder: Path) -> None:
    (folder / "huge.csv").write_text(TABLE + "x" * 100_000 + ",no\n")
    ran = shell("score", "m.mrf", "huge.csv")
    assert ran.code == 2
    assert len(ran.err) < 2100
    assert ran.err.startswith("mrfit: 'huge.csv': Column 'smoker' holds 'xxx")
    assert ran.err.endswith("pass --unknown drop.\n")


def test_a_terminal_of_few_letters(folder: Path) -> None:
    """Letters that the encoding of the terminal lacks are escaped."""
    (folder / "letters.csv").write_text("größe,日本\n" + "0,1\n1,0\n" * 9, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ran = run_apart("structure", "letters.csv", cwd=folder, env=environment)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert rb"gr\xf6\xdfe - \u65e5\u672c" in ran.stdout
    ran = run_apart("structure", "letters.csv", "--json", cwd=folder, env=environment)
    assert json.loads(ran.stdout)["edges"][0]["source"] == "größe"


def test_only_one_function_prints() -> None:
    """So that nothing else can print what it should not."""
    rooms = Path(print_json.__code__.co_filename).parent
    printing = [path.name for path in sorted(rooms.glob("*.py")) if "click.echo(" in path.read_text()]
    assert printing == ["output.py"]


def test_an_interrupt_while_compiling(folder: Path, tmp_path: Path) -> None:
    """Exit 130 and one line, wherever in the compiler it comes."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = """
import os, signal, sys
from numba.core import compiler
from mrfit._kernels.machine_code import load as shipped
from mrfit.cli.main import run
shipped.shipped = lambda: shipped.Shipped(None)  # nor anything that `make` compiled in this checkout
compile_extra = compiler.compile_extra
def interrupted(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
    return compile_extra(*arguments, **options)
compiler.compile_extra = interrupted
sys.argv = ["mrfit", "fit", "t.csv", "-o", "x.mrf"]
run()
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (130, b"")
    assert ran.stderr.split(b"\n") == [b"", b"mrfit: interrupted; nothing was written.", b""]
    assert not (folder / "x.mrf").exists()
