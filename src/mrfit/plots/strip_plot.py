"""Parameters of one kind above a line: dots or columns, boundaries of groups, Gaussians."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Integers
from mrfit.parameterizations.groups import Groups
from mrfit.plots.number_line import LEFT, NumberLine, round_up
from mrfit.plots.page import COLOURS, Page, decimal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


INTERACTION, SINGLE, UNTIED = COLOURS[0], COLOURS[1], "#777777"

# On paper, in inches.
COLUMN = 0.05  # width
_DOTS = (0.11, 0.09, 0.07, 0.055)  # diameters to try


@dataclass(frozen=True)
class Lane:
    """Parameters above one line, with their groups: ascending centers, sizes within the lane."""

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
        """The number of groups that would have a label if all labels fitted."""
        return int(np.count_nonzero(self.sizes))


def lanes_of(w: Floats, groups: Groups, orders: Integers | None) -> list[Lane]:
    """Return lanes of interactions, single variables and untied parameters, without empty ones."""
    tied = groups.assignment >= 0
    single = np.zeros(len(w), bool) if orders is None else np.asarray(orders) == 1
    kinds = [("interactions", INTERACTION, tied & ~single), ("single variables", SINGLE, tied & single)]
    if orders is None:
        kinds[0] = ("tied", INTERACTION, tied)
    chosen = [np.bincount(groups.assignment[mask], minlength=groups.n_groups) for _, _, mask in kinds]
    mixed = bool(np.any((chosen[0] > 0) & (chosen[1] > 0)))
    if groups.n_groups or orders is None:
        kinds.append(("not tied", UNTIED, ~tied))
        chosen.append(np.zeros(groups.n_groups, np.int64))
    else:  # a model that ties nothing needs no lane "not tied"
        kinds = [("interactions", INTERACTION, ~single), ("single variables", SINGLE, single)]
    present = [(kind, sizes) for kind, sizes in zip(kinds, chosen, strict=True) if kind[2].any()]
    assert groups.pinned is not None
    lanes = []
    for (label, colour, mask), sizes in present:
        part = (groups.sizes if mixed and colour != UNTIED else sizes) > 0
        order = np.flatnonzero(part)[np.argsort(groups.centers[part], kind="stable")]
        label = f"{label} ({np.count_nonzero(mask):,})"
        height = 2.4 if len(present) == 1 else 1.6 if len(order) else 0.8
        centers = (groups.centers[order], sizes[order], groups.pinned[order])
        lanes.append(Lane(label, colour, np.sort(w[mask]), *centers, height))
    return lanes


def draw_lane(page: Page, floor: float, lane: Lane, axis: NumberLine, sigma: float | None) -> None:
    """Draw the lane with its line, ``floor`` inches above the foot of the page."""
    axes = page.panel(LEFT, floor, axis.places[-1], lane.height)
    axes.set_xscale("function", functions=(axis.place, axis.value))
    axes.set_xlim(axis.values[0], axis.values[-1])
    power = _draw_values(axes, lane, axis)
    upright = axes.get_xaxis_transform()
    labelled = lane.sizes > 0
    axes.vlines(lane.centers[labelled], 0, 1, transform=upright, color="0.75", linewidth=0.6, zorder=0)
    axes.vlines(lane.boundaries, -0.04, 0.3, transform=upright, color="0.1", linewidth=0.9, zorder=2, clip_on=False)
    axes.collections[-1].set_linestyle((0, (3, 2)))
    pinned = lane.centers[lane.pinned & labelled]
    pin: dict[str, Any] = {"marker": "D", "markersize": 6, "markeredgecolor": "white", "linestyle": "none"}
    axes.plot(pinned, np.zeros(len(pinned)), transform=upright, color="black", zorder=5, clip_on=False, **pin)
    if sigma is not None and len(lane.centers):
        _draw_gaussians(axes, lane, axis, sigma, power)
    ticks = axis.ticks()
    axes.set_xticks(ticks, [decimal(float(tick), 10) for tick in ticks], size=8)
    axis.draw(page, floor)


def _columns(values: Floats, width: float) -> tuple[Floats, Integers]:
    """Return centres and sizes of stacks at most ``width`` wide (Wilkinson 1999, "Dot plots").

    Each begins at the first value not in the last, so that equal values are drawn at their value.
    """
    starts = [0]
    while (end := int(np.searchsorted(values, values[starts[-1]] + width, side="right"))) < len(values):
        starts.append(end)
    ends = np.array([*starts[1:], len(values)])
    return (values[starts] + values[ends - 1]) / 2, ends - np.array(starts)


def _draw_values(axes: Axes, lane: Lane, axis: NumberLine) -> float:
    """Draw dots if the highest stack fits, columns otherwise; return the power of the counts that heights show."""
    axes.spines[["bottom", "left"]].set_visible(False)
    for dot in _DOTS:
        middles, counts = _columns(lane.values, dot * axis.per_inch)
        if counts.max() * dot < 0.92 * lane.height:
            x, y = np.repeat(middles, counts), np.concatenate([np.arange(n) + 0.5 for n in counts])
            axes.scatter(x, y, s=(dot * 72 * 0.86) ** 2, color=lane.colour, linewidths=0, zorder=3, clip_on=False)
            axes.set(ylim=(0, lane.height / dot), yticks=[])
            return 1.0
    middles, counts = _columns(lane.values, COLUMN * axis.per_inch)
    root = 1 if counts.max() <= 60 else 2 if counts.max() <= 10_000 else 3  # a single parameter stays visible
    axes.set_yscale(
        "function", functions=(lambda y: np.maximum(y, 0.0) ** (1 / root), lambda z: np.maximum(z, 0.0) ** root)
    )
    axes.bar(middles, counts, COLUMN * axis.per_inch, color=_paler(lane.colour), linewidth=0, zorder=1.5)
    axes.set_ylim(0, counts.max() / 0.92**root)
    ticks = _height_ticks(int(counts.max()), root)
    axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks], size=8)
    axes.set_ylabel("parameters" + ("", ",\nsquare-root scale", ",\ncube-root scale")[root - 1], size=8)
    axes.spines["left"].set_visible(True)
    return 1 / root


def _paler(colour: str) -> tuple[float, float, float]:
    """Return the colour halfway to white, without transparency: columns may overlap a little."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return (1 + red) / 2, (1 + green) / 2, (1 + blue) / 2


def _height_ticks(most: int, root: int) -> list[int]:
    if root == 1:
        step = int(round_up(max(most / 4, 1.0)))
        return list(range(0, most + 1, step))
    power = int(10 ** math.floor(math.log10(most)))
    top = most // power * power
    below = (10**digits for digits in range(1, 9))
    return sorted({0, top, *(tick for tick in below if most / 300 < tick < 0.6 * top)})


def _draw_gaussians(axes: Axes, lane: Lane, axis: NumberLine, sigma: float, power: float) -> None:
    """Draw a Gaussian within the boundaries of each group; the more parameters, the higher.

    The Gaussian has the scale of the columns, so that a column chart of its width follows it. Peaks grow at most with
    the square root of the size: otherwise those of small groups would be invisible.
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
