"""docs/stability.md shows what its commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_queries_page import ROOT, checked_outputs
from test_readme import png_size


def test_every_output_is_that_of_the_commands_above_it(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert checked_outputs(ROOT / "docs" / "stability.md", capsys) == 1
    assert png_size(ROOT / "docs" / "stability.png") == png_size(tmp_path / "czech.png")
