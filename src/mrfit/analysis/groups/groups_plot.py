"""Networks of groups side by side, and how they differ, on one layout and one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.analysis.stability.resampled_networks import pairs_of
from mrfit.core.errors import InputError
from mrfit.plots.canvas import Canvas, margin_of
from mrfit.plots.drawn_edges import EdgeStyle, Legend, finite_weights
from mrfit.plots.drawn_graph import DrawnGraph, graph_of
from mrfit.plots.force_layout import fitted
from mrfit.plots.network_plot import draw_network, network_layout
from mrfit.plots.page import MARGIN, HostedPage, Page, cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# On paper, in inches.
_WIDTH, _INNER, _HEADING = 4.3, 2.4, 0.3  # of a panel, of what is between its margins at least, and over it
_IN_ROW = 3


Panels = Sequence[tuple[str, Floats]]


def groups_layout(names: Sequence[str], panels: Panels, layout: str | Floats = "force") -> Floats:
    """Positions of variables, (variables, 2), shared by all panels and computed from their mean.

    ``layout`` is the name of a layout, or positions to use as they are.
    """
    if not isinstance(layout, str):
        return layout
    mean = np.abs(_drawn(panels)).mean(axis=0)
    joined = np.flatnonzero(mean)
    return network_layout(names, pairs_of(len(names))[joined], mean[joined], layout=layout)


def draw_groups(
    names: Sequence[str],
    panels: Panels,
    places: Floats,
    *,
    title: str | None = None,
    subtitle: str | None = None,
    signed: NDArray[np.bool_] | None = None,
    faint: NDArray[np.bool_] | None = None,
    unit: str | None = None,
) -> Figure:
    """Draw one network for each panel, from its heading and the weights of all pairs in the order of `pairs_of`.

    Variables have the same ``places`` everywhere, and the same width is the same weight. Infinite weights are as
    wide as the widest. ``signed`` says whether weights have a sign, (pairs,) or (panels, pairs), by default all;
    ``faint`` pairs, (pairs,) or (panels, pairs), are thin grey lines; ``unit`` is that of the weights, for the legend.
    """
    weights = _drawn(panels)
    largest = float(np.abs(weights).max(initial=0.0))
    if not largest:
        raise InputError("There is nothing to draw: no group has an edge.")
    width = max(_WIDTH, float(2 * margin_of(names)[0]) + _INNER)
    canvas = panel_canvas(names, places, width)
    signs = np.where(True if signed is None else signed, np.sign(weights), 0).astype(np.int64)
    weak = np.broadcast_to(False if faint is None else faint, weights.shape)
    firm = np.where(weak, 0.0, weights)
    columns = min(_IN_ROW, len(panels))
    n_rows = -(-len(panels) // columns)
    style = EdgeStyle.for_nodes(len(names))
    legend = Legend.fit(firm.ravel(), signs.ravel(), style, MARGIN, columns * canvas.width - MARGIN, unit=unit)
    tall = canvas.height + _HEADING
    page = Page(columns * canvas.width, legend.height + n_rows * tall, title, subtitle)
    for k, (heading, _) in enumerate(panels):
        left, floor = (k % columns) * canvas.width, legend.height + (n_rows - 1 - k // columns) * tall
        panel = canvas.above(floor, left)
        if weak[k].any():
            _draw_faint(page, panel.positions[pairs_of(len(names))[weak[k] & (weights[k] != 0)]])
        draw_network(page, _graph(names, firm[k], signs[k]), panel, style, largest=largest)
        page.text(cut(heading, canvas.width - 2 * MARGIN, 10), left + MARGIN, floor + canvas.height + 0.1, size=10)
    legend.draw(page, MARGIN)
    return page.figure


def draw_group(
    names: Sequence[str], weights: Floats, places: Floats, *, largest: float | None = None, ax: Axes | None = None
) -> Axes:
    """One such network by itself; ``largest`` is the weight of the widest edge, the same in pictures to be compared."""
    page = Page(_WIDTH, 0.85 * _WIDTH) if ax is None else HostedPage(ax)
    canvas = panel_canvas(names, places, page.width, page.ceiling)
    draw_network(page, _graph(names, weights), canvas, EdgeStyle.for_nodes(len(names)), largest=largest)
    return page.axes


def _draw_faint(page: Page, ends: Floats) -> None:
    """Draw thin grey lines below everything else; ``ends`` are (lines, 2, 2)."""
    from matplotlib.collections import LineCollection

    page.axes.add_collection(LineCollection(list(ends), colors="0.8", linewidths=0.8, zorder=0.5))


def _graph(names: Sequence[str], weights: Floats, signs: NDArray[np.int64] | None = None) -> DrawnGraph:
    """Return the graph of the pairs whose weight is not zero."""
    joined = np.flatnonzero(weights)
    return graph_of(names, pairs_of(len(names))[joined], weights[joined], None if signs is None else signs[joined])


def _drawn(panels: Panels) -> Floats:
    return finite_weights(np.stack([weights for _, weights in panels]))


def panel_canvas(names: Sequence[str], places: Floats, width: float, height: float | None = None) -> Canvas:
    """Positions on a part of a page of this size, with a margin for labels."""
    margin = margin_of(names)
    height = 0.85 * width if height is None else height
    size = np.maximum(np.array([width, height]) - 2 * margin, 0.1)
    return Canvas(width, height, fitted(places, size, stretch=1.4) + margin, lists_alone=False)
