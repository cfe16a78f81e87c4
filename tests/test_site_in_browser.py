"""The built site in a real browser: searches put the right page first, nothing scrolls sideways or breaks badly."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from browser import Tab, axe_script, browser

# What people of several fields look for, and the page that answers it.
SEARCHES = {
    "install": "start",
    "partial correlation": "markov-networks",
    "graphical lasso": "structure-learning",
    "community detection": "nodes",
    "Boltzmann machine": "likelihood",
    "market basket": "scale",
    "psychometric": "items",
    "jupyter": "explorer",
    "multiple comparisons": "uncertainty",
    "Likert": "items",
    "ordinal": "items",
    "imputation": "missing",
    "missing data": "missing",
    "cross-validation": "tutorial-benchmark",
    "centrality": "nodes",
    "bootstrap": "stability",
    "stability": "stability",
    "network comparison": "groups",
    "sample size": "power",
    "power": "power",
    "p-value": "uncertainty",
    "standard error": "uncertainty",
    "sampling": "sampling",
    "conditional probability": "queries",
    "MAP": "queries",
    "partition function": "likelihood",
    "UAI": "formats",
    "scikit-learn": "from-scikit-learn",
    "GridSearchCV": "from-scikit-learn",
    "weights": "conventions",
    "cluster": "scale",
}
# Phones, tablets, screens just below and above those that show both menus, and large ones.
WIDTHS = (400, 800, 1024, 1280, 1320, 1366, 1920)
N_GENERATED = 30  # generated pages that are looked at: they are alike


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        """Keep requests out of the output of tests."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder to this machine; the search of the site fetches pages to show where they match."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_searches_find_their_page_first(built_site: Path) -> None:
    found = {}
    with served(built_site) as address, browser() as context:
        page = context.new_page()
        for words in SEARCHES:
            page.goto(f"{address}/search.html?q={words.replace(' ', '+')}")
            link = page.locator("#search-results ul.search li a").first
            link.wait_for(timeout=20_000)
            found[words] = str(link.get_attribute("href")).partition("#")[0].removesuffix(".html")
    assert found == SEARCHES


def test_no_page_scrolls_sideways(built_site: Path) -> None:
    names = sorted(str(path.relative_to(built_site)) for path in built_site.rglob("*.html"))
    generated = [name for name in names if name.startswith("generated/")]
    looked_at = [name for name in names if name not in generated] + random.Random(0).sample(generated, N_GENERATED)
    wide = {}
    with served(built_site) as address, browser() as context:
        page = context.new_page()
        for name in looked_at:
            page.goto(f"{address}/{name}", wait_until="domcontentloaded")
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                if (found := page.evaluate("document.documentElement.scrollWidth")) > width:
                    wide[name, width] = found
    assert wide == {}


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_on_a_page_of_each_kind(built_site: Path, dark: bool) -> None:
    script = axe_script(Path(__file__).parents[1] / "web")
    with served(built_site) as address, browser() as context:
        for name in ("checking", "gallery", "generated/commands/fit", "generated/gallery/residuals"):
            for width in (400, 1280):
                tab = Tab(context, width=width, dark=dark).open(f"{address}/{name}.html")
                tab.page.evaluate(script)
                options = "{resultTypes: ['violations'], preload: false}"
                violations = tab.page.evaluate(f"axe.run(document, {options})")["violations"]
                assert [(name, each["id"], each["nodes"][0]["html"]) for each in violations] == []
                assert tab.problems == []
                tab.page.close()


def test_120_characters_of_code_fit_on_a_screen_and_options_do_not_break(built_site: Path) -> None:
    with served(built_site) as address, browser() as context:
        tab = Tab(context).open(f"{address}/contributing.html")
        for box in tab.page.locator("article pre").all():
            if max(map(len, box.inner_text().splitlines())) <= 120:
                assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
        tab.page.set_viewport_size({"width": 400, "height": 800})
        tab.page.goto(f"{address}/likelihood.html")
        rows = "names => names.filter(name => name.getClientRects().length > 1).map(name => name.textContent)"
        broken = tab.page.locator("article code.literal .pre").evaluate_all(rows)
        assert [name for name in broken if len(name) <= 30] == []
