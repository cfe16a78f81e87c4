"""docs/groups.md shows what its commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_queries_page import ROOT, checked_outputs


def test_every_output_is_that_of_the_commands_above_it(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert checked_outputs(ROOT / "docs" / "groups.md", capsys) == 1
    assert (tmp_path / "groups.png").stat().st_size > 10_000
