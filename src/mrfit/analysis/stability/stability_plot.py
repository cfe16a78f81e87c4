"""Pictures of stability: ranges of edges, what is left when rows are dropped, edges along strengths."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from mrfit.analysis.stability.case_dropping import SIMILAR, CaseDrop, CaseDropping
from mrfit.analysis.stability.resampled_networks import Edge, pairs_of
from mrfit.analysis.stability.resampling import Stability
from mrfit.analysis.stability.stars import Stars, StarsSelection
from mrfit.core.errors import InputError
from mrfit.plots.drawn_edges import NEGATIVE, POSITIVE
from mrfit.plots.page import COLOURS, apart, count, cut, draw_key, name_lines, own_axes, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# On paper, in inches.
_LINE, _HEIGHT, _LEFT = 0.2, 3.4, 0.65
_NAMES, _SHARES = 2.6, 1.3  # the largest width of names, and the width of the bars of inclusion
_MOST = 60  # edges in one picture
_NAMED = 12  # edges with a name beside their path

_SAMPLE, _RANGE = COLOURS[1], COLOURS[0]
_RESAMPLES = {"bootstrap": "bootstrap sample", "pairs": "half"}
_LABELS = {"edges": "edges", "strength": "node strength", "expected_influence": "expected influence"}


@singledispatch
def draw_stability(found: Stability, *, title: str | None = None) -> Axes:
    """Draw the main result of an analysis of stability; by default the ranges of edge weights."""
    resamples = count(len(found.networks.known), _RESAMPLES.get(found.kind, "resample"))
    subtitle = f"{resamples}, {100 * found.level:g} % percentile intervals"
    return draw_edge_ranges(found.edges, title=title, subtitle=subtitle, unit=found.unit)


@draw_stability.register(CaseDropping)
def _(found: CaseDropping, *, title: str | None = None) -> Axes:
    return draw_case_drop(found.case_drop, title=title)


@draw_stability.register(StarsSelection)
def _(found: StarsSelection, *, title: str | None = None) -> Axes:
    return draw_stability_paths(found.stars, found.networks.names, title=title)


def draw_edge_ranges(
    edges: Sequence[Edge],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    unit: str | None = None,
) -> Axes:
    """Draw the percentile interval, the mean and the estimate of each edge weight, sorted by the mean.

    Positive means are blue, negative ones red. Bars beside them show the share of resamples that include the edge; in
    the others its weight is zero. ``unit`` is that of the weights.
    """
    shown = sorted(edges, key=lambda edge: (-edge.inclusion, -abs(edge.mean)))[:_MOST]
    if not shown:
        raise InputError("There is nothing to draw: no edge is in the table or in any resample.")
    shown.sort(key=lambda edge: edge.mean)
    names = [f"{edge.source} – {edge.target}" for edge in shown]
    if ax is None:
        left = min(_NAMES, max(text_width(name, 8) for name in names)) + 0.3
        more = f"; {len(edges) - len(shown):,} more edges are not drawn" if len(edges) > len(shown) else ""
        subtitle = (subtitle or "") + more or None
        ax = own_axes(_LINE * len(shown), left=left, right=_SHARES, title=title, subtitle=subtitle)
    name_lines(ax, names, _NAMES)
    _draw_ranges(ax, shown, f"edge weight ({unit})" if unit else "edge weight")
    _draw_shares(ax.inset_axes((1.04, 0.0, 0.13, 1.0)), shown)
    return ax


def _draw_ranges(axes: Axes, edges: Sequence[Edge], what: str) -> None:
    """Ranges that go on for ever end at the frame."""
    places = np.arange(len(edges)) + 0.5
    ends = np.array([[edge.low, edge.high] for edge in edges])
    values = np.array([[edge.mean, edge.sample] for edge in edges])
    known = np.concatenate([ends.ravel(), values.ravel(), [0.0]])
    low, high = np.min(known[np.isfinite(known)]), np.max(known[np.isfinite(known)])
    margin = 0.05 * (high - low) or 1.0
    axes.set_xlim(low - margin, high + margin)
    ends = np.clip(ends, low - margin, high + margin)
    axes.axvline(0.0, color="0.7", linewidth=0.8, zorder=0)
    colours = [_colour(edge) for edge in edges]
    axes.hlines(places, ends[:, 0], ends[:, 1], color=colours, linewidth=3.0, alpha=0.35)
    axes.scatter(values[:, 0], places, s=13, color=colours, zorder=2)
    axes.plot([], [], "o-", color="0.35", markersize=3.5, label="mean and percentile interval of resamples")
    sample = np.clip(values[:, 1], low - margin, high + margin)
    axes.plot(sample, places, "|", color=_SAMPLE, markersize=8, markeredgewidth=1.5, label="estimate from all rows")
    axes.set_xlabel(what, size=9)
    draw_key(axes)


def _draw_shares(axes: Axes, edges: Sequence[Edge]) -> None:
    axes.barh(np.arange(len(edges)) + 0.5, [edge.inclusion for edge in edges], height=0.6, color="0.75")
    axes.set(xlim=(0, 1), ylim=(0, len(edges)), yticks=[], xticks=[0, 1], facecolor="none")
    axes.set_xticklabels(["0", "100%"])
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("included in", size=9)


def _colour(edge: Edge) -> str:
    """Return blue for a positive mean, red for a negative one, and grey for an edge that is in no resample."""
    return POSITIVE if edge.mean > 0 else NEGATIVE if edge.mean < 0 else "0.6"


def draw_case_drop(case_drop: CaseDrop, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Mean correlations with the whole table, and the middle 95 % of subsets, against the share of rows dropped.

    The line is at 0.7, above which 95 % of subsets must be for a CS coefficient.
    """
    if ax is None:
        words = [f"{_LABELS[name]} {value:.2f}" for name, value in case_drop.coefficients.items()]
        ax = own_axes(_HEIGHT, left=_LEFT, title=title, subtitle=f"CS coefficients: {', '.join(words)}")
    shares = np.unique(case_drop.dropped)
    for (name, values), colour in zip(case_drop.correlations.items(), COLOURS, strict=False):
        by_share = [values[case_drop.dropped == share] for share in shares]
        low, high = np.array([np.quantile(each, [0.025, 0.975]) for each in by_share]).T
        means = [each.mean() for each in by_share]
        ax.fill_between(100 * shares, low, high, color=colour, alpha=0.15, linewidth=0)
        ax.plot(100 * shares, means, "o-", color=colour, markersize=3.5, linewidth=1.2, label=_LABELS[name])
    ax.axhline(SIMILAR, color="0.5", linewidth=0.8, linestyle="--")
    ax.set(ylim=(min(0.0, ax.get_ylim()[0]), 1.02), xlim=(0, 100 * float(shares.max()) + 3))
    ax.set_xlabel(f"rows dropped, % ({count(len(case_drop.dropped), 'subset')})", size=9)
    ax.set_ylabel("correlation with the whole table", size=9)
    draw_key(ax)
    return ax


