"""The picture of residuals: what a model misses of pairs and triples of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mrfit._typing import Floats
from mrfit.analysis.goodness.goodness import Goodness, Residual
from mrfit.plots.page import Page, cut, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# On paper, in inches.
_CELL, _NAMES, _RIGHT, _AIR = 0.42, 1.9, 1.0, 0.12
_LEAST = 3.0  # standard errors at the ends of the scale, or as many as there are
_NUMBERED = 20  # variables up to which cells hold their numbers


def draw_residuals(
    goodness: Goodness, *, ax: Axes | None = None, title: str | None = None, subtitle: str | None = None
) -> Axes:
    """A square for each pair of variables, in standard errors: blue where rows are more frequent than the model says.

    Below the diagonal the pair itself, white where the model was fitted to it; above it the triple with the largest
    residual that holds both.
    """
    names = goodness.names
    above = np.triu(np.ones((len(names), len(names)), bool))
    values = np.where(above, _matrix(names, goodness.triples), _matrix(names, goodness.pairs).T)
    if ax is None:
        ax = _own_axes(names, title, _SUBTITLE if subtitle is None else subtitle)
    most = max(_LEAST, float(np.nanmax(np.abs(values), initial=0.0)))
    image = ax.imshow(values, cmap="RdBu", vmin=-most, vmax=most, aspect="equal")
    _name_sides(ax, names)
    if len(names) <= _NUMBERED:
        _number(ax, values, most)
    bar = ax.inset_axes((1.03, 0.0, 0.035, 1.0))
    ax.figure.colorbar(image, cax=bar)
    bar.tick_params(labelsize=8)
    bar.set_ylabel("(frequency − probability) / standard error", size=8.5)
    bar.spines[:].set_visible(False)
    return ax


_SUBTITLE = "below the diagonal pairs the model was not fitted to, above it the worst triple with both"


def _matrix(names: Sequence[str], residuals: Sequence[Residual]) -> Floats:
    """The largest residual of all that hold two variables, above the diagonal; NaN where none is known."""
    number, out = {name: i for i, name in enumerate(names)}, np.full((len(names), len(names)), np.nan)
    for each in reversed(residuals):  # the largest stand first, and so are written last; NaN before all others
        inside = sorted(number[name] for name in each.variables)
        for k, a in enumerate(inside):
            out[a, inside[k + 1 :]] = each.residual
    return out


def _own_axes(names: Sequence[str], title: str | None, subtitle: str) -> Axes:
    side = max(_CELL * len(names), 2.2)
    margin = min(_NAMES, max(text_width(name, 8) for name in names)) + 0.2
    width = max(margin + side + _RIGHT, text_width(subtitle, 9) + 0.4)
    page = Page(width, margin + side + _AIR, title, subtitle)
    return page.panel(margin, margin, side, side)


def _name_sides(axes: Axes, names: Sequence[str]) -> None:
    places, words = np.arange(len(names)), [cut(name, _NAMES, 8) for name in names]
    axes.set(xticks=places, yticks=places)
    axes.set_xticklabels(words, size=8, rotation=90, parse_math=False)
    axes.set_yticklabels(words, size=8, parse_math=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xticks(places[:-1] + 0.5, minor=True)
    axes.set_yticks(places[:-1] + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="minor", length=0)


def _number(axes: Axes, values: Floats, most: float) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            text = f"{value:.1f}".replace("-", "\N{MINUS SIGN}")
            colour = "white" if abs(value) > 0.6 * most else "0.2"
            axes.text(column, row, text, ha="center", va="center", size=7.5, color=colour)
