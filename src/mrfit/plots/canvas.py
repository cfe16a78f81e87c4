"""Positions of the variables of a network on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats, Integers
from mrfit.core.errors import InputError
from mrfit.plots.drawn_edges import share_of
from mrfit.plots.drawn_graph import DrawnGraph
from mrfit.plots.force_layout import circle, fitted, force, spread
from mrfit.plots.node_labels import half_sizes, wrapped

Layout = str | Floats  # "force", "circle" or a position for every variable

ALL_LABELLED = 150  # nodes; of more, the strongest have labels where these fit
LONGEST_LABEL = 22
FONTS = (10.0, 8.5, 7.5)  # points


@dataclass(frozen=True)
class Canvas:
    """The part of the page with the network: its size, and positions in inches from its lower left corner."""

    width: float
    height: float
    positions: Floats  # NaN for variables that are not drawn
    lists_alone: bool  # variables without an edge are listed and not drawn
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


def canvas_of(graph: DrawnGraph, layout: Layout) -> Canvas:
    """Lay out a graph on a canvas whose size grows with the number of variables."""
    layout_positions, forced = _layout_positions(graph, layout), is_force(layout)
    drawn = np.isfinite(layout_positions[:, 0])
    n_drawn = int(drawn.sum())
    width = round(float(np.clip(8.0 + 1.3 * np.log2(max(n_drawn, 1) / 16), 6.0, 16.0)), 2)
    positions = np.full_like(layout_positions, np.nan)
    if not n_drawn:
        return Canvas(width, 0.1, positions, forced)
    margin = margin_of([graph.names[i] for i in np.flatnonzero(drawn).tolist()])
    width = round(width + 2.0 * max(margin[0] - 0.75, 0.0), 2)
    extent = np.ptp(layout_positions[drawn], axis=0)
    # Never higher than 0.85 times the width. A force layout may be stretched to fill the page.
    shape = extent[1] / extent[0] if extent[0] > 0 else np.inf
    tall = round(width * float(np.clip(shape, 0.45 if forced else 0.0, 0.85)), 2)
    size = np.array([width, max(tall, 2.5 * margin[1])]) - 2 * margin
    if forced:
        positions[drawn] = spread(fitted(layout_positions[drawn], size, stretch=1.4), size)
    else:
        size[1] = round(0.85 * width, 2) - 2 * margin[1]
        positions[drawn] = fitted(layout_positions[drawn], size)
        size[1] = max(np.ptp(positions[drawn, 1]), 0.5 * margin[1])
        positions[drawn, 1] += size[1] / 2 - (positions[drawn, 1].max() + positions[drawn, 1].min()) / 2
    return Canvas(width, float(size[1] + 2 * margin[1]), positions + margin, forced)


def canvas_within(graph: DrawnGraph, layout: Layout, width: float, height: float) -> Canvas:
    """Lay out a graph on a canvas of a given size."""
    layout_positions, forced = _layout_positions(graph, layout), is_force(layout)
    drawn = np.isfinite(layout_positions[:, 0])
    if not drawn.any():
        return Canvas(width, height, np.full_like(layout_positions, np.nan), forced)
    names = [graph.names[i] for i in np.flatnonzero(drawn).tolist()]
    paper = np.array([width, height])
    margin = np.minimum(margin_of(names), 0.2 * paper)  # on small paper labels overlap the margin
    size = paper - 2 * margin
    positions = np.full_like(layout_positions, np.nan)
    if forced:
        positions[drawn] = spread(fitted(layout_positions[drawn], size, stretch=1.4), size)
    else:
        positions[drawn] = fitted(layout_positions[drawn], size)
    return Canvas(width, height, positions + margin, forced)


def is_force(layout: Layout) -> bool:
    """Return whether variables without an edge are listed and not drawn."""
    return isinstance(layout, str) and layout == "force"


def _layout_positions(graph: DrawnGraph, layout: Layout) -> Floats:
    """Return positions in any unit; NaN for variables that are not drawn."""
    n_variables = len(graph.names)
    if is_force(layout):
        return force(n_variables, graph.edges, share_of(graph.weights))
    if isinstance(layout, str):
        if layout != "circle":
            raise InputError(
                f"There is no layout {layout!r}; choose force or circle, or give a position for each variable."
            )
        return circle(n_variables)
    positions = np.asarray(layout, np.float64)
    if positions.shape != (n_variables, 2) or not np.isfinite(positions).all():
        raise InputError(
            f"{n_variables} variables need as many positions, each two finite numbers; got an array of shape "
            f"{positions.shape}."
        )
    return positions


def margin_of(names: Sequence[str]) -> Floats:
    """Return the margin around nodes in which labels fit, (2,)."""
    if len(names) > ALL_LABELLED:
        return np.array([0.35, 0.3])
    half = half_sizes([wrapped(name, LONGEST_LABEL) for name in names], FONTS[1]).max(axis=0)
    return np.asarray(np.round(np.maximum(2 * half + 0.15, (0.75, 0.4)), 2))
