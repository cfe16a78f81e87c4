"""Pictures of tied parameters: where they lie on the real line, and what the number of groups does to the score."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import InputError
from mrfit.penalties.strength import checked_strength
from mrfit.tying.groups import Groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Okabe and Ito (2008), apart for colour-blind eyes too; their yellow is too pale for a line and left out.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
INTERACTION, SINGLE, UNTIED = COLOURS[0], COLOURS[1], "#777777"


def draw_parameters(
    w: Floats,
    groups: Groups,
    *,
    strength: float | None,
    orders: Integers | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Parameters on the real line and the groups that tie them (Chou et al. 2018, figure 1).

    Dots are stacked where they are dense, or columns drawn where stacks would be too high. Over each group stand its
    center and how many parameters it has; short dashed lines are the quantization boundaries, halfway between
    neighbouring centers; curves are the Gaussians exp(-strength / 2 (w - center)^2), each within its boundaries.
    Empty stretches that would leave the rest too small to see are cut out of the axis, which has one scale throughout.

    Parameters
    ----------
    w
        Values of the parameters, shape (parameters,).
    groups
        What they are tied to; those of no group are drawn apart, in grey.
    strength
        Of the penalty that ties, against the sum over rows. No curves with None, nor where all parameters are at their
        centers.
    orders
        How many variables each parameter is about, shape (parameters,). Single variables are then drawn apart from
        interactions; where no group has both, so are their groups and boundaries.
    names
        One for each parameter; members of the smallest groups are then listed.
    """
    w = _checked_values(w, groups, orders, names)
    if strength is not None and not np.array_equal(groups.tied(w), w):
        sigma = 1.0 / math.sqrt(checked_strength(strength))
    else:
        sigma = None
    lanes = _lanes(w, groups, orders)
    axis = _Axis.around(np.concatenate([w, groups.centers[groups.sizes > 0]]), 3.0 * (sigma or 0.0))
    shown = [_labels(lane, axis) for lane in lanes]
    heights = [
        _HEADING * (len(lanes) > 1) + _room(labels) + lane.height + _TICKS
        for lane, labels in zip(lanes, shown, strict=True)
    ]
    notes = _notes(
        w, groups, sigma, sum(lane.n_labelled - len(labels) for lane, labels in zip(lanes, shown, strict=True))
    )
    members = _small_groups(groups, names) if names is not None else []
    foot = _LINE * (len(notes) + len(members) + 1)
    page = _Page(_WIDTH, sum(heights) + foot, title)
    floor = foot + sum(heights)
    for lane, labels, height in zip(lanes, shown, heights, strict=True):
        floor -= height
        _draw_lane(page, floor + _TICKS, lane, axis, sigma)
        _draw_centers(page, floor + _TICKS + lane.height, labels, axis)
        if len(lanes) > 1:
            page.text(lane.label, _EDGE, floor + height - _HEADING / 2, size=9, color=lane.colour)
    for number, line in enumerate(members + notes):
        page.text(_cut(line, _WIDTH - 2 * _EDGE, 8), _EDGE, foot - _LINE * (number + 1), size=8, color="0.3")
    return page.figure


@dataclass(frozen=True)
class ScoreCurve:
    """Negative held-out scores of one series for several numbers of groups, and that of L2 without groups."""

    label: str
    groups: Sequence[int]
    scores: Sequence[float]
    l2: float

    def __post_init__(self) -> None:
        if not len(self.groups) or len(self.groups) != len(self.scores):
            raise InputError(
                f"Series {self.label!r} has {len(self.groups)} numbers of groups and {len(self.scores)} scores; "
                "give one score for each number, and at least one."
            )
        if min(self.groups) < 1:
            raise InputError(f"Series {self.label!r} has a score for {min(self.groups)} groups; they start at 1.")
        if not np.isfinite([*self.scores, self.l2]).all():
            raise InputError(f"Scores of series {self.label!r} must be finite numbers; leave out those that are not.")

    @property
    def best(self) -> tuple[int, float]:
        """The number of groups with the lowest negative score, the smallest of them if there are several."""
        score, k = min(zip(self.scores, self.groups, strict=True))
        return int(k), float(score)


