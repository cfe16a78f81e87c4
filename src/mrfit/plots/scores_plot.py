"""Pictures of held-out scores by the number of groups or by the penalty strength."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.plots.page import COLOURS, MARGIN, WIDTH, Page, apart, cut, plain, size_of, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_AXIS = 0.5  # inches, below the scores
_LABELS = {"groups": "groups k", "strength": "penalty strength"}


@dataclass(frozen=True)
class ScoreCurve:
    """Negative held-out scores of one series by the number of groups or by the penalty strength.

    ``by`` names which of the two ``at`` is. ``l2`` is the score of L2 without groups, or None. ``errors`` are standard
    errors of the differences from the best score of the series, if they are known.
    """

    label: str
    at: Sequence[float]
    scores: Sequence[float]
    l2: float | None
    errors: Sequence[float] = ()
    by: str = "groups"

    def __post_init__(self) -> None:
        if not len(self.at) or len(self.at) != len(self.scores):
            raise InputError(
                f"Series {self.label!r} has {len(self.at)} numbers of groups and {len(self.scores)} scores; "
                "give one score for each number, and at least one."
            )
        if len(self.errors) not in (0, len(self.scores)) or not all(0 <= error < math.inf for error in self.errors):
            raise InputError(f"Errors of series {self.label!r} must be finite and not negative, one for each score.")
        if self.by == "groups" and min(self.at) < 1:
            raise InputError(f"Series {self.label!r} has a score for {min(self.at)} groups; they start at 1.")
        if min(self.at) <= 0:
            raise InputError(
                f"Series {self.label!r} has a score at strength {min(self.at):g}; a log scale starts above 0."
            )
        if not np.isfinite([*self.scores, *self.rivals]).all():
            raise InputError(f"Scores of series {self.label!r} must be finite numbers; leave out those that are not.")

    @property
    def rivals(self) -> tuple[float, ...]:
        """The score of L2, if there is one."""
        return () if self.l2 is None else (self.l2,)

    @property
    def bars(self) -> list[tuple[float, float]]:
        """Scores with their errors, zero where they are unknown."""
        return list(zip(self.scores, self.errors or [0.0] * len(self.scores), strict=True))

    @property
    def best(self) -> tuple[float, float]:
        """The position of the lowest negative score, the smallest of several, and that score."""
        score, position = min(zip(self.scores, self.at, strict=True))
        return position, float(score)

    @property
    def best_in_words(self) -> str:
        position = self.best[0]
        return f"best k = {int(position):,}" if self.by == "groups" else f"best at {position:.3g}"


def draw_scores(
    table: Sequence[ScoreCurve],
    *,
    measure: str = "pseudo-log-likelihood",
    title: str | None = None,
    subtitle: str | None = None,
) -> Figure:
    """Draw negative held-out scores by the number of groups (Chou et al. 2018, figure 2): lower is better.

    Each series is a solid line with a ring at its best number of groups, and its L2 score a dotted line of the same
    colour; both have labels beside them. Bars are standard errors of the differences from the ring, which has none.

    Parameters
    ----------
    measure
        Name of the score, in nats a row, whose negative is drawn.
    """
    lines = _lines(table)
    height = max(3.6, 0.19 * len(lines))
    bars = "bars: standard error of the difference from the best (ring)"
    notes = [subtitle, bars if any(any(curve.errors) for curve in table) else None]
    page = Page(WIDTH, height + _AXIS + 0.1, title, "; ".join(note for note in notes if note))
    axes = page.panel(MARGIN, _AXIS, 1.0, height)
    _scale(axes, table, measure)
    ticks = axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks())  # type: ignore[arg-type]
    left = max(text_width(tick, 8) for tick in ticks) + 0.6
    width = WIDTH - left - max(text_width(line.label, 9) for line in lines) - 0.45
    page.move(axes, left, _AXIS, width, height)
    draw_curves(axes, table, measure)
    return page.figure


def draw_curves(axes: Axes, table: Sequence[ScoreCurve], measure: str) -> None:
    """Draw curves as in `draw_scores`, on axes with scales; labels are to the right of them."""
    lines = _lines(table)
    _scale(plain(axes), table, measure)
    right = axes.get_xlim()[1]
    ring: dict[str, Any] = {"marker": "o", "markersize": 10, "markerfacecolor": "none", "markeredgewidth": 1.6}
    for line in lines:
        if line.curve is None:
            axes.axhline(line.end, color=line.colour, linestyle=":", linewidth=1.4, zorder=2)
            continue
        order = np.argsort(line.curve.at, kind="stable")
        x, y = np.asarray(line.curve.at)[order], np.asarray(line.curve.scores)[order]
        axes.plot(x, y, color=line.colour, linewidth=1.6, marker=line.marker, markersize=3.5, zorder=3)
        for x_bar, (score, error) in zip(line.curve.at, line.curve.bars, strict=True):
            if error > 0:
                axes.errorbar(x_bar, score, error, color=line.colour, linewidth=0.9, capsize=2.5, zorder=2.5)
        axes.plot(*line.curve.best, color=line.colour, linestyle="none", zorder=4, **ring)
        axes.plot([x[-1], right], [y[-1], y[-1]], color=line.colour, linewidth=0.7, zorder=2)
    _draw_names(axes, lines)


def _scale(axes: Axes, table: Sequence[ScoreCurve], measure: str) -> None:
    """Set limits that contain all scores with their errors, and labels of the scales."""
    at = np.unique(np.concatenate([np.asarray(curve.at, np.float64) for curve in table]))
    reach = [(score - error, score + error) for curve in table for score, error in curve.bars]
    scores = np.concatenate([np.ravel(reach), *(curve.rivals for curve in table)])
    pad = 0.06 * np.ptp(scores) or 0.01 * max(1.0, abs(scores[0]))
    around = (at[-1] / at[0]) ** 0.03 if len(at) > 1 else 1.5
    axes.set(xscale="log", xlim=(at[0] / around, at[-1] * around), ylim=(scores.min() - pad, scores.max() + pad))
    axes.set_xlabel(_LABELS[table[0].by], size=9)
    axes.set_ylabel(f"negative held-out {measure},\nnats a row (lower is better)", size=9)
    axes.yaxis.get_major_formatter().set_useOffset(False)  # type: ignore[attr-defined]
    if table[0].by == "groups":
        _integer_ticks(axes, at)


@dataclass(frozen=True)
class _Line:
    """The line of a series, or of the L2 score of one or all of them, and where it ends on the right."""

    label: str
    colour: str
    marker: str
    end: float
    curve: ScoreCurve | None


def _lines(table: Sequence[ScoreCurve]) -> list[_Line]:
    if not len(table):
        raise InputError("There is no series to draw; give at least one `ScoreCurve`.")
    if len({curve.by for curve in table}) > 1:
        raise InputError("Scores by the number of groups and by strength have no common scale; draw them separately.")
    series, rivals = [], []
    for number, curve in enumerate(table):
        colour, marker = COLOURS[number % len(COLOURS)], "osD^v"[number // len(COLOURS) % 5]
        name, end = cut(curve.label, 1.3, 9), curve.scores[int(np.argmax(curve.at))]
        series.append(_Line(f"{name}, {curve.best_in_words}", colour, marker, end, curve))
        rivals += [_Line(f"{name}, L2", colour, "", rival, None) for rival in curve.rivals]
    if len(rivals) > 1 and len({line.end for line in rivals}) == 1:
        rivals = [_Line("L2", "#444444", "", rivals[0].end, None)]
    return series + rivals


def _draw_names(axes: Axes, lines: Sequence[_Line]) -> None:
    """Draw labels beside the ends of the lines, as near as they fit."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    low, high = axes.get_ylim()
    ends = (np.array([line.end for line in lines]) - low) / (high - low)
    centres = apart(ends, np.full(len(lines), 0.18 / size_of(axes)[1]), 0.0, 1.0)
    # In inches from the right end of the axes.
    inches = axes.figure.dpi_scale_trans + ScaledTranslation(1, 0, axes.transAxes)  # type: ignore[arg-type]
    beside = blended_transform_factory(inches, axes.transAxes)
    for line, end, centre in zip(lines, ends, centres, strict=True):
        leader = [0.0, 0.1, 0.22], [end, end, centre]
        axes.plot(*leader, color=line.colour, linewidth=0.7, transform=beside, clip_on=False)
        axes.text(
            0.26, centre, line.label, size=9, color=line.colour, transform=beside, va="center", parse_math=False
        )  # fmt: skip


def _integer_ticks(axes: Axes, numbers: Floats) -> None:
    """Set a tick for each number on a log axis, with labels as far as they fit, round numbers first."""
    low, high = axes.get_xlim()
    inches = size_of(axes)[0] / math.log(high / low)  # of a factor e
    positions = [inches * math.log(number) for number in numbers]
    words = [f"{int(number):,}" for number in numbers]
    halves = [text_width(word, 8) / 2 + 0.05 for word in words]
    labelled: list[int] = []
    for one in sorted(range(len(numbers)), key=lambda one: _roundness(int(numbers[one]))):
        if all(abs(positions[one] - positions[other]) >= halves[one] + halves[other] for other in labelled):
            labelled.append(one)
    axes.set_xticks(numbers, [word if k in labelled else "" for k, word in enumerate(words)])
    axes.set_xticks([], minor=True)


def _roundness(number: int) -> tuple[int, int, int]:
    digits = str(number).rstrip("0")
    return len(digits), "125".find(digits) if digits in "125" else 3, number
