"""The benchmarks' door, their one shape, and that the tables in the docs are those of the stored results."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import pytest

from benchmarks import pages
from benchmarks.__main__ import main
from benchmarks.benchmark import Benchmark, cases, chosen
from benchmarks.catalogue import catalogue
from benchmarks.first_use_table import records_of
from benchmarks.results import FOLDER, Result, stored
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import take_turns

BENCHMARKS = catalogue()
NOT_IN_DOCS = {"compiling"}
PAGES = sorted(pages.DOCS.rglob("*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_tables_in_the_docs_are_those_of_the_stored_results(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert pages.written(page, BENCHMARKS) == page, "run `python -m benchmarks docs`"


def test_every_benchmark_has_its_table_once() -> None:
    shown = [match["name"] for path in PAGES for match in pages.BLOCK.finditer(path.read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(BENCHMARKS.keys() - NOT_IN_DOCS)
    assert {path.stem for path in FOLDER.glob("*.json")} == set(shown)


def test_every_command_in_the_docs_exists() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in [*PAGES, *pages.DOCS.parent.glob("*.md")])
    assert "python benchmarks/" not in text
    commands = re.findall(r"python -m benchmarks((?: [a-z][\w-]*)+)", text)
    names = {name for command in commands for name in command.split()}
    assert names <= {"all", "docs", *BENCHMARKS}, names


@pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=BENCHMARKS.keys())
def test_cases_are_data(benchmark: Benchmark) -> None:
    assert benchmark.cases
    assert benchmark.quick
    for case in (*benchmark.cases, *benchmark.quick):
        assert case.keys() == benchmark.cases[0].keys()
        json.dumps(case)


def test_results_survive_their_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("benchmarks.results.FOLDER", tmp_path / "results")
    result = Result("some", {"date": "2026-01-01"}, [{"n": 1, "x": [1.5, None]}, {"n": 2, "named": "≤"}])
    result.save()
    assert stored("some") == result


def test_a_table_shows_what_is_there() -> None:
    columns = (
        named("set", "{set}"),
        Column("s", "{seconds:.2f}"),
        Column("numpy", "{numpy:.1f}"),
        Column("jax", "{jax:.1f}"),
    )
    records: list[Record] = [{"set": "a", "seconds": 0.125, "numpy": 2.0}, {"set": "b", "seconds": 1, "numpy": None}]
    assert Table(columns, [*records, {"set": "mean"}], "Title", "Note.").markdown().splitlines() == [
        "#### Title",
        "",
        "| set | s | numpy |",
        "|---|---:|---:|",
        "| a | 0.12 | 2.0 |",
        "| b | 1.00 | - |",
        "| mean | | |",
        "",
        "Note.",
    ]


def test_cases_are_filtered_and_changed() -> None:
    available = cases(set=("a", "b"), degree=(5, 15))
    assert chosen(available, {"set": ["b"]}, {}) == [{"set": "b", "degree": 5}, {"set": "b", "degree": 15}]
    assert chosen(available, {}, {"set": "c"}) == [{"set": "c", "degree": 5}, {"set": "c", "degree": 15}]
    with pytest.raises(ValueError, match=r"no field 'sets'.*degree, set"):
        chosen(available, {"sets": ["a"]}, {})
    with pytest.raises(ValueError, match=r"No case is left.*a, b"):
        chosen(available, {"set": ["c"]}, {})


def test_a_page_that_names_no_benchmark_is_refused() -> None:
    with pytest.raises(ValueError, match="'nothing', which does not exist"):
        pages.written("<!-- benchmark: nothing -->\n<!-- end -->", BENCHMARKS)


def test_a_printed_table_becomes_records() -> None:
    assert records_of("| what | seconds |\n|---|---:|\n| import | 0.10 |\n") == [{"what": "import", "seconds": "0.10"}]


def test_noise_becomes_edges_at_most_as_often_as_it_should() -> None:
    records = stored("noise-edges").records
    assert {(record["states"], record["rows"]) for record in records} >= set(product((2, 3, 5), (100, 300, 1000, 5000)))
    for record in records:
        assert record["share"] <= record["nominal"] + 3.0 * record["error"], record


def test_methods_take_turns() -> None:
    order: list[str] = []
    best = take_turns({name: lambda name=name: order.append(name) for name in "ab"}, 0.0, least=2)
    assert order == ["a", "b"] * 3
    assert best.keys() == {"a", "b"}


def test_the_door_lists_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(BENCHMARKS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "There is no benchmark 'nothing'. There are: pseudo-likelihood"),
        (["kmeans1d", "--quick", "--write-docs"], "--write-docs takes whole results"),
        (["kmeans1d", "--plot", "x.png"], "Name one of: tying-recovery, spectra"),
        (["kmeans1d", "--json", "nowhere/x.json"], "there is no directory nowhere"),
        (["kmeans1d", "--only", "values"], "--only takes a field and the values"),
        (["spectra", "--only", "set", "nothing"], "No case is left. There are set: czech"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out


def test_one_benchmark_from_the_door_to_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["ebic-cost", "--quick", "--only", "states", "2", "--json", str(tmp_path / "results.json")]) == 0
    (result,) = json.loads((tmp_path / "results.json").read_text())
    assert result["benchmark"] == "ebic-cost"
    (record,) = result["records"]
    assert record["states"] == 2
    assert 0 < record["and"] <= record["or"]
    assert result["measured"]["date"]
    assert f"| 2 | {record['and']} | {record['or']} |" in capsys.readouterr().out
