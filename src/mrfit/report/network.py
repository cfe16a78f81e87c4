"""Drawing the interactions of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import InputError
from mrfit.model import MarkovNetwork
from mrfit.report.layout import FEW, fitted, layout, spread
from mrfit.report.page import MARGIN, TITLE, Page, count, decimal, printable, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

POSITIVE, NEGATIVE = "#2166ac", "#b2182b"  # blue and red, apart for colour-blind eyes too
NEITHER = "#777777"  # strength zero


def edge_strengths(model: MarkovNetwork) -> Floats:
    """Signed strength of every edge in ``model.structure.edges``.

    For two binary variables it is their parameter; otherwise the largest parameter, in absolute value, of all scopes
    that hold both.
    """
    numbers = {(int(a), int(b)): k for k, (a, b) in enumerate(model.structure.edges)}
    strengths = np.zeros(len(numbers))
    for parameter in np.flatnonzero(model.parameters.order_of_parameter >= 2):
        scope = model.parameters.scope(int(parameter))
        for position, a in enumerate(scope):
            for b in scope[position + 1 :]:
                edge = numbers[a, b]
                if abs(model.w[parameter]) > abs(strengths[edge]):
                    strengths[edge] = model.w[parameter]
    return strengths


@dataclass(frozen=True)
class EdgeStyle:
    """Line width in points and opacity of the weakest and the strongest edge, and whether lines are curved."""

    widths: tuple[float, float] = (0.4, 3.6)
    opacities: tuple[float, float] = (0.15, 0.9)
    bent: bool = True

    def width(self, share: Floats) -> Floats:
        return np.interp(share, (0.0, 1.0), self.widths)

    def opacity(self, share: Floats) -> Floats:
        return np.interp(share, (0.0, 1.0), self.opacities)


_PLAIN = EdgeStyle()


def draw_edges(
    axes: Axes,
    positions: Floats,
    edges: Integers,
    strengths: Floats,
    *,
    most: int,
    style: EdgeStyle = _PLAIN,
) -> None:
    """The ``most`` strongest edges as lines: width and opacity by strength, blue positive, red negative."""
    from matplotlib.collections import LineCollection

    shown = np.argsort(-np.abs(strengths), kind="stable")[:most][::-1]  # strongest on top
    if not len(shown):
        return
    share = _share(strengths[shown])
    start, end = positions[edges[shown, 0]], positions[edges[shown, 1]]
    axes.add_collection(
        LineCollection(
            list(_bent(start, end) if style.bent else np.stack([start, end], axis=1)),
            linewidths=style.width(share),
            alpha=style.opacity(share),
            colors=[_colour(value) for value in strengths[shown]],
            capstyle="round",
        )
    )
    axes.autoscale_view()


def network_figure(names: Sequence[str], edges: Integers, strengths: Floats, *, title: str | None = None) -> Figure:
    """A picture of a network of any size, the same for the same input.

    Connected variables are laid out by force and their components packed side by side; variables without an edge
    stand in rows below, or are counted if they are more than 60. Up to 60 connected variables all have labels, beyond
    that the 40 of largest total strength, where there is room. Of more than 6,000 edges the strongest are drawn, and
    the caption says so.

    Parameters
    ----------
    names
        One for each variable; long ones are cut.
    edges
        Numbers of the variables that interact, shape (edges, 2).
    strengths
        Signed strength of each edge, shape (edges,); zero is drawn grey.
    """
    edges, strengths = _checked(names, edges, strengths)
    shown = np.argsort(-np.abs(strengths), kind="stable")[:_MOST_EDGES]
    n_edges, edges, strengths = len(edges), edges[shown], strengths[shown]
    places = layout(len(names), edges, _share(strengths))
    linked = np.unique(edges)
    alone = np.setdiff1d(np.arange(len(names)), linked)

    width = float(np.clip(8.0 + 1.3 * np.log2(max(len(linked), 1) / 16), 6.0, 16.0))
    extent = np.ptp(places[linked], axis=0) if len(linked) else np.array([1.0, 0.0])
    tall = width * float(np.clip(extent[1] / extent[0], 0.45, 0.85)) if len(linked) else 0.1
    rows = _rows([_label(names[i]) for i in alone], width) if len(alone) <= FEW else []
    below = _LINE * (len(rows) + 1.5) if len(alone) else 0.0
    above = TITLE if title else 0.0
    page = Page(width, above + tall + below + _FOOT, title)
    area = np.array([(0.0, _FOOT + below), (width, page.height - above)])
    style = _draw_network(page, area, names, edges, strengths, places)
    if len(alone):
        which = "an edge" if n_edges == len(edges) else "a drawn edge"
        _draw_alone(page, area[0, 1], f"{count(len(alone), 'variable')} without {which}", rows)
    caption = f"{count(len(names), 'variable')}, {count(n_edges, 'edge')}"
    if n_edges > len(edges):
        caption += f"; drawn: the {len(edges):,} strongest"
    _draw_foot(page, caption, strengths, style)
    return page.figure


_MOST_EDGES = 6_000
_N_HUBS = 40
_LONGEST_LABEL = 18
_SMALL = 7.0  # points, for variables without an edge

# On paper, in inches; from top to bottom: title, network, variables without an edge, caption and legend.
_FOOT = 0.4  # height of the caption and the legend
_LINE = 0.2  # height of a row of variables without an edge
# Where a label may stand beside its variable, in halves of its width and height.
_SIDES = np.array([(0, 1), (0, -1), (1, 0), (-1, 0), (0.7, 1), (-0.7, 1), (0.7, -1), (-0.7, -1)])


def _checked(names: Sequence[str], edges: Integers, strengths: Floats) -> tuple[Integers, Floats]:
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    strengths = np.asarray(strengths, np.float64)
    if strengths.shape != (len(edges),):
        raise InputError(f"{len(edges)} edges need as many strengths; got an array of shape {strengths.shape}.")
    if not np.isfinite(strengths).all():
        raise InputError("Strengths of edges must be finite numbers; leave out edges without one.")
    if len(edges) and (edges.min() < 0 or edges.max() >= len(names)):
        raise InputError(f"Edges must join variables 0 to {len(names) - 1}; got {edges.min()} to {edges.max()}.")
    if (edges[:, 0] == edges[:, 1]).any():
        raise InputError("Edges must join two variables; one joins a variable to itself.")
    return edges, strengths


def _share(strengths: Floats) -> Floats:
    """Sizes relative to the largest; one half where all are zero, for edges of which no more is known."""
    size = np.abs(strengths)
    largest = size.max(initial=0.0)
    return np.asarray(size / largest) if largest > 0 else np.full(len(size), 0.5)


def _colour(strength: float) -> str:
    return POSITIVE if strength > 0 else NEGATIVE if strength < 0 else NEITHER


def _bent(start: Floats, end: Floats) -> Floats:
    """Slightly curved lines, (edges, points, 2): an edge does not hide the nodes that lie between its ends."""
    t = np.linspace(0.0, 1.0, 15)[None, :, None]
    along = (end - start)[:, None, :]
    across = along[..., ::-1] * (-1.0, 1.0)
    return np.asarray(start[:, None, :] + t * along + 0.4 * t * (1.0 - t) * across, np.float64)


def _label(name: str) -> str:
    line = printable(name)
    return line if len(line) <= _LONGEST_LABEL else line[: _LONGEST_LABEL - 1].rstrip() + "…"


# --- the parts of the page


def _draw_network(
    page: Page, area: Floats, names: Sequence[str], edges: Integers, strengths: Floats, places: Floats
) -> EdgeStyle:
    """Within ``area``, its lower left and upper right corner."""
    linked = np.unique(edges)
    few = len(linked) <= FEW
    room = min(1.0, (40 / max(len(linked), 1)) ** 0.5)  # 1 for few variables, 0.16 for 1,500
    style = EdgeStyle((0.35 + 0.35 * room, 1.4 + 2.6 * room), (0.02 + 0.38 * room, 0.95), bent=few)
    if not len(linked):
        return style
    margin = np.array([0.75, 0.4] if few else [0.3, 0.3])
    box = np.stack([area[0] + margin, area[1] - margin])
    positions = np.full_like(places, np.nan)
    positions[linked] = spread(fitted(places[linked], box), box)
    draw_edges(page.axes, positions, edges, strengths, most=len(edges), style=style)

    share = _share(strengths)
    total = np.bincount(edges.ravel(), np.repeat(share + 1e-6, 2), minlength=len(names))
    diameter = 6.0 if few else (2.2 + 2.3 * room) * (0.8 + 0.7 * total[linked] / total.max())
    page.axes.scatter(
        positions[linked, 0],
        positions[linked, 1],
        s=np.square(diameter),
        color="0.2",
        edgecolors="white",
        linewidths=0.3,
        zorder=3,
    )
    hubs = linked[np.argsort(-total[linked], kind="stable")][: len(linked) if few else 2 * _N_HUBS]
    lines = _bent(positions[edges[:, 0]], positions[edges[:, 1]])[share > 0.2, 1:-1]
    obstacles = np.concatenate([positions[linked], lines.reshape(-1, 2)])
    _draw_labels(page, area, [(_label(names[i]), positions[i]) for i in hubs], obstacles, all_of_them=few)
    return style


def _draw_labels(
    page: Page, area: Floats, labels: list[tuple[str, Floats]], obstacles: Floats, *, all_of_them: bool
) -> None:
    """Each label beside its place where it hides least; where it would hide another, it is left out if it may be."""
    from matplotlib.patheffects import withStroke

    size = float(np.clip(11.0 - 0.06 * len(labels), 7.5, 10.0))
    low, high = area + np.array([(0.03, 0.0), (-0.03, 0.0)])
    taken = np.empty((0, 2, 2))  # boxes: lower left and upper right corner
    for label, position in labels:
        half = np.array([text_width(label, size), 1.15 * size / 72]) / 2
        centres = position + _SIDES * (half + 0.06)
        boxes = np.stack([centres - half, centres + half], axis=1)
        outside = np.any((boxes[:, 0] < low) | (boxes[:, 1] > high), axis=1)
        hidden = _overlaps(boxes, taken).sum(axis=1)
        covers = ((obstacles > boxes[:, None, 0]) & (obstacles < boxes[:, None, 1])).all(axis=2).sum(axis=1)
        best = int(np.argmin(1e6 * outside + 1e4 * hidden + covers))
        if not all_of_them and (outside[best] or hidden[best] > 0 or len(taken) == _N_HUBS):
            continue
        centre = np.clip(centres[best], np.minimum(low + half, high), np.maximum(high - half, low))
        halo = [withStroke(linewidth=2.0, foreground="white")]
        page.text(label, *centre, size=size, ha="center", zorder=4, path_effects=halo)
        taken = np.concatenate([taken, [[centre - half, centre + half]]])


def _overlaps(boxes: Floats, others: Floats) -> Floats:
    """Areas that boxes share, (boxes, others)."""
    upper = np.minimum(boxes[:, None, 1], others[None, :, 1])
    lower = np.maximum(boxes[:, None, 0], others[None, :, 0])
    return np.asarray(np.maximum(upper - lower, 0.0).prod(axis=2))


def _rows(labels: list[str], width: float) -> list[list[tuple[float, str]]]:
    """Labels in columns: their left ends and their texts, row by row."""
    column = max((text_width(label, _SMALL) for label in labels), default=0.0) + 0.2
    in_row = max(1, int((width - 2 * MARGIN) / column))
    lines = [labels[k : k + in_row] for k in range(0, len(labels), in_row)]
    return [[(MARGIN + k * column, label) for k, label in enumerate(line)] for line in lines]


def _draw_alone(page: Page, ceiling: float, heading: str, rows: list[list[tuple[float, str]]]) -> None:
    y = ceiling - 0.5 * _LINE
    page.text(heading + (":" if rows else ""), MARGIN, y, size=8, color="0.3")
    for row in rows:
        y -= _LINE
        for x, label in row:
            page.text(label, x, y, size=_SMALL, color="0.45")


def _draw_foot(page: Page, caption: str, strengths: Floats, style: EdgeStyle) -> None:
    """The caption on the left; on the right, lines as drawn with the strengths they stand for."""
    x, y = page.width - MARGIN, _FOOT / 2
    for value in reversed(_landmarks(strengths)):
        text, share = decimal(value, 2, sign="+"), np.array(abs(value) / np.abs(strengths).max())
        page.text(text, x, y, size=8, ha="right")
        x -= text_width(text, 8) + 0.06
        width, opacity = float(style.width(share)), float(style.opacity(share))
        page.axes.plot(
            [x - 0.35, x], [y, y], color=_colour(value), linewidth=width, alpha=opacity, solid_capstyle="butt"
        )
        x -= 0.5
    if np.any(strengths):
        page.text("strength", x, y, size=8, ha="right", color="0.3")
    page.text(caption, MARGIN, y, size=8, color="0.3")


def _landmarks(strengths: Floats) -> list[float]:
    """The strongest edge of each sign, and a weak one where some are."""
    weak = 0.3 * np.abs(strengths).max(initial=0.0)
    values: list[float] = []
    for sign in (-1.0, 1.0):
        sizes = np.abs(strengths[np.sign(strengths) == sign])
        if len(sizes):
            values.append(sign * float(sizes.max()))
        if len(sizes) and sizes.max() > 1.6 * weak and sizes.min() < 1.6 * weak:
            values.append(sign * float(weak))
    return sorted(values)
