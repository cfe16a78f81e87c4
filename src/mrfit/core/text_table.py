"""Internal: words and numbers in columns of text."""

from __future__ import annotations

import re
from collections.abc import Sequence


def columns(
    rows: Sequence[Sequence[str]], *, n_words: int = 0, n_names: int = 0, longest: int | None = 40
) -> list[str]:
    """Return lines with their parts below each other: words to the left, numbers by their decimal points.

    Parameters
    ----------
    rows
        Parts of each line; the first may be headings.
    n_words
        The first columns that hold words.
    n_names
        The last columns that hold words, too.
    longest
        Words of the first columns with more characters are cut; None cuts none.
    """
    if not rows:
        return []
    n = len(rows[0])
    is_text = [k < n_words or k >= n - n_names for k in range(n)]
    parts = [
        [_cut(row[k], longest) if k < n_words else row[k] for row in rows] if text else _on_points([r[k] for r in rows])
        for k, text in enumerate(is_text)
    ]
    widths = [max(map(len, column)) for column in parts]
    return [
        "  ".join(
            f"{part:<{w}}" if text else f"{part:>{w}}" for part, w, text in zip(row, widths, is_text, strict=True)
        ).rstrip()
        for row in zip(*parts, strict=True)
    ]


def _on_points(column: Sequence[str]) -> list[str]:
    """Numbers with blanks behind them, so that decimal points stand below each other where all end in one column."""
    behind = [len(text) - _place_of_point(text) if _is_number(text) else -1 for text in column]
    most = max(behind, default=0)
    return [text if n < 0 else text + " " * (most - n) for text, n in zip(column, behind, strict=True)]


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or text[1:2].isdigit()


def _place_of_point(text: str) -> int:
    found = re.match(r"[-+|]?[\d,]*", text)
    return 0 if found is None else found.end()


def _cut(word: str, longest: int | None) -> str:
    return word if longest is None or len(word) <= longest else f"{word[: longest - 1]}…"
