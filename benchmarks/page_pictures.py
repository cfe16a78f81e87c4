"""Pictures of the explorer's page for the docs: `python -m benchmarks.page_pictures`, with chromium and the data sets.

Models are learned by the commands that stand above the pictures; the large one is that of the benchmark `explorer`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.chromium import FLAGS, chromium_path, missing
from benchmarks.explorer import document_of
from mrfit.cli.main import main as mrfit
from mrfit.explorer.html_page import report_page

DOCS = Path(__file__).parents[1] / "docs"
SIZE = {"width": 1200, "height": 760}
_READY = "!document.querySelector('.engine').classList.contains('busy')"


@dataclass(frozen=True)
class Picture:
    """A page, and what its address says: evidence, what is looked at, light or dark."""

    name: str
    page: str
    fragment: str


PICTURES = (
    Picture("explorer", "rochdale.html", "given=3:1&show=0-6"),
    Picture("explorer-large", "bbc.html", "given=127:1&show=127&theme=dark"),
    Picture("comparing-page", "both.html", "given=3:1&view=difference&theme=dark"),
)
COMMANDS = (
    "fit rochdale:data --objective likelihood -o rochdale.mrf --quiet",
    "report rochdale.mrf rochdale:data -o rochdale.html --quiet",
    "fit rochdale:data --penalty l1 --strength 10 -o all.mrf --quiet",
    "fit rochdale:data --structure learned --max-degree 3 --strength 1 -o few.mrf --quiet",
    "compare all.mrf few.mrf --data rochdale:data -o both.html --quiet",
)


def write_pages(folder: Path) -> None:
    for command in COMMANDS:
        words = [str(folder / word) if word.endswith((".mrf", ".html")) else word for word in command.split()]
        if mrfit(words):
            raise SystemExit(f"`mrfit {command}` failed.")
    (folder / "bbc.html").write_bytes(report_page(document_of("bbc")[0]))


def draw(context: Any, picture: Picture, folder: Path) -> None:
    tab = context.new_page()
    tab.goto(f"file://{folder / picture.page}#{picture.fragment}")
    while not tab.evaluate(_READY):
        tab.wait_for_timeout(100)
    tab.wait_for_timeout(200)
    tab.screenshot(path=str(DOCS / f"{picture.name}.png"))
    tab.close()


def main() -> None:
    if reason := missing():
        raise SystemExit(reason)
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        write_pages(Path(folder))
        context = play.chromium.launch_persistent_context(
            str(Path(folder, "profile")), executable_path=chromium_path(), args=[*FLAGS], viewport=SIZE
        )
        for picture in PICTURES:
            draw(context, picture, Path(folder))
        context.close()


if __name__ == "__main__":
    main()
