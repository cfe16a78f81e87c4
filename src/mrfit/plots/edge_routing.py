"""Routes of edges: straight, or bent just enough to pass the nodes between their ends."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats, Integers

_LARGEST_BEND = 0.2  # height of a line over its chord, in lengths of the chord,
_MOST_CLEARANCES = 7.0  # and in clearances, so that long lines do not leave the page
_STEEPEST = np.hypot(1.0, 4.0 * _LARGEST_BEND)  # ratio of distances across the chord and across the steepest line
_N_POINTS = 25


def bends(positions: Floats, edges: Integers, clearance: Floats) -> Floats:
    """Return the smallest height over its chord at which each edge keeps ``clearance`` from all other nodes, (edges,).

    A line of height h is ``4 h t (1 - t)`` over its chord at t in [0, 1]. A node at t, d away from the chord, thus
    excludes an interval of heights. The result is the height nearest zero outside all intervals. If all heights up to
    the largest bend are excluded, it is the one that keeps the largest distance from nodes.

    Parameters
    ----------
    positions
        Positions of all nodes, shape (nodes, 2); those with NaN exclude nothing.
    clearance
        Distance between lines and the center of each node, shape (nodes,).
    """
    heights, widest = np.zeros(len(edges)), _MOST_CLEARANCES * clearance.max(initial=0.0)
    for number, (a, b) in enumerate(edges.tolist()):
        along = positions[b] - positions[a]
        length = float(np.hypot(*along))
        if length == 0.0:
            continue
        across = np.array([-along[1], along[0]]) / length
        relative = positions - positions[a]
        t, d = relative @ along / length**2, relative @ across
        most = min(_LARGEST_BEND * length, widest)
        between = (t > 0.0) & (t < 1.0) & (abs(d) < most + _STEEPEST * clearance)
        between[[a, b]] = False
        if between.any():
            heights[number] = _free_height(t[between], d[between], clearance[between], most)
    return heights


def _free_height(t: Floats, d: Floats, clearance: Floats, most: float) -> float:
    if (abs(d) >= clearance).all():
        return 0.0
    rise = 4.0 * t * (1.0 - t)
    low, high = (d - _STEEPEST * clearance) / rise, (d + _STEEPEST * clearance) / rise
    ends = np.concatenate([low, high])
    ends = ends[abs(ends) <= most]
    free = ends[~((low < ends[:, None]) & (ends[:, None] < high)).any(axis=1)]
    if len(free):
        return float(free[np.lexsort([free, abs(free)])[0]])
    tries = np.linspace(-most, most, 41)
    distance = (abs(d - tries[:, None] * rise) / clearance).min(axis=1)
    return float(tries[distance.argmax()])


def routes(positions: Floats, edges: Integers, clearance: Floats) -> Floats:
    """Return points along the line of every edge, (edges, points, 2)."""
    start, end = positions[edges[:, 0]], positions[edges[:, 1]]
    along = end - start
    length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1) / length * bends(positions, edges, clearance)[:, None]
    t = np.linspace(0.0, 1.0, _N_POINTS)[:, None]
    return np.asarray(start[:, None] + t * along[:, None] + 4.0 * t * (1.0 - t) * across[:, None])
