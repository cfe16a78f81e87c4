"""Layouts of networks: circle and force-directed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit._typing import Floats, Integers, Singles
from mrfit.core.threads import one_blas_thread

if TYPE_CHECKING:
    import networkx


FEW = 120  # connected variables that are laid out exactly

_GAP = 0.9  # between components, where a variable has one unit of area
_N_PIVOTS = 50


def circle(n_variables: int) -> Floats:
    """Return positions on a circle, in the order of the variables, clockwise from the top."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(n_variables) / max(n_variables, 1)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def force(n_variables: int, edges: Integers, share: Floats) -> Floats:
    """Return a position for every variable with an edge, about one unit of area for each; NaN for the others."""
    import networkx

    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(np.unique(edges).tolist())
    for (a, b), size in sorted(zip(edges.tolist(), share.tolist(), strict=True)):
        graph.add_edge(a, b, pull=0.2 + size, length=1.5 - size)
    parts = sorted(map(sorted, networkx.connected_components(graph)), key=lambda part: (-len(part), part))
    few = len(graph) <= FEW
    with one_blas_thread():
        layouts = [_component_layout(networkx.Graph(graph.subgraph(part)), part, few=few) for part in parts]
    corners = _packed(np.array([np.ptp(layout, axis=0) + _GAP for layout in layouts]).reshape(-1, 2))
    positions = np.full((n_variables, 2), np.nan)
    for part, layout, corner in zip(parts, layouts, corners, strict=True):
        positions[part] = layout - layout.min(axis=0) + corner
    return positions


def _component_layout(graph: networkx.Graph[int], nodes: list[int], *, few: bool) -> Floats:
    """Return positions of a connected graph's nodes, longest extent horizontal, with an area of one unit a node."""
    import networkx

    if len(nodes) == 2:
        return np.array([[0.0, 0.0], [1.0, 0.3]])
    if few:
        start = _distance_layout(networkx.to_scipy_sparse_array(graph, nodelist=nodes, weight="length"))
        found = networkx.kamada_kawai_layout(graph, pos=dict(zip(nodes, start, strict=True)), weight="length")
        place = np.array([found[node] for node in nodes])
    else:
        place = _force_layout(graph, nodes)
    place = place - place.mean(axis=0)
    place = place @ np.linalg.svd(place, full_matrices=False)[2].T
    extent = np.ptp(place, axis=0)
    return np.asarray(place * np.sqrt(len(nodes) / max(extent.prod(), 0.3 * extent.max() ** 2)))


def _force_layout(graph: networkx.Graph[int], nodes: list[int]) -> Floats:
    """Return a layout that separates clusters: edges pull by the log of their length, all pairs repel (LinLog).

    See Noack (2007). All pairs are computed at once and in single precision, by matrix products: the repulsion of i is
    sum_j m_j (p_i - p_j) / d_ij^2. That takes half a second for 1,500 variables; spring_layout of networkx 3.6 took 15
    for 1,058, and left the clusters of bbc in one ball.
    """
    import networkx

    begun = _distance_layout(networkx.to_scipy_sparse_array(graph, nodelist=nodes, weight="length"))
    place: Singles = begun.astype(np.float32)
    matrix = networkx.to_scipy_sparse_array(graph, nodelist=nodes, weight="pull").tocoo()
    start, end, pull = matrix.row, matrix.col, matrix.data.astype(np.float32)
    mass: Singles = np.sqrt(np.bincount(start, minlength=len(nodes))).astype(np.float32)[:, None]
    n_steps = min(150, 20 * len(nodes))
    for step in range(n_steps):
        force = _repulsion(place, mass)
        along = place[end] - place[start]
        reach = np.linalg.norm(along, axis=1) + np.float32(1e-6)
        np.add.at(force, start, (9.0 * pull * np.log1p(reach) / reach)[:, None] * along)
        size = np.linalg.norm(force, axis=1, keepdims=True) + np.float32(1e-6)
        longest = np.float32(0.1 * np.sqrt(len(nodes)) * (1.0 - step / n_steps))  # cooling
        place += force * np.minimum(np.float32(0.05), longest / size)
    return place.astype(np.float64)


def _repulsion(place: Singles, mass: Singles) -> Singles:
    """Return m_i sum_j m_j (p_i - p_j) / (|p_i - p_j|^2 + 0.01) for every i; the term j = i is zero."""
    place = place - place.mean(axis=0)  # keeps squares small, for single precision
    square, one = (place**2).sum(axis=1, keepdims=True), np.ones_like(mass)
    distance = np.hstack([place, square, one]) @ np.hstack([-2.0 * place, one, square + np.float32(0.01)]).T
    np.maximum(distance, np.float32(0.005), out=distance)  # rounding
    sums = np.reciprocal(distance, out=distance) @ np.hstack([mass, mass * place])
    return np.asarray(mass * (place * sums[:, :1] - sums[:, 1:]), np.float32)


