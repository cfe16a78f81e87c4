"""Pictures of the explorer's page for the docs: `python -m benchmarks.page_pictures`, with chromium and the data sets.

Each picture has a twin `NAME-dark.png`, which dark pages of the site show. Models are learned by the commands above the
pictures. The large one is of a generated survey (`benchmarks/symptoms.py`) and must pass `mrfit check`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.chromium import FLAGS, chromium_path, missing
from benchmarks.symptoms import main as write_symptoms
from benchmarks.symptoms import symptoms
from mrfit import MarkovNetwork
from mrfit.cli.main import main as mrfit

DOCS = Path(__file__).parents[1] / "docs"
SIZE = {"width": 1200, "height": 760}
_READY = "!document.querySelector('.engine').classList.contains('busy')"


@dataclass(frozen=True)
class Picture:
    """A page, and what its address says: evidence, and what is looked at."""

    name: str
    page: str
    fragment: str


PICTURES = (
    Picture("explorer", "rochdale.html", "given=3:1&show=0-6"),
    Picture("explorer-large", "symptoms.html", "given=6:1"),  # insomnia
    Picture("comparing-page", "both.html", "given=3:1&view=difference"),
)
COMMANDS = (
    "fit rochdale:data --objective likelihood -o rochdale.mrf --quiet",
    "report rochdale.mrf rochdale:data -o rochdale.html --quiet",
    "fit rochdale:data --penalty l1 --strength 10 -o all.mrf --quiet",
    "fit rochdale:data --structure learned --max-degree 3 --strength 1 -o few.mrf --quiet",
    "compare all.mrf few.mrf --data rochdale:data -o both.html --quiet",
    "fit symptoms.csv --structure learned --select ebic --rule and --strength 1 -o symptoms.mrf --quiet",
    "report symptoms.mrf symptoms.csv -o symptoms.html --quiet",
)


def write_pages(folder: Path) -> None:
    write_symptoms(str(folder / "symptoms.csv"))
    for command in COMMANDS:
        words = [str(folder / word) if word.endswith((".csv", ".mrf", ".html")) else word for word in command.split()]
        if mrfit(words):
            raise SystemExit(f"`mrfit {command}` failed.")
    check = MarkovNetwork.load(folder / "symptoms.mrf").check(symptoms())
    if not check.verdict.startswith("no misfit"):
        raise SystemExit(f"The large model is shown as a good one, but its check says: {check.verdict}")


def draw(context: Any, picture: Picture, folder: Path, *, theme: str, suffix: str) -> None:
    tab = context.new_page()
    tab.goto(f"file://{folder / picture.page}#{picture.fragment}&theme={theme}")
    while not tab.evaluate(_READY):
        tab.wait_for_timeout(100)
    tab.wait_for_timeout(200)
    tab.screenshot(path=str(DOCS / f"{picture.name}{suffix}.png"))
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
            for theme, suffix in (("light", ""), ("dark", "-dark")):
                draw(context, picture, Path(folder), theme=theme, suffix=suffix)
        context.close()


if __name__ == "__main__":
    main()
