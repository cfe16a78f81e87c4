"""The picture of held-out scores: what the number of groups does to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import InputError
from mrfit.report.page import COLOURS, MARGIN, WIDTH, Page, apart, cut, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Integers = NDArray[np.int64]

_AXIS = 0.5  # inches, below the scores


@dataclass(frozen=True)
class ScoreCurve:
    """Negative held-out scores of one series for several numbers of groups, and that of L2 without groups.

    ``errors`` are standard errors of the differences from the best score of the series, if they are known.
    """

    label: str
    groups: Sequence[int]
    scores: Sequence[float]
    l2: float
    errors: Sequence[float] = ()

    def __post_init__(self) -> None:
        if not len(self.groups) or len(self.groups) != len(self.scores):
            raise InputError(
                f"Series {self.label!r} has {len(self.groups)} numbers of groups and {len(self.scores)} scores; "
                "give one score for each number, and at least one."
            )
        if len(self.errors) not in (0, len(self.scores)) or not all(0 <= error < math.inf for error in self.errors):
            raise InputError(f"Errors of series {self.label!r} must be finite and not negative, one for each score.")
        if min(self.groups) < 1:
            raise InputError(f"Series {self.label!r} has a score for {min(self.groups)} groups; they start at 1.")
        if not np.isfinite([*self.scores, self.l2]).all():
            raise InputError(f"Scores of series {self.label!r} must be finite numbers; leave out those that are not.")

    @property
    def bars(self) -> list[tuple[float, float]]:
        """Scores with their errors, zero where they are not known."""
        return list(zip(self.scores, self.errors or [0.0] * len(self.scores), strict=True))

    @property
    def best(self) -> tuple[int, float]:
        """The number of groups with the lowest negative score, the smallest of them if there are several."""
        score, k = min(zip(self.scores, self.groups, strict=True))
        return int(k), float(score)


def draw_scores(
    table: Sequence[ScoreCurve],
    *,
    measure: str = "pseudo-log-likelihood",
    title: str | None = None,
    subtitle: str | None = None,
) -> Figure:
    """Negative held-out score against the number of groups (Chou et al. 2018, figure 2): lower is better.

    Each series is a solid line with a ring at its best number of groups, and its L2 score a dotted line of the same
    colour; both have their names beside them. Bars are standard errors of the differences from the ring, which has
    none.

    Parameters
    ----------
    measure
        What the scores are the negative of, in nats a row.
    """
    if not len(table):
        raise InputError("There is no series to draw; give at least one `ScoreCurve`.")
    lines = _lines(table)
    k = np.unique(np.concatenate([np.asarray(curve.groups, np.int64) for curve in table]))
    reach = [(score - error, score + error) for curve in table for score, error in curve.bars]
    scores = np.concatenate([np.ravel(reach), [curve.l2 for curve in table]])
    pad = 0.06 * np.ptp(scores) or 0.01 * max(1.0, abs(scores[0]))
    around = (k[-1] / k[0]) ** 0.03 if len(k) > 1 else 1.5

    height = max(3.6, 0.19 * len(lines))
    bars = "bars: standard error of the difference from the best (ring)"
    notes = [subtitle, bars if any(any(curve.errors) for curve in table) else None]
    page = Page(WIDTH, height + _AXIS + 0.1, title, "; ".join(note for note in notes if note))
    axes = page.panel(MARGIN, _AXIS, 1.0, height)
    axes.set(xscale="log", xlim=(k[0] / around, k[-1] * around), ylim=(scores.min() - pad, scores.max() + pad))
    axes.set_xlabel("groups k", size=9)
    axes.set_ylabel(f"negative held-out {measure},\nnats a row (lower is better)", size=9)
    axes.yaxis.get_major_formatter().set_useOffset(False)  # type: ignore[attr-defined]
    ticks = axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks())  # type: ignore[arg-type]
    left = max(text_width(tick, 8) for tick in ticks) + 0.6
    width = WIDTH - left - max(text_width(line.label, 9) for line in lines) - 0.45
    page.move(axes, left, _AXIS, width, height)
    _integer_ticks(axes, k, width / (2 * math.log(around) + math.log(k[-1] / k[0])))

    ring: dict[str, Any] = {"marker": "o", "markersize": 10, "markerfacecolor": "none", "markeredgewidth": 1.6}
    for line in lines:
        if line.curve is None:
            axes.axhline(line.end, color=line.colour, linestyle=":", linewidth=1.4, zorder=2)
            continue
        order = np.argsort(line.curve.groups, kind="stable")
        x, y = np.asarray(line.curve.groups)[order], np.asarray(line.curve.scores)[order]
        axes.plot(x, y, color=line.colour, linewidth=1.6, marker=line.marker, markersize=3.5, zorder=3)
        for k_here, (score, error) in zip(line.curve.groups, line.curve.bars, strict=True):
            if error > 0:
                axes.errorbar(k_here, score, error, color=line.colour, linewidth=0.9, capsize=2.5, zorder=2.5)
        axes.plot(*line.curve.best, color=line.colour, linestyle="none", zorder=4, **ring)
        axes.plot([x[-1], k[-1] * around], [y[-1], y[-1]], color=line.colour, linewidth=0.7, zorder=2)
    _draw_names(page, axes, lines, left + width)
    return page.figure


@dataclass(frozen=True)
class _Line:
    """What is drawn for a series, or for the L2 score of one or all of them, and where it ends on the right."""

    label: str
    colour: str
    marker: str
    end: float
    curve: ScoreCurve | None


def _lines(table: Sequence[ScoreCurve]) -> list[_Line]:
    series, rivals = [], []
    for number, curve in enumerate(table):
        colour, marker = COLOURS[number % len(COLOURS)], "osD^v"[number // len(COLOURS) % 5]
        name, end = cut(curve.label, 1.3, 9), curve.scores[int(np.argmax(curve.groups))]
        series.append(_Line(f"{name}, best k = {curve.best[0]:,}", colour, marker, end, curve))
        rivals.append(_Line(f"{name}, L2", colour, "", curve.l2, None))
    if len(table) > 1 and len({curve.l2 for curve in table}) == 1:
        rivals = [_Line("L2", "#444444", "", table[0].l2, None)]
    return series + rivals


def _draw_names(page: Page, axes: Axes, lines: Sequence[_Line], x: float) -> None:
    """Beside the ends of the lines, as near as they fit."""
    low, high = axes.get_ylim()
    height = page.height * axes.get_position().height
    ends = _AXIS + height * (np.array([line.end for line in lines]) - low) / (high - low)
    places = apart(ends, np.full(len(lines), 0.18), _AXIS, _AXIS + height)
    for line, end, place in zip(lines, ends, places, strict=True):
        page.axes.plot([x, x + 0.1, x + 0.22], [end, end, place], color=line.colour, linewidth=0.7)
        page.text(line.label, x + 0.26, place, size=9, color=line.colour)


def _integer_ticks(axes: Axes, numbers: Integers, inches: float) -> None:
    """A tick for each number on a log axis, and labels, round numbers first; ``inches`` are those of a factor e."""
    places = [inches * math.log(number) for number in numbers]
    halves = [text_width(f"{number:,}", 8) / 2 + 0.05 for number in numbers]
    labelled: list[int] = []
    for one in sorted(range(len(numbers)), key=lambda one: _roundness(int(numbers[one]))):
        if all(abs(places[one] - places[other]) >= halves[one] + halves[other] for other in labelled):
            labelled.append(one)
    axes.set_xticks(numbers, [f"{number:,}" if k in labelled else "" for k, number in enumerate(numbers)])
    axes.set_xticks([], minor=True)


def _roundness(number: int) -> tuple[int, int, int]:
    digits = str(number).rstrip("0")
    return len(digits), "125".find(digits) if digits in "125" else 3, number