def draw_scores(table: Sequence[ScoreCurve], *, title: str | None = None) -> Figure:
    """Negative held-out score against the number of groups (Chou et al. 2018, figure 2): lower is better.

    Each series is a solid line with a ring at its best number of groups, and its L2 score a dotted line of the same
    colour; both have their names beside them.
    """
    if not len(table):
        raise InputError("There is no series to draw; give at least one `ScoreCurve`.")
    lines = _lines(table)
    k = np.unique(np.concatenate([np.asarray(curve.groups, np.int64) for curve in table]))
    scores = np.concatenate([[*curve.scores, curve.l2] for curve in table])
    pad = 0.06 * np.ptp(scores) or 0.01 * max(1.0, abs(scores[0]))
    around = (k[-1] / k[0]) ** 0.03 if len(k) > 1 else 1.5

    height = max(3.6, 0.19 * len(lines))
    page = _Page(_WIDTH, height + _AXIS + 0.1, title)
    axes = page.panel(_LEFT, _AXIS, 1.0, height)
    axes.set(xscale="log", xlim=(k[0] / around, k[-1] * around), ylim=(scores.min() - pad, scores.max() + pad))
    axes.set_xlabel("groups k", size=9)
    axes.set_ylabel("negative held-out score (lower is better)", size=9)
    axes.yaxis.get_major_formatter().set_useOffset(False)  # type: ignore[attr-defined]
    ticks = axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks())  # type: ignore[arg-type]
    left = max(_text_width(tick, 8) for tick in ticks) + 0.45
    width = _WIDTH - left - max(_text_width(line.label, 9) for line in lines) - 0.45
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
        name, end = _cut(curve.label, 1.3, 9), curve.scores[int(np.argmax(curve.groups))]
        series.append(_Line(f"{name}, best k = {curve.best[0]:,}", colour, marker, end, curve))
        rivals.append(_Line(f"{name}, L2", colour, "", curve.l2, None))
    if len(table) > 1 and len({curve.l2 for curve in table}) == 1:
        rivals = [_Line("L2", "#444444", "", table[0].l2, None)]
    return series + rivals


def _draw_names(page: _Page, axes: Axes, lines: Sequence[_Line], x: float) -> None:
    """Beside the ends of the lines, as near as they fit."""
    low, high = axes.get_ylim()
    height = page.height * axes.get_position().height
    ends = _AXIS + height * (np.array([line.end for line in lines]) - low) / (high - low)
    places = _apart(ends, np.full(len(lines), 0.18), _AXIS, _AXIS + height)
    for line, end, place in zip(lines, ends, places, strict=True):
        page.axes.plot([x, x + 0.1, x + 0.22], [end, end, place], color=line.colour, linewidth=0.7)
        page.text(line.label, x + 0.26, place, size=9, color=line.colour)


# On paper, in inches.
_WIDTH = 8.0
_AXIS = 0.5  # below scores
_LEFT, _EDGE = 0.8, 0.15
_HEADING, _TICKS, _LINE = 0.26, 0.36, 0.18
_LABEL, _LEADER = 0.3, 0.2  # a center with its count, and the lines from it to its place
_GAP, _PAD = 0.4, 0.35  # a stretch cut out of the axis, and what surrounds the others
_DOTS = (0.11, 0.09, 0.07, 0.055)  # diameters to try
_COLUMN = 0.05
_SMALL = 7.5  # points
_MOST_LISTED = 5
_MOST_MEMBERS = 3  # of a group that is listed


