"""Labels beside nodes, placed so that they do not overlap and hide as little as possible."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Integers
from mrfit.plots.page import Page, printable, text_width

_GAPS = (0.03, 0.1, 0.22)  # inches between a node and its label; a leader spans the last
_LEADER = 0.2
_NEAR = 0.08  # inches from a node, where a label seems to be its own
_N_SIDES = 16
_LINE = 1.17  # height of a line of text, in sizes of its font
_N_EVICTIONS = 6  # how often a label may be moved for another


def shortened(name: str, longest: int) -> str:
    """Return one line; a long name keeps its beginning and its end, where long names differ."""
    line = printable(name)
    if len(line) <= longest:
        return line
    tail = (longest - 1) // 3
    return line[: longest - 1 - tail].rstrip() + "…" + line[len(line) - tail :].lstrip()


def wrapped(name: str, longest: int) -> str:
    """Wrap a name into up to about three lines of at most ``longest`` letters, after spaces and marks if possible."""
    lines = [""]
    for piece in re.findall(rf"[^\s_./-]{{1,{longest - 1}}}[\s_./-]?|[\s_./-]", shortened(name, 3 * longest)):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > longest:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True)
class Labels:
    """Texts of one size, the most important first, and the centres of those that are placed (NaN for others)."""

    texts: Sequence[str]
    size: float
    centres: Floats
    anchors: Floats
    reach: Floats  # radii of the nodes

    @property
    def n_placed(self) -> int:
        return int(np.isfinite(self.centres[:, 0]).sum())

    def draw(self, page: Page) -> None:
        from matplotlib.patheffects import withStroke

        halo = [withStroke(linewidth=2.0, foreground="white")]
        halves = half_sizes(self.texts, self.size)
        for text, centre, anchor, half, reach in zip(
            self.texts, self.centres, self.anchors, halves, self.reach, strict=True
        ):
            if np.isnan(centre[0]):
                continue
            nearest = np.clip(anchor, centre - half, centre + half)
            if np.hypot(*(nearest - anchor)) > reach + _LEADER:
                page.axes.plot(*np.stack([anchor, nearest]).T, color="0.45", linewidth=0.5, zorder=3.5)
            page.text(
                text, *centre, size=self.size, ha="center", zorder=4, path_effects=halo, linespacing=_LINE, gid="label"
            )


def half_sizes(texts: Sequence[str], size: float) -> Floats:
    """Return halves of widths and heights, in inches, (texts, 2)."""
    lines = [text.split("\n") for text in texts]
    widths = [max(text_width(line, size) for line in each) + 0.03 for each in lines]  # letters are set on whole pixels
    return np.array([widths, [len(each) * _LINE * size / 72 for each in lines]]).T.reshape(-1, 2) / 2


def place_labels(
    texts: Sequence[str], size: float, anchors: Floats, reach: Floats, *, obstacles: Floats, nodes: Floats, area: Floats
) -> Labels:
    """Position each label where it hides least; of two that exclude each other, leave out the less important.

    Labels are placed in the order of importance. One that finds no free position evicts others, which are placed
    again elsewhere, several times if needed. A few early labels thus do not lock out one with a single position.

    Parameters
    ----------
    anchors, reach
        Centres and radii of the labelled nodes, in inches.
    obstacles
        Points along edges, (points, 2), to cover as little as possible.
    nodes
        Centres of all nodes, (nodes, 2), to cover only if all other positions are taken.
    area
        Lower left and upper right corner of the area for labels.
    """
    from scipy.spatial import cKDTree

    halves = half_sizes(texts, size)
    tree_of_edges, tree_of_nodes = (cKDTree(points) for points in (obstacles, nodes))
    candidates, prices, centre = [], [], nodes.mean(axis=0)
    for anchor, half, radius in zip(anchors, halves, reach, strict=True):
        boxes = _boxes(anchor, half, radius)
        price = _inwards(boxes.mean(axis=1) - anchor, anchor - centre)
        price += np.repeat(6.0 * np.arange(len(_GAPS)), _N_SIDES)
        farthest = 2.0 * float(np.hypot(*half)) + radius + _GAPS[-1] + _NEAR
        near = nodes[tree_of_nodes.query_ball_point(anchor, farthest)]
        near = near[(near != anchor).any(axis=1)]
        # A label on a node hides it; one near another node seems to be that node's name.
        price += _inside(obstacles[tree_of_edges.query_ball_point(anchor, farthest)], boxes, 0.0)
        price += 40.0 * _inside(near, boxes, 0.0) + 8.0 * _inside(near, boxes, _NEAR)
        price[np.any((boxes[:, 0] < area[0]) | (boxes[:, 1] > area[1]), axis=1)] = np.inf
        candidates.append(boxes)
        prices.append(price)
    chosen = _chosen(candidates, prices)
    centres = np.array(
        [boxes[k].mean(axis=0) if k >= 0 else (np.nan, np.nan) for boxes, k in zip(candidates, chosen, strict=True)]
    ).reshape(-1, 2)
    return Labels(texts, size, centres, anchors, reach)


def _boxes(anchor: Floats, half: Floats, radius: float) -> Floats:
    """Return candidate boxes of a label: all around its node, at some distances, (positions, 2 corners, 2)."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(_N_SIDES) / _N_SIDES
    sides = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # The nearest point of the box lies on a circle around the node. Above and below it the box is centred, at the
    # sides it ends there.
    centres = [anchor + sides * (radius + gap) + np.clip(sides * 1.6, -1, 1) * half for gap in _GAPS]
    return np.stack([np.concatenate(centres) - half, np.concatenate(centres) + half], axis=1)


