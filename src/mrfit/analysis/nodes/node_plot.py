"""Pictures of variables: how central they are, and the network with how well each is predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mrfit._typing import Floats
from mrfit.analysis.groups.groups_plot import panel_canvas
from mrfit.analysis.nodes.node_measures import NodeMeasures
from mrfit.analysis.stability.resampled_networks import pairs_of
from mrfit.core.errors import InputError
from mrfit.plots.canvas import Canvas, Layout
from mrfit.plots.drawn_edges import EdgeStyle, Legend, draw_edges
from mrfit.plots.drawn_graph import DrawnGraph, graph_of
from mrfit.plots.network_plot import labels_of, network_layout
from mrfit.plots.page import COLOURS, MARGIN, WIDTH, HostedPage, Page, name_lines, own_axes, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Ranges = Mapping[str, tuple[Floats, Floats]]

WORDS = {
    "strength": "node strength",
    "expected_influence": "expected influence",
    "expected_influence_two_steps": "influence in two steps",
    "bridge_strength": "bridge strength",
    "bridge_expected_influence": "bridge influence",
    "bridge_expected_influence_two_steps": "bridge influence in two steps",
    "closeness": "closeness",
    "betweenness": "betweenness",
    "accuracy": "accuracy",
    "majority": "share of the most frequent state",
    "normalised_accuracy": "normalised accuracy",
    "explained_deviance": "explained deviance",
    "brier": "Brier score",
}

# On paper, in inches.
_LINE, _NAMES, _BETWEEN, _FLOOR = 0.21, 2.2, 0.22, 0.42
_MOST = 60  # variables in one picture
_PANEL = (6.5, 5.0)  # of a network
_RADIUS, _RING = 0.085, 0.05  # of a variable, and the width of its ring
_FAINT = 0.12  # how full the colour of an edge is that no resample has
_ALONE = "0.8"
_PREDICTED = "ring: normalised accuracy, from 0 to a full circle"


# -- dots ----------------------------------------------------------------------------------------------------------


def draw_centrality(
    nodes: NodeMeasures,
    measure: str = "strength",
    *,
    ranges: Ranges | None = None,
    order: Sequence[int] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """A measure of all variables as dots, the largest on top, with the ranges that resamples give them."""
    values = nodes.columns.get(measure)
    if values is None:
        raise InputError(f"There is no measure {measure!r} here; choose one of {', '.join(nodes.columns)}.")
    order = largest_first(nodes) if order is None else list(order)
    names = [nodes.names[i] for i in reversed(order)]
    if ax is None:
        left = min(_NAMES, max(text_width(name, 8) for name in names)) + 0.3
        ax = own_axes(_LINE * len(names), left=left, title=title)
    name_lines(ax, names, _NAMES)
    _draw_dots(ax, values[order[::-1]], None if ranges is None or measure not in ranges else ranges[measure], order)
    ax.set_xlabel(WORDS[measure], size=9)
    return ax


def _draw_dots(axes: Axes, values: Floats, ends: tuple[Floats, Floats] | None, order: Sequence[int]) -> None:
    """Ranges that go on for ever end at the frame."""
    places = np.arange(len(values)) + 0.5
    axes.hlines(places, 0, 1, transform=axes.get_yaxis_transform(), color="0.93", linewidth=0.8, zorder=0)
    known = values[np.isfinite(values)]
    if ends is not None:
        low, high = (each[order[::-1]] for each in ends)
        known = np.concatenate([known, low[np.isfinite(low)], high[np.isfinite(high)]])
    left, right = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    margin = 0.06 * (right - left) or 1.0
    axes.set_xlim(left - margin, right + margin)
    if left < 0 < right:
        axes.axvline(0.0, color="0.7", linewidth=0.8, zorder=0)
    if ends is not None:
        spans = np.clip([low, high], left - margin, right + margin)
        axes.hlines(places, spans[0], spans[1], color=COLOURS[0], linewidth=3.0, alpha=0.35)
    axes.plot(values, places, "o", color=COLOURS[0], markersize=4.5, clip_on=False)


def draw_centralities(
    nodes: NodeMeasures,
    measures: Sequence[str],
    *,
    ranges: Ranges | None = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> Figure:
    """Several measures side by side on one page, variables in one order."""
    order = largest_first(nodes)[:_MOST]
    left = min(_NAMES, max(text_width(nodes.names[i], 8) for i in order)) + 0.3
    width = max(WIDTH, left + 1.5 * len(measures))
    tall = _LINE * len(order)
    more = f"; the {len(order)} strongest of {len(nodes.names):,} variables" if len(order) < len(nodes.names) else ""
    page = Page(width, _FLOOR + tall + 0.1, title, (subtitle or "") + more or None)
    wide = (width - left - 0.2 - _BETWEEN * (len(measures) - 1)) / len(measures)
    for k, measure in enumerate(measures):
        axes = page.panel(left + k * (wide + _BETWEEN), _FLOOR, wide, tall)
        draw_centrality(nodes, measure, ranges=ranges, order=order, ax=axes)
        if k:
            axes.set_yticklabels([])
        axes.locator_params(axis="x", nbins=4)
    return page.figure


def largest_first(nodes: NodeMeasures) -> list[int]:
    """Variables by strength."""
    return [int(i) for i in np.argsort(-nodes.measures["strength"], kind="stable")]


# -- the network ---------------------------------------------------------------------------------------------------


def draw_node_network(
    nodes: NodeMeasures,
    *,
    inclusion: Floats | None = None,
    layout: Layout = "force",
    largest: float | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """The network with a ring around each variable, filled as far as it is predicted, in the colour of its community.

    ``inclusion`` is the share of resamples with each pair, in the order of `pairs_of`: the rarer an edge, the paler.
    ``layout`` is as in `network_figure`; ``largest`` the weight of the widest edge, so that pictures can be compared.
    """
    weights = nodes.weights.of_pairs
    joined = np.flatnonzero(weights)
    if not len(joined):
        raise InputError("There is nothing to draw: the network has no edges.")
    edges = pairs_of(len(nodes.names))[joined]
    sign = np.where(nodes.weights.has_sign[edges[:, 0], edges[:, 1]], np.sign(weights[joined]), 0).astype(np.int64)
    graph = graph_of(nodes.names, edges, weights[joined], sign)
    style = EdgeStyle.for_nodes(len(nodes.names)) if inclusion is None else EdgeStyle(tints=(_FAINT, 1.0))
    page = Page(*_page_size(nodes), title, _subtitle(nodes, inclusion)) if ax is None else HostedPage(ax)
    key = style if inclusion is None else EdgeStyle(tints=(1.0, 1.0))  # how pale a line is says nothing of its weight
    what, unit = nodes.weights.called
    legend = Legend.fit(graph.weights, graph.signs, key, MARGIN, page.width - MARGIN, what=what, unit=unit)
    places = network_layout(nodes.names, edges, weights[joined], layout=layout)
    canvas = panel_canvas(nodes.names, places, page.width, page.ceiling - legend.height).above(legend.height)
    _draw_network(page, nodes, graph, canvas, style, _of_edges(graph, inclusion, len(nodes.names)), largest)
    legend.draw(page, MARGIN)
    return page.axes


def _page_size(nodes: NodeMeasures) -> tuple[float, float]:
    more = 1.0 + 0.35 * np.log2(max(len(nodes.names), 8) / 8)
    return _PANEL[0] * float(more), _PANEL[1] * float(more)


def _subtitle(nodes: NodeMeasures, inclusion: Floats | None) -> str:
    words = ["colour: community"]
    words += [_PREDICTED] if nodes.predictability is not None else []
    words += ["pale edges: in few resamples"] if inclusion is not None else []
    return "; ".join(words)


def _of_edges(graph: DrawnGraph, inclusion: Floats | None, n_variables: int) -> Floats | None:
    """The inclusion of the edges that are drawn."""
    if inclusion is None:
        return None
    share = np.zeros((n_variables, n_variables))
    share[np.triu_indices(n_variables, 1)] = inclusion
    return np.asarray(share[graph.edges[:, 0], graph.edges[:, 1]], np.float64)


def _draw_network(
    page: Page,
    nodes: NodeMeasures,
    graph: DrawnGraph,
    canvas: Canvas,
    style: EdgeStyle,
    inclusion: Floats | None,
    largest: float | None,
) -> None:
    shrink = min(1.0, (25 / len(nodes.names)) ** 0.5)
    radius, ring = _RADIUS * shrink, _RING * shrink if nodes.predictability is not None else 0.0
    positions = canvas.positions
    lines = draw_edges(
        page.axes, positions, graph.edges, graph.weights, most=len(graph.edges), style=style, signs=graph.signs,
        clearance=np.full(len(positions), radius + ring + 0.02), largest=largest, sureness=inclusion,
    )  # fmt: skip
    _draw_rings(page, nodes, positions, radius, ring)
    order = np.array(largest_first(nodes))
    reach = np.full(len(positions), radius + ring)
    labels_of(graph.names, order, positions, reach, lines[:, 1:-1].reshape(-1, 2), canvas).draw(page)


def _draw_rings(page: Page, nodes: NodeMeasures, positions: Floats, radius: float, ring: float) -> None:
    """Draw predictability as a ring, clockwise from the top; white is the part that is not predicted."""
    from matplotlib.patches import Circle, Wedge

    known = None if nodes.predictability is None else np.nan_to_num(nodes.predictability.normalised_accuracy)
    colours = _colours(nodes)
    for i, place in enumerate(positions):
        at = (float(place[0]), float(place[1]))
        page.axes.add_patch(Circle(at, radius + ring, facecolor="white", edgecolor="0.35", linewidth=0.6, zorder=3))
        page.axes.add_patch(Circle(at, radius, facecolor=colours[i], edgecolor="0.35", linewidth=0.4, zorder=3.2))
        if known is not None and known[i] > 0:
            turn = 90.0 - 360.0 * min(float(known[i]), 1.0)
            page.axes.add_patch(
                Wedge(at, radius + ring, turn, 90.0, width=ring, facecolor="0.25", linewidth=0, zorder=3.1)
            )


def _colours(nodes: NodeMeasures) -> list[str]:
    """Colours of variables by community, the largest first; colours repeat, and single variables are grey."""
    sizes = np.bincount(nodes.community)
    rank = np.argsort(np.argsort(-sizes, kind="stable"))
    return [_ALONE if sizes[k] == 1 else COLOURS[rank[k] % len(COLOURS)] for k in nodes.community.tolist()]
