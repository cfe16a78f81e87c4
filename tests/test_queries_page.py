"""docs/queries.md shows what its commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mrfit.cli.main import main
from test_readme import png_size

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "queries.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def test_every_output_is_that_of_the_commands_above_it(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert checked_outputs(PAGE, capsys) == 9
    # The picture on the page is the one the command draws, but for fonts and compression.
    assert png_size(ROOT / "docs" / "queries.png") == png_size(tmp_path / "rochdale.png")


def checked_outputs(page: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """How many outputs a page shows, each found to be what the commands above it print."""
    printed, n_outputs = "", 0
    for language, content in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "csv":
            Path("holes.csv").write_text(content, encoding="utf-8")
        elif language == "text":
            assert printed == content
            n_outputs += 1
        else:
            run(language, content)
            printed = capsys.readouterr().out
    return n_outputs


def run(language: str, content: str) -> None:
    if language == "python":
        exec(compile(content, "queries.md", "exec"), {"__name__": "__main__"})
        return
    for command in content.splitlines():
        program, *arguments = shlex.split(command)
        assert program == "mrfit"
        assert main(arguments) == 0, command
