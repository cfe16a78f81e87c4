"""The front page of the site is a live model: a click in its frame rewrites the sentence above it."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from browser import Tab, axe_script, browser
from mrfit.explorer.document import Document
from mrfit.explorer.html_page import notebook_frame

DOCS = Path(__file__).parents[1] / "docs"
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
SENTENCE = "document.querySelector('.live .sentence').textContent"
_REQUIRED = "MRFIT_SITE"  # set where the site must be built


def _extension(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def front_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as the site has it, built without the others; links to them are left open."""
    if importlib.util.find_spec("sphinx") is None:
        (pytest.fail if os.environ.get(_REQUIRED) else pytest.skip)("Sphinx is not installed: `make site` does it")
    folder = tmp_path_factory.mktemp("front")
    pages = folder / "docs"
    pages.mkdir()
    (folder / "README.md").symlink_to(DOCS.parent / "README.md")
    (pages / "anatomy.svg").symlink_to(DOCS / "anatomy.svg")
    (pages / "index.md").write_text(re.sub(r"^```\{toctree\}.*?^```$", "", INDEX, flags=re.MULTILINE | re.DOTALL))
    sphinx = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-b",
        "html",
        "-c",
        DOCS,
        "-D",
        "extensions=myst_parser,live_report",
    ]
    ran = subprocess.run([*sphinx, pages, folder / "site"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return folder / "site" / "index.html"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as context:
        yield context


@pytest.fixture
def tab(chromium: Any, front_page: Path, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """Opens the page; afterwards nothing may have gone wrong or been fetched from a server."""
    opened = Tab(chromium, **getattr(request, "param", {})).open(f"file://{front_page}")
    opened.wait(f"{SENTENCE}.startsWith('People who')")
    yield opened
    assert opened.problems == []
    assert {address.partition(":")[0] for address in opened.requests} <= {"file", "blob"}
    opened.page.close()


def _frame(tab: Tab) -> Any:
    return tab.page.frame_locator(".live iframe")


def _percents(text: str) -> list[float]:
    return [int(number) / 100 for number in re.findall(r"(\d+) %", text)]


def _now(tab: Tab, sentence: str) -> str:
    """The sentence, once it is another."""
    tab.wait(f"{SENTENCE} !== {sentence!r}")
    return tab.text(".sentence")


def test_a_click_in_the_frame_rewrites_the_sentence(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its numbers are those of the model."""
    live = _extension("live_report", monkeypatch)
    model = live.sleep_model()
    first = tab.text(".sentence")
    assert first.startswith("People who drink coffee late and feel stressed are ")
    assert "times as likely to sleep badly" in first
    known = live.CASES[0]
    after = model.conditional("insomnia", known)["yes"]
    assert _percents(first) == [round(model.conditional("insomnia")["yes"], 2), round(after, 2)]

    _frame(tab).locator(".row", has_text="shift_work").locator(".state", has_text="yes").click()
    second = _now(tab, first)
    assert re.match("People who .* and .* are ", second)
    assert all(words in second for words in ("drink coffee late", "feel stressed", "work shifts", "to sleep badly"))
    after = model.conditional("insomnia", {**known, "shift_work": "yes"})["yes"]
    assert _percents(second)[1] == round(after, 2)

    _frame(tab).get_by_role("button", name="Clear", exact=True).click()
    assert _now(tab, second) == "Click any bar to say what you know about a person."


def test_cases_below_the_sentence_set_the_evidence(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    live = _extension("live_report", monkeypatch)
    text = tab.text(".sentence")
    for case, button in zip(live.CASES[1:], tab.page.locator(".cases button").all()[1:], strict=True):
        button.click()
        text = _now(tab, text)
        assert text.startswith(f"People who {button.inner_text()} are ")
        chips = _frame(tab).locator(".chip").all_inner_texts()
        assert {chip.removesuffix(" ×") for chip in chips} == {f"{name} = {state}" for name, state in case.items()}


@pytest.mark.parametrize("tab", [{"width": 400}, {"width": 760, "dark": True}, {"width": 1280}], indirect=True)
def test_nothing_scrolls_sideways(tab: Tab) -> None:
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    frame = tab.page.frames[1]
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("tab", [{}, {"dark": True}], indirect=True)
def test_the_frame_is_as_light_or_dark_as_the_site(tab: Tab) -> None:
    frame = tab.page.frames[1]
    theme = "document.documentElement.dataset.theme"
    first = frame.evaluate(theme)
    assert first == ("dark" if tab.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light")
    other = "light" if first == "dark" else "dark"
    tab.page.evaluate(f"document.body.dataset.theme = '{other}'")
    for _ in range(100):
        if frame.evaluate(theme) == other:
            break
        tab.page.wait_for_timeout(50)
    assert frame.evaluate(theme) == other
    assert tab.text(".sentence").startswith("People who drink coffee late and feel stressed")


@pytest.mark.parametrize("tab", [{}, {"dark": True}], indirect=True)
def test_axe_finds_nothing_on_the_page(tab: Tab) -> None:
    """The frame is left out: `tests/explorer/test_html_page.py` looks at such pages."""
    tab.page.evaluate(axe_script(DOCS.parent / "web"))
    options = "{resultTypes: ['violations'], iframes: false, preload: false}"
    violations = tab.page.evaluate(f"axe.run('article', {options})")["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []


def test_a_button_copies_the_install_line(tab: Tab) -> None:
    tab.page.evaluate("navigator.clipboard.writeText = async (text) => void (window.copied = text)")
    tab.page.locator(".copy").first.click()
    assert tab.wait("window.copied") == "pip install ."
    assert tab.page.locator(".copy").first.inner_text() == "Copied"


def test_without_javascript_words_stand_where_the_model_would(chromium: Any, front_page: Path) -> None:
    page = chromium.new_page()
    page.context.new_cdp_session(page).send("Emulation.setScriptExecutionDisabled", {"value": True})
    page.goto(f"file://{front_page}")
    assert "needs JavaScript" in page.inner_text(".live")
    assert not page.is_visible(".live iframe")
    assert page.is_visible("article img")
    page.close()


def test_a_page_of_another_origin_hears_nothing(chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook frames the explorer without an origin of its own."""
    model = _extension("live_report", monkeypatch).sleep_model()
    listener = "<script>heard = []; addEventListener('message', ({ data }) => heard.push(data))</script>"
    (tmp_path / "notebook.html").write_text(
        f"<h1>Notebook</h1>{listener}{notebook_frame(Document.of(model, title='A'))}"
    )
    tab = Tab(chromium).open(f"file://{tmp_path}/notebook.html")
    tab.page.frame_locator("iframe").locator(".row .state").first.click()
    tab.page.frame_locator("iframe").locator(".chip").wait_for()
    tab.page.wait_for_timeout(500)
    assert tab.page.evaluate("heard") == []
    assert tab.problems == []
    tab.page.close()


def test_the_model_fits_and_has_the_pairs_of_the_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    survey, live = (_extension(name, monkeypatch) for name in ("sleep_survey", "live_report"))
    model = live.sleep_model()
    names = model.domain.names
    found = {frozenset((names[a], names[b])) for a, b in model.edges}
    assert found == {frozenset(end.partition("=")[0] for end in pair) for pair in survey.INTERACTIONS}
    assert model.check(survey.sleep_survey()).verdict.startswith("no misfit found")


def test_the_labelled_picture_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its numbers are rounded to what does not depend on the machine."""
    assert _extension("anatomy", monkeypatch).anatomy() == (DOCS / "anatomy.svg").read_text(encoding="utf-8")


def test_the_agreement_with_isingfit_is_on_the_page_it_leads_to() -> None:
    """`tests/test_readme.py` compares the other numbers with their pages."""
    text = (DOCS / "structure-learning.md").read_text(encoding="utf-8")
    assert "structure-learning.md#selecting-without-a-degree-bound" in INDEX.partition("**2e-6**")[2]
    assert "Coefficients agree to 2e-6" in text.partition("## Selecting without a degree bound")[2]


def test_every_command_on_a_card_is_understood() -> None:
    from test_pages import understand

    _, _, cards = INDEX.partition("## Who uses it")
    commands = re.findall(r"^  `(mrfit [^`]*)`$", cards.partition("\n## ")[0], re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        understand([word.strip("'") for word in command.split()])
