"""Networks of groups side by side: one layout, one scale."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

from mrfit.analysis.groups.groups_plot import draw_group, draw_groups, groups_layout
from mrfit.core.errors import InputError

NAMES = ["a", "b", "c"]
PANELS = [
    ("first", np.array([2.0, 0.0, -1.0])),
    ("second", np.array([1.0, 0.5, -1.0])),
    ("difference", np.array([-1.0, 0.5, 0.0])),
]


def test_variables_stand_alike_and_equal_weights_are_equally_wide() -> None:
    figure = draw_groups(NAMES, PANELS, groups_layout(NAMES, PANELS), title="some groups")
    (axes,) = figure.axes
    nodes = [np.asarray(each.get_offsets()) for each in axes.collections if isinstance(each, PathCollection)]
    shift = nodes[1][0] - nodes[0][0]
    np.testing.assert_allclose(nodes[1], nodes[0] + shift)
    np.testing.assert_allclose(nodes[2], nodes[0] + 2 * shift)
    assert shift[1] == pytest.approx(0.0)
    lines = [sorted(each.get_linewidths()) for each in axes.collections if isinstance(each, LineCollection)]
    assert [len(widths) for widths in lines] == [2, 3, 2]
    one = lines[0][0]  # of the size of a weight of one, in all panels
    assert lines[1][1] == lines[1][2] == lines[2][1] == pytest.approx(one)
    assert lines[0][1] > one > lines[1][0] == pytest.approx(lines[2][0])


def test_places_that_are_given_are_kept() -> None:
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(groups_layout(NAMES, PANELS, places), places)


def test_four_panels_take_two_rows_and_infinite_weights_are_the_widest() -> None:
    panels = [*PANELS, ("endless", np.array([np.inf, 0.0, 0.0]))]
    figure = draw_groups(NAMES, panels, groups_layout(NAMES, panels))
    three = draw_groups(NAMES, PANELS, groups_layout(NAMES, PANELS))
    assert figure.get_figwidth() == three.get_figwidth()
    assert figure.get_figheight() > 1.5 * three.get_figheight()
    lines = [max(each.get_linewidths()) for each in figure.axes[0].collections if isinstance(each, LineCollection)]
    assert lines[3] == lines[0] == max(lines)


def test_networks_without_edges_are_refused() -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        draw_groups(NAMES, [("none", np.zeros(3))], np.zeros((3, 2)))


def test_a_network_in_axes_that_are_given() -> None:
    left, right = Figure(figsize=(8, 4)).subplots(1, 2)
    places = groups_layout(NAMES, PANELS)
    for axes, (_, weights) in zip((left, right), PANELS, strict=False):
        assert draw_group(NAMES, weights, places, largest=2.0, ax=axes) is axes
    widths = [
        max(each.get_linewidths().max() for each in axes.collections if isinstance(each, LineCollection))
        for axes in (left, right)
    ]
    assert widths[0] > widths[1]
    assert draw_group(NAMES, PANELS[0][1], places).figure.axes
