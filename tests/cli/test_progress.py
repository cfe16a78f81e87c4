"""Progress where standard error is a file: a line now and then, with how far work is."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mrfit.cli import progress

_SOON = 0.02


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", _SOON)


def _lines(
    capsys: pytest.CaptureFixture[str], work: Callable[[Any], None], context: Callable[..., Any], *args: Any, **how: Any
) -> list[str]:
    """Return what is written to standard error until there is a line."""
    written = ""
    with context(*args, quiet=False, **how) as follow:
        work(follow)
        until = time.monotonic() + 30.0
        while "\n" not in written and time.monotonic() < until:
            time.sleep(_SOON)
            written += capsys.readouterr().err
    return written.splitlines()


def test_what_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    def work(follow: Any) -> None:
        follow(1)
        follow(2, 12)

    lines = _lines(capsys, work, progress.counting_progress, "bootstrap samples", 1)
    assert re.fullmatch(r"mrfit: bootstrap samples: 25% after \d+ s, about \d+ s left", lines[-1])


def test_a_grid_and_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _lines(capsys, lambda follow: follow(1, 2), progress.grid_progress)
    assert lines[-1].startswith("mrfit: fits: 50% after")
    lines = _lines(capsys, lambda follow: follow(30, 40), progress.reading_progress)
    assert lines[-1].startswith("mrfit: reading: 75% after")


def test_a_fit_says_how_far_it_is_from_its_optimum(capsys: pytest.CaptureFixture[str]) -> None:
    record = SimpleNamespace(iteration=7, violation=0.5)
    lines = _lines(capsys, lambda follow: follow(10.0, record), progress.solver_progress, 1e-6)
    assert lines[-1].startswith("mrfit: fit at penalty strength 10: iteration 7, max. gradient 5.0e-01 after")


def test_pieces_with_names_have_a_line_each_and_more_where_one_takes_long(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _lines(capsys, lambda follow: follow(1, 4, "nltcs", 120.0), progress.unit_progress)
    assert lines[0] == "mrfit: 1/4 nltcs; 2 min left"


def test_work_that_says_nothing_is_still_said_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _lines(capsys, lambda follow: None, progress.counting_progress, "tables", 10)
    assert re.fullmatch(r"mrfit: tables: 0% after \d+ s", lines[-1])


def test_the_innermost_work_is_told_and_a_command_that_tells_nothing_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def work(_: None) -> None:
        with progress.waiting():
            capsys.readouterr()
            time.sleep(3 * _SOON)
            assert capsys.readouterr().err == ""
        with progress.counting_progress("tables", 4, quiet=False) as follow:
            assert follow is not None
            follow(1)
            time.sleep(3 * _SOON)
            assert "tables: 25%" in capsys.readouterr().err

    lines = _lines(capsys, work, progress.command_progress, "query")
    assert re.fullmatch(r"mrfit: query: at work after \d+ s", lines[-1])


def test_a_command_says_that_it_is_at_work(
    shell: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Progress is shown by the command line, and not with --quiet."""
    monkeypatch.setattr(progress, "_EVERY", 0.001)
    (tmp_path / "t.csv").write_text("a,b,c\n" + "0,1,0\n1,0,1\n0,0,1\n1,1,0\n" * 50)
    assert shell("fit", "t.csv", "-o", "m.mrf", "--quiet").err == ""
    arguments = ("check", "m.mrf", "t.csv", "--bootstrap", "40")
    assert re.search(r"^mrfit: .+ after \d+ s", shell(*arguments).err, re.MULTILINE)
    assert shell(*arguments, "--quiet").err == ""


@pytest.mark.parametrize(
    "context", [progress.grid_progress, progress.reading_progress, progress.unit_progress], ids=lambda c: c.__name__
)
def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str], context: Callable[..., Any]) -> None:
    with context(quiet=True) as follow:
        assert follow is None
        time.sleep(3 * _SOON)
    assert capsys.readouterr().err == ""
