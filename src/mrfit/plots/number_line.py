"""The real line on paper, without its empty stretches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mrfit._typing import Floats, Integers
from mrfit.plots.page import MARGIN, Page

# On paper, in inches.
LEFT = 0.8  # of the line
_GAP, _PAD = 0.4, 0.35  # lengths of a cut in the axis, and of the margin around other stretches


@dataclass(frozen=True)
class NumberLine:
    """The real line without empty stretches: knots, ascending, and their positions on paper."""

    values: Floats
    places: Floats

    @classmethod
    def around(cls, values: Floats, alone: float, width: float) -> NumberLine:
        """Return a line that shows all values; ``alone`` is the margin on both sides of a single one."""
        length = width - LEFT - 2 * MARGIN
        values = np.unique(values)
        reach = float(values[-1] - values[0])
        if reach <= 1e-9 * np.abs(values).max():
            middle, half = float(values.mean()), alone or 0.5 * max(1.0, float(np.abs(values).max()))
            return cls(np.array([middle - half, middle + half]), np.array([0.0, length]))
        cuts = _cuts(np.diff(values), reach)
        first, last = values[[0, *(cuts + 1)]], values[[*cuts, -1]]
        per_inch = float(np.sum(last - first)) / (length - 2 * _PAD * len(first) - _GAP * len(cuts))
        knots = np.stack([first - _PAD * per_inch, last + _PAD * per_inch], axis=1).ravel()
        steps = np.diff(knots) / per_inch
        steps[1::2] = _GAP
        return cls(knots, np.append(0.0, np.cumsum(steps)))

    def place(self, value: Any) -> Any:
        return np.interp(value, self.values, self.places)

    def value(self, position: Any) -> Any:
        return np.interp(position, self.places, self.values)

    @property
    def per_inch(self) -> float:
        return float((self.values[1] - self.values[0]) / (self.places[1] - self.places[0]))

    @property
    def stretches(self) -> Floats:
        """First and last value of each drawn stretch, (stretches, 2)."""
        return self.values.reshape(-1, 2)

    def ticks(self) -> Floats:
        """Return multiples of one round step; a stretch without any has one multiple of a finer step."""
        step = round_up(0.75 * self.per_inch)
        return np.concatenate([_first_multiples(low, high, step) for low, high in self.stretches])

    def draw(self, page: Page, floor: float) -> None:
        """Draw the line itself, with two strokes at each cut."""
        ends = LEFT + self.places
        for low, high in ends.reshape(-1, 2):
            page.axes.plot([low, high], [floor, floor], color="black", linewidth=0.8)
        for x in ends[1:-1]:
            page.axes.plot([x - 0.04, x + 0.04], [floor - 0.08, floor + 0.08], color="black", linewidth=0.8)


def _cuts(gaps: Floats, reach: float) -> Integers:
    """Return the gaps to cut: each is nearly all of the remaining length, of which enough must stay visible."""
    cuts: list[int] = []
    left = reach
    for cut in np.argsort(-gaps, kind="stable")[:3]:
        if gaps[cut] < 0.85 * left or left - gaps[cut] < 1e-3 * reach:
            break
        left -= gaps[cut]
        cuts.append(int(cut))
    return np.array(sorted(cuts), np.int64)


def round_up(step: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= step * (1 - 1e-9))


def _first_multiples(low: float, high: float, step: float) -> Floats:
    for finer in (1, 2, 10, 20, 100):
        found = np.arange(math.ceil(low / step * finer), math.floor(high / step * finer) + 1) * np.float64(step / finer)
        if len(found):
            return found[:1] if finer > 1 else found
    return np.empty(0)
