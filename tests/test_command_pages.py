"""Pages of the command reference, which the site makes from the parameters of commands."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from mrfit.cli.main import command_groups

DOCS = Path(__file__).parents[1] / "docs"
ANCHOR = re.compile(r'<a id="([^"]*)"')
LINK = re.compile(r'href="([\w-]*)(?:\.html)?#([^"]*)"')


def _extension() -> ModuleType:
    path = DOCS / "extensions" / "command_reference.py"
    spec = importlib.util.spec_from_file_location("command_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _extension()
PAGES = {name: reference.command_page(name) for lines in command_groups().values() for name in lines}
SHARED = reference.shared_page()


@pytest.mark.parametrize("words", reference.commands())
def test_every_option_of_a_command_has_an_anchor(words: str) -> None:
    anchors = ANCHOR.findall(PAGES[words.split()[0]])
    assert len(set(anchors)) == len(anchors)
    command = reference.commands()[words]
    names = [next(name for name in option.opts if name.startswith("--")) for option in reference.options_of(command)]
    own = [anchor for anchor in anchors if anchor.startswith(f"mrfit-{words.replace(' ', '-')}--")]
    assert sorted(own) == sorted(f"mrfit-{words.replace(' ', '-')}{name}" for name in names)


def test_options_that_are_explained_elsewhere_are_explained_there() -> None:
    pages = {**PAGES, "shared-options": SHARED}
    explained = {name: set(re.findall(r'^\* - <a id="([^"]*)"', page, re.MULTILINE)) for name, page in pages.items()}
    found = 0
    for name, page in pages.items():
        for other, anchor in LINK.findall(page):
            assert anchor in explained[other or name], (name, anchor)
            found += 1
    assert found > 400


def test_a_row_has_values_default_and_text() -> None:
    rows = re.findall(r"^\* - <a.*?(?=^\* - <a|^```)", PAGES["fit"], re.MULTILINE | re.DOTALL)
    assert {row.count("\n  - ") for row in rows} == {3}
    (row,) = [row for row in rows if 'id="mrfit-fit--penalty"' in row]
    _, values, default, text, _ = re.split(r"\n  - |\n$", row)
    assert values.startswith("`l2`, `l1`, `group`")
    assert default == "`l2`"
    assert "`l1` (makes many exactly zero)" in text
    (row,) = [row for row in rows if 'id="mrfit-fit--restarts"' in row]
    assert re.split(r"\n  - |\n$", row)[1:3] == ["`N` ≥ 0", "`0`"]


@pytest.mark.parametrize(("name", "page"), PAGES.items())
def test_a_page_shows_its_command_at_work(name: str, page: str) -> None:
    assert page.startswith(f"# mrfit {name}\n\n")
    assert f"```text\nmrfit {name} " in page
    (examples,) = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert f"mrfit {name}" in examples
    assert not re.search("[\b\f]", page)


def test_no_option_is_left_for_a_typographer() -> None:
    """Two hyphens become a dash in prose."""
    for page in (*PAGES.values(), SHARED, (DOCS / "commands.md").read_text(encoding="utf-8")):
        prose = re.sub(r"^```(sh|text)\n.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
        prose = re.sub(r"`[^`\n]*`|<a [^>]*>|```\{.*|\|.*", "", prose)
        assert re.findall(r".*--.*", prose) == []


def test_the_index_lists_commands_as_help_does() -> None:
    index = reference.index()
    headings = re.findall(r"^## (.*)$", index, re.MULTILINE)
    assert headings == list(command_groups())
    for lines in command_groups().values():
        for name, line in lines.items():
            assert f'<a id="mrfit-{name}"></a>[`mrfit {name}`](generated/commands/{name}.md): {line}\n' in index
            assert f"\ngenerated/commands/{name}\n" in index


def test_searches_list_command_pages_last() -> None:
    (pattern,) = re.findall(r"/(\^.*)/\.test\(page\)", (DOCS / "site" / "scorer.js").read_text(encoding="utf-8"))
    for page in ("commands", "generated/commands/fit"):
        assert re.match(pattern.replace(r"\/", "/"), page)
