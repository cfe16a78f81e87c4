"""Drawing the interactions of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import InputError
from mrfit.report.edges import EdgeStyle, Legend, draw_edges, share_of
from mrfit.report.labels import Labels, half_sizes, place_labels, shortened, wrapped
from mrfit.report.layout import circle, fitted, force, spread
from mrfit.report.page import MARGIN, Page, count, text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Layout = str | Floats  # "force", "circle" or a place for every variable

_MOST_EDGES = 6_000
_MOST_LISTED = 60  # variables without an edge
_ALL_LABELLED = 150  # nodes; of more, the strongest have labels where there is room
_LONGEST_LABEL = 22
_FEW = 40  # nodes with large letters
_FONTS = (10.0, 8.5, 7.5)  # points
_SMALL = 7.0  # points, for variables without an edge

# On paper, in inches; from top to bottom: title, network, variables without an edge, legend.
_LINE = 0.2  # height of a row of variables without an edge


def network_figure(
    names: Sequence[str],
    edges: Integers,
    strengths: Floats,
    *,
    title: str | None = None,
    signs: Integers | None = None,
    layout: Layout = "force",
    n_rows: int | None = None,
) -> Figure:
    """A picture of a network of any size, the same for the same input.

    Positive edges are blue, negative ones red and dashed, those without a sign grey and dotted; the stronger, the
    wider and darker. An edge is bent where it would run through a third variable. Up to 150 variables all have labels
    if these fit; beyond that those of the largest total strength, where there is room. Of more than 6,000 edges the
    strongest are drawn, and the line under the title says so.

    Parameters
    ----------
    names
        One for each variable; very long ones are shortened in the middle.
    edges
        Numbers of the variables that interact, shape (edges, 2).
    strengths
        Signed strength of each edge, shape (edges,).
    signs
        -1, 0 or 1 for each edge; by default those of the strengths. 0 is for edges that have none, because their
        variables have more than two states in no order.
    layout
        ``"force"``: connected variables near each other, their components side by side, variables without an edge in
        rows below, or counted if they are more than 60. ``"circle"``: all variables in their order, clockwise from the
        top. Or a place for each, shape (variables, 2), y upwards, in any unit: `network_layout` gives those of another
        picture.
    n_rows
        How many rows it was learned from, to be said under the title.
    """
    graph = graph_of(names, edges, strengths, signs)
    canvas = canvas_of(graph, layout)
    listed = graph.alone if canvas.lists_alone else np.empty(0, np.int64)
    rows = _rows([shortened(names[i], 30) for i in listed], canvas.width) if len(listed) <= _MOST_LISTED else []
    below = _LINE * (len(rows) + 1.5) if len(listed) else 0.0
    style = EdgeStyle.for_nodes(len(canvas.nodes))
    legend = Legend.fit(graph.strengths, graph.signs, style, MARGIN, canvas.width - MARGIN)
    floor = legend.height + below
    page = Page(canvas.width, floor + canvas.height, title, graph.summary(n_rows))
    if len(canvas.nodes):
        draw_network(page, graph, canvas.above(floor), style)
    if len(listed):
        _draw_alone(page, floor, f"{count(len(listed), 'variable')} without {graph.an_edge}", rows)
    legend.draw(page, MARGIN)
    return page.figure


def network_layout(names: Sequence[str], edges: Integers, strengths: Floats, *, layout: Layout = "force") -> Floats:
    """Where `network_figure` draws the variables, in inches, (variables, 2), for use as ``layout`` of other networks.

    Variables that it only lists or counts, because they have no edge, have places in rows below the others.
    """
    graph = graph_of(names, edges, strengths, None)
    canvas = canvas_of(graph, layout)
    positions = canvas.positions.copy()
    if canvas.lists_alone and len(graph.alone):
        pitch = 0.8
        in_row = max(1, int(canvas.width / pitch))
        row, column = np.divmod(np.arange(len(graph.alone)), in_row)
        positions[graph.alone] = np.stack([pitch * (column + 0.5), -pitch * (row + 0.5)], axis=1)
    return np.asarray(np.round(positions, 4) + 0.0)  # a ten-thousandth of an inch is not seen; no minus zero


@dataclass(frozen=True)
class Graph:
    """What is drawn: the strongest edges, and how many there are in all."""

    names: Sequence[str]
    edges: Integers
    strengths: Floats
    signs: Integers
    n_edges: int

    @property
    def alone(self) -> Integers:
        return np.setdiff1d(np.arange(len(self.names)), self.edges)

    @property
    def an_edge(self) -> str:
        return "an edge" if self.n_edges == len(self.edges) else "a drawn edge"

    def summary(self, n_rows: int | None) -> str:
        parts = [] if n_rows is None else [count(n_rows, "row")]
        text = ", ".join([*parts, count(len(self.names), "variable"), count(self.n_edges, "edge")])
        return text if self.n_edges == len(self.edges) else f"{text}; drawn: the {len(self.edges):,} strongest"


def graph_of(names: Sequence[str], edges: Integers, strengths: Floats, signs: Integers | None) -> Graph:
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    strengths = np.asarray(strengths, np.float64)
    signs = np.sign(strengths) if signs is None else np.asarray(signs)
    if strengths.shape != (len(edges),):
        raise InputError(f"{len(edges)} edges need as many strengths; got an array of shape {strengths.shape}.")
    if not np.isfinite(strengths).all():
        raise InputError("Strengths of edges must be finite numbers; leave out edges without one.")
    if signs.shape != (len(edges),) or not np.isin(signs, (-1, 0, 1)).all():
        raise InputError(f"{len(edges)} edges need as many signs, each -1, 0 or 1; leave them out for the strengths'.")
    if len(edges) and (edges.min() < 0 or edges.max() >= len(names)):
        raise InputError(f"Edges must join variables 0 to {len(names) - 1}; got {edges.min()} to {edges.max()}.")
    if (edges[:, 0] == edges[:, 1]).any():
        raise InputError("Edges must join two variables; one joins a variable to itself.")
    shown = np.argsort(-np.abs(strengths), kind="stable")[:_MOST_EDGES]
    return Graph(names, edges[shown], strengths[shown], signs[shown].astype(np.int64), len(edges))


# --- where the variables stand


@dataclass(frozen=True)
class Canvas:
    """The part of the page with the network: its size, and places in inches from its lower left corner."""

    width: float
    height: float
    positions: Floats  # NaN for variables that are not drawn
    lists_alone: bool  # variables without an edge have no place in the network
    floor: float = 0.0
    left: float = 0.0

    @property
    def nodes(self) -> Integers:
        return np.flatnonzero(np.isfinite(self.positions[:, 0]))

    @property
    def area(self) -> Floats:
        left, right = self.left + 0.03, self.left + self.width - 0.03
        return np.array([(left, self.floor), (right, self.floor + self.height)])

    def above(self, floor: float, left: float = 0.0) -> Canvas:
        positions = self.positions + np.array([left, floor])
        return Canvas(self.width, self.height, positions, self.lists_alone, floor, left)


def canvas_of(graph: Graph, layout: Layout) -> Canvas:
    n_variables = len(graph.names)
    forced = isinstance(layout, str) and layout == "force"
    if forced:
        places = force(n_variables, graph.edges, share_of(graph.strengths))
    elif isinstance(layout, str):
        if layout != "circle":
            raise InputError(
                f"There is no layout {layout!r}; choose force or circle, or give a place for each variable."
            )
        places = circle(n_variables)
    else:
        places = np.asarray(layout, np.float64)
        if places.shape != (n_variables, 2) or not np.isfinite(places).all():
            raise InputError(
                f"{n_variables} variables need as many places, each two finite numbers; got an array of shape "
                f"{places.shape}."
            )
    drawn = np.isfinite(places[:, 0])
    n_drawn = int(drawn.sum())
    width = round(float(np.clip(8.0 + 1.3 * np.log2(max(n_drawn, 1) / 16), 6.0, 16.0)), 2)
    positions = np.full_like(places, np.nan)
    if not n_drawn:
        return Canvas(width, 0.1, positions, forced)
    margin = margin_of([graph.names[i] for i in np.flatnonzero(drawn).tolist()])
    width = round(width + 2.0 * max(margin[0] - 0.75, 0.0), 2)
    extent = np.ptp(places[drawn], axis=0)
    # Never higher than 0.85 times the width. Places of a force layout may be stretched to fill the page.
    shape = extent[1] / extent[0] if extent[0] > 0 else np.inf
    tall = round(width * float(np.clip(shape, 0.45 if forced else 0.0, 0.85)), 2)
    size = np.array([width, max(tall, 2.5 * margin[1])]) - 2 * margin
    if forced:
        positions[drawn] = spread(fitted(places[drawn], size, stretch=1.4), size)
    else:
        size[1] = round(0.85 * width, 2) - 2 * margin[1]
        positions[drawn] = fitted(places[drawn], size)
        size[1] = max(np.ptp(positions[drawn, 1]), 0.5 * margin[1])
        positions[drawn, 1] += size[1] / 2 - (positions[drawn, 1].max() + positions[drawn, 1].min()) / 2
    return Canvas(width, float(size[1] + 2 * margin[1]), positions + margin, forced)


def margin_of(names: Sequence[str]) -> Floats:
    """Around the places of nodes, so that labels can stand outside of them."""
    if len(names) > _ALL_LABELLED:
        return np.array([0.35, 0.3])
    half = half_sizes([wrapped(name, _LONGEST_LABEL) for name in names], _FONTS[1]).max(axis=0)
    return np.asarray(np.round(np.maximum(2 * half + 0.15, (0.75, 0.4)), 2))


# --- the parts of the page


def draw_network(page: Page, graph: Graph, canvas: Canvas, style: EdgeStyle, *, largest: float | None = None) -> None:
    """Edges, nodes and labels on their part of a page; ``largest`` as in `draw_edges`."""
    nodes, positions = canvas.nodes, canvas.positions
    total = np.zeros(len(graph.names))
    np.add.at(total, graph.edges.ravel(), np.repeat(share_of(graph.strengths) + 1e-6, 2))
    diameter = _diameters(total, len(nodes))
    clearance = (diameter / 2 + style.widths[1] / 4 + 1.5) / 72
    lines = draw_edges(
        page.axes,
        positions,
        graph.edges,
        graph.strengths,
        most=len(graph.edges),
        clearance=clearance,
        style=style,
        signs=graph.signs,
        largest=largest,
    )
    alone = total[nodes] == 0
    page.axes.scatter(
        positions[nodes, 0],
        positions[nodes, 1],
        s=np.square(diameter[nodes]),
        color=[("white" if empty else "0.2") for empty in alone],
        edgecolors=[("0.45" if empty else "white") for empty in alone],
        linewidths=np.where(alone, 0.8, 0.3).tolist(),
        zorder=3,
    )
    order = nodes[np.argsort(-total[nodes], kind="stable")]
    labels = labels_of(graph.names, order, positions, diameter / 144, lines[:, 1:-1].reshape(-1, 2), canvas)
    labels.draw(page)


def _diameters(total: Floats, n_nodes: int) -> Floats:
    """Of the nodes, in points: equal where they are few, otherwise larger for those of larger total strength."""
    room = min(1.0, (40 / n_nodes) ** 0.5)
    if n_nodes <= _ALL_LABELLED:
        return np.full(len(total), 3.0 + 3.0 * room)
    return np.asarray((2.2 + 2.3 * room) * (0.8 + 0.7 * total / max(total.max(), 1e-12)))


def labels_of(
    names: Sequence[str], order: Integers, positions: Floats, radius: Floats, obstacles: Floats, canvas: Canvas
) -> Labels:
    """In the largest letters in which all of them fit; of many nodes those that fit."""
    n_nodes = len(order)
    if n_nodes > _ALL_LABELLED:
        order = order[:_ALL_LABELLED]
        tries = [([shortened(names[i], _LONGEST_LABEL) for i in order], 7.0)]
    else:
        texts = [wrapped(names[i], _LONGEST_LABEL) for i in order]
        is_plain = n_nodes <= _FEW and not any("\n" in text for text in texts)
        tries = [(texts, size) for size in (_FONTS if is_plain else _FONTS[1:])]
        short = [shortened(names[i], _LONGEST_LABEL) for i in order]
        tries += [(short, size) for size in (7.0, 6.0, 5.0)]
    nodes = canvas.positions[canvas.nodes]
    best = None
    for texts, size in tries:
        found = place_labels(
            texts, size, positions[order], radius[order], obstacles=obstacles, nodes=nodes, area=canvas.area
        )
        if best is None or found.n_placed > best.n_placed:
            best = found
        if best.n_placed == n_nodes:
            break
    assert best is not None
    return best


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