def _inside(points: Floats, boxes: Floats, beyond: float) -> Floats:
    """Count the points in each box enlarged by ``beyond``, (boxes,)."""
    (x, y), (low, high) = points.T, (boxes[:, 0] - beyond, boxes[:, 1] + beyond)
    # One direction at a time: numpy takes several times as long for "all" of two.
    inside = (x > low[:, :1]) & (x < high[:, :1]) & (y > low[:, 1:]) & (y < high[:, 1:])
    return np.asarray(inside.sum(axis=1), np.float64)


def _overlap(boxes: Floats, others: Floats) -> NDArray[np.bool_]:
    """Return whether two boxes overlap, (boxes, others)."""
    x, y = ((boxes[:, 1, k, None] > others[:, 0, k]) & (boxes[:, 0, k, None] < others[:, 1, k]) for k in range(2))
    return np.asarray(x & y)


def _inwards(sides: Floats, outwards: Floats) -> Floats:
    """Return 0 for a position away from the middle of the picture, 2 for one towards it, to decide between equals."""
    lengths = np.linalg.norm(sides, axis=1) * np.hypot(*outwards)
    return np.asarray(1.0 - sides @ outwards / np.maximum(lengths, 1e-12))


def _chosen(candidates: Sequence[Floats], prices: Sequence[Floats]) -> Integers:
    """Return the number of the candidate that each label takes; -1 for none."""
    n_labels = len(candidates)
    chosen, evictions = np.full(n_labels, -1), np.zeros(n_labels, np.int64)
    taken = np.full((n_labels, 2, 2), np.nan)
    waiting = list(range(n_labels))
    while waiting:
        one = waiting.pop(0)
        boxes, price = candidates[one], prices[one]
        conflicts = _overlap(boxes, taken)  # (positions, labels); False for labels that are not placed
        # A label that was moved often, or that is more important than one that was, stays.
        fixed = (evictions >= _N_EVICTIONS) | ((evictions[one] >= _N_EVICTIONS) & (np.arange(n_labels) < one))
        total = price + 60.0 * (conflicts * (1.0 + evictions)).sum(axis=1)
        total[(conflicts & fixed).any(axis=1)] = np.inf
        best = int(np.argmin(total))
        if not np.isfinite(total[best]):
            continue
        for other in np.flatnonzero(conflicts[best]):
            chosen[other], taken[other] = -1, np.nan
            evictions[other] += 1
            waiting.append(int(other))
        chosen[one], taken[one] = best, boxes[best]
    return chosen
