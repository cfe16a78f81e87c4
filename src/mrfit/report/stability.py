"""Pictures of stability: ranges of edges, and what is left of a network when rows are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mrfit.errors import InputError
from mrfit.report.page import COLOURS, WIDTH, Page, count, cut, text_width
from mrfit.resampling.case_drop import SIMILAR, CaseDrop
from mrfit.resampling.networks import Edge

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# On paper, in inches.
_LINE, _FLOOR, _AIR = 0.2, 0.55, 0.35
_NAMES, _SHARES = 2.6, 0.75  # the room for names at most, and for bars of inclusion
_MOST = 60  # edges in one picture

_SAMPLE, _RANGE = COLOURS[1], COLOURS[0]
_LABELS = {"edges": "edges", "strength": "strength", "expected_influence": "expected influence"}


def draw_edge_ranges(edges: Sequence[Edge], *, title: str | None = None, subtitle: str | None = None) -> Figure:
    """Every edge with the range of its weight, its mean and its weight in the table, sorted by the mean.

    Beside it stands the share of resamples in which it is there.
    """
    shown = sorted(edges, key=lambda edge: (-edge.inclusion, -abs(edge.mean)))[:_MOST]
    if not shown:
        raise InputError("There is nothing to draw: no edge is in the table or in any resample.")
    shown.sort(key=lambda edge: edge.mean)
    names = [f"{edge.source} – {edge.target}" for edge in shown]
    left = min(_NAMES, max(text_width(name, 8) for name in names)) + 0.3
    height = _LINE * len(shown)
    more = f"; {len(edges) - len(shown):,} more edges are not drawn" if len(edges) > len(shown) else ""
    page = Page(WIDTH, _FLOOR + height + _AIR, title, (subtitle or "") + more or None)
    wide = WIDTH - left - _SHARES - 0.6
    axes = page.panel(left, _FLOOR, wide, height)
    _draw_ranges(axes, shown)
    for k, name in enumerate(names):
        page.text(cut(name, left - 0.3, 8), left - 0.12, _FLOOR + _LINE * (k + 0.5), size=8, ha="right")
    _draw_shares(page.panel(left + wide + 0.3, _FLOOR, _SHARES, height), shown)
    _draw_key(page, left, _FLOOR + height + 0.16)
    return page.figure


def _draw_ranges(axes: Axes, edges: Sequence[Edge]) -> None:
    """Ranges that go on for ever end at the frame."""
    places = np.arange(len(edges)) + 0.5
    ends = np.array([[edge.low, edge.high] for edge in edges])
    values = np.array([[edge.mean, edge.sample] for edge in edges])
    known = np.concatenate([ends.ravel(), values.ravel(), [0.0]])
    low, high = np.min(known[np.isfinite(known)]), np.max(known[np.isfinite(known)])
    margin = 0.05 * (high - low) or 1.0
    axes.set(xlim=(low - margin, high + margin), ylim=(0, len(edges)), yticks=[])
    ends = np.clip(ends, low - margin, high + margin)
    axes.axvline(0.0, color="0.7", linewidth=0.8, zorder=0)
    axes.hlines(places, ends[:, 0], ends[:, 1], color=_RANGE, linewidth=3.0, alpha=0.35)
    axes.plot(values[:, 0], places, "o", color=_RANGE, markersize=3.5)
    axes.plot(np.clip(values[:, 1], low - margin, high + margin), places, "|", color=_SAMPLE, markersize=7)
    axes.set_xlabel("weight", size=9)
    axes.spines["left"].set_visible(False)


def _draw_shares(axes: Axes, edges: Sequence[Edge]) -> None:
    places = np.arange(len(edges)) + 0.5
    axes.barh(places, [edge.inclusion for edge in edges], height=0.6, color="0.75")
    axes.set(xlim=(0, 1), ylim=(0, len(edges)), yticks=[], xticks=[0, 1])
    axes.set_xlabel("share with it", size=9)


def _draw_key(page: Page, x: float, y: float) -> None:
    for marker, colour, text in (("o", _RANGE, "mean and range of resamples"), ("|", _SAMPLE, "whole table")):
        page.axes.plot(x + 0.07, y, marker=marker, color=colour, markersize=6, linestyle="none")
        page.text(text, x + 0.18, y, size=8.5)
        x += 0.18 + text_width(text, 8.5) + 0.25


def draw_case_drop(case_drop: CaseDrop, *, title: str | None = None) -> Figure:
    """Mean correlations with the whole table, and the middle 95 % of subsets, against the share of rows dropped."""
    shares = np.unique(case_drop.dropped)
    words = [f"{_LABELS[name]} {value:.2f}" for name, value in case_drop.coefficients.items()]
    page = Page(WIDTH, 4.2, title, f"CS coefficients: {', '.join(words)}")
    axes = page.panel(0.65, _FLOOR, WIDTH - 0.9, 3.2)
    x = 0.65
    for (name, values), colour in zip(case_drop.correlations.items(), COLOURS, strict=False):
        by_share = [values[case_drop.dropped == share] for share in shares]
        low, high = np.array([np.quantile(each, [0.025, 0.975]) for each in by_share]).T
        axes.fill_between(100 * shares, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(100 * shares, [each.mean() for each in by_share], "o-", color=colour, markersize=3.5, linewidth=1.2)
        page.axes.plot(x + 0.07, _FLOOR + 3.4, marker="o", color=colour, markersize=5, linestyle="none")
        page.text(_LABELS[name], x + 0.18, _FLOOR + 3.4, size=8.5)
        x += 0.18 + text_width(_LABELS[name], 8.5) + 0.25
    axes.axhline(SIMILAR, color="0.5", linewidth=0.8, linestyle="--")
    axes.set(ylim=(min(0.0, axes.get_ylim()[0]), 1.02), xlim=(0, 100 * float(shares.max()) + 3))
    axes.set_xlabel(f"rows dropped, % ({count(len(case_drop.dropped), 'subset')})", size=9)
    axes.set_ylabel("correlation with the whole table", size=9)
    return page.figure