def _checked_values(w: Floats, groups: Groups, orders: Integers | None, names: Sequence[str] | None) -> Floats:
    w = np.asarray(w, np.float64)
    if w.shape != groups.assignment.shape:
        raise InputError(f"The groups tie {len(groups.assignment)} parameters; got values of shape {w.shape}.")
    if not len(w):
        raise InputError("There are no parameters to draw; give at least one.")
    if not np.isfinite(w).all():
        raise InputError(f"Parameters must be finite numbers; number {np.flatnonzero(~np.isfinite(w))[0]} is not.")
    if orders is not None and np.shape(orders) != w.shape:
        raise InputError(f"{len(w)} parameters need as many orders; got an array of shape {np.shape(orders)}.")
    if names is not None and len(names) != len(w):
        raise InputError(f"{len(w)} parameters need as many names; got {len(names)}.")
    return w


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _signed(value: float, digits: int) -> str:
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def _rounded(value: float, digits: int, decimals: int) -> str:
    """To so many digits and not more decimals, but never to tens: 300 is not 3e+02."""
    before = math.floor(math.log10(abs(value))) + 1 if value else 0
    digits = min(digits, before + decimals)
    return _signed(value, max(digits, min(before, 6))) if digits > 0 else "0"


# --- the line


@dataclass(frozen=True)
class _Axis:
    """The real line without its empty stretches: values of knots, ascending, and where they are on paper."""

    values: Floats
    places: Floats

    @classmethod
    def around(cls, values: Floats, alone: float) -> _Axis:
        """Room for all values; ``alone`` is what to show on both sides of a single one."""
        room = _WIDTH - _LEFT - 2 * _EDGE
        values = np.unique(values)
        reach = float(values[-1] - values[0])
        if reach <= 1e-9 * np.abs(values).max():
            middle, half = float(values.mean()), alone or 0.5 * max(1.0, float(np.abs(values).max()))
            return cls(np.array([middle - half, middle + half]), np.array([0.0, room]))
        cuts = _cuts(np.diff(values), reach)
        first, last = values[[0, *(cuts + 1)]], values[[*cuts, -1]]
        per_inch = float(np.sum(last - first)) / (room - 2 * _PAD * len(first) - _GAP * len(cuts))
        knots = np.stack([first - _PAD * per_inch, last + _PAD * per_inch], axis=1).ravel()
        steps = np.diff(knots) / per_inch
        steps[1::2] = _GAP
        return cls(knots, np.append(0.0, np.cumsum(steps)))

    def place(self, value: Any) -> Any:
        return np.interp(value, self.values, self.places)

    def value(self, place: Any) -> Any:
        return np.interp(place, self.places, self.values)

    @property
    def per_inch(self) -> float:
        return float((self.values[1] - self.values[0]) / (self.places[1] - self.places[0]))

    @property
    def stretches(self) -> Floats:
        """First and last value of each part that is drawn, (parts, 2)."""
        return self.values.reshape(-1, 2)

    def ticks(self) -> Floats:
        """Multiples of one round step; a stretch without any has one of a finer step."""
        step = _round_up(0.75 * self.per_inch)
        return np.concatenate([_first_multiples(low, high, step) for low, high in self.stretches])


def _cuts(gaps: Floats, reach: float) -> Integers:
    """Gaps to leave out: each nearly all that is left, as long as what then remains can be told from nothing."""
    cuts: list[int] = []
    left = reach
    for cut in np.argsort(-gaps, kind="stable")[:3]:
        if gaps[cut] < 0.85 * left or left - gaps[cut] < 1e-3 * reach:
            break
        left -= gaps[cut]
        cuts.append(int(cut))
    return np.array(sorted(cuts), np.int64)


def _round_up(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= step * (1 - 1e-9))


def _first_multiples(low: float, high: float, step: float) -> Floats:
    for finer in (1, 2, 10, 20, 100):
        found = np.arange(math.ceil(low / step * finer), math.floor(high / step * finer) + 1) * np.float64(step / finer)
        if len(found):
            return found[:1] if finer > 1 else found
    return np.empty(0)


# --- parameters of one kind


