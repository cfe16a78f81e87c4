"""Pages of the docs show what their commands print, and the pictures these draw."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mrfit.cli.main import main
from test_readme import png_size

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


PICTURES = {
    "queries": "rochdale.png",
    "checking": "kdd.png",
    "stability": "czech.png",
    "groups": "groups.png",
    "power": "power.png",
}


@pytest.mark.parametrize(
    ("page", "n_outputs"),
    [
        ("queries", 9),
        ("checking", 3),
        ("stability", 1),
        ("groups", 1),
        ("power", 1),
        ("missing", 1),
        ("uncertainty", 1),
        ("explorer", 0),
        ("items", 2),
    ],
)
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


def checked_outputs(page: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """How many outputs a page shows, each found to be what the commands above it print."""
    printed, n_outputs = "", 0
    for language, content in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "csv":
            Path("holes.csv").write_text(content, encoding="utf-8")
        elif language == "console":
            continue  # runs until it is stopped
        elif language == "text":
            assert printed == content
            n_outputs += 1
        else:
            run(language, content)
            printed = capsys.readouterr().out
    return n_outputs


def run(language: str, content: str) -> None:
    if language == "python":
        exec(compile(content, "page", "exec"), {"__name__": "__main__"})
        return
    for command in content.splitlines():
        program, *arguments = shlex.split(command)
        assert program == "mrfit"
        assert main(arguments) == 0, command
