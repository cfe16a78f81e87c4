"""Pictures of power: what is found against the number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit._typing import Floats
from mrfit.plots.page import COLOURS, WIDTH, Page, text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# On paper, in inches.
_FLOOR, _LEFT, _HEIGHT = 0.55, 0.65, 3.2

_SURE = 1.96  # standard errors on both sides


def draw_power(
    n_rows: Sequence[int],
    curves: Mapping[str, tuple[Floats, Floats]],
    *,
    wanted: float | None = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> Figure:
    """Draw curves by name, each the means and standard errors at every number of rows.

    A dashed line is at the sensitivity that is ``wanted``.
    """
    page = Page(WIDTH, 4.2, title, subtitle)
    axes = page.panel(_LEFT, _FLOOR, WIDTH - 0.9, _HEIGHT)
    axes.set_xscale("log")
    x = _LEFT
    for (name, (mean, error)), colour in zip(curves.items(), COLOURS, strict=False):
        axes.errorbar(
            n_rows, mean, yerr=_SURE * np.nan_to_num(error), color=colour, marker="o", markersize=3.5, linewidth=1.2,
            capsize=2,
        )  # fmt: skip
        page.axes.plot(x + 0.07, _FLOOR + _HEIGHT + 0.2, marker="o", color=colour, markersize=5, linestyle="none")
        page.text(name, x + 0.18, _FLOOR + _HEIGHT + 0.2, size=8.5)
        x += 0.18 + text_width(name, 8.5) + 0.25
    if wanted is not None:
        axes.axhline(wanted, color="0.5", linewidth=0.8, linestyle="--")
        at_start: dict[str, Any] = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
        axes.annotate(f"wanted sensitivity {wanted:g}", (0.0, wanted), (4, 3), size=8, color="0.35", **at_start)
    lowest = min(0.0, *(float(np.nanmin(mean)) for mean, _ in curves.values()))
    axes.set(ylim=(lowest - 0.02, 1.04), xticks=list(n_rows), xticklabels=[f"{n:,}" for n in n_rows])
    axes.minorticks_off()
    axes.set_xlabel("rows", size=9)
    axes.set_ylabel("mean over tables", size=9)
    return page.figure
