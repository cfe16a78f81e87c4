"""Labels of groups over a line: their centers and sizes, as many as fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats, Integers
from mrfit.plots.number_line import LEFT, NumberLine
from mrfit.plots.page import Page, apart, decimal, text_width
from mrfit.plots.strip_plot import COLUMN, Lane

_LABEL, _LEADER = 0.3, 0.2  # inches: a center with its count, and the leader from it to its label
_SMALL = 7.5  # points


@dataclass(frozen=True)
class CenterLabel:
    """The label of a center: its text, its position on the line, and its row."""

    center: float
    text: str
    position: float
    level: int  # 0 is next to the line


def center_labels(lane: Lane, axis: NumberLine) -> list[CenterLabel]:
    """Return one row of labels, or two alternating ones; if they do not fit, the largest and the outer groups'."""
    present = np.flatnonzero(lane.sizes)
    texts = _texts(lane.centers[present], lane.sizes[present], COLUMN * axis.per_inch)
    widths = np.array([max(text_width(line, _SMALL) for line in text.split("\n")) for text in texts]) + 0.09
    low, high = 0.0, float(axis.places[-1]) + 0.1
    if widths.sum() <= high - low:
        chosen, widths_used, n_levels = np.arange(len(present)), widths, 1
    else:
        # The leader of a label in the upper row passes between two labels of the lower.
        n_shown = int((high - low) / (widths.max() / 2 + 0.02)) - 1
        outer_first = -lane.sizes[present].astype(np.float64) - 1e18 * lane.pinned[present]
        outer_first[[0, -1]] = -np.inf
        chosen = np.sort(np.argsort(outer_first, kind="stable")[:n_shown])
        widths_used, n_levels = np.full(len(chosen), widths.max() / 2 + 0.02), 2
    centers = lane.centers[present][chosen]
    positions = apart(axis.place(centers), widths_used, low, high)
    return [
        CenterLabel(float(center), texts[number], float(position), turn % n_levels)
        for turn, (center, number, position) in enumerate(zip(centers, chosen, positions, strict=True))
    ]


def _texts(centers: Floats, sizes: Integers, visible: float) -> list[str]:
    """Return centers with enough digits to distinguish them, none far below the ``visible`` difference, and sizes."""
    decimals = math.ceil(1 - math.log10(min([visible, *np.diff(np.unique(centers))])))
    for digits in range(2, 7):
        texts = [_rounded(float(center), digits, decimals) for center in centers]
        if len(set(texts)) == len(np.unique(centers)):
            break
    return [f"{text}\n{size:,}" for text, size in zip(texts, sizes, strict=True)]


def _rounded(value: float, digits: int, decimals: int) -> str:
    """Round to significant digits and at most that many decimals, but never to tens: 300 is not 3e+02."""
    before = math.floor(math.log10(abs(value))) + 1 if value else 0
    digits = min(digits, before + decimals)
    return decimal(value, max(digits, min(before, 6))) if digits > 0 else "0"


def label_height(labels: list[CenterLabel]) -> float:
    """Return the inches that the labels need over their lane."""
    return _LEADER + _LABEL * (max(label.level for label in labels) + 1) + 0.05 if labels else 0.0


def draw_centers(page: Page, floor: float, labels: list[CenterLabel], axis: NumberLine) -> None:
    """Draw the labels, and leaders from them down to ``floor``, where their lane ends."""
    for label in labels:
        foot = floor + _LEADER + _LABEL * label.level
        x, y = [LEFT + axis.place(label.center), *[LEFT + label.position] * 2], [floor, floor + 0.8 * _LEADER, foot]
        page.axes.plot(x, y, color="0.6", linewidth=0.6, zorder=0)
        value, size = label.text.split("\n")
        page.text(value, x[-1], foot + 0.7 * _LABEL, size=_SMALL, ha="center")
        page.text(size, x[-1], foot + 0.25 * _LABEL, size=_SMALL - 1, ha="center", color="0.4")