@dataclass(frozen=True)
class _Lane:
    """Parameters drawn over one line, with the groups that part it: ascending centers, sizes within the lane."""

    label: str
    colour: str
    values: Floats  # ascending
    centers: Floats
    sizes: Integers
    pinned: NDArray[np.bool_]
    height: float

    @property
    def boundaries(self) -> Floats:
        return np.asarray((self.centers[1:] + self.centers[:-1]) / 2)

    @property
    def n_labelled(self) -> int:
        """Groups that would have a label if there were room."""
        return int(np.count_nonzero(self.sizes))


def _lanes(w: Floats, groups: Groups, orders: Integers | None) -> list[_Lane]:
    tied = groups.assignment >= 0
    single = np.zeros(len(w), bool) if orders is None else np.asarray(orders) == 1
    kinds = [("interactions", INTERACTION, tied & ~single), ("single variables", SINGLE, tied & single)]
    if orders is None:
        kinds[0] = ("tied", INTERACTION, tied)
    chosen = [np.bincount(groups.assignment[mask], minlength=groups.n_groups) for _, _, mask in kinds]
    mixed = bool(np.any((chosen[0] > 0) & (chosen[1] > 0)))
    kinds.append(("not tied", UNTIED, ~tied))
    chosen.append(np.zeros(groups.n_groups, np.int64))
    present = [(kind, sizes) for kind, sizes in zip(kinds, chosen, strict=True) if kind[2].any()]
    assert groups.pinned is not None
    lanes = []
    for (label, colour, mask), sizes in present:
        part = (groups.sizes if mixed and colour != UNTIED else sizes) > 0
        order = np.flatnonzero(part)[np.argsort(groups.centers[part], kind="stable")]
        label = f"{label} ({np.count_nonzero(mask):,})"
        height = 2.4 if len(present) == 1 else 1.6 if len(order) else 0.8
        centers = (groups.centers[order], sizes[order], groups.pinned[order])
        lanes.append(_Lane(label, colour, np.sort(w[mask]), *centers, height))
    return lanes


def _columns(values: Floats, width: float) -> tuple[Floats, Integers]:
    """Middles and sizes of stacks at most ``width`` wide: each begins at the first value not in the last (Wilkinson
    1999, "Dot plots"), so that equal values lie where they are."""
    starts = [0]
    while (end := int(np.searchsorted(values, values[starts[-1]] + width, side="right"))) < len(values):
        starts.append(end)
    ends = np.array([*starts[1:], len(values)])
    return (values[starts] + values[ends - 1]) / 2, ends - np.array(starts)


def _draw_lane(page: _Page, floor: float, lane: _Lane, axis: _Axis, sigma: float | None) -> None:
    axes = page.panel(_LEFT, floor, axis.places[-1], lane.height)
    axes.set_xscale("function", functions=(axis.place, axis.value))
    axes.set_xlim(axis.values[0], axis.values[-1])
    power = _draw_values(axes, lane, axis)
    upright = axes.get_xaxis_transform()
    labelled = lane.sizes > 0
    axes.vlines(lane.centers[labelled], 0, 1, transform=upright, color="0.75", linewidth=0.6, zorder=0)
    axes.vlines(lane.boundaries, -0.04, 0.3, transform=upright, color="0.1", linewidth=0.9, zorder=2, clip_on=False)
    axes.collections[-1].set_linestyle((0, (3, 2)))
    held = lane.centers[lane.pinned & labelled]
    pin: dict[str, Any] = {"marker": "D", "markersize": 6, "markeredgecolor": "white", "linestyle": "none"}
    axes.plot(held, np.zeros(len(held)), transform=upright, color="black", zorder=5, clip_on=False, **pin)
    if sigma is not None and len(lane.centers):
        _draw_gaussians(axes, lane, axis, sigma, power)
    ticks = axis.ticks()
    axes.set_xticks(ticks, [_signed(float(tick), 10) for tick in ticks], size=8)
    _break(page, floor, axis)


