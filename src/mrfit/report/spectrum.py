"""The picture of a spectrum: how large interactions are, how many there are, and what ignoring them costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mrfit.report.page import COLOURS, TITLE, WIDTH, Page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT, _AXIS, _HEIGHT = 0.75, 0.55, 2.6  # inches


@dataclass(frozen=True)
class SpectrumCurve:
    """Mean size and density (0 to 1) of the parameters of sets of 1, 2, ... variables, by one estimator."""

    label: str
    means: Sequence[float]
    densities: Sequence[float]

    @property
    def orders(self) -> range:
        return range(1, len(self.means) + 1)


@dataclass(frozen=True)
class OrderScore:
    """The negative held-out score with sets of up to so many variables, and its error."""

    label: str
    score: float
    error: float


def draw_spectrum(curve: SpectrumCurve, scores: Sequence[OrderScore] = (), *, title: str | None = None) -> Figure:
    """Mean size (log scale) and density of the parameters of each order (Buchman et al. 2012, figure 3).

    Where ``scores`` are given, a third panel shows them: lower is better.
    """
    n_panels = 3 if scores else 2
    page = Page(WIDTH, _HEIGHT + _AXIS + (TITLE if title else 0.1) + 0.1, title)
    width = (WIDTH - 0.15) / n_panels - _LEFT
    panels = [page.panel(_LEFT + k * (width + _LEFT), _AXIS, width, _HEIGHT) for k in range(n_panels)]
    _draw(panels[0], panels[1], [curve], COLOURS[0])
    panels[0].lines[0].set_label(curve.label)
    panels[0].legend(fontsize=8, frameon=False)
    _label(panels[0], panels[1], len(curve.means))
    if scores:
        _draw_scores(panels[2], scores)
    return page.figure


def draw_spectra(spectra: Mapping[str, Sequence[SpectrumCurve]], *, title: str | None = None) -> Figure:
    """Spectra of several tables side by side (Buchman et al. 2012, figure 3): a colour for each table.

    The first estimator of a table is a solid line, the second dashed, the third dotted; densities of the first only.
    """
    page = Page(WIDTH, 3.4 + _AXIS + (TITLE if title else 0.1) + 0.1, title)
    width = (WIDTH - 1.1) / 2 - _LEFT
    sizes, densities = (page.panel(_LEFT + k * (width + _LEFT), _AXIS, width, 3.4) for k in range(2))
    for number, (name, curves) in enumerate(spectra.items()):
        _draw(sizes, densities, curves, COLOURS[number % len(COLOURS)])
        densities.lines[-1].set_label(name)
    _label(sizes, densities, max(len(curves[0].means) for curves in spectra.values()))
    densities.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return page.figure


def _draw(sizes: Axes, densities: Axes, curves: Sequence[SpectrumCurve], colour: str) -> None:
    for curve, style in zip(curves, ("-", "--", ":"), strict=False):
        means = [mean or float("nan") for mean in curve.means]  # zero has no place on a log scale
        sizes.plot(curve.orders, means, color=colour, linestyle=style, marker="o", markersize=3, linewidth=1.3)
    shares = [100 * density for density in curves[0].densities]
    densities.plot(curves[0].orders, shares, color=colour, marker="o", markersize=3, linewidth=1.3)


def _label(sizes: Axes, densities: Axes, largest: int) -> None:
    sizes.set_yscale("log")
    sizes.set_ylabel("mean |w| of a set of variables", size=9)
    densities.set_ylim(0, 105)
    densities.set_ylabel("sets that are not zero, %", size=9)
    for axes in (sizes, densities):
        axes.set_xlim(0.5, largest + 0.5)
        axes.set_xlabel("variables in a set", size=9)
        axes.set_xticks(range(1, largest + 1, 1 if largest <= 10 else 2))


def _draw_scores(axes: Axes, scores: Sequence[OrderScore]) -> None:
    x, style = range(len(scores)), {"marker": "o", "markersize": 3, "linewidth": 1.3, "capsize": 3}
    axes.errorbar(
        x,
        [each.score for each in scores],
        [each.error for each in scores],
        color=COLOURS[0],
        **style,  # type: ignore[arg-type]
    )
    axes.set_xticks(x, [each.label for each in scores])
    axes.set_xlabel("largest set kept", size=9)
    axes.set_ylabel("negative held-out log-likelihood", size=9)
