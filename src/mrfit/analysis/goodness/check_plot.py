"""The picture of a check: probabilities under the model against frequencies in the data, and how many variables are
away from their first state in both."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mrfit._typing import Floats
from mrfit.analysis.goodness.check import Check
from mrfit.core.errors import InputError
from mrfit.plots.page import COLOURS, Page, count, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# On paper, in inches.
_SIDE = 3.5  # of the square
_SUMS = 3.6  # the width of the other panel
_LEFT, _FLOOR, _BETWEEN, _AIR = 0.62, 0.62, 0.75, 0.3

_PAIRS, _SINGLES = COLOURS[0], COLOURS[1]
_SHADE = 0.45  # of the data's bars
_MODEL, _DATA = COLOURS[1], COLOURS[0]
_FEW = 100  # points that may be large
_MANY = 2000  # points above which they are drawn as one image in .svg and .pdf files
_BARS = 60  # points with the largest errors that have a bar
_HIDDEN = 0.004  # of the scale: shorter bars are hidden by their points
_TAIL = 1e-3  # of rows on either side that a histogram leaves out
_MOST_STEPS = 60  # of a histogram


def draw_check(check: Check, *, title: str | None = None) -> Figure:
    """Draw the probabilities of states and pairs of states against their frequencies, and the number of variables that
    are not in their reference state.

    A point on the diagonal is as probable under the model as it is frequent in the data. The grey band is the sampling
    error of the data, two standard errors to either side. Bars are two standard errors of the model's probability,
    where it is not exact.
    """
    if not check.is_known:
        raise InputError("There is nothing to draw: chains do not mix. Check the model with an exact engine.")
    wide = _LEFT + _SIDE + _BETWEEN + _SUMS + _AIR
    page = Page(wide, _FLOOR + _SIDE + 0.42, title, _subtitle(check))
    _draw_frequencies(page.panel(_LEFT, _FLOOR, _SIDE, _SIDE), check)
    _draw_sums(page, page.panel(_LEFT + _SIDE + _BETWEEN, _FLOOR, _SUMS, _SIDE), check)
    _draw_key(page, check)
    return page.figure


def _subtitle(check: Check) -> str:
    phantom = check.phantom_mode
    if phantom is not None:
        size = "≥ 0.99" if phantom.mass > 0.99 else f"{phantom.mass:.2g}"
        return (
            f"a spurious mode has {size} of the model's probability: about {phantom.sum:.0f} of {phantom.n_variables} "
            "variables are not in their reference state there"
        )
    return check.verdict


def _draw_frequencies(axes: Axes, check: Check) -> None:
    model, data = check.model, check.data
    variable = model.states.variable_of_indicators
    pairs = variable[:, None] < variable[None, :]
    states = model.states.of_indicators if max(model.states.shape) <= 2 else np.arange(len(model.single))
    most = min(1.0, 1.03 * max(float(moments.single[states].max(initial=0.02)) for moments in (model, data)))
    axes.set(xlim=(-0.02 * most, 1.02 * most), ylim=(-0.02 * most, 1.02 * most), aspect="equal")
    axes.set_xlabel(f"frequency in the data, {count(int(check.n_rows), 'row')}", size=9)
    axes.set_ylabel("probability under the model", size=9)
    p = np.linspace(0.0, 1.0, 201)
    chance = 2.0 * np.sqrt(p * (1.0 - p) / check.n_rows)
    axes.fill_between(p, np.maximum(p - chance, 0.0), np.minimum(p + chance, 1.0), color="0.88", linewidth=0, zorder=0)
    axes.plot([0, 1], [0, 1], clip_on=True, color="0.55", linewidth=0.8, zorder=1)
    errors = np.broadcast_to(model.pair_error, pairs.shape)
    n_pairs = int(pairs.sum())
    size = 2.5 if n_pairs > _MANY else 7.0 if n_pairs > _FEW else 16.0
    _scatter(axes, data.pair[pairs], model.pair[pairs], errors[pairs], _PAIRS, size=size)
    _scatter(axes, data.single[states], model.single[states], model.single_error[states], _SINGLES, size=16, zorder=4)


def _scatter(
    axes: Axes, data: Floats, model: Floats, error: Floats, colour: str, *, size: float, zorder: float = 2.0
) -> None:
    """Points, the largest errors with bars."""
    if not len(data):
        return
    alpha = 0.85 if len(data) < 200 else 0.45 if len(data) < _MANY else 0.25
    axes.scatter(
        data, model, s=size, color=colour, alpha=alpha, linewidths=0, zorder=zorder, rasterized=len(data) > _MANY
    )  # fmt: skip
    largest = np.argsort(-error, kind="stable")[:_BARS]
    largest = largest[error[largest] > _HIDDEN * axes.get_ylim()[1]]
    axes.errorbar(
        data[largest], model[largest], 2.0 * error[largest], fmt="none", ecolor=colour, elinewidth=0.7, alpha=0.6,
        zorder=zorder - 0.5,
    )  # fmt: skip


def _draw_sums(page: Page, axes: Axes, check: Check) -> None:
    """Bars for the data, a line for the model."""
    model, data = check.model.sums, check.data.sums
    ends = [np.searchsorted(np.cumsum(sums), (_TAIL, 1.0 - _TAIL)) for sums in (model, data)]
    first, last = int(np.min(ends)), min(int(np.max(ends)), len(data) - 1)
    step = -(-(last + 1 - first) // _MOST_STEPS)
    edges = np.arange(first, last + 1 + step, step)
    heights = [np.array([sums[a:b].sum() for a, b in pairwise(edges)]) / step for sums in (data, model)]
    axes.bar(edges[:-1] - 0.5, heights[0], step, align="edge", color=_DATA, alpha=_SHADE, linewidth=0)
    axes.stairs(heights[1], edges - 0.5, color=_MODEL, linewidth=1.5, baseline=0)
    axes.set_ylim(0, 1.06 * max(map(np.max, heights)))
    axes.set_xlim(edges[0] - 0.5 - 0.02 * (last - first), edges[-1] - 0.5 + 0.02 * (last - first))
    axes.set_xlabel("number of variables not in their reference state", size=9)
    axes.set_ylabel("share of rows" if step == 1 else "share of rows, for each number", size=9)
    axes.locator_params(axis="x", integer=True)


def _draw_key(page: Page, check: Check) -> None:
    """Above the panels, in a line each."""
    y = _FLOOR + _SIDE + 0.2
    entries: list[tuple[float, list[tuple[str, str, str]]]] = [
        (
            _LEFT,
            [("o", _PAIRS, "pair of states"), ("o", _SINGLES, "state of a variable"), ("s", "0.88", "sampling error")],
        ),
        (_LEFT + _SIDE + _BETWEEN, [("s", _DATA, "data"), ("_", _MODEL, "model")]),
    ]
    for x, words in entries:
        for marker, colour, text in words:
            shade = _SHADE if marker == "s" and colour == _DATA else 1.0
            page.axes.plot(x + 0.07, y, marker=marker, color=colour, markersize=6, linestyle="none", alpha=shade)
            page.text(text, x + 0.18, y, size=8.5)
            x += 0.18 + text_width(text, 8.5) + 0.22
