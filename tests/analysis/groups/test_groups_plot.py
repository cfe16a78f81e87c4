"""Networks of groups side by side: one layout, one scale."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from mrfit import L2, Learner, compare_groups
from mrfit.analysis.groups.groups_plot import draw_group, draw_groups, groups_layout
from mrfit.analysis.groups.groups_record import GroupsSummary
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


def test_differences_that_may_be_chance_are_grey() -> None:
    """Positions stay the same, and the legend explains the other edges only."""
    faint = np.zeros((3, 3), bool)
    faint[2, 0] = True
    figure = draw_groups(NAMES, PANELS, groups_layout(NAMES, PANELS), faint=faint)
    lines = [each for each in figure.axes[0].collections if isinstance(each, LineCollection)]
    assert [len(each.get_segments()) for each in lines] == [2, 3, 1, 1]
    assert to_hex(lines[2].get_colors()[0]) == "#cccccc"
    assert to_hex(lines[3].get_colors()[0]) != "#cccccc"


@pytest.mark.parametrize(("tests", "coloured"), [(("wald",), 1), (("likelihood",), 3)])
def test_only_differences_with_a_small_p_keep_their_colour(
    tests: tuple[str, ...], coloured: int, rng: np.random.Generator
) -> None:
    """One of three edges differs; where no test compares edges, all keep theirs."""
    group = np.repeat([0, 1], 2000)
    a, c = rng.random((2, 4000)) < 0.5
    b = rng.random(4000) < np.where(a, np.where(group, 0.9, 0.5), 0.3)
    found = compare_groups(Learner(penalty=L2(1.0)), {"group": group, "a": a, "b": b, "c": c}, by="group", tests=tests)
    summary = GroupsSummary.of(found)
    assert not summary.faint_panels[:2].any()
    assert (~summary.faint_panels[2]).sum() == coloured
    assert not summary.faint_panels[2, 0]
    assert summary.panels[-1][0].startswith("difference 1 - 0; adjusted p ≤ 0.05 for ")
    assert isinstance(summary.figure(title="t"), Figure)
