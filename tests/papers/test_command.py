"""`mrfit reproduce` from the shell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mrfit_papers.command import WORDS
from mrfit_papers.experiments import EXPERIMENTS


def test_the_words_are_those_of_the_experiments() -> None:
    assert list(WORDS) == list(EXPERIMENTS)


def test_help_names_every_experiment(shell: Callable[..., Any]) -> None:
    out = shell("reproduce", "--help").out
    assert all(word in out for word in (*WORDS, "all", "--report-only", "--quick", "--published"))


def test_a_quick_run_writes_pages_and_says_where(shell: Callable[..., Any], data_dir: Path, tmp_path: Path) -> None:
    arguments = ("reproduce", "apt-table1", "--quick", "--datasets", "nltcs", "--jobs", "1")
    ran = shell(*arguments)
    assert ran.code == 0
    assert "7 of 7 units have results, 7 of them new" in ran.out
    assert "7/7 nltcs, 5 neighbours (top), l1" in ran.err
    assert {"results.jsonl", "apt-table1.md", "apt-table1.html"} <= {
        p.name for p in (tmp_path / "reproduced").iterdir()
    }
    document = shell(*arguments, "--json", "--report-only").document
    assert (document["units"], document["new"], document["failures"]) == (7, 0, [])
    papers = shell(*arguments, "--json", "--report-only", "--published").document
    assert (papers["units"], papers["published"], papers["new"]) == (3, True, 0)
    assert "reproduce apt-table1 --quick --published --datasets nltcs" in (
        tmp_path / "reproduced" / "apt-table1.md"
    ).read_text(encoding="utf-8")
    assert {claim["verdict"] for claim in document["claims"]} == {"not decidable"}
    assert {(claim["cases"]["run"], claim["cases"]["all"]) for claim in document["claims"]} == {(1, 58)}
    assert ran.out.count("from 1 of 58 cells: ") == len(document["claims"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("apt-table2",), "is not one of"),
        (("apt-table1", "--datasets", "iris"), "no data set 'iris'"),
        (("apt-theory", "--datasets", "nltcs"), "no data sets to choose from"),
        (("apt-table1", "--report-only"), "There are no results in reproduced"),
        (("apt-table1", "--quick", "--jobs", "0"), "number of jobs must be a positive whole number"),
        (("apt-table1", "--quick", "--out", "a-file"), "it is a file; name a folder"),
    ],
)
def test_bad_input_gives_one_line(
    shell: Callable[..., Any], data_dir: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "a-file").write_text("mine")
    ran = shell("reproduce", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a-file"]


def test_data_that_are_not_here_are_named(
    shell: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mrfit_papers.unit import checksum

    checksum.cache_clear()
    monkeypatch.setenv("MRFIT_DATA", str(tmp_path / "nowhere"))
    ran = shell("reproduce", "apt-table1", "--quick", "--out", tmp_path / "results")
    assert ran.code == 2
    assert "mrfit data get dna" in ran.err
    assert not (tmp_path / "results").exists()
    checksum.cache_clear()