def _draw_values(axes: Axes, lane: _Lane, axis: _Axis) -> float:
    """Dots if the highest stack has room, columns otherwise; returns the power of the counts that heights show."""
    axes.spines[["bottom", "left"]].set_visible(False)
    for dot in _DOTS:
        middles, counts = _columns(lane.values, dot * axis.per_inch)
        if counts.max() * dot < 0.92 * lane.height:
            x, y = np.repeat(middles, counts), np.concatenate([np.arange(n) + 0.5 for n in counts])
            axes.scatter(x, y, s=(dot * 72 * 0.86) ** 2, color=lane.colour, linewidths=0, zorder=3, clip_on=False)
            axes.set(ylim=(0, lane.height / dot), yticks=[])
            return 1.0
    middles, counts = _columns(lane.values, _COLUMN * axis.per_inch)
    root = 1 if counts.max() <= 60 else 2 if counts.max() <= 10_000 else 3  # a single one stays visible
    axes.set_yscale(
        "function", functions=(lambda y: np.maximum(y, 0.0) ** (1 / root), lambda z: np.maximum(z, 0.0) ** root)
    )
    axes.bar(middles, counts, _COLUMN * axis.per_inch, color=_paler(lane.colour), linewidth=0, zorder=1.5)
    axes.set_ylim(0, counts.max() / 0.92**root)
    ticks = _height_ticks(int(counts.max()), root)
    axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks], size=8)
    axes.set_ylabel("parameters" + ("", ",\nsquare-root scale", ",\ncube-root scale")[root - 1], size=8)
    axes.spines["left"].set_visible(True)
    return 1 / root


