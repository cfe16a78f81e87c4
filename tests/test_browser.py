"""Where there is no browser, tests of the page are skipped with the reason; where it was promised, they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser import browser

WHY = "the page needs (chromium on the path|playwright)"


def test_no_browser_skips_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MRFIT_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match=WHY), browser():
        pass


def test_no_browser_fails_where_it_was_promised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("MRFIT_BROWSER", "required")
    with pytest.raises(pytest.fail.Exception, match=WHY), browser():
        pass