def draw_stability_paths(
    stars: Stars, names: Sequence[str], *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """The share of subsamples with each pair against the l1 strength, from strong to weak; a line at the stable one.

    Pairs that are there at the stable strength in most subsamples are blue, the steadiest of them with names.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if ax is None:
        words = f"stable strength {stars.strengths[stars.chosen]:.3g}: instability at most 0.05 up to there"
        ax = own_axes(_HEIGHT, left=_LEFT, right=_NAMES - 0.6, title=title, subtitle=words)
    at_chosen = stars.inclusion[stars.chosen]
    kept = at_chosen >= 0.5
    ax.plot(stars.strengths, stars.inclusion[:, ~kept], color="0.75", linewidth=0.7, zorder=1)
    ax.plot(stars.strengths, stars.inclusion[:, kept], color=_RANGE, linewidth=1.1, alpha=0.8, zorder=2)
    ax.axvline(stars.strengths[stars.chosen], color=_SAMPLE, linewidth=1.2, linestyle="--")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda strength, _: f"{strength:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set(ylim=(-0.02, 1.02), xlim=(stars.strengths.max(), stars.strengths.min()))
    ax.set_xlabel("l1 strength, weaker to the right", size=9)
    ax.set_ylabel("share of subsamples with the pair", size=9)
    _name_paths(ax, stars, names)
    return ax


def _name_paths(axes: Axes, stars: Stars, names: Sequence[str]) -> None:
    """Write names at the right ends of the paths that rose first, without overlaps."""
    area = stars.inclusion.mean(axis=0)
    steady = [int(k) for k in np.argsort(-area, kind="stable")[:_NAMED] if stars.inclusion[stars.chosen, k] >= 0.5]
    ends, pairs = stars.inclusion[-1, steady], pairs_of(len(names))
    wanted = np.arange(len(steady))[::-1] * 1e-6 + ends  # the steadiest on top of equal ones
    places = apart(wanted, np.full(len(steady), 0.055), -0.02, 1.04)
    for k, y in zip(steady, places, strict=True):
        words = cut(f"{names[pairs[k, 0]]} – {names[pairs[k, 1]]}", _NAMES - 0.8, 7.5)
        axes.annotate(
            words, (1.01, y), xycoords=axes.get_yaxis_transform(), size=7.5, va="center", parse_math=False,
            annotation_clip=False,
        )  # fmt: skip
