"""The site of the docs: every page is on it, every public name in its reference, and links lead somewhere."""

from __future__ import annotations

import importlib
import importlib.util
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from public_objects import PUBLIC

DOCS = Path(__file__).parents[1] / "docs"
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
TARGET = re.compile(r'(?:href|src)="([^"]*)"')


def _listed(page: str = "index") -> set[str]:
    """The pages that the tables of contents name, from one page on, as paths from ``docs`` without a suffix."""
    found: set[str] = set()
    path = DOCS / f"{page}.md"
    for content in TREE.findall(path.read_text(encoding="utf-8")):
        for line in content.splitlines():
            name = re.sub(r".*<(.*)>$", r"\1", line)
            if name and not name.startswith(":"):
                pages = {str(each.relative_to(DOCS).with_suffix("")) for each in path.parent.glob(f"{name}.md")}
                assert pages, f"{page} lists {name}"
                found |= pages.union(*(_listed(each) for each in pages))
    return found


def test_every_page_is_in_the_table_of_contents() -> None:
    pages = {str(path.relative_to(DOCS).with_suffix("")) for path in DOCS.rglob("*.md")}
    pages = {page for page in pages if not page.startswith("generated/")}  # listed where the build makes them
    assert pages - _listed() == {"index"}


def test_the_reference_has_every_public_name() -> None:
    names = _names_in_the_reference()
    assert len(set(names)) == len(names)
    assert set(names) >= set(PUBLIC)
    for name in set(names) - set(PUBLIC):
        module, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(module), last), name


def _names_in_the_reference() -> list[str]:
    reference = (DOCS / "reference.md").read_text(encoding="utf-8")
    return re.findall(r"^   ~(mrfit[\w.]*)$", reference, flags=re.MULTILINE)


def test_the_site_is_built_without_a_warning_and_all_its_links_lead_somewhere(built_site: Path) -> None:
    texts = {page: page.read_text(encoding="utf-8") for page in built_site.rglob("*.html")}
    assert len(texts) > 40
    api = built_site / "generated" / "api"
    for name in _names_in_the_reference():
        described = [text for path, text in texts.items() if path.parent == api and f'id="{name}"' in text]
        assert len(described) == 1, name
        assert "&lt;factory&gt;" not in described[0], name
    for page, text in texts.items():
        # No other server is asked for anything; links that are followed are another matter.
        assert not re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(?:https?:)?//', text), page
        for target in TARGET.findall(text):
            path, _, anchor = unquote(target).partition("#")
            if re.match(r"[a-z]+:", target) or (path == "" and anchor == ""):
                continue
            place = (page.parent / path.partition("?")[0]).resolve() if path else page
            assert place.is_file(), f"{page}: {target}"
            if anchor and place.suffix == ".html":
                assert f'id="{anchor}"' in texts[place], f"{page}: {target}"
    cards = texts[built_site / "gallery.html"].count('class="gallery-card')
    assert cards == len(list((DOCS / "gallery").glob("*.py")))


def test_long_code_may_break_after_punctuation_and_short_code_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    with_breaks = importlib.import_module("line_breaks").with_breaks
    short = '<span class="pre">objective=&quot;likelihood&quot;</span>'
    assert with_breaks(short) == short
    long = '<span class="pre">tests/test_site.py::test_one(name=&quot;a&quot;)</span>'
    broken = with_breaks(long)
    assert broken.count("<wbr>") == 7
    assert "py::<wbr>test_<wbr>one(<wbr>name=<wbr>&quot;a&quot;)" in broken
    assert with_breaks("<h1>plots.LogLoss<a>#</a></h1>") == "<h1>plots.<wbr>Log<wbr>Loss<a>#</a></h1>"
    assert with_breaks("<h1>A LogLoss<a>#</a></h1>") == "<h1>A LogLoss<a>#</a></h1>"
    assert broken.replace("<wbr>", "").replace(' class="pre long"', ' class="pre"') == long


def test_cells_of_a_built_table_are_marked_by_their_length(built_site: Path) -> None:
    page = (built_site / "reliability.html").read_text(encoding="utf-8")
    cells = re.findall(r'<td class="([^"]*)"><p>(.*?)</p></td>', page, re.DOTALL)
    assert {"short", "long", "longer"} == {kind.split()[-1] for kind, _ in cells}
    for kind, text in cells:
        length = len(unescape(re.sub(r"<[^>]*>", "", text)))
        assert kind.split()[-1] == ("short" if length <= 16 else "long" if length <= 100 else "longer"), text
