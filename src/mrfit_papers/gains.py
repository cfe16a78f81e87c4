"""Pictures of learning curves: the gain of methods over a common one, by the number of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mrfit.plots.page import COLOURS, DPI

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class GainPanel:
    """Mean gains by method over numbers of rows, each with its standard error."""

    title: str
    n_rows: Sequence[int]
    gains: Mapping[str, Sequence[tuple[float, float]]]


def draw_gains(panels: Sequence[GainPanel], *, over: str, columns: int = 3) -> Figure:
    """Draw one panel a data set; a point above the line is better than ``over``. Bars are two standard errors.

    Gains differ by orders of magnitude between few rows and many, so the vertical scale is linear around zero and
    logarithmic beyond.
    """
    from matplotlib.figure import Figure

    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(4.0 * columns, 3.2 * rows), layout="constrained", dpi=DPI)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    methods = list(dict.fromkeys(method for panel in panels for method in panel.gains))
    for axes, panel in zip(grid, panels, strict=False):
        axes.axhline(0.0, color="0.5", linewidth=0.8)
        for k, method in enumerate(methods):
            if method not in panel.gains:
                continue
            means, errors = zip(*panel.gains[method], strict=True)
            shift = 1.0 + 0.03 * (k - (len(methods) - 1) / 2)  # puts bars side by side
            x = [n * shift for n in panel.n_rows]
            bars = [2.0 * error for error in errors]
            axes.errorbar(
                x, means, bars, color=COLOURS[k % len(COLOURS)], marker="osD^v"[k % 5], markersize=3.5,
                linewidth=1.4, capsize=2, label=method,
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_xticks(panel.n_rows, [f"{n:,}" for n in panel.n_rows], rotation=30, ha="right")
        axes.set_xticks([], minor=True)
        axes.set_yscale("symlog", linthresh=0.01)
        axes.set_title(panel.title, fontsize=10, loc="left")
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[::columns]:
        axes.set_ylabel(f"gain over {over},\nnats a test row", fontsize=9)
    for axes in grid[max(0, len(panels) - columns) : len(panels)]:
        axes.set_xlabel("training rows", fontsize=9)
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(methods), frameon=False, fontsize=9)
    return figure
