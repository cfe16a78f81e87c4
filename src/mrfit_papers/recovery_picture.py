"""Pictures of recovery: the share of tables in which all groups are found, by the number of rows, beside bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mrfit.plots.page import COLOURS, DPI

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ORDER = (1, 0, 2, 3, 4, 5, 6)  # gives the first two methods the most different colours


@dataclass(frozen=True)
class RecoveryPanel:
    """Shares of tables by method and number of rows, and the numbers of rows that theory requires, by name.

    A bound has the colour of the method of its name, if there is one.
    """

    title: str
    n_rows: Sequence[int]
    shares: Mapping[str, Sequence[float]]
    bounds: Mapping[str, float]


def draw_recovery(panels: Sequence[RecoveryPanel]) -> Figure:
    """Draw one panel a kind of network, all with the same axes; curves that coincide have different widths."""
    from matplotlib.figure import Figure

    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(6.0 * columns, 4.6 * rows), layout="constrained", dpi=DPI)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    far = max([rows for panel in panels for rows in panel.bounds.values() if math.isfinite(rows)], default=1e6)
    methods = list(dict.fromkeys(method for panel in panels for method in panel.shares))
    colours = {method: COLOURS[_ORDER[k % len(COLOURS)]] for k, method in enumerate(methods)}
    for axes, panel in zip(grid, panels, strict=False):
        _draw_curves(axes, panel, colours)
        _draw_bounds(axes, panel.bounds, colours)
        axes.set_title(panel.title, fontsize=10, loc="left")
        axes.set(xscale="log", xlim=(1, 10 * far), ylim=(-0.02, 1.03))
        axes.grid(axis="y", color="0.92")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[::columns]:
        axes.set_ylabel("probability that all groups are found")
    for axes in grid[-columns:]:
        axes.set_xlabel("rows")
    return figure


def _draw_curves(axes: Axes, panel: RecoveryPanel, colours: Mapping[str, str]) -> None:
    shown: dict[tuple[float, ...], list[str]] = {}
    for method, shares in panel.shares.items():
        shown.setdefault(tuple(shares), []).append(method)
    for share, methods in shown.items():
        for above, method in zip(range(len(methods) - 1, -1, -1), methods, strict=True):
            width = 1.5 + 2 * above
            axes.plot(panel.n_rows, share, color=colours[method], marker="o", markersize=3.5, linewidth=width)
    # The first curve to rise has its label on the left, where nothing else is; the others on the right.
    for number, share in enumerate(sorted(shown, key=sum, reverse=True)):
        height = 0.62 - 0.2 * number if number else 0.5
        x = float(np.exp(np.interp(height, share, np.log(panel.n_rows))))
        at = (x / 1.5, height) if number == 0 else (30.0 * max(panel.n_rows) ** 0.75, height)
        _name_curve(axes, shown[share], at, (x, height), colours)


def _name_curve(
    axes: Axes,
    methods: Sequence[str],
    at: tuple[float, float],
    curve_at: tuple[float, float],
    colours: Mapping[str, str],
) -> None:
    """Draw names below each other, each in its own colour, and a line to the curve."""
    left = at[0] < curve_at[0]
    if not left:
        axes.plot((curve_at[0] * 1.15, at[0] / 1.3), (curve_at[1], at[1]), color="0.6", linewidth=0.8)
    for number, method in enumerate(methods):
        height = at[1] + 0.055 * ((len(methods) - 1) / 2 - number)
        axes.text(at[0], height, method, color=colours[method], ha="right" if left else "left", va="center")


def _draw_bounds(axes: Axes, bounds: Mapping[str, float], colours: Mapping[str, str]) -> None:
    for name, n_rows in bounds.items():
        if math.isfinite(n_rows):
            colour = next((colours[method] for method in colours if method in name), "0.3")
            axes.axvline(n_rows, color=colour, linestyle="--", linewidth=1.2)
            exponent = math.floor(math.log10(n_rows))
            label = rf"{name}: ${n_rows / 10**exponent:.0f} \times 10^{{{exponent}}}$ rows"
            axes.text(n_rows * 0.75, 0.5, label, color=colour, rotation=90, ha="right", va="center", fontsize=8)
