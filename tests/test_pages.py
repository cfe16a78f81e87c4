"""Pages of the docs show what their commands print, and the pictures these draw; all other code on them runs too."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import mrfit
from benchmarks.__main__ import ALL, parsed
from benchmarks.__main__ import DOCS as DOCS_ALONE
from benchmarks.catalogue import catalogue
from mrfit.cli.main import cli, main
from mrfit.formats.tables import table_bytes, table_of
from mrfit.formats.uai_results import pr_bytes
from mrfit.learning.tying_specs import SoftTied
from test_readme import png_size

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


PICTURES = {
    "queries": "rochdale.png",
    "checking": "kdd.png",
    "stability": "czech.png",
    "groups": "groups.png",
    "power": "power.png",
    "nodes": "network.png",
    "pictures": "pictures.png",
    "comparing": "comparing.png",
    "tutorial-survey": "tutorial-survey.png",
    "tutorial-benchmark": "tutorial-benchmark.png",
    "markov-networks": "markov-networks.png",
}

OUTPUTS = {
    "structure-learning": 2,
    "queries": 9,
    "checking": 4,
    "nodes": 3,
    "stability": 2,
    "groups": 1,
    "power": 1,
    "missing": 1,
    "uncertainty": 1,
    "items": 2,
    "explorer": 0,
    "pictures": 0,
    "comparing": 2,
    "tutorial-survey": 4,
    "tutorial-benchmark": 2,
    "start": 3,
    "markov-networks": 3,
    "from-psychonetrics": 1,
    "from-pgmpy": 1,
    "from-dca": 1,
    "from-circuits": 1,
    "from-scikit-learn": 2,
}


@pytest.mark.parametrize(("page", "n_outputs"), OUTPUTS.items())
def test_every_output_is_that_of_the_commands_above_it(
    page: str,
    n_outputs: int,
    data_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert checked_outputs(DOCS / f"{page}.md", capsys) == n_outputs
    if page in PICTURES:
        # The picture on the page is the one the command draws, but for fonts and compression.
        assert png_size(DOCS / f"{page}.png") == png_size(tmp_path / PICTURES[page])
        assert (tmp_path / PICTURES[page]).stat().st_size > 10_000
    if page == "markov-networks":
        assert png_size(DOCS / "markov-evidence.png") == png_size(tmp_path / "markov-evidence.png")


def test_verdicts_on_claims_are_counted() -> None:
    """The first lines of the page on replication say how many claims of its table have each verdict."""
    page = (DOCS / "replication.md").read_text(encoding="utf-8")
    found = re.findall(r"\| \*\*([\w ]+)\*\* \|", page)
    counts = {verdict: found.count(verdict) for verdict in set(found)}
    said = re.search(
        r"(\d+) claims below, (\d+) are reproduced, (\d+) are partly reproduced, and (\d+) are not",
        " ".join(page.split()),
    )
    assert said is not None
    assert tuple(map(int, said.groups())) == (
        len(found),
        counts["reproduced"],
        counts["partly"],
        counts["not reproduced"],
    )


def checked_outputs(page: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """Compare the outputs on a page with what the commands above them print; return how many there are."""
    printed, n_outputs = "", 0
    known: dict[str, Any] = {"__name__": "__main__"}  # a page is one session
    for language, content in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "csv":
            Path("holes.csv").write_text(content, encoding="utf-8")
        elif language in ("console", "r"):
            continue  # runs until it is stopped, or elsewhere
        elif language == "text":
            assert _unmeasured(printed) == _unmeasured(content)
            n_outputs += 1
        else:
            run(language, content, known)
            printed = capsys.readouterr().out
    return n_outputs


def _unmeasured(text: str) -> str:
    """Remove durations that commands measure on the machine they run on."""
    measured = r"\s+about\s+[\d,]+\s+[a-z]+\s+on\s+[\d,]+\s+processors?"  # wherever the line is wrapped
    return re.sub(measured, " about as long as it takes", text)


def run(language: str, content: str, known: dict[str, Any]) -> None:
    if language == "python":
        exec(compile(content, "page", "exec"), known)
        return
    for program, *arguments in commands(content):
        assert program == "mrfit"
        assert main(arguments) == 0, arguments


def commands(content: str) -> Iterator[list[str]]:
    """The words of every command, as far as a pipe or a redirection."""
    for line in content.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        ends = [k for k, word in enumerate(words) if word in ("|", "<", ">")]
        if words:
            yield words[: min(ends, default=len(words))]


# --- pages whose commands take minutes or files of the reader: they run on a small real table

SMALL = "rochdale:data"  # in the place of every named table
STAND_INS = ("formats", "likelihood", "parameterizations", "scale", "tying", "replication", "benchmarks")

# Commands that are only understood, word for word, and why.
NOT_RUN = {
    "mrfit data get nltcs": "it fetches a file from the network",
    "mrfit reproduce apt-table1 --quick --out quick": "a minute; tests/papers/test_command.py runs its like",
    "mrfit reproduce apt-table1 --published --jobs 2": "an hour",
    "mrfit reproduce all --out docs/replication": "days of work",
    "mrfit reproduce all --out docs/replication --report-only": "half a minute; tests/papers writes such pages",
    "python -m benchmarks kmeans1d": "a measurement; CI runs every benchmark on small cases",
    "python -m benchmarks pseudo-likelihood --only set nltcs dna --only degree 5": "a measurement of minutes",
    "python -m benchmarks tying-grid --with set nltcs": "a measurement of minutes",
    "python -m benchmarks --quick": "CI runs it beside the tests",
    "python -m benchmarks all --write-docs": "hours",
    "python -m benchmarks docs": "it writes into docs/; tests/test_benchmarks.py compares what it would write",
}


@pytest.mark.parametrize("page", STAND_INS)
def test_every_command_runs_on_a_small_table(
    page: str, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _files_of_a_reader()
    found = list(_commands_of(page))
    assert found
    with Path("a.mn").open(encoding="utf-8") as piped:
        monkeypatch.setattr("sys.stdin", piped)
        for words in found:
            understand(words)
            if " ".join(words) not in NOT_RUN:
                assert main([_small_table(word) for word in words[1:]]) == 0, words


def test_the_spectrum_on_a_page_is_what_the_command_prints(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "parameterizations.md").read_text(encoding="utf-8")
    shown = next(content for language, content in BLOCK.findall(page) if language == "text")
    assert main(["spectrum", "czech:data", "--plot", "spectrum.png"]) == 0
    assert capsys.readouterr().out == shown


def test_what_is_not_run_is_on_a_page() -> None:
    shown = {" ".join(words) for page in STAND_INS for words in _commands_of(page)}
    assert NOT_RUN.keys() <= shown


def _commands_of(page: str) -> Iterator[list[str]]:
    for language, content in BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        if language == "sh":
            yield from commands(content)


def _small_table(word: str) -> str:
    return re.sub(r"^\w+:(train|valid|test|data)$", SMALL, word)


def _files_of_a_reader() -> None:
    """Make the files that commands on these pages begin with: a table, models of this and of other programs."""
    table = mrfit.UniqueRows.from_file(SMALL)
    _survey()
    _small().save("survey.mrf")
    mrfit.learn(table, "tree", penalty=SoftTied(1.0, groups=2)).model.save("small.mrf")
    network = mrfit.read_network("survey.mrf")
    for name in ("linkage.uai.gz", "download.uai", "a.mn"):
        mrfit.write_network(name, network)
    Path("download.uai").rename("download.txt")


def understand(words: list[str]) -> None:
    """Complain about commands, options and values that there are not."""
    if words[:3] == ["python", "-m", "benchmarks"]:
        assert set(parsed(words[3:]).names) <= {*catalogue(), ALL, DOCS_ALONE}
        return
    program, name, *arguments = words
    assert program == "mrfit"
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, name
    command.make_context(name, arguments)


# --- code that goes on from what the reader has


def _small() -> mrfit.MarkovNetwork:
    return mrfit.learn(mrfit.UniqueRows.from_file("rochdale:data"), "tree").model


def _model_and_rows() -> dict[str, Any]:
    return {"model": _small(), "rows": mrfit.UniqueRows.from_file("rochdale:data").codes}


def _files() -> dict[str, Any]:
    return {"files": ["czech:data"]}


def _other_programs() -> dict[str, Any]:
    model = _small()
    model.save("survey.mrf")
    mrfit.write_network("survey.uai", mrfit.read_network("survey.mrf"))
    Path("model.uai.evid").write_text("1 0 1\n")
    Path("model.uai.PR").write_bytes(pr_bytes(model.log_z().log_z))
    return {"rows": np.zeros((1, len(model.domain)), np.int64)}


def _survey() -> dict[str, Any]:
    Path("survey.csv").write_bytes(table_bytes(table_of(_small().sample(200, seed=0)), "survey.csv"))
    return {}


READERS: dict[str, Callable[[], dict[str, Any]]] = {
    "inference": _model_and_rows,
    "sampling": _model_and_rows,
    "scale": _files,
    "formats": _other_programs,
    "plugins": lambda: {"__name__": "__main__"},
    "index": _survey,
}


@pytest.mark.parametrize("page", READERS)
def test_code_runs_on_what_a_reader_has(
    page: str, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = READERS[page]()
    for language, content in BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        if language == "python":
            run(language, content, known)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_no_page_waits_for_a_number(page: Path) -> None:
    """Marks like @@EDGES@@ stand for what a run that goes on will find."""
    assert re.findall("@@[A-Z]+@@", page.read_text(encoding="utf-8")) == []


def test_no_page_has_code_that_nobody_runs() -> None:
    # Examples of generated pages come from docstrings and from help, which have tests of their own.
    written = [path for path in DOCS.rglob("*.md") if "generated" not in path.parts]
    with_code, with_commands = (
        {path.stem for path in written if f"\n```{language}\n" in path.read_text(encoding="utf-8")}
        for language in ("python", "sh")
    )
    assert with_code <= OUTPUTS.keys() | READERS.keys()
    assert with_commands <= {*OUTPUTS, *STAND_INS}
