"""The picture of a spectrum: how large interactions are, how many there are, and what ignoring them costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mrfit.plots.page import COLOURS, WIDTH, Page, decimal, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT, _AXIS, _HEIGHT = 0.75, 0.55, 2.6  # inches
_STYLES = ("-", "--", ":")  # of estimators


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
class OrderLoss:
    """Loss of an order on held-out rows, in nats per row against the best order, with its standard error."""

    label: str
    loss: float
    error: float


def draw_spectrum(
    curve: SpectrumCurve,
    losses: Sequence[OrderLoss] = (),
    *,
    title: str | None = None,
    subtitle: str | None = None,
) -> Figure:
    """Draw the mean size (log scale) and density of the parameters of each order (Buchman et al. 2012, figure 3).

    A mean of zero is an open circle at the foot of the log scale. Densities are left out if no parameter is zero. With
    ``losses``, a last panel shows the held-out loss of models with sets of up to 1, 2, ... variables against the best,
    with standard errors of these differences: lower is better.
    """
    is_sparse = any(density < 1 for density in curve.densities)
    n_panels = 1 + is_sparse + bool(losses)
    page = Page(WIDTH, _HEIGHT + _AXIS + 0.25, title, subtitle)
    width = (WIDTH - 0.15) / n_panels - _LEFT
    panels = [page.panel(_LEFT + k * (width + _LEFT), _AXIS, width, _HEIGHT) for k in range(n_panels)]
    draw_sizes(panels[0], curve)
    if is_sparse:
        _draw_densities(panels[1], curve, COLOURS[0])
        _label_densities(panels[1], len(curve.means))
    if losses:
        _draw_losses(panels[-1], losses)
    return page.figure


def draw_sizes(axes: Axes, curve: SpectrumCurve) -> None:
    """The mean sizes of one curve, on axes with scales."""
    scale = _SizeScale.around([curve])
    _draw_sizes(plain(axes), [curve], COLOURS[0], scale)
    axes.set_title(curve.label, size=8, loc="left", parse_math=False)
    _label_sizes(axes, scale, len(curve.means))


def draw_spectra(spectra: Mapping[str, Sequence[SpectrumCurve]], *, title: str | None = None) -> Figure:
    """Spectra of several tables side by side (Buchman et al. 2012, figure 3): a colour for each table.

    The first estimator of a table is a solid line, the second dashed, the third dotted; densities of the first only.
    Means of zero are open circles at the foot.
    """
    page = Page(WIDTH, 3.4 + _AXIS + 0.1, title)
    width = (WIDTH - 1.1) / 2 - _LEFT
    sizes, densities = (page.panel(_LEFT + k * (width + _LEFT), _AXIS, width, 3.4) for k in range(2))
    scale = _SizeScale.around([curve for curves in spectra.values() for curve in curves])
    for number, (name, curves) in enumerate(spectra.items()):
        colour = COLOURS[number % len(COLOURS)]
        _draw_sizes(sizes, curves, colour, scale)
        _draw_densities(densities, curves[0], colour)
        densities.lines[-1].set_label(name)
    largest = max(len(curves[0].means) for curves in spectra.values())
    _label_sizes(sizes, scale, largest)
    _label_densities(densities, largest)
    densities.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    most = max(spectra.values(), key=len)
    if len(most) > 1:
        for curve, style in zip(most, _STYLES, strict=False):
            sizes.plot([], [], color="0.3", linewidth=1.3, linestyle=style, label=curve.label.partition(",")[0])
        sizes.legend(fontsize=8, frameon=False, loc="upper right")
    return page.figure


@dataclass(frozen=True)
class _SizeScale:
    """Powers of ten that a log scale reaches from and to; and where zeros stand below it, if there are any."""

    low: float
    high: float
    zero: float | None

    @classmethod
    def around(cls, curves: Sequence[SpectrumCurve]) -> _SizeScale:
        means = [mean for curve in curves for mean in curve.means]
        positive = [mean for mean in means if mean > 0] or [1.0]
        low, high = math.log10(min(positive)) - 0.2, math.log10(max(positive)) + 0.2
        return cls(low, high, low - 0.13 * (high - low) if 0 in means else None)

    def apply(self, axes: Axes) -> None:
        axes.set_yscale("log")
        ticks = self._ticks() if self.zero is None else {10**self.zero: "0", **self._ticks()}
        axes.set_yticks(list(ticks), list(ticks.values()))
        axes.set_yticks([], minor=True)
        axes.set_ylim(10**self.low, 10**self.high)
        if self.zero is None:
            return
        axes.set_ylim(10 ** (2 * self.zero - self.low) * 10 ** (0.05 * (self.high - self.low)), 10**self.high)
        axes.axhline(10**self.low, color="0.7", linewidth=0.6, linestyle=":", zorder=0)  # here the scale ends

    def _ticks(self) -> dict[float, str]:
        """Powers of ten, up to about six; where the scale has only one of them, round numbers between."""
        powers = range(math.ceil(self.low), math.floor(self.high) + 1)
        if len(powers) > 1:
            step = math.ceil(len(powers) / 6)
            return {10.0**power: f"$10^{{{power}}}$" for power in powers if power % step == 0}
        values = [digit * 10.0**power for power in range(math.floor(self.low), powers.stop + 1) for digit in (1, 2, 5)]
        return {value: f"{value:g}" for value in values if 10**self.low <= value <= 10**self.high}


_LINE: dict[str, Any] = {"marker": "o", "markersize": 3, "linewidth": 1.3}


def _draw_sizes(axes: Axes, curves: Sequence[SpectrumCurve], colour: str, scale: _SizeScale) -> None:
    for curve, style in zip(curves, _STYLES, strict=False):
        means = [mean or float("nan") for mean in curve.means]  # zero has no place on a log scale
        axes.plot(curve.orders, means, color=colour, linestyle=style, **_LINE)
    if scale.zero is not None:
        zeros = sorted({order for curve in curves for order in curve.orders if curve.means[order - 1] == 0})
        open_circles = {**_LINE, "color": colour, "linestyle": "none", "markerfacecolor": "white", "markersize": 4.5}
        axes.plot(zeros, [10**scale.zero] * len(zeros), **open_circles)


def _draw_densities(axes: Axes, curve: SpectrumCurve, colour: str) -> None:
    axes.plot(curve.orders, [100 * density for density in curve.densities], color=colour, **_LINE)


def _label_sizes(axes: Axes, scale: _SizeScale, largest: int) -> None:
    scale.apply(axes)
    axes.set_ylabel("mean |w| of a set of variables", size=9)
    _label_orders(axes, largest)


def _label_densities(axes: Axes, largest: int) -> None:
    axes.set_ylim(0, 105)
    axes.set_ylabel("sets that are not zero, %", size=9)
    _label_orders(axes, largest)


def _label_orders(axes: Axes, largest: int) -> None:
    axes.set_xlim(0.5, largest + 0.5)
    axes.set_xlabel("variables in a set", size=9)
    axes.set_xticks(range(1, largest + 1, 1 if largest <= 10 else 2))


def _draw_losses(axes: Axes, losses: Sequence[OrderLoss]) -> None:
    """The best order has a ring: it is what the others are compared with, and has no error."""
    x, y = list(range(len(losses))), [each.loss for each in losses]
    top = max(each.loss + each.error for each in losses) or 1.0
    axes.axhline(0.0, color="0.7", linewidth=0.6, zorder=0)
    bars: dict[str, Any] = {"marker": "o", "markersize": 3, "linewidth": 1.3, "capsize": 3}
    axes.errorbar(x, y, [each.error for each in losses], color=COLOURS[0], **bars)
    best = min(x, key=lambda k: y[k])
    ring: dict[str, Any] = {"marker": "o", "markersize": 8, "markerfacecolor": "none", "linestyle": "none"}
    axes.plot([best], [y[best]], color=COLOURS[0], **ring)
    for k, each in enumerate(losses):  # losses of large orders are small beside that of the first
        text = "best" if k == best else f"{decimal(each.loss, 2)}\n± {each.error:.1g}"
        offset = (0, -15) if k == best else (0, 6)
        axes.annotate(text, (k, each.loss + each.error), offset, textcoords="offset points", size=6.5, ha="center")
    axes.set_ylim(-0.14 * top, 1.22 * top)
    axes.set_xlim(-0.5, len(losses) - 0.5)
    axes.set_xticks(x, [each.label for each in losses])
    axes.set_xlabel("variables in the largest sets", size=9)
    axes.set_ylabel("held-out loss against the best, nats a row\n(bars: its standard error over folds)", size=8)
