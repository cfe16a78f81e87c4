"""Pictures of parameters on the real line, above all of tied ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mrfit._typing import Floats, Integers
from mrfit.core.errors import InputError
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.groups import Groups
from mrfit.penalties.penalty_strength import checked_strength
from mrfit.plots.group_labels import CenterLabel, center_labels, draw_centers, label_height
from mrfit.plots.number_line import NumberLine
from mrfit.plots.page import MARGIN, WIDTH, HostedPage, Page, count, cut, decimal, new_axes, printable
from mrfit.plots.strip_plot import Lane, draw_lane, lanes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_HEADING, _TICKS, _LINE = 0.26, 0.36, 0.18  # inches
_MOST_LISTED = 5
_MOST_MEMBERS = 3  # of a group that is listed


def plot_parameters(model: MarkovNetwork, ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw the parameters of a model on the real line, interactions and single variables separately.

    Tied parameters are drawn with the values of their groups.

    Parameters
    ----------
    model : MarkovNetwork
        Model whose parameters are drawn.
    ax : matplotlib Axes, default None
        Axes to draw on, at their current size; None makes a new figure.
    title : str, default None
        Title above the line.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    See Also
    --------
    MarkovNetwork.strongest : Names and values of the largest ones.
    SoftTied : A penalty that ties parameters.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> axes = mrfit.plot_parameters(mrfit.learn(table).model, title="Weather")
    >>> axes.get_title()
    'Weather'
    """
    if ax is None:
        ax = new_axes(WIDTH, _lines_of(model, WIDTH).height)
    page = HostedPage(ax, title)
    _lines_of(model, page.width).filling(page.height).draw(page)
    return ax


def parameters_figure(model: MarkovNetwork, *, title: str | None = None) -> Figure:
    """Draw the parameters of a model on a page with a title."""
    lines = _lines_of(model, WIDTH)
    page = Page(WIDTH, lines.height, title)
    lines.draw(page)
    return page.figure


def _lines_of(model: MarkovNetwork, width: float) -> _Lines:
    penalty, orders = model.provenance.get("penalty"), model.parameters.order_of_parameter
    strength = penalty.get("strength") if isinstance(penalty, dict) else None
    groups = model.groups or Groups(np.full(len(model.w), -1), np.empty(0))
    w = _checked_values(model.w, groups, orders, None)
    return _Lines.of(w, groups, _sigma(w, groups, strength or 1.0), orders, None, width)


