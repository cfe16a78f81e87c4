"""The picture of an answer: probabilities of states before and after something was known, as bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mrfit.errors import InputError
from mrfit.report.page import COLOURS, MARGIN, Page, count, cut, text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, Mapping[str, float]]  # probabilities by variable and state

MOST_ROWS = 160  # bars on a page; more are not read
_MOST_STATES = 8  # of a variable

# On paper, in inches.
_ROW, _GAP = 0.2, 0.09  # heights: of a bar with its words; between variables with several
_BAR = 1.6  # the length of probability 1
_LONGEST_NAME = 2.4
_BETWEEN = 0.35  # columns
_FOOT = 0.32
_LEGEND = 0.28
_MOST_IN_A_COLUMN = 40
_FEW = 24  # rows that stand in one column

_BEFORE, _AFTER = "0.8", COLOURS[0]
_SIZE = 8.5


@dataclass(frozen=True)
class _Row:
    """One bar: words before it, probabilities; a row without them is a heading or a remark."""

    words: str
    end: str = ""  # words that stay when the others are cut
    after: float | None = None
    before: float | None = None
    indent: bool = False


def draw_marginals(
    after: Tables, before: Tables | None = None, *, given: str = "", title: str | None = None, most: int = MOST_ROWS
) -> Figure:
    """Bars of the probabilities of states; a wide grey bar behind each is what it was ``before``.

    A variable with two states has one bar, of the second. Where there are more than ``most`` bars, the variables that
    moved most are drawn, most moved first, and the others are counted below the title.

    Parameters
    ----------
    after, before
        Probabilities by variable and state; ``before`` has all that ``after`` has, or is None.
    given
        What is known, in words.
    """
    if not after:
        raise InputError("There is no variable to draw; ask for at least one.")
    blocks = {name: _block(name, states, None if before is None else before[name]) for name, states in after.items()}
    names, n_rows = list(blocks), sum(map(len, blocks.values()))
    if n_rows > most:
        if before is not None:
            names.sort(key=lambda name: -round(_moved(after[name], before[name]), 9))  # last bits are no order
        names = _fitting(names, blocks, most)
    others = len(after) - len(names)
    rest = f"{count(others, 'more variable')} not shown" + (", which moved less" if before is not None else "")
    notes = [f"given {given}" if given else "", rest if others else ""]
    return _drawn(_columns([blocks[name] for name in names]), before is not None, title, "; ".join(filter(None, notes)))


def _moved(after: Mapping[str, float], before: Mapping[str, float]) -> float:
    return 0.5 * sum(abs(p - before[state]) for state, p in after.items())


def _block(name: str, after: Mapping[str, float], before: Mapping[str, float] | None) -> list[_Row]:
    """The rows of a variable: one if it has two states, else a heading and one for each state."""

    def was(state: str) -> float | None:
        return None if before is None else before[state]

    if len(after) <= 2:
        state = list(after)[-1]
        return [_Row(name, f" = {cut(state, 0.4 * _LONGEST_NAME, _SIZE)}", after[state], was(state))]
    states = list(after)
    if len(states) > _MOST_STATES:
        weight = {state: max(p, was(state) or 0.0) for state, p in after.items()}
        kept = sorted(states, key=lambda state: -weight[state])[: _MOST_STATES - 1]
        states = [state for state in states if state in kept]
    rows = [_Row(name), *(_Row(state, "", after[state], was(state), indent=True) for state in states)]
    if len(states) < len(after):
        rows.append(_Row(f"{len(after) - len(states):,} less probable states", indent=True))
    return rows


def _fitting(names: list[str], blocks: Mapping[str, list[_Row]], most: int) -> list[str]:
    """As many of the first variables as ``most`` rows hold; one at least."""
    kept, n_rows = names[:1], len(blocks[names[0]])
    for name in names[1:]:
        n_rows += len(blocks[name])
        if n_rows > most:
            break
        kept.append(name)
    return kept


def _height(block: list[_Row]) -> float:
    return _ROW * len(block) + (_GAP if len(block) > 1 else 0.0)


def _columns(blocks: list[list[_Row]]) -> list[list[list[_Row]]]:
    """Blocks in columns of about one height, each whole."""
    total = sum(map(_height, blocks))
    n_columns = 1 if total <= _FEW * _ROW else min(3, max(2, -(-int(total / _ROW) // _MOST_IN_A_COLUMN)))
    columns: list[list[list[_Row]]] = [[]]
    filled = 0.0
    for block in blocks:
        if len(columns) < n_columns and filled + _height(block) / 2 > total * len(columns) / n_columns:
            columns.append([])
        columns[-1].append(block)
        filled += _height(block)
    return columns


def _drawn(columns: list[list[list[_Row]]], with_before: bool, title: str | None, subtitle: str) -> Figure:
    numbers = text_width("0.000 → 0.000" if with_before else "0.000", _SIZE) + 0.1
    names = [_name_width(column) for column in columns]
    widths = [name + _BAR + 0.08 + numbers for name in names]
    height = max(sum(map(_height, column)) for column in columns)
    width = max(sum(widths) + _BETWEEN * (len(columns) - 1) + 2 * MARGIN, 5.0)
    legend = _LEGEND if with_before else 0.0
    page = Page(width, height + _FOOT + legend + 0.05, title, subtitle or None)
    if with_before:
        _draw_legend(page, page.ceiling - 0.55 * legend)
    left = MARGIN
    for column, name, own in zip(columns, names, widths, strict=True):
        _draw_column(page, column, left, name, page.ceiling - legend)
        left += own + _BETWEEN
    return page.figure


def _name_width(column: list[list[_Row]]) -> float:
    longest = max(text_width(_fitted(row, _LONGEST_NAME), _SIZE) for block in column for row in block)
    return min(longest, _LONGEST_NAME) + 0.22  # indents, and air before the bars


def _fitted(row: _Row, width: float) -> str:
    return cut(row.words, width - text_width(row.end, _SIZE), _SIZE) + row.end


def _draw_legend(page: Page, y: float) -> None:
    x = MARGIN
    for words, colour, high in (("before", _BEFORE, 0.13), ("after what is given", _AFTER, 0.07)):
        page.axes.barh(y, 0.3, high, left=x, color=colour)
        page.text(words, x + 0.36, y, size=_SIZE)
        x += 0.36 + text_width(words, _SIZE) + 0.3


def _draw_column(page: Page, column: list[list[_Row]], left: float, names: float, ceiling: float) -> None:
    start, floor = left + names, ceiling - sum(map(_height, column))
    for p in (0.0, 0.5, 1.0):
        page.axes.plot([start + p * _BAR] * 2, [floor - 0.04, ceiling], color="0.87", linewidth=0.7, zorder=0)
        page.text(f"{p:g}", start + p * _BAR, floor - 0.14, size=7, color="0.35", ha="center")
    y = ceiling
    for block in column:
        y -= (_height(block) - _ROW * len(block)) / 2
        for row in block:
            _draw_row(page, row, y - _ROW / 2, left, start, names)
            y -= _ROW
        y -= (_height(block) - _ROW * len(block)) / 2


def _draw_row(page: Page, row: _Row, y: float, left: float, start: float, names: float) -> None:
    inset = 0.12 if row.indent else 0.0
    if row.after is None:
        style = {"color": "0.35"} if row.indent else {"weight": "bold"}
        over_lines = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        page.text(cut(row.words, 0.9 * (_BAR + names), _SIZE), left + inset, y, size=_SIZE, bbox=over_lines, **style)
        return
    page.text(_fitted(row, names - 0.08 - inset), left + inset, y, size=_SIZE)
    if row.before is not None:
        page.axes.barh(y, row.before * _BAR, 0.15, left=start, color=_BEFORE)
    page.axes.barh(y, row.after * _BAR, 0.07 if row.before is not None else 0.12, left=start, color=_AFTER)
    said = f"{row.after:.3f}" if row.before is None else f"{row.before:.3f} → {row.after:.3f}"
    page.text(said, start + _BAR + 0.1, y, size=_SIZE)