def _paler(colour: str) -> tuple[float, float, float]:
    """Half of the way to white, without being transparent: columns may overlap a little."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return (1 + red) / 2, (1 + green) / 2, (1 + blue) / 2


def _height_ticks(most: int, root: int) -> list[int]:
    if root == 1:
        step = int(_round_up(max(most / 4, 1.0)))
        return list(range(0, most + 1, step))
    power = int(10 ** math.floor(math.log10(most)))
    top = most // power * power
    below = (10**digits for digits in range(1, 9))
    return sorted({0, top, *(tick for tick in below if most / 300 < tick < 0.6 * top)})


def _draw_gaussians(axes: Axes, lane: _Lane, axis: _Axis, sigma: float, power: float) -> None:
    """Within the boundaries of each group; the more parameters, the higher.

    A Gaussian in the scale of the columns, so that a column chart of its width follows it. Peaks grow at most with the
    root of the size: those of small groups would not be seen.
    """
    ends = np.concatenate([axis.values[:1], lane.boundaries, axis.values[-1:]])
    for center, size, low, high in zip(lane.centers, lane.sizes, ends[:-1], ends[1:], strict=True):
        if size == 0:
            continue
        x = axis.value(np.linspace(axis.place(low), axis.place(high), 200))
        peak = 0.92 * (size / lane.sizes.max()) ** min(power, 0.5)
        y = peak * np.exp(-0.5 * power * ((x - center) / sigma) ** 2)
        y[np.searchsorted(axis.values[1:-1], x) % 2 == 1] = np.nan  # stretches left out
        upright = axes.get_xaxis_transform()
        axes.fill_between(x, y, transform=upright, color=lane.colour, alpha=0.14, linewidth=0, zorder=1)
        axes.plot(x, y, transform=upright, color=lane.colour, linewidth=0.9, zorder=1.8)


def _break(page: _Page, floor: float, axis: _Axis) -> None:
    """The line itself, with two strokes where a stretch is left out."""
    ends = _LEFT + axis.places
    for low, high in ends.reshape(-1, 2):
        page.axes.plot([low, high], [floor, floor], color="black", linewidth=0.8)
    for place in ends[1:-1]:
        page.axes.plot([place - 0.04, place + 0.04], [floor - 0.08, floor + 0.08], color="black", linewidth=0.8)


# --- centers


@dataclass(frozen=True)
class _Label:
    """A center and how many parameters it has, as they stand over the line."""

    center: float
    text: str
    place: float
    level: int  # 0 is next to the line


def _labels(lane: _Lane, axis: _Axis) -> list[_Label]:
    """One row of labels, or two in turns; where there is no room, the largest groups and the outer ones have them."""
    present = np.flatnonzero(lane.sizes)
    texts = _texts(lane.centers[present], lane.sizes[present], _COLUMN * axis.per_inch)
    widths = np.array([max(_text_width(line, _SMALL) for line in text.split("\n")) for text in texts]) + 0.09
    low, high = 0.0, float(axis.places[-1]) + 0.1
    if widths.sum() <= high - low:
        chosen, room, n_levels = np.arange(len(present)), widths, 1
    else:
        # A label of the upper row sends its line down between two of the lower.
        n_shown = int((high - low) / (widths.max() / 2 + 0.02)) - 1
        outer_first = -lane.sizes[present].astype(np.float64) - 1e18 * lane.pinned[present]
        outer_first[[0, -1]] = -np.inf
        chosen = np.sort(np.argsort(outer_first, kind="stable")[:n_shown])
        room, n_levels = np.full(len(chosen), widths.max() / 2 + 0.02), 2
    centers = lane.centers[present][chosen]
    places = _apart(axis.place(centers), room, low, high)
    return [
        _Label(float(center), texts[number], float(place), turn % n_levels)
        for turn, (center, number, place) in enumerate(zip(centers, chosen, places, strict=True))
    ]


def _texts(centers: Floats, sizes: Integers, visible: float) -> list[str]:
    """Centers with as many digits as tell them apart, but none far below what is ``visible``; and sizes."""
    decimals = math.ceil(1 - math.log10(min([visible, *np.diff(np.unique(centers))])))
    for digits in range(2, 7):
        texts = [_rounded(float(center), digits, decimals) for center in centers]
        if len(set(texts)) == len(np.unique(centers)):
            break
    return [f"{text}\n{size:,}" for text, size in zip(texts, sizes, strict=True)]


def _room(labels: list[_Label]) -> float:
    return _LEADER + _LABEL * (max(label.level for label in labels) + 1) + 0.05 if labels else 0.0


def _draw_centers(page: _Page, floor: float, labels: list[_Label], axis: _Axis) -> None:
    for label in labels:
        foot = floor + _LEADER + _LABEL * label.level
        x, y = [_LEFT + axis.place(label.center), *[_LEFT + label.place] * 2], [floor, floor + 0.8 * _LEADER, foot]
        page.axes.plot(x, y, color="0.6", linewidth=0.6, zorder=0)
        value, size = label.text.split("\n")
        page.text(value, x[-1], foot + 0.7 * _LABEL, size=_SMALL, ha="center")
        page.text(size, x[-1], foot + 0.25 * _LABEL, size=_SMALL - 1, ha="center", color="0.4")


def _apart(wanted: Floats, room: Floats, low: float, high: float) -> Floats:
    """Middles of intervals of lengths ``room`` between low and high, in the order wanted and nearest to it.

    With the room of those before subtracted, "in order and disjoint" is "ascending": isotonic regression, whose
    bounded solution is the free one, clipped.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(wanted, kind="stable")
    before = np.cumsum(room[order]) - room[order] / 2
    free = isotonic_regression(np.asarray(wanted, np.float64)[order] - before).x
    places = np.empty(len(wanted))
    places[order] = np.clip(free, low, max(low, high - float(room.sum()))) + before
    return places


# --- words


def _notes(w: Floats, groups: Groups, sigma: float | None, n_unlabelled: int) -> list[str]:
    n_tied = int(groups.sizes.sum())
    counts = f"{_count(n_tied, 'parameter')} in {_count(groups.n_groups, 'group')}"
    if n_tied < len(w):
        counts += f", {len(w) - n_tied:,} not tied"
    if n_unlabelled:
        counts += f"; {_count(n_unlabelled, 'more center')} without a label"
    if groups.pinned is not None and groups.pinned.any():
        counts += "; \N{BLACK DIAMOND} pinned at zero"
    marks = "on top: center and size of each group"
    if groups.n_groups > 1:
        marks += "; dashed: boundaries"
    if sigma is not None:
        marks += f"; curves: Gaussians, standard deviation {sigma:.2g}, higher for larger groups"
    elif n_tied and np.array_equal(groups.tied(w), w):
        counts += "; all tied parameters are equal to their centers"
    return [counts, marks] if n_tied else [counts]