def _distance_layout(lengths: Any) -> Floats:
    """Return positions whose distances resemble those along the edges (pivot MDS, Brandes and Pich 2007)."""
    from scipy.sparse.csgraph import dijkstra

    n_nodes = lengths.shape[0]
    squares = np.empty((n_nodes, min(n_nodes, _N_PIVOTS)))
    pivot, nearest = 0, np.full(n_nodes, np.inf)
    for column in squares.T:  # each pivot is as far from the others as possible
        distance = dijkstra(lengths, directed=False, indices=[pivot])[0]
        column[:] = distance**2
        nearest = np.minimum(nearest, distance)
        pivot = int(nearest.argmax())
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    place = np.linalg.svd(centred, full_matrices=False)[0][:, :2] * np.sqrt(n_nodes)
    place = place / np.maximum(place.std(axis=0), 0.1) / 3.5
    jitter = np.random.default_rng(0).normal(scale=0.02, size=place.shape)  # separates the leaves of one hub
    return np.asarray((place + jitter) * np.sqrt(n_nodes))


def _packed(sizes: Floats) -> Floats:
    """Return the lower left corners of boxes packed into a rectangle of nearly 4 : 3; large boxes come first."""
    if not len(sizes):
        return np.empty((0, 2))
    side = np.sqrt(sizes.prod(axis=1).sum())
    tries = [_shelved(sizes, max(float(sizes[:, 0].max()), wide * side)) for wide in (1.0, 1.15, 1.3, 1.5, 1.8)]

    def misfit(corners: Floats) -> float:
        wide, tall = (corners + sizes).max(axis=0)
        return float(abs(np.log(0.75 * wide / tall)) + 0.5 * np.log(wide * tall))

    return min(tries, key=misfit)


def _shelved(sizes: Floats, width: float) -> Floats:
    """Pack each box as low, then as far left, as possible above those before it."""
    corners = np.empty_like(sizes)
    skyline = np.array([[0.0, width, 0.0]])  # from, to, height
    for k, (wide, tall) in enumerate(sizes):
        starts = skyline[skyline[:, 0] + wide <= width * (1 + 1e-9), 0]
        under = (skyline[:, 0] < starts[:, None] + wide - 1e-9) & (skyline[:, 1] > starts[:, None] + 1e-9)
        heights = np.where(under, skyline[:, 2], 0.0).max(axis=1)
        best = int(heights.argmin())
        left, right = starts[best], starts[best] + wide
        corners[k] = left, heights[best]
        before, after = skyline.copy(), skyline.copy()
        before[:, 1] = np.minimum(before[:, 1], left)
        after[:, 0] = np.maximum(after[:, 0], right)
        skyline = np.concatenate([before, [[left, right, heights[best] + tall]], after])
        skyline = skyline[skyline[:, 1] - skyline[:, 0] > 1e-9]
    return corners


def fitted(positions: Floats, size: Floats, *, stretch: float = 1.0) -> Floats:
    """Scale positions to fill a box; one direction may be stretched up to ``stretch`` times more than the other."""
    extent = np.ptp(positions, axis=0)
    scale = np.divide(size, extent, out=np.full(2, np.inf), where=extent > 1e-9 * extent.max(initial=0.0))
    scale = np.minimum(scale, stretch * scale.min()) if np.isfinite(scale).any() else np.ones(2)
    return np.asarray(size / 2 + (positions - (positions.min(axis=0) + positions.max(axis=0)) / 2) * scale)


def spread(positions: Floats, size: Floats) -> Floats:
    """Push positions apart that are closer than about their share of a box, and fill the box again."""
    from scipy.spatial import cKDTree

    positions = positions.copy()
    distance = 0.65 * np.sqrt(np.prod(size) / len(positions))
    for _ in range(40):
        pairs = cKDTree(positions).query_pairs(distance, output_type="ndarray")
        if not len(pairs):
            break
        pairs = pairs[np.lexsort(pairs.T)]
        gap = positions[pairs[:, 0]] - positions[pairs[:, 1]]
        length = np.maximum(np.linalg.norm(gap, axis=1, keepdims=True), 1e-9)
        push = 0.25 * (distance / length - 1.0) * gap
        np.add.at(positions, pairs[:, 0], push)
        np.add.at(positions, pairs[:, 1], -push)
    return fitted(positions, size, stretch=1.4)
