"""Edges of a network as lines: widths, colours and legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit._typing import Floats, Integers
from mrfit.plots.edge_routing import routes
from mrfit.plots.page import Page, cut, decimal, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes


POSITIVE, NEGATIVE = "#2166ac", "#b2182b"  # blue and red, distinct for colour-blind eyes too
NEITHER = "#6e6e6e"
_COLOURS = {1: POSITIVE, -1: NEGATIVE, 0: NEITHER}
NO_SIGN = "no sign"


def finite_weights(weights: Floats) -> Floats:
    """Return weights that can be drawn: infinite ones become as large as the largest finite one."""
    largest = float(np.abs(weights[np.isfinite(weights)]).max(initial=0.0))
    return np.clip(weights, -largest, largest)


def share_of(weights: Floats, largest: float | None = None) -> Floats:
    """Return sizes relative to the largest, of these or given; one half if it is zero, so that edges are visible."""
    size = np.abs(weights)
    largest = size.max(initial=0.0) if largest is None else largest
    return np.asarray(size / largest) if largest > 0 else np.full(len(size), 0.5)


@dataclass(frozen=True)
class EdgeStyle:
    """Line width in points, and tint of the colour, of the weakest and the strongest edge.

    Weak edges are paler, not transparent, so that many crossing ones do not add up to a strong one. The palest is well
    visible on white paper.
    """

    widths: tuple[float, float] = (0.8, 3.6)
    tints: tuple[float, float] = (0.5, 1.0)

    @classmethod
    def for_nodes(cls, n_nodes: int) -> EdgeStyle:
        """Return a style whose lines are thinner the more nodes there are."""
        scale = min(1.0, (40 / max(n_nodes, 1)) ** 0.5)  # 1 for few nodes, 0.16 for 1,500
        return cls((0.4 + 0.5 * scale, 2.0 + 2.0 * scale), (0.2 + 0.35 * scale, 1.0))

    def width(self, share: Floats | float) -> Floats:
        return np.asarray(np.interp(share, (0.0, 1.0), self.widths))

    def colours(self, share: Floats | float, signs: Integers | int) -> list[tuple[float, float, float]]:
        from matplotlib.colors import to_rgb

        tints = np.interp(np.atleast_1d(share), (0.0, 1.0), self.tints)
        full = np.array([to_rgb(_COLOURS[int(sign)]) for sign in np.atleast_1d(signs)])
        return [(r, g, b) for r, g, b in 1.0 - tints[:, None] * (1.0 - full)]

    def dashes(self, share: Floats | float, sign: int) -> Any:
        """Return solid, dashed or dotted lines, so that signs differ without colours; in units of line widths."""
        width = float(self.width(share))
        if sign == 0:
            return (0, (1.2, 1.2 + 0.6 / width))
        return (0, (1.2 + 3.2 / width, 0.5 + 1.6 / width)) if sign < 0 else "solid"


_PLAIN = EdgeStyle()


def draw_edges(
    axes: Axes,
    positions: Floats,
    edges: Integers,
    weights: Floats,
    *,
    most: int,
    clearance: Floats,
    style: EdgeStyle = _PLAIN,
    signs: Integers | None = None,
    largest: float | None = None,
    sureness: Floats | None = None,
) -> Floats:
    """Draw the ``most`` strongest edges: width and colour by weight; positive blue, negative red and dashed.

    Lines pass other nodes at a distance of ``clearance`` (nodes,). ``largest`` is the weight of the widest line, by
    default that of the strongest edge. ``sureness``, from 0 to 1, sets the tint of colours in place of the weight.
    Returns the points of the lines, (edges, points, 2), the strongest last.
    """
    from matplotlib.collections import LineCollection

    shown = np.argsort(-np.abs(weights), kind="stable")[:most][::-1]  # strongest on top
    if not len(shown):
        return np.empty((0, 1, 2))
    signs = np.sign(weights).astype(np.int64) if signs is None else signs
    share = share_of(weights[shown], largest)
    lines = routes(positions, edges[shown], clearance)
    axes.add_collection(
        LineCollection(
            list(lines),
            linewidths=style.width(share),
            colors=style.colours(share if sureness is None else sureness[shown], signs[shown]),
            linestyles=[style.dashes(size, sign) for size, sign in zip(share, signs[shown].tolist(), strict=True)],
            capstyle="butt",
            snap=False,
        )
    )
    axes.autoscale_view()
    return lines


@dataclass(frozen=True)
class Legend:
    """Sample lines with their edge weights, in rows that fit a width; empty where no weight is known."""

    rows: list[list[tuple[float, int, float, str]]]  # left end, sign, share, text; the first may be empty
    style: EdgeStyle
    heading: str

    @classmethod
    def fit(
        cls,
        weights: Floats,
        signs: Integers,
        style: EdgeStyle,
        left: float,
        right: float,
        *,
        unit: str | None = None,
        what: str = "edge weight",
    ) -> Legend:
        """Lay out a legend; ``what`` names the weights, and ``unit`` follows in parentheses."""
        largest, x = np.abs(weights).max(initial=0.0), right
        heading = cut(what if unit is None else f"{what} ({unit})", right - left, 8)
        indent = text_width(heading, 8) + 0.2
        own_line = indent > _MOST_HEADING * (right - left)
        rows: list[list[tuple[float, int, float, str]]] = [[]] if own_line else []
        for sign, size, word in _landmarks(weights, signs):
            text = f"{decimal(sign * size, 2, sign='+') if sign else f'|{decimal(size, 2)}|'}{word}"
            wide = _KEY + text_width(text, 8)
            if x + wide > right:
                rows.append([])
                x = left + (0.0 if own_line else indent)
            rows[-1].append((x, sign, size / largest, text))
            x += wide + 0.24
        return cls(rows, style, heading)

    @property
    def height(self) -> float:
        return 0.2 + 0.2 * max(len(self.rows), 1)

    def draw(self, page: Page, left: float) -> None:
        for number, row in enumerate(self.rows):
            y = self.height - 0.2 * (number + 1)
            if number == 0:
                page.text(self.heading, left, y, size=8, color="0.3")
            for x, sign, share, text in row:
                page.axes.plot(
                    [x, x + _KEY - 0.06],
                    [y, y],
                    color=self.style.colours(share, sign)[0],
                    linewidth=float(self.style.width(share)),
                    linestyle=self.style.dashes(share, sign),
                    dash_capstyle="butt",
                    solid_capstyle="butt",
                )
                page.text(text, x + _KEY, y, size=8)


_KEY = 0.48  # inches for a line and the space after it
_MOST_HEADING = 0.45  # of the width: a longer heading has its own line
_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)  # times a power of ten: weights in the legend


def _landmarks(weights: Floats, signs: Integers) -> list[tuple[int, float, str]]:
    """Return round weights of each sign, a strong and a weak one; those without a sign come last, with a note."""
    weak = _rounded(0.3 * float(np.abs(weights).max(initial=0.0)))
    found: list[tuple[int, float, str]] = []
    for sign in (-1, 1, 0):
        sizes = np.abs(weights[(signs == sign) & (weights != 0)])
        marks = [_rounded(float(sizes.max()))] if len(sizes) else []
        if marks and marks[0] > 1.6 * weak > sizes.min():
            marks = [marks[0], weak] if sign < 0 else [weak, marks[0]]
        found += [(sign, mark, "") for mark in marks]
    if found and found[-1][0] == 0:
        found[-1] = (*found[-1][:2], f"  {NO_SIGN}")
    return found


def _rounded(size: float) -> float:
    """Return the largest round number that is at most this."""
    if not size > 0:
        return 0.0
    unit = 10.0 ** np.floor(np.log10(size))
    digit = max((d for d in _ROUND if d * unit <= size * (1 + 1e-9)), default=1.0)
    return float(f"{digit * unit:.2g}")