def draw_parameters(
    w: Floats,
    groups: Groups,
    *,
    strength: float | None,
    orders: Integers | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw parameters on the real line, and the groups that tie them (Chou et al. 2018, figure 1).

    Dots are stacked where they are dense, or columns are drawn where stacks would be too high. Above each group are its
    center and its number of parameters; short dashed lines are the quantization boundaries, halfway between
    neighbouring centers; curves are the Gaussians exp(-strength / 2 (w - center)^2), each within its boundaries. Long
    empty stretches are cut out of the axis, which has one scale throughout.

    Parameters
    ----------
    w
        Values of the parameters, shape (parameters,).
    groups
        Groups that tie the parameters; those of no group are drawn separately, in grey.
    strength
        Strength of the tying penalty, which is added to the sum over rows. None draws no curves; nor are there curves
        if all parameters are at their centers.
    orders
        Number of variables of each parameter, shape (parameters,). Single variables are then drawn separately from
        interactions; if no group has both, so are their groups and boundaries.
    names
        Name of each parameter; members of the smallest groups are then listed.
    """
    w = _checked_values(w, groups, orders, names)
    lines = _Lines.of(w, groups, _sigma(w, groups, strength), orders, names, WIDTH)
    page = Page(WIDTH, lines.height, title)
    lines.draw(page)
    return page.figure


def _sigma(w: Floats, groups: Groups, strength: float | None) -> float | None:
    """Return the standard deviation of the Gaussians that tie parameters; None if all are at their centers."""
    if strength is None or np.array_equal(groups.tied(w), w):
        return None
    return 1.0 / math.sqrt(checked_strength(strength))


@dataclass(frozen=True)
class _Lines:
    """Lanes with labels above them, on one axis, and notes below."""

    lanes: list[Lane]
    labels: list[list[CenterLabel]]
    axis: NumberLine
    sigma: float | None
    notes: list[str]

    @classmethod
    def of(
        cls, w: Floats, groups: Groups, sigma: float | None, orders: Integers | None, names: Sequence[str] | None,
        width: float,
    ) -> _Lines:  # fmt: skip
        lanes = lanes_of(w, groups, orders)
        around = np.concatenate([w, groups.centers[groups.sizes > 0]])
        axis = NumberLine.around(around, 3.0 * (sigma or 0.0), width)
        labels = [center_labels(lane, axis) for lane in lanes]
        n_unlabelled = sum(lane.n_labelled - len(own) for lane, own in zip(lanes, labels, strict=True))
        members = [] if names is None else _small_groups(groups, names)
        return cls(lanes, labels, axis, sigma, members + _notes(w, groups, sigma, n_unlabelled))

    @property
    def _foot(self) -> float:
        return _LINE * (len(self.notes) + 1)

    @property
    def _heights(self) -> list[float]:
        """Heights of the lanes with all that is above and below them."""
        heading = _HEADING * (len(self.lanes) > 1)
        return [
            heading + label_height(own) + lane.height + _TICKS
            for lane, own in zip(self.lanes, self.labels, strict=True)
        ]

    @property
    def height(self) -> float:
        return sum(self._heights) + self._foot

    def filling(self, height: float) -> _Lines:
        """Return lanes rescaled so that the whole has this height; none becomes lower than a line of text."""
        lanes = sum(lane.height for lane in self.lanes)
        factor = (height - self.height + lanes) / lanes
        return replace(self, lanes=[replace(lane, height=max(factor * lane.height, _LINE)) for lane in self.lanes])

    def draw(self, page: Page) -> None:
        floor = self.height
        for lane, labels, height in zip(self.lanes, self.labels, self._heights, strict=True):
            floor -= height
            draw_lane(page, floor + _TICKS, lane, self.axis, self.sigma)
            draw_centers(page, floor + _TICKS + lane.height, labels, self.axis)
            if len(self.lanes) > 1:
                page.text(lane.label, MARGIN, floor + height - _HEADING / 2, size=9, color=lane.colour)
        for number, line in enumerate(self.notes):
            y = self._foot - _LINE * (number + 1)
            page.text(cut(line, page.width - 2 * MARGIN, 8), MARGIN, y, size=8, color="0.3")


def _checked_values(w: Floats, groups: Groups, orders: Integers | None, names: Sequence[str] | None) -> Floats:
    w = np.asarray(w, np.float64)
    if w.shape != groups.assignment.shape:
        raise InputError(f"The groups tie {len(groups.assignment)} parameters; got values of shape {w.shape}.")
    if not len(w):
        raise InputError("There are no parameters to draw; give at least one.")
    if not np.isfinite(w).all():
        raise InputError(f"Parameters must be finite numbers; number {np.flatnonzero(~np.isfinite(w))[0]} is not.")
    if orders is not None and np.shape(orders) != w.shape:
        raise InputError(f"{len(w)} parameters need as many orders; got an array of shape {np.shape(orders)}.")
    if names is not None and len(names) != len(w):
        raise InputError(f"{len(w)} parameters need as many names; got {len(names)}.")
    return w


def _notes(w: Floats, groups: Groups, sigma: float | None, n_unlabelled: int) -> list[str]:
    if not groups.n_groups:
        return [count(len(w), "parameter")]
    n_tied = int(groups.sizes.sum())
    counts = f"{count(n_tied, 'parameter')} in {count(groups.n_groups, 'group')}"
    if n_tied < len(w):
        counts += f", {len(w) - n_tied:,} not tied"
    if n_unlabelled:
        counts += f"; {count(n_unlabelled, 'more center')} without a label"
    if groups.pinned is not None and groups.pinned.any():
        counts += "; \N{BLACK DIAMOND} pinned at zero"
    marks = "on top: center and size of each group"
    if groups.n_groups > 1:
        marks += "; dashed: boundaries"
    if sigma is not None:
        marks += f"; curves: Gaussians, standard deviation {sigma:.2g}, higher for larger groups"
    elif n_tied and np.array_equal(groups.tied(w), w):
        counts += "; all tied parameters are equal to their centers"
    return [counts, marks] if n_tied else [counts]


def _small_groups(groups: Groups, names: Sequence[str]) -> list[str]:
    """Return the members of the smallest groups, a line for each."""
    small = np.flatnonzero((groups.sizes > 0) & (groups.sizes <= _MOST_MEMBERS))
    chosen = small[np.argsort(groups.sizes[small], kind="stable")][:_MOST_LISTED]
    lines = []
    for group in chosen[np.argsort(groups.centers[chosen], kind="stable")]:
        members = (printable(names[int(k)]) for k in np.flatnonzero(groups.assignment == group))
        lines.append(f"{decimal(float(groups.centers[group]), 3)}: {'; '.join(members)}")
    if len(small) > len(chosen):
        lines.append(f"... and {count(len(small) - len(chosen), 'more group')} of at most {_MOST_MEMBERS} parameters")
    return lines
