"""Node and a browser are needed by tests of the page alone: without them these are skipped, and say why.

Where they were promised, tests fail instead.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from browser import axe_script, browser

WHY = "the page needs (chromium on the path|playwright)"
TESTS = Path(__file__).parent
ASKING = {"browser.py", "test_browser.py"}  # where these programs are looked for


def _without(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if program == "playwright":
        monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    else:
        monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize("program", ["chromium", "playwright"])
def test_no_browser_skips_with_a_reason(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without(program, tmp_path, monkeypatch)
    monkeypatch.delenv("MRFIT_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match=WHY), browser():
        pass


@pytest.mark.parametrize("program", ["chromium", "playwright"])
def test_no_browser_fails_where_it_was_promised(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without(program, tmp_path, monkeypatch)
    monkeypatch.setenv("MRFIT_BROWSER", "required")
    with pytest.raises(pytest.fail.Exception, match=WHY), browser():
        pass


def test_what_node_would_install_is_skipped_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MRFIT_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="need axe-core: run `npm ci` in web/"):
        axe_script(tmp_path)


def test_no_other_test_needs_them() -> None:
    """Programs are started by name; a browser's driver is imported."""
    needing = re.compile(r"(import|from) playwright|[\"'](node|npm|npx|chromium)[\"'],")
    others = [path for path in TESTS.rglob("*.py") if path.name not in ASKING]
    assert [path.name for path in others if needing.search(path.read_text(encoding="utf-8"))] == []
