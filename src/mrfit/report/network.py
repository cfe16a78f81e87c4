"""Drawing the interactions of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mrfit.model import MarkovNetwork

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

POSITIVE, NEGATIVE = "#2166ac", "#b2182b"  # blue and red, apart for colour-blind eyes too


def edge_strengths(model: MarkovNetwork) -> Floats:
    """Signed strength of every edge in ``model.structure.edges``.

    For two binary variables it is their parameter; otherwise the largest parameter, in absolute value, of all scopes
    that hold both.
    """
    numbers = {(int(a), int(b)): k for k, (a, b) in enumerate(model.structure.edges)}
    strengths = np.zeros(len(numbers))
    for parameter in np.flatnonzero(model.parameters.order_of_parameter >= 2):
        scope = [i for i, _ in model.parameters.assignment(int(parameter))]
        for position, a in enumerate(scope):
            for b in scope[position + 1 :]:
                edge = numbers[a, b]
                if abs(model.w[parameter]) > abs(strengths[edge]):
                    strengths[edge] = model.w[parameter]
    return strengths


def draw_edges(axes: Axes, positions: Floats, edges: NDArray[np.int64], strengths: Floats, *, most: int) -> None:
    """The ``most`` strongest edges as lines: width and opacity by strength, blue positive, red negative."""
    from matplotlib.collections import LineCollection

    shown = np.argsort(-np.abs(strengths), kind="stable")[:most][::-1]  # strongest on top
    if not len(shown):
        return
    share = np.abs(strengths[shown]) / np.abs(strengths[shown]).max()
    axes.add_collection(
        LineCollection(
            list(_bent(positions[edges[shown, 0]], positions[edges[shown, 1]])),
            linewidths=0.4 + 3.2 * share,
            alpha=0.15 + 0.75 * share,
            colors=[POSITIVE if value > 0 else NEGATIVE for value in strengths[shown]],
            capstyle="round",
        )
    )
    axes.autoscale_view()


def _bent(start: Floats, end: Floats) -> Floats:
    """Slightly curved lines, (edges, points, 2): an edge does not hide the nodes that lie between its ends."""
    t = np.linspace(0.0, 1.0, 15)[None, :, None]
    along = (end - start)[:, None, :]
    across = along[..., ::-1] * (-1.0, 1.0)
    return np.asarray(start[:, None, :] + t * along + 0.4 * t * (1.0 - t) * across, np.float64)
