"""Tables in the docs: what stands between `<!-- benchmark: NAME -->` and `<!-- end -->` is made from stored results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.benchmark import Benchmark
from benchmarks.results import path_of, stored

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"(?P<begin><!-- benchmark: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)


def written(page: str, benchmarks: Mapping[str, Benchmark]) -> str:
    """The page with every block made anew."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in benchmarks:
            raise ValueError(
                f"The docs show a benchmark {name!r}, which does not exist. `python -m benchmarks` lists all."
            )
        if not path_of(name).exists():
            raise ValueError(f"No results of {name!r} are stored. Run `python -m benchmarks {name} --write-docs`.")
        return f"{match['begin']}\n{benchmarks[name].markdown(stored(name).records)}\n\n{match['end']}"

    return BLOCK.sub(block, page)


def write_all(benchmarks: Mapping[str, Benchmark]) -> list[Path]:
    """Rewrite the pages of which a table has changed; which ones."""
    changed = []
    for path in sorted(DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        new = written(page, benchmarks)
        if new != page:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    return changed
