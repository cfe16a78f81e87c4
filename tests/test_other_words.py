"""The lines "Also known as" of the pages lead those who search by the words of other communities to the right page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
LINE = re.compile(r"^\*Also known as: ([^*]*)\*$", flags=re.MULTILINE)

SEARCHES = {
    "install": "start",
    "partial correlation": "markov-networks",
    "graphical lasso": "structure-learning",
    "IsingFit": "structure-learning",
    "Boltzmann machine": "likelihood",
    "partition function": "likelihood",
    "market basket": "scale",
    "cluster": "scale",
    "psychometric": "items",
    "Likert": "items",
    "ordinal": "items",
    "multiple comparisons": "uncertainty",
    "p-value": "uncertainty",
    "standard error": "uncertainty",
    "imputation": "missing",
    "missing data": "missing",
    "cross-validation": "tutorial-benchmark",
    "sample size": "power",
    "power": "power",
    "conditional probability": "queries",
    "MAP": "queries",
    "UAI": "formats",
    "scikit-learn": "from-scikit-learn",
    "GridSearchCV": "from-scikit-learn",
    "weights": "conventions",
}


def other_words(page: Path) -> set[str]:
    """Words that docs/conf.py makes main entries of the index."""
    lines = LINE.findall(page.read_text(encoding="utf-8"))
    return {" ".join(part.split()).rstrip(".").lower() for line in lines for part in re.split(r"[,()]", line)}


def score(query: str, words: set[str]) -> float:
    """The score of the search of Sphinx for main entries of the index: how much of an entry a query is."""
    found = [word for word in words if query in word and len(query) >= len(word) / 2]
    return max((len(query) / len(word) for word in found), default=0.0)


@pytest.mark.parametrize(("query", "page"), SEARCHES.items())
def test_a_search_finds_its_page_first(query: str, page: str) -> None:
    scores = {path.stem: score(query.lower(), other_words(path)) for path in DOCS.glob("*.md")}
    best = max(scores.values())
    assert best > 0
    assert [name for name, value in scores.items() if value == best] == [page]
