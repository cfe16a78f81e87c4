"""Centers of groups and how many parameters they have, written over a line where there is room."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats, Integers
from mrfit.plots.number_line import LEFT, NumberLine
from mrfit.plots.page import Page, apart, decimal, text_width
from mrfit.plots.strip_plot import COLUMN, Lane

_LABEL, _LEADER = 0.3, 0.2  # inches: a center with its count, and the lines from it to its place
_SMALL = 7.5  # points


@dataclass(frozen=True)
class CenterLabel:
    """A center and how many parameters it has, as they stand over the line."""

    center: float
    text: str
    place: float
    level: int  # 0 is next to the line


def center_labels(lane: Lane, axis: NumberLine) -> list[CenterLabel]:
    """One row of labels, or two in turns; where there is no room, the largest groups and the outer ones have them."""
    present = np.flatnonzero(lane.sizes)
    texts = _texts(lane.centers[present], lane.sizes[present], COLUMN * axis.per_inch)
    widths = np.array([max(text_width(line, _SMALL) for line in text.split("\n")) for text in texts]) + 0.09
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
    places = apart(axis.place(centers), room, low, high)
    return [
        CenterLabel(float(center), texts[number], float(place), turn % n_levels)
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


def _rounded(value: float, digits: int, decimals: int) -> str:
    """To so many digits and not more decimals, but never to tens: 300 is not 3e+02."""
    before = math.floor(math.log10(abs(value))) + 1 if value else 0
    digits = min(digits, before + decimals)
    return decimal(value, max(digits, min(before, 6))) if digits > 0 else "0"


def room_above(labels: list[CenterLabel]) -> float:
    """Inches that the labels need over their lane."""
    return _LEADER + _LABEL * (max(label.level for label in labels) + 1) + 0.05 if labels else 0.0


def draw_centers(page: Page, floor: float, labels: list[CenterLabel], axis: NumberLine) -> None:
    """The labels, and lines from them down to ``floor``, where their lane ends."""
    for label in labels:
        foot = floor + _LEADER + _LABEL * label.level
        x, y = [LEFT + axis.place(label.center), *[LEFT + label.place] * 2], [floor, floor + 0.8 * _LEADER, foot]
        page.axes.plot(x, y, color="0.6", linewidth=0.6, zorder=0)
        value, size = label.text.split("\n")
        page.text(value, x[-1], foot + 0.7 * _LABEL, size=_SMALL, ha="center")
        page.text(size, x[-1], foot + 0.25 * _LABEL, size=_SMALL - 1, ha="center", color="0.4")
