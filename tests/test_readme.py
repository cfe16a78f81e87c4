"""Code on the README, run as a reader would."""

from __future__ import annotations

import re
import shlex
import struct
from pathlib import Path

import pytest

from mrfit.cli.main import main
from mrfit.data.named_datasets import catalogue

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def block_after(heading: str, language: str) -> str:
    """The first block of a language after a text."""
    _, found, rest = README.partition(heading)
    assert found, f"README.md has no {heading!r}"
    match = re.search(rf"^```{language}\n(.*?)^```$", rest, flags=re.MULTILINE | re.DOTALL)
    assert match, f"README.md has no {language} block after {heading!r}"
    return match[1]


def test_python_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(blocks("python")) == 2
    code = block_after("## From Python", "python")
    expected = block_after(code, "text")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == expected
    assert [path.name for path in tmp_path.iterdir()] == ["cough.mrf"]


def test_parts_put_together(capsys: pytest.CaptureFixture[str]) -> None:
    code = block_after("## Put parts together", "python")
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == block_after(code, "text")


def test_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The question is put to the model of the Python example."""
    monkeypatch.chdir(tmp_path)
    exec(compile(block_after("## From Python", "python"), "README.md", "exec"), {"__name__": "__main__"})
    capsys.readouterr()
    program, *arguments = shlex.split(block_after("## Ask it", "sh"))
    assert program == "mrfit"
    assert main(arguments) == 0
    assert capsys.readouterr().out == block_after("by how much it moved:", "text")


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert block_after("`make demo` prints", "text") in printed.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mrfit-demo.mrf", "mrfit-demo.png"]
    width, height = png_size(tmp_path / "mrfit-demo.png")
    assert 800 <= width <= 4000
    assert 300 <= height <= 2000
    assert 20_000 < (tmp_path / "mrfit-demo.png").stat().st_size < 2_000_000
    # The picture in the README is the one the command draws, but for fonts and compression.
    assert png_size(ROOT / "docs" / "demo.png") == (width, height)


def png_size(path: Path) -> tuple[int, int]:
    """Width and height from the header of a PNG file that is whole."""
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert content.endswith(b"IEND\xaeB`\x82")
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def test_shell_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command of the block runs, in order, on tables of the names it uses."""
    monkeypatch.chdir(tmp_path)
    for name in ("survey.csv", "more.csv", "new.csv"):
        (tmp_path / name).write_text("smoker,cough\n" + 4 * "yes,yes\nno,no\nyes,no\nno,no\nyes,yes\n")
    (tmp_path / "counts.csv").write_text("a,b,c,count\n0,0,0,9\n1,1,0,4\n1,1,1,7\n0,1,1,2\n")
    commands = block_after("## From the shell", "sh").splitlines()
    assert len(commands) >= 5
    for command in commands:
        program, *arguments = shlex.split(command, comments=True)
        assert program == "mrfit"
        assert main(arguments) == 0, command
        assert capsys.readouterr().err == "", command


def test_number_of_data_sets() -> None:
    counted = re.search(r"(\d+) named data sets", README)
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
