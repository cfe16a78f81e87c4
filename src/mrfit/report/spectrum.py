"""The picture of a spectrum: how large interactions are, how many there are, and what ignoring them costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def draw_spectra(spectra: Mapping[str, Sequence[Spectrum]], *, title: str | None = None) -> Figure:
    """Spectra of several tables side by side (Buchman et al. 2012, figure 3): a colour for each table.

    The first estimator of a table is a solid line, the second dashed, the third dotted; densities of the first only.
    """
    page = Page(WIDTH, 3.4 + _AXIS + (TITLE if title else 0.1) + 0.1, title)
    width = (WIDTH - 1.1) / 2 - _LEFT
    sizes, densities = (page.panel(_LEFT + k * (width + _LEFT), _AXIS, width, 3.4) for k in range(2))
    for number, (name, found) in enumerate(spectra.items()):
        colour = COLOURS[number % len(COLOURS)]
        for spectrum, style in zip(found, ("-", "--", ":"), strict=False):
            orders = [size.order for size in spectrum.sizes]
            means = [size.mean or float("nan") for size in spectrum.sizes]
            sizes.plot(orders, means, color=colour, linestyle=style, linewidth=1.3)
        shares = [100 * size.density for size in found[0].sizes]
        densities.plot([size.order for size in found[0].sizes], shares, color=colour, linewidth=1.3, label=name)
    _label(sizes, densities, max(len(found[0].sizes) for found in spectra.values()))
    densities.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
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
    _label(sizes, densities, len(spectra[0].sizes))
    sizes.legend(fontsize=8, frameon=False)


def _label(sizes: Axes, densities: Axes, largest: int) -> None:
    sizes.set_yscale("log")
    sizes.set_ylabel("mean |w| of a set of variables", size=9)
    densities.set_ylim(0, 105)
    densities.set_ylabel("sets that are not zero, %", size=9)
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
