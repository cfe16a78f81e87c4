"""Code on the README, run as a reader would."""

from __future__ import annotations

import re
import shlex
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mrfit.cli.main import main
from mrfit.data.named_datasets import catalogue

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
START = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def block_after(heading: str, language: str, page: str = README) -> str:
    """The first block of a language after a text."""
    _, found, rest = page.partition(heading)
    assert found, f"the page has no {heading!r}"
    match = re.search(rf"^```{language}\n(.*?)^```$", rest, flags=re.MULTILINE | re.DOTALL)
    assert match, f"the page has no {language} block after {heading!r}"
    return match[1]


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the table that the README says how to write."""
    command = re.search(r"`python (\S+) survey\.csv`", README)
    assert command is not None
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, ROOT / command[1], "survey.csv"], check=True)
    return tmp_path


def test_the_python_examples_are_one_session(survey: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first learns from the survey, the second puts parts together for the same table."""
    known: dict[str, Any] = {"__name__": "__main__"}
    assert len(blocks("python")) == 2
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), known)
        assert capsys.readouterr().out == block_after(code, "text")
    assert sorted(path.name for path in survey.iterdir()) == ["network.png", "survey.csv"]
    assert png_size(survey / "network.png") > (400, 400)


def test_shell_example(survey: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = block_after("The same in a shell", "sh").splitlines()
    assert len(commands) == 5
    for command in commands:
        program, *arguments = shlex.split(command, comments=True)
        assert program == "mrfit"
        assert main(arguments) == 0, command
        assert "warning" not in capsys.readouterr().err, command


def test_one_screen_and_no_more_pages() -> None:
    """Its picture, its install line and its example are on the first screen; all of it is at most 120 lines."""
    lines = README.splitlines()
    assert len(lines) <= 120
    first = "\n".join(lines[:45])
    assert all(part in first for part in ("docs/anatomy.svg", "pip install .", "make demo", "make test", "```python"))


def test_claims_are_those_of_the_pages_they_link_to() -> None:
    """Compare the numbers in the README and on the front page of the site."""
    benchmarks, replication, index = (
        " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
        for page in ("benchmarks.md", "replication.md", "index.md")
    )
    means = [float(row.split("|")[7]) for row in benchmarks.split("| geometric mean |")[1:4]]
    counts = re.search(
        r"Of the (\d+) claims below, (\d+) are reproduced, (\d+) are partly reproduced, and (\d+) are not", replication
    )
    assert counts is not None
    n_claims, reproduced, partly, not_reproduced = counts.groups()
    for page in (" ".join(README.split()), index):
        assert f"{min(means):.0f} to {max(means):.0f} times" in page
        assert f"{partly} partly and {not_reproduced} not" in page
    assert f"of {n_claims} claims, {reproduced} are reproduced" in " ".join(README.split())
    assert f"{reproduced} of {n_claims} claims" in index


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    command, _, output = block_after("handwritten digits. It prints", "console", START).partition("\n")
    assert command == "$ make demo"
    assert output in printed.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mrfit-demo.mrf", "mrfit-demo.png"]
    width, height = png_size(tmp_path / "mrfit-demo.png")
    assert 800 <= width <= 4000
    assert 300 <= height <= 2000
    assert 20_000 < (tmp_path / "mrfit-demo.png").stat().st_size < 2_000_000
    # The picture on the page is the one the command draws, but for fonts and compression.
    assert png_size(ROOT / "docs" / "demo.png") == (width, height)


def png_size(path: Path) -> tuple[int, int]:
    """Width and height from the header of a PNG file that is whole."""
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert content.endswith(b"IEND\xaeB`\x82")
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def test_number_of_data_sets() -> None:
    counted = re.search(r"(\d+) named data sets", START)
    assert counted is not None
    assert int(counted[1]) == len(catalogue())


def test_named_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    local = [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:|#", target)]
    absent = [target for target in local if not (page.parent / target).exists()]
    assert absent == []
