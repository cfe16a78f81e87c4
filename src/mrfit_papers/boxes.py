"""Box plots of many methods on several tables, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit.plots.page import COLOURS, MARGIN, Page, decimal, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINE, _FOOT, _HEAD, _LEGEND = 0.175, 0.5, 0.28, 0.3  # heights in inches
_GAP = 0.22  # between panels
_WIDTH = 10.0


@dataclass(frozen=True)
class BoxPanel:
    """Values of every method on one table; methods without values leave their line empty."""

    title: str
    values: Mapping[str, Sequence[float]]
    limit: float | None = None  # larger values are only written at the edge
    intervals: Mapping[str, tuple[float, float]] | None = None  # drawn in place of boxes


@dataclass(frozen=True)
class BoxStyle:
    """The methods, in lines from top to bottom: a family for each, which has a colour; thin lines between some."""

    family_of: Mapping[str, str]
    breaks: Sequence[str] = ()  # a thin line above these

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(self.family_of)

    @property
    def colours(self) -> dict[str, str]:
        return dict(zip(dict.fromkeys(self.family_of.values()), COLOURS, strict=False))


def draw_boxes(
    rows: Sequence[Sequence[BoxPanel]], style: BoxStyle, *, label: str, log: bool = False, zero: bool = False,
    title: str | None = None,
) -> Figure:  # fmt: skip
    """Draw a panel for each table, in rows of panels that share the names on their left.

    Boxes reach from the first to the third quartile with a line at the median, whiskers to the last value within 1.5
    times that range, circles beyond. If a panel has a limit, methods beyond it are a number at the right edge.
    ``zero`` draws a line at zero, for differences.
    """
    left = MARGIN + max(text_width(name, 8) for name in style.methods) + 0.1
    height = _LINE * len(style.methods)
    each = height + _FOOT + _HEAD
    page = Page(_WIDTH, each * len(rows) + _LEGEND, title)
    for number, panels in enumerate(rows):
        floor = page.ceiling - each * (number + 1) + _FOOT
        width = (_WIDTH - left - MARGIN - _GAP * (len(panels) - 1)) / len(panels)
        for k, panel in enumerate(panels):
            axes = page.panel(left + k * (width + _GAP), floor, width, height)
            _draw(axes, panel, style, log=log)
            axes.set_title(panel.title, size=9, loc="left", parse_math=False)
            axes.set_xlabel(label, size=8)
            axes.set_yticks(range(len(style.methods)), style.methods if k == 0 else [""] * len(style.methods))
            if zero:
                axes.axvline(0.0, color="0.4", linewidth=0.8, zorder=1)
    _draw_legend(page, style, left)
    return page.figure


def _draw(axes: Axes, panel: BoxPanel, style: BoxStyle, *, log: bool) -> None:
    axes.set_ylim(len(style.methods) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.9", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    for name in style.breaks:
        axes.axhline(style.methods.index(name) - 0.5, color="0.75", linewidth=0.6, zorder=0)
    beyond: dict[int, str] = {}
    for position, (name, family) in enumerate(style.family_of.items()):
        values = panel.values.get(name, ())
        if not len(values):
            continue
        middle = float(np.median(values))
        if panel.limit is not None and middle > panel.limit:
            beyond[position] = f"{middle:,.0f}" if log else decimal(middle, 4 if middle >= 1 else 2)
        elif panel.intervals is None:
            _draw_box(axes, values, position, style.colours[family])
        else:
            _draw_interval(axes, float(np.mean(values)), panel.intervals[name], position, style.colours[family])
    if log:
        axes.set_xscale("log")
    if panel.limit is not None and beyond:
        axes.set_xlim(right=panel.limit)
    if log:
        _round_ticks(axes)
    else:
        axes.locator_params(axis="x", nbins=4)
    for position, words in beyond.items():
        axes.annotate(
            f"{words} ▸", (1.0, position), (-2, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
            ha="right", va="center", size=7, color=style.colours[style.family_of[style.methods[position]]],
        )  # fmt: skip


def _draw_box(axes: Axes, values: Sequence[float], position: int, colour: str) -> None:
    line: dict[str, Any] = {"color": colour, "linewidth": 1.0}
    axes.boxplot(
        [list(values)], positions=[position], orientation="horizontal", widths=0.62, patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": colour, "alpha": 0.3, "edgecolor": colour, "linewidth": 0.8},
        medianprops={"color": colour, "linewidth": 1.8},
        whiskerprops=line, capprops=line,
        flierprops={"marker": "o", "markersize": 2.5, "markeredgecolor": colour, "markerfacecolor": "none"},
    )  # fmt: skip


def _draw_interval(axes: Axes, mean: float, halves: tuple[float, float], position: int, colour: str) -> None:
    """Draw the first half-length thick, and the second, longer one thin."""
    for half, width in zip(halves, (3.0, 1.0), strict=True):
        if math.isfinite(half):
            axes.plot([mean - half, mean + half], [position] * 2, color=colour, linewidth=width, solid_capstyle="butt")
    axes.plot([mean], [position], marker="o", markersize=4, color=colour, markeredgecolor="white", markeredgewidth=0.6)


def _round_ticks(axes: Axes) -> None:
    """Set ticks at round numbers of one digit, at most five."""
    low, high = axes.get_xlim()
    for digits in ((1, 2, 5), (1, 3), (1,)):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [digit * 10.0**power for power in powers for digit in digits if low <= digit * 10.0**power <= high]
        if len(ticks) <= 5:
            break
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    axes.set_xticks([], minor=True)


def _draw_legend(page: Page, style: BoxStyle, left: float) -> None:
    x = left
    for family, colour in style.colours.items():
        page.axes.plot([x, x + 0.22], [0.16, 0.16], color=colour, linewidth=5, alpha=0.6, solid_capstyle="butt")
        page.text(family, x + 0.3, 0.16, size=8)
        x += 0.3 + text_width(family, 8) + 0.3
