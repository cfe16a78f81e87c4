"""The picture of a spectrum: how large interactions are, how many there are, and what ignoring them costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mrfit.report.page import COLOURS, TITLE, WIDTH, Page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mrfit.learning.spectrum import OrderCost, Spectrum

_LEFT, _AXIS, _HEIGHT = 0.75, 0.55, 2.6  # inches


def draw_spectrum(spectra: Sequence[Spectrum], costs: Sequence[OrderCost] = (), *, title: str | None = None) -> Figure:
    """Mean size (log scale) and density of the parameters of each order (Buchman et al. 2012, figure 3).

    Where ``costs`` are given, a third panel has the held-out log-likelihood with scopes of up to so many variables.
    """
    n_panels = 3 if costs else 2
    page = Page(WIDTH, _HEIGHT + _AXIS + (TITLE if title else 0.1) + 0.1, title)
    width = (WIDTH - 0.15) / n_panels - _LEFT
    panels = [page.panel(_LEFT + k * (width + _LEFT), _AXIS, width, _HEIGHT) for k in range(n_panels)]
    _draw_sizes(panels[0], panels[1], spectra)
    if costs:
        _draw_costs(panels[2], costs)
    return page.figure


def _draw_sizes(sizes: Axes, densities: Axes, spectra: Sequence[Spectrum]) -> None:
    for number, spectrum in enumerate(spectra):
        colour, marker = COLOURS[number % len(COLOURS)], "osD"[number % 3]
        orders = [size.order for size in spectrum.sizes]
        means = [size.mean or float("nan") for size in spectrum.sizes]
        label = f"{spectrum.estimator}, {spectrum.strength:.3g}"
        sizes.plot(orders, means, color=colour, marker=marker, markersize=3.5, linewidth=1.4, label=label)
        shares = [100 * size.density for size in spectrum.sizes]
        densities.plot(orders, shares, color=colour, marker=marker, markersize=3.5, linewidth=1.4)
    sizes.set_yscale("log")
    sizes.set_ylabel("mean |w| of a set of variables", size=9)
    sizes.legend(fontsize=8, frameon=False)
    densities.set_ylim(0, 105)
    densities.set_ylabel("sets that are not zero, %", size=9)
    largest = len(spectra[0].sizes)
    for axes in (sizes, densities):
        axes.set_xlim(0.5, largest + 0.5)
        axes.set_xlabel("variables in a set", size=9)
        axes.set_xticks(range(1, largest + 1, 1 if largest <= 10 else 2))


def _draw_costs(axes: Axes, costs: Sequence[OrderCost]) -> None:
    """Lower is better; the error bars are those of the difference to the best."""
    x = range(len(costs))
    axes.errorbar(
        x,
        [-cost.held_out for cost in costs],
        [cost.standard_error for cost in costs],
        color=COLOURS[0],
        marker="o",
        markersize=3.5,
        linewidth=1.4,
        capsize=3,
    )
    axes.set_xticks(x, ["all" if cost.order is None else str(cost.order) for cost in costs])
    axes.set_xlabel("largest set kept", size=9)
    axes.set_ylabel("negative held-out log-likelihood", size=9)
