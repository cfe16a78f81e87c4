"""docs/checking.md shows what its commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_queries_page import ROOT, checked_outputs
from test_readme import png_size

PAGE = ROOT / "docs" / "checking.md"


def test_every_output_is_that_of_the_commands_above_it(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert checked_outputs(PAGE, capsys) == 3
    # The picture on the page is the one the command draws, but for fonts and compression.
    assert png_size(ROOT / "docs" / "checking.png") == png_size(tmp_path / "kdd.png")
