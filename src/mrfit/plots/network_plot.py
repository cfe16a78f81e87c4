"""Pictures of networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mrfit._typing import Floats, Integers
from mrfit.model.markov_network import MarkovNetwork
from mrfit.plots.canvas import ALL_LABELLED, FONTS, LONGEST_LABEL, Canvas, Layout, canvas_of, canvas_within, is_force
from mrfit.plots.drawn_edges import EdgeStyle, Legend, draw_edges, finite_weights, share_of
from mrfit.plots.drawn_graph import DrawnGraph, graph_of
from mrfit.plots.node_labels import Labels, place_labels, shortened, wrapped
from mrfit.plots.page import MARGIN, HostedPage, Page, count, new_axes, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST_LISTED = 60  # variables without an edge
_FEW = 40  # nodes with large letters
_SMALL = 7.0  # points, for variables without an edge

# On paper, in inches; from top to bottom: title, network, variables without an edge, legend.
_LINE = 0.2  # height of a row of variables without an edge


def plot_network(
    model: MarkovNetwork, ax: Axes | None = None, *, layout: Layout = "force", title: str | None = None
) -> Axes:
    """Draw the network of a model: its edges, by their edge weights.

    Positive edges are blue, negative ones red and dashed, those between categories, without a sign, grey and dotted.
    Stronger edges are wider and darker.

    Parameters
    ----------
    model : MarkovNetwork
        Model whose edges, as in `MarkovNetwork.weighted_edges`, are drawn.
    ax : matplotlib Axes, default None
        Axes to draw on, at their current size; None makes a new figure as large as the network needs.
    layout : {"force", "circle"} or array, default "force"
        Positions of the variables: by simulated forces, on a circle, or given, of shape (n_variables, 2).
    title : str, default None
        Title above the network.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Raises
    ------
    MrfitError
        If edge weights are infinite, or positions do not fit the variables.

    See Also
    --------
    MarkovNetwork.graph : The same as a networkx graph.
    plot_parameters : All parameters on a line.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> axes = mrfit.plot_network(mrfit.learn(table).model, layout="circle")
    >>> sorted({text.get_text() for text in axes.texts} & {"rain", "wet"})
    ['rain', 'wet']
    """
    edges = model.weighted_edges
    present, unit = edges.values != 0, edges.unit  # a penalty may have set some to zero
    weights, signs = finite_weights(edges.values[present]), edges.signs[present]
    graph = graph_of(model.domain.names, edges.edges[present], weights, signs)
    if ax is None:
        canvas = canvas_of(graph, layout)
        foot = _Foot.of(graph, canvas.width, canvas.lists_alone, unit)
        ax = new_axes(canvas.width, canvas.height + foot.height)
    page = HostedPage(ax, title)
    foot = _Foot.of(graph, page.width, is_force(layout), unit)
    _draw(page, graph, canvas_within(graph, layout, page.width, page.height - foot.height), foot)
    return ax


def network_figure(
    names: Sequence[str],
    edges: Integers,
    weights: Floats,
    *,
    title: str | None = None,
    signs: Integers | None = None,
    layout: Layout = "force",
    n_rows: int | None = None,
    unit: str | None = None,
) -> Figure:
    """Draw a network of any size; the same input gives the same figure.

    Positive edges are blue, negative ones red and dashed, those without a sign grey and dotted. Stronger edges are
    wider and darker. An edge is bent where it would pass through a third variable. Up to 150 variables all have labels
    if these fit; beyond that those of the largest node strength, where they fit. Of more than 150 variables only a
    backbone is drawn, as the line under the title reports: a spanning forest and the strongest other edges, 1.6 per
    variable in all.

    Parameters
    ----------
    names
        Name of each variable; very long ones are shortened in the middle.
    edges
        Numbers of the variables that interact, shape (edges, 2).
    weights
        Edge weights, shape (edges,), with their signs.
    signs
        -1, 0 or 1 for each edge; by default the signs of the weights. 0 is for edges without a sign, between
        variables of more than two unordered states.
    layout
        ``"force"``: connected variables near each other, their components side by side, variables without an edge in
        rows below, or counted if they are more than 60. ``"circle"``: all variables in their order, clockwise from the
        top. Or a position for each, shape (variables, 2), y upwards, in any unit: `network_layout` returns those of
        another picture.
    n_rows
        Number of rows it was learned from, shown under the title.
    unit
        Unit of the weights, for the legend: that of `MarkovNetwork.weighted_edges`, or of an `EdgeReport`.
    """
    graph = graph_of(names, edges, weights, signs)
    canvas = canvas_of(graph, layout)
    foot = _Foot.of(graph, canvas.width, canvas.lists_alone, unit)
    page = Page(canvas.width, foot.height + canvas.height, title, graph.summary(n_rows))
    _draw(page, graph, canvas, foot)
    return page.figure


def network_layout(names: Sequence[str], edges: Integers, weights: Floats, *, layout: Layout = "force") -> Floats:
    """Return the positions of `network_figure`, in inches, (variables, 2), for use as ``layout`` of other networks.

    Variables that it only lists or counts, because they have no edge, get positions in rows below the others.
    """
    graph = graph_of(names, edges, weights, None)
    canvas = canvas_of(graph, layout)
    positions = canvas.positions.copy()
    if canvas.lists_alone and len(graph.alone):
        pitch = 0.8
        in_row = max(1, int(canvas.width / pitch))
        row, column = np.divmod(np.arange(len(graph.alone)), in_row)
        positions[graph.alone] = np.stack([pitch * (column + 0.5), -pitch * (row + 0.5)], axis=1)
    return np.asarray(np.round(positions, 4) + 0.0)  # in ten-thousandths of an inch; + 0.0 removes minus zero


# --- the parts of the page


@dataclass(frozen=True)
class _Foot:
    """The foot of the page: variables without an edge, in rows if they are few, and the legend."""

    legend: Legend
    style: EdgeStyle
    heading: str  # empty where all variables have edges
    rows: list[list[tuple[float, str]]]

    @classmethod
    def of(cls, graph: DrawnGraph, width: float, lists_alone: bool, unit: str | None) -> _Foot:
        alone = graph.alone if lists_alone else np.empty(0, np.int64)
        style = EdgeStyle.for_nodes(len(graph.names) - len(alone))
        legend = Legend.fit(graph.weights, graph.signs, style, MARGIN, width - MARGIN, unit=unit)
        heading = f"{count(len(alone), 'variable')} without {graph.an_edge}" if len(alone) else ""
        names = [shortened(graph.names[i], 30) for i in alone] if len(alone) <= _MOST_LISTED else []
        return cls(legend, style, heading, _rows(names, width))

    @property
    def height(self) -> float:
        return self.legend.height + (_LINE * (len(self.rows) + 1.5) if self.heading else 0.0)

    def draw(self, page: Page) -> None:
        y = self.height - 0.5 * _LINE
        if self.heading:
            page.text(self.heading + (":" if self.rows else ""), MARGIN, y, size=8, color="0.3")
        for row in self.rows:
            y -= _LINE
            for x, label in row:
                page.text(label, x, y, size=_SMALL, color="0.45")
        self.legend.draw(page, MARGIN)


def _draw(page: Page, graph: DrawnGraph, canvas: Canvas, foot: _Foot) -> None:
    if len(canvas.nodes):
        draw_network(page, graph, canvas.above(foot.height), foot.style)
    foot.draw(page)


def draw_network(
    page: Page, graph: DrawnGraph, canvas: Canvas, style: EdgeStyle, *, largest: float | None = None
) -> None:
    """Draw edges, nodes and labels on their part of a page; ``largest`` as in `draw_edges`."""
    nodes, positions = canvas.nodes, canvas.positions
    total = np.zeros(len(graph.names))
    np.add.at(total, graph.edges.ravel(), np.repeat(share_of(graph.weights) + 1e-6, 2))
    diameter = _diameters(total, len(nodes))
    clearance = (diameter / 2 + style.widths[1] / 4 + 1.5) / 72
    lines = draw_edges(
        page.axes,
        positions,
        graph.edges,
        graph.weights,
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
    """Return diameters of the nodes, in points: equal if they are few, otherwise larger for larger node strength."""
    scale = min(1.0, (40 / n_nodes) ** 0.5)
    if n_nodes <= ALL_LABELLED:
        return np.full(len(total), 3.0 + 3.0 * scale)
    return np.asarray((2.2 + 2.3 * scale) * (0.8 + 0.7 * total / max(total.max(), 1e-12)))


def labels_of(
    names: Sequence[str], order: Integers, positions: Floats, radius: Floats, obstacles: Floats, canvas: Canvas
) -> Labels:
    """Return labels in the largest font in which all of them fit; of many nodes, those that fit."""
    n_nodes = len(order)
    if n_nodes > ALL_LABELLED:
        order = order[:ALL_LABELLED]
        tries = [([shortened(names[i], LONGEST_LABEL) for i in order], 7.0)]
    else:
        texts = [wrapped(names[i], LONGEST_LABEL) for i in order]
        is_plain = n_nodes <= _FEW and not any("\n" in text for text in texts)
        tries = [(texts, size) for size in (FONTS if is_plain else FONTS[1:])]
        short = [shortened(names[i], LONGEST_LABEL) for i in order]
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
    """Return labels in columns: their left ends and their texts, row by row."""
    column = max((text_width(label, _SMALL) for label in labels), default=0.0) + 0.2
    in_row = max(1, int((width - 2 * MARGIN) / column))
    lines = [labels[k : k + in_row] for k in range(0, len(labels), in_row)]
    return [[(MARGIN + k * column, label) for k, label in enumerate(line)] for line in lines]
