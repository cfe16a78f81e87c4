"""Bar charts of marginals: probabilities of states before and after evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mrfit.core.errors import InputError
from mrfit.core.rounding import with_error
from mrfit.model.queries.answer import Distribution, Error, Marginals
from mrfit.plots.page import COLOURS, MARGIN, HostedPage, Page, count, cut, new_axes, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Tables = Mapping[str, Mapping[str, float]]  # probabilities by variable and state

MOST_ROWS = 160  # bars on a page; nobody reads more
_MOST_STATES = 8  # of a variable

# On paper, in inches.
_ROW, _GAP = 0.2, 0.09  # heights: of a bar with its label; between variables with several bars
_BAR = 1.6  # the length of probability 1
_LONGEST_NAME = 2.4
_BETWEEN = 0.35  # columns
_FOOT = 0.32
_LEGEND = 0.28
_MOST_IN_A_COLUMN = 40
_FEW = 24  # rows that fit into one column

_BEFORE, _AFTER = "0.8", COLOURS[0]
_SIZE = 8.5


@dataclass(frozen=True)
class _Row:
    """One bar: label and probabilities; a row without probabilities is a heading or a remark."""

    words: str
    end: str = ""  # the part of the label that is never cut
    after: float | None = None
    before: float | None = None
    indent: bool = False
    error: Error = 0.0
    before_error: Error = 0.0

    @property
    def numbers(self) -> str:
        """The probabilities, with the digits that are significant given their errors."""
        if self.after is None:
            return ""
        after = _number(self.after, self.error)
        return after if self.before is None else f"{_number(self.before, self.before_error)} → {after}"


def _number(p: float, error: Error) -> str:
    return with_error(p, error, digits=3).replace("+-", "±")


def plot_marginals(
    after: Marginals, ax: Axes | None = None, *, before: Marginals | None = None, title: str | None = None
) -> Axes:
    """Draw bars of the probabilities of states.

    A binary variable has one bar, for its second state. A line at the end of a bar spans one standard error to both
    sides where the answer is approximate.

    Parameters
    ----------
    after : Marginals
        Answer of `MarkovNetwork.marginals`, mostly with evidence.
    ax : matplotlib Axes, default None
        Axes to draw on, at their current size; if not all variables fit, those that changed most are drawn. None makes
        a new figure for up to 160 bars.
    before : Marginals, default None
        Answer without evidence, drawn as wide grey bars behind. None draws none.
    title : str, default None
        Title above the bars.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    See Also
    --------
    MarkovNetwork.marginals : The numbers.
    plot_network : The edges of a model.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> model = mrfit.learn(table).model
    >>> axes = mrfit.plot_marginals(model.marginals(evidence={"rain": "yes"}))
    >>> any("wet" in text.get_text() for text in axes.texts)
    True
    """
    tables = after.marginals, None if before is None else before.marginals
    if ax is None:
        bars = _Bars.of(*tables, MOST_ROWS)
        page = HostedPage(new_axes(*bars.size), title)
    else:
        page = HostedPage(ax, title)
        bars = _Bars.of(*tables, max(int((page.height - _FOOT - _LEGEND) / _ROW), 1), in_one_column=True)
    bars.draw(page)
    return page.axes


def draw_marginals(
    after: Tables, before: Tables | None = None, *, given: str = "", title: str | None = None, most: int = MOST_ROWS
) -> Figure:
    """Draw bars of the probabilities of states; a wide grey bar behind each shows its value ``before``.

    A line at the end of a bar spans one standard error to both sides, where an answer is approximate.

    A binary variable has one bar, for its second state. Of more than ``most`` bars, the variables that changed most are
    drawn, in that order, and the others are counted below the title.

    Parameters
    ----------
    after, before
        Probabilities by variable and state; ``before`` covers all of ``after``, or is not given.
    given
        The evidence, as text.
    """
    bars = _Bars.of(after, before, most)
    notes = [f"given {given}" if given else "", bars.rest]
    page = Page(*bars.size, title, "; ".join(filter(None, notes)) or None)
    bars.draw(page)
    return page.figure


@dataclass(frozen=True)
class _Bars:
    """Variables in columns, and the number of variables left out."""

    columns: list[list[list[_Row]]]
    with_before: bool
    n_hidden: int

    @classmethod
    def of(cls, after: Tables, before: Tables | None, most: int, *, in_one_column: bool = False) -> _Bars:
        if not after:
            raise InputError("There is no variable to draw; ask for at least one.")
        blocks = {name: _block(name, own, None if before is None else before[name]) for name, own in after.items()}
        names = list(blocks)
        if sum(map(len, blocks.values())) > most:
            if before is not None:
                names.sort(key=lambda name: -round(_change(after[name], before[name]), 9))  # the last bits are noise
            names = _fitting(names, blocks, most)
        shown = [blocks[name] for name in names]
        return cls([shown] if in_one_column else _columns(shown), before is not None, len(after) - len(names))

    @property
    def rest(self) -> str:
        """A note on the variables that are not drawn."""
        smaller = ", which changed less" if self.with_before else ""
        return f"{count(self.n_hidden, 'more variable')} not shown{smaller}" if self.n_hidden else ""

    @property
    def size(self) -> tuple[float, float]:
        """Preferred width and height in inches."""
        height = max(sum(map(_height, column)) for column in self.columns)
        return max(self._words + len(self.columns) * _BAR, 5.0), height + _FOOT + self._legend + 0.05

    @property
    def _words(self) -> float:
        """The width of all but the bars."""
        return sum(self._widths) + (len(self.columns) - 1) * _BETWEEN + 2 * MARGIN

    @property
    def _legend(self) -> float:
        return _LEGEND if self.with_before else 0.0

    @property
    def _widths(self) -> list[float]:
        """Widths of the columns without their bars: names and numbers."""
        return [_name_width(column) + _numbers_width(column) for column in self.columns]

    def draw(self, page: Page) -> None:
        """Draw bars as long as the page allows."""
        if self.with_before:
            _draw_legend(page, page.ceiling - 0.55 * self._legend)
        left, bar = MARGIN, max((page.width - self._words) / len(self.columns), 0.1)
        for column, own in zip(self.columns, self._widths, strict=True):
            _Column(left, _name_width(column), bar).draw(page, column, page.ceiling - self._legend)
            left += own + bar + _BETWEEN


def _change(after: Mapping[str, float], before: Mapping[str, float]) -> float:
    """Return the total variation distance between two distributions."""
    return 0.5 * sum(abs(p - before[state]) for state, p in after.items())


def _block(name: str, after: Mapping[str, float], before: Mapping[str, float] | None) -> list[_Row]:
    """Return the rows of a variable: one if it is binary, else a heading and one for each state."""

    def was(state: str) -> float | None:
        return None if before is None else before[state]

    def row(state: str, words: str, end: str = "", *, indent: bool = True) -> _Row:
        errors = _error(after, state), _error(before, state)
        return _Row(words, end, after[state], was(state), indent, *errors)

    if len(after) <= 2:
        state = list(after)[-1]
        return [row(state, name, f" = {cut(state, 0.4 * _LONGEST_NAME, _SIZE)}", indent=False)]
    states = list(after)
    if len(states) > _MOST_STATES:
        weight = {state: max(p, was(state) or 0.0) for state, p in after.items()}
        shown = sorted(states, key=lambda state: -weight[state])[: _MOST_STATES - 1]
        states = [state for state in states if state in shown]
    rows = [_Row(name), *(row(state, state) for state in states)]
    if len(states) < len(after):
        rows.append(_Row(f"{len(after) - len(states):,} less probable states", indent=True))
    return rows


def _error(p: Mapping[str, float] | None, state: str) -> Error:
    """Return the standard error of a probability; plain numbers count as exact."""
    return p.error[state] if isinstance(p, Distribution) else 0.0


def _fitting(names: list[str], blocks: Mapping[str, list[_Row]], most: int) -> list[str]:
    """Return as many of the first variables as fit into ``most`` rows, but at least one."""
    fitting, n_rows = names[:1], len(blocks[names[0]])
    for name in names[1:]:
        n_rows += len(blocks[name])
        if n_rows > most:
            break
        fitting.append(name)
    return fitting


def _height(block: list[_Row]) -> float:
    return _ROW * len(block) + (_GAP if len(block) > 1 else 0.0)


def _columns(blocks: list[list[_Row]]) -> list[list[list[_Row]]]:
    """Distribute whole blocks over columns of about equal height."""
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


def _name_width(column: list[list[_Row]]) -> float:
    longest = max(text_width(_fitted(row, _LONGEST_NAME), _SIZE) for block in column for row in block)
    return min(longest, _LONGEST_NAME) + 0.22  # indents, and space before the bars


def _numbers_width(column: list[list[_Row]]) -> float:
    return max(text_width(row.numbers, _SIZE) for block in column for row in block) + 0.18


def _fitted(row: _Row, width: float) -> str:
    return cut(row.words, width - text_width(row.end, _SIZE), _SIZE) + row.end


def _draw_legend(page: Page, y: float) -> None:
    x = MARGIN
    for words, colour, high in (("before", _BEFORE, 0.13), ("after evidence", _AFTER, 0.07)):
        page.axes.barh(y, 0.3, high, left=x, color=colour)
        page.text(words, x + 0.36, y, size=_SIZE)
        x += 0.36 + text_width(words, _SIZE) + 0.3


@dataclass(frozen=True)
class _Column:
    """The geometry of a column: its left end, the width of its names, and the length of probability 1."""

    left: float
    names: float
    bar: float

    @property
    def start(self) -> float:
        return self.left + self.names

    def draw(self, page: Page, blocks: list[list[_Row]], ceiling: float) -> None:
        floor = ceiling - sum(map(_height, blocks))
        for p in (0.0, 0.5, 1.0):
            x = self.start + p * self.bar
            page.axes.plot([x, x], [floor - 0.04, ceiling], color="0.87", linewidth=0.7, zorder=0)
            page.text(f"{p:g}", x, floor - 0.14, size=7, color="0.35", ha="center")
        y = ceiling
        for block in blocks:
            air = (_height(block) - _ROW * len(block)) / 2
            y -= air
            for row in block:
                self._draw_row(page, row, y - _ROW / 2)
                y -= _ROW
            y -= air

    def _draw_row(self, page: Page, row: _Row, y: float) -> None:
        inset = 0.12 if row.indent else 0.0
        if row.after is None:
            style = {"color": "0.35"} if row.indent else {"weight": "bold"}
            over_lines = {"facecolor": "white", "edgecolor": "none", "pad": 1}
            words = cut(row.words, 0.9 * (self.bar + self.names), _SIZE)
            page.text(words, self.left + inset, y, size=_SIZE, bbox=over_lines, **style)
            return
        page.text(_fitted(row, self.names - 0.08 - inset), self.left + inset, y, size=_SIZE)
        if row.before is not None:
            page.axes.barh(y, row.before * self.bar, 0.15, left=self.start, color=_BEFORE)
        high = 0.07 if row.before is not None else 0.12
        page.axes.barh(y, row.after * self.bar, high, left=self.start, color=_AFTER)
        if row.error:
            ends = [
                self.start + min(max(p, 0.0), 1.0) * self.bar for p in (row.after - row.error, row.after + row.error)
            ]
            page.axes.plot(ends, [y, y], color="0.2", linewidth=1.2)
        page.text(row.numbers, self.start + self.bar + 0.1, y, size=_SIZE)