def _small_groups(groups: Groups, names: Sequence[str]) -> list[str]:
    """Members of the smallest groups, a line for each."""
    small = np.flatnonzero((groups.sizes > 0) & (groups.sizes <= _MOST_MEMBERS))
    chosen = small[np.argsort(groups.sizes[small], kind="stable")][:_MOST_LISTED]
    lines = []
    for group in chosen[np.argsort(groups.centers[chosen], kind="stable")]:
        members = (_printable(names[int(k)]) for k in np.flatnonzero(groups.assignment == group))
        lines.append(f"{_signed(float(groups.centers[group]), 3)}: {'; '.join(members)}")
    if len(small) > len(chosen):
        lines.append(f"... and {_count(len(small) - len(chosen), 'more group')} of at most {_MOST_MEMBERS} parameters")
    return lines


def _printable(text: str) -> str:
    """One line of characters that a font may have."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


def _text_width(text: str, size: float) -> float:
    """Inches, without drawing."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(?s).*Glyph .* missing from")
        points, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(points) / 72


def _cut(text: str, width: float, size: float) -> str:
    """As much of a text as ``width`` inches hold."""
    text = _printable(text)
    if _text_width(text, size) <= width:
        return text
    n_kept = int(np.searchsorted([_text_width(text[:n] + "…", size) for n in range(len(text))], width, side="right"))
    return text[: max(n_kept - 1, 0)].rstrip() + "…"


# --- the page


class _Page:
    """A figure with one set of axes that covers it, in inches from the lower left corner, for all that has no scale."""

    def __init__(self, width: float, height: float, title: str | None) -> None:
        from matplotlib.figure import Figure

        self.width, self.height = width, height + (0.45 if title else 0.1)
        self.figure = Figure(figsize=(self.width, self.height), dpi=150, facecolor="white")
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()
        self.axes.set(xlim=(0, self.width), ylim=(0, self.height), autoscale_on=False)
        if title:
            title = _printable(title)
            room = (self.width - 2 * _EDGE) / max(_text_width(title, 13), 1e-9)
            self.text(title, _EDGE, self.height - 0.25, size=13 * min(1.0, room))

    def text(self, text: str, x: float, y: float, **style: Any) -> None:
        self.axes.text(x, y, text, parse_math=False, va="center", **style)

    def panel(self, left: float, floor: float, width: float, height: float) -> Axes:
        """Axes with scales, on a part of the page."""
        axes = self.figure.add_axes((0, 0, 1, 1), facecolor="none")
        self.move(axes, left, floor, width, height)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
        return axes

    def move(self, axes: Axes, left: float, floor: float, width: float, height: float) -> None:
        axes.set_position((left / self.width, floor / self.height, width / self.width, height / self.height))


def _integer_ticks(axes: Axes, numbers: Integers, inches: float) -> None:
    """A tick for each number on a log axis, and labels, round numbers first; ``inches`` are those of a factor e."""
    places = [inches * math.log(number) for number in numbers]
    halves = [_text_width(f"{number:,}", 8) / 2 + 0.05 for number in numbers]
    labelled: list[int] = []
    for one in sorted(range(len(numbers)), key=lambda one: _roundness(int(numbers[one]))):
        if all(abs(places[one] - places[other]) >= halves[one] + halves[other] for other in labelled):
            labelled.append(one)
    axes.set_xticks(numbers, [f"{number:,}" if k in labelled else "" for k, number in enumerate(numbers)])
    axes.set_xticks([], minor=True)


def _roundness(number: int) -> tuple[int, int, int]:
    digits = str(number).rstrip("0")
    return len(digits), "125".find(digits) if digits in "125" else 3, number
