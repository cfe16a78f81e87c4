"""Tables in the docs: what stands between `<!-- benchmark: NAME -->` and `<!-- end -->` is made from stored results.

So are the claims of the papers, between `<!-- claims -->` and `<!-- end -->`, from the results in `docs/replication`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.benchmark import Benchmark
from benchmarks.results import path_of, stored
from mrfit_papers.claim import claims_table
from mrfit_papers.experiment import Scope
from mrfit_papers.experiments import EXPERIMENTS
from mrfit_papers.reproduction import claims
from mrfit_papers.store import Store

DOCS = Path(__file__).parents[1] / "docs"
REPLICATION = DOCS / "replication"
CLAIMS = re.compile(r"(?P<begin><!-- claims -->\n).*?(?P<end><!-- end -->)", re.DOTALL)
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

    page = CLAIMS.sub(lambda match: f"{match['begin']}\n{claims_of(REPLICATION)}\n\n{match['end']}", page)
    return BLOCK.sub(block, page)


def claims_of(folder: Path) -> str:
    """Return the verdict on every claim that the results in a folder bear on."""
    found = claims(tuple(EXPERIMENTS.values()), Scope(), Store.read(folder))
    return claims_table(found).markdown(folder)


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
