"""Pictures of tied parameters: every group in its place, the same bytes for the same fit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import cycle, product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from mrfit.core.errors import InputError
from mrfit.parameterizations.groups import Groups, clustered
from mrfit.plots.page import save_figure
from mrfit.plots.parameters_plot import draw_parameters
from mrfit.plots.strip_plot import INTERACTION, SINGLE, UNTIED
from readable import assert_readable, panels_of, words_on


def _tied(w: np.ndarray, n_groups: int, *, pin_zero: bool = False) -> tuple[np.ndarray, Groups]:
    return w, clustered(w, np.zeros(len(w), np.int64), n_groups, pin_zero=pin_zero)


def _hard(w: np.ndarray, groups: Groups) -> tuple[np.ndarray, Groups]:
    return groups.tied(w), groups


_R = np.random.default_rng(20180202)
FIVE = np.concatenate([_R.normal(center, 0.15, 27) for center in (-2.0, -0.9, 0.0, 0.7, 1.8)])
FAR = np.concatenate([_R.normal(-20.0, 0.2, 6), _R.normal(0.04, 0.2, 1_933)])
MANY = _R.laplace(0.0, 0.5, 13_000) * np.exp(_R.normal(0.0, 0.4, 13_000))
CASES: dict[str, Callable[[], tuple[np.ndarray, Groups]]] = {
    "one parameter": lambda: _tied(np.array([0.3]), 1),
    "one group": lambda: _tied(FIVE, 1),
    "two parameters": lambda: _tied(np.array([-20.0, 0.04]), 2),
    "all equal": lambda: _tied(np.full(50, -2.0), 1),
    "all zero": lambda: _tied(np.zeros(7), 1, pin_zero=True),
    "as many groups as parameters": lambda: _tied(np.array([-1.0, 0.5, 0.6, 3.0]), 4),
    "equal up to rounding": lambda: (
        np.array([5.0, np.nextafter(5.0, 6.0)]),
        Groups(np.array([0, 0]), np.array([5.0])),
    ),
    "equal centers": lambda: (np.array([1.0, 1.0, 2.0]), Groups(np.array([0, 1, 2]), np.array([1.0, 1.0, 2.0]))),
    "an empty group": lambda: (np.array([1.0, 2.1]), Groups(np.array([0, 2]), np.array([1.0, 9.0, 2.0]))),
    "groups not ascending": lambda: (np.array([1.0, 2.1]), Groups(np.array([1, 0]), np.array([2.0, 1.0]))),
    "none tied": lambda: (FIVE, Groups(np.full(len(FIVE), -1), np.empty(0))),
    "some tied": lambda: (FIVE, Groups(np.where(np.arange(len(FIVE)) % 9 == 0, -1, 0), np.array([0.1]))),
    "tiny": lambda: _tied(1e-12 * FIVE, 5),
    "huge": lambda: _tied(1e12 * FIVE, 5),
    "far from zero": lambda: _tied(1e3 + FIVE, 5),
    "five groups": lambda: _tied(FIVE, 5),
    "five groups, hard": lambda: _hard(*_tied(FIVE, 5)),
    "sixty groups": lambda: _tied(FIVE, 60),
    "an outlying cluster": lambda: _tied(FAR, 2),
    "an outlying cluster, hard": lambda: _hard(*_tied(FAR, 3)),
    "two outlying clusters": lambda: _tied(np.append(FAR, [300.0, 301.0]), 4),
    "many": lambda: _tied(MANY, 20),
    "many, pinned": lambda: _tied(MANY, 20, pin_zero=True),
    "many, hard": lambda: _hard(*_tied(MANY, 20, pin_zero=True)),
}


@cache
def _case(name: str) -> tuple[np.ndarray, Groups]:
    """Clustered when it is asked for: who only lists tests waits for no kernel."""
    return CASES[name]()


def _boundaries(lane: Axes) -> np.ndarray:
    dashed = [item for item in lane.collections if isinstance(item, LineCollection) and item.get_zorder() == 2]
    return np.array([path.vertices[0, 0] for item in dashed for path in item.get_paths()])


def _curves(lane: Axes) -> list[np.ndarray]:
    return [line.get_xydata() for line in lane.lines if len(line.get_xydata()) == 200]


def _dots(lane: Axes) -> np.ndarray:
    return np.concatenate([item.get_offsets() for item in lane.collections if isinstance(item, PathCollection)])


STRONG = product(["five groups", "an outlying cluster", "many, pinned"], [0.01, 25.0])


@pytest.mark.parametrize(("case", "strength"), [*zip(CASES, cycle([None, 1e6]), strict=False), *STRONG])
def test_awkward_parameters_are_drawn(case: str, strength: float | None) -> None:
    """Plots are readable and draw no warning, with all information or with little."""
    w, groups = _case(case)
    if strength in (0.01, 1e6):
        assert_readable(draw_parameters(w, groups, strength=strength, title="A title"))
    else:
        orders = 1 + np.arange(len(w)) % 3
        names = [f"variable {k} = yes & variable {k + 1} = no" for k in range(len(w))]
        assert_readable(draw_parameters(w, groups, strength=strength, orders=orders, names=names))


@pytest.mark.parametrize("suffix", [".png", ".svg"])
@pytest.mark.parametrize("case", ["five groups", "an outlying cluster", "many, pinned"])
def test_equal_fits_are_equal_files(case: str, suffix: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Drawn twice, saved twice, with the parameters in another order; 1,200 pixels wide."""
    w, groups = _case(case)
    order = rng.permutation(len(w))
    first = draw_parameters(w, groups, strength=25.0)
    second = draw_parameters(w[order], Groups(groups.assignment[order], groups.centers, groups.pinned), strength=25.0)
    for name, figure in (("a", first), ("b", first), ("c", second)):
        save_figure(figure, tmp_path / f"{name}{suffix}")
    assert len({(tmp_path / f"{name}{suffix}").read_bytes() for name in "abc"}) == 1
    assert first.get_size_inches()[0] == pytest.approx(1_200 / 150)


def test_few_parameters_are_dots_under_gaussians() -> None:
    """One dot for each parameter, near its value; one label and one curve for each group, one boundary less."""
    w, groups = _case("five groups")
    figure = draw_parameters(w, groups, strength=40.0)
    (lane,) = panels_of(figure)
    dots = _dots(lane)
    assert len(dots) == len(w)
    np.testing.assert_allclose(np.sort(dots[:, 0]), np.sort(w), atol=0.12 * np.ptp(w) / 6)
    assert lane.get_xlim()[0] < w.min() < w.max() < lane.get_xlim()[1]
    np.testing.assert_allclose(_boundaries(lane), (groups.centers[1:] + groups.centers[:-1]) / 2)
    curves = _curves(lane)
    np.testing.assert_allclose([x[np.argmax(y)] for x, y in (curve.T for curve in curves)], groups.centers, atol=0.02)
    assert {"−2", "−0.9", "1.8", "27", "135 parameters in 5 groups"} <= set(words_on(figure))
    assert any("standard deviation 0.16" in word for word in words_on(figure))


def test_curves_are_the_gaussians_of_the_penalty() -> None:
    """exp(-strength / 2 distance^2), higher for larger groups."""
    w = np.concatenate([np.linspace(-1.3, -0.7, 40), np.linspace(0.8, 1.2, 10)])
    groups = Groups(np.repeat([0, 1], [40, 10]), np.array([-1.0, 1.0]))
    (lane,) = panels_of(draw_parameters(w, groups, strength=9.0))
    first, second = _curves(lane)
    for (x, y), center in ((first.T, -1.0), (second.T, 1.0)):
        shape = np.exp(-0.5 * 9.0 * (x - center) ** 2)
        np.testing.assert_allclose(y / shape, y[0] / shape[0], rtol=1e-9)
    assert np.max(second[:, 1]) < np.max(first[:, 1]) <= 1.0


def test_curves_and_columns_have_one_scale() -> None:
    """Curves are roots of Gaussians if heights are roots of counts."""
    (lane,) = panels_of(draw_parameters(*_case("many"), strength=100.0))
    for curve, center in zip(_curves(lane), _case("many")[1].centers, strict=True):
        x, y = curve[curve[:, 1] > 1e-9].T
        shape = np.exp(-0.5 * 100.0 * (x - center) ** 2)
        np.testing.assert_allclose(y**2 / shape, y[0] ** 2 / shape[0], rtol=1e-6)


def test_many_parameters_are_columns() -> None:
    """All are counted, on a scale with ticks."""
    w, groups = _case("many")
    (lane,) = panels_of(draw_parameters(w, groups, strength=100.0))
    assert sum(bar.get_height() for bar in lane.patches) == len(w)
    assert "square-root scale" in lane.get_ylabel()
    assert "1,000" in [label.get_text() for label in lane.get_yticklabels()]
    assert len(_curves(lane)) == 20
    assert len(_boundaries(lane)) == 19


@pytest.mark.parametrize("case", ["five groups, hard", "an outlying cluster, hard", "many, hard"])
def test_hard_tied_parameters_lie_on_their_centers(case: str) -> None:
    """And have no Gaussians."""
    w, groups = _case(case)
    figure = draw_parameters(w, groups, strength=25.0)
    (lane,) = panels_of(figure)
    places = [bar.get_x() + bar.get_width() / 2 for bar in lane.patches] or _dots(lane)[:, 0]
    np.testing.assert_allclose(np.unique(np.round(places, 9)), np.round(groups.centers, 9))
    assert not _curves(lane)
    assert any("equal to their centers" in word for word in words_on(figure))


def test_a_far_cluster_breaks_the_axis() -> None:
    """Both clusters have their room, in one direction and at one scale."""
    w, groups = _case("an outlying cluster")
    (lane,) = panels_of(draw_parameters(w, groups, strength=25.0))
    places = np.array([groups.centers[0] - 0.1, groups.centers[0] + 0.1, -0.4, -0.2, 0.0, 0.2])
    steps = np.diff(lane.transData.transform(np.stack([places, np.zeros(6)], axis=1))[:, 0]) / 150  # inches
    assert (steps > 0).all()
    np.testing.assert_allclose(steps[[0, 2, 3]], steps[4])
    assert steps[4] > 0.5
    ticks = lane.get_xticks()
    assert (ticks < -19).any()
    assert (ticks > -1).sum() > 2


def test_centers_have_as_many_digits_as_tell_them_apart() -> None:
    """And at least two, but none that nobody could see."""
    for centers, words in (
        ([-20.0, 0.0412, 300.4], {"−20", "0.04", "300"}),
        ([1.231, 1.234, 5.0], {"1.231", "1.234", "5"}),
        ([-1.0, 1e-17, 1.0], {"−1", "0", "1"}),
    ):
        groups = Groups(np.arange(3), np.array(centers))
        assert words <= set(words_on(draw_parameters(np.array(centers), groups, strength=None)))


@pytest.mark.parametrize("case", ["five groups", "one group", "many", "two parameters"])
def test_an_axis_is_not_broken_without_need(case: str) -> None:
    w, groups = _case(case)
    (lane,) = panels_of(draw_parameters(w, groups, strength=25.0))
    low, high = lane.get_xlim()
    inches = lane.transData.transform(np.array([[x, 0.0] for x in np.linspace(low, high, 9)]))[:, 0]
    np.testing.assert_allclose(np.diff(inches), np.diff(inches)[0])


def test_the_pinned_group_is_marked() -> None:
    """The mark is a diamond at zero, with a label."""
    for case, n_marks in (("many, pinned", 1), ("many", 0)):
        figure = draw_parameters(*_case(case), strength=4.0)
        (lane,) = panels_of(figure)
        marks = [point for line in lane.lines if line.get_marker() == "D" for point in line.get_xydata()]
        assert len(marks) == n_marks
        assert not np.any(marks)
        assert any("pinned at zero" in word for word in words_on(figure)) == (n_marks > 0)


def test_labels_that_do_not_fit_are_counted() -> None:
    """Twenty groups all have labels; of sixty, the outer ones and the largest do."""
    w, groups = _case("many")
    words = words_on(draw_parameters(w, groups, strength=4.0))
    assert {f"{size:,}" for size in groups.sizes} <= set(words)
    assert not any("without a label" in word for word in words)
    w, groups = _case("sixty groups")
    words = words_on(draw_parameters(w, groups, strength=4.0))
    (note,) = (word for word in words if "without a label" in word)
    n_missing = int(note.split("; ")[1].split()[0])
    assert len(words) == 2 * (60 - n_missing) + 2
    assert 20 < n_missing < 45
    assert {f"{center:.3g}".replace("-", "−") for center in groups.centers[[0, -1]]} <= set(words)


def test_single_variables_are_drawn_apart() -> None:
    """Single variables have another colour; tied together with interactions they have the same boundaries."""
    w, groups = _case("five groups")
    orders = np.where(np.arange(len(w)) % 9 == 0, 1, 2)
    figure = draw_parameters(w, groups, strength=40.0, orders=orders)
    upper, lower = panels_of(figure)
    for lane, colour, n_dots in ((upper, INTERACTION, 120), (lower, SINGLE, 15)):
        (dots,) = (item for item in lane.collections if isinstance(item, PathCollection))
        assert to_hex(dots.get_facecolor()[0]) == colour
        assert len(dots.get_offsets()) == n_dots
    assert upper.get_xlim() == lower.get_xlim()
    np.testing.assert_array_equal(_boundaries(upper), _boundaries(lower))
    assert {"interactions (120)", "single variables (15)"} <= set(words_on(figure))


def test_kinds_tied_apart_have_their_own_boundaries() -> None:
    """A midpoint between centers of different kinds parts nothing."""
    w = np.array([-1.1, -0.9, 0.9, 1.1, 0.1, 0.2, 0.7, 0.8])
    groups = Groups(np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([-1.0, 1.0, 0.15, 0.75]))
    upper, lower = panels_of(draw_parameters(w, groups, strength=40.0, orders=np.repeat([2, 1], 4)))
    np.testing.assert_allclose(_boundaries(upper), [0.0])
    np.testing.assert_allclose(_boundaries(lower), [0.45])


def test_parameters_of_no_group_are_grey() -> None:
    """The legend has an entry for them."""
    figure = draw_parameters(*_case("some tied"), strength=4.0)
    _, lane = panels_of(figure)
    (dots,) = (item for item in lane.collections if isinstance(item, PathCollection))
    assert to_hex(dots.get_facecolor()[0]) == UNTIED
    assert not _curves(lane)
    assert "not tied (15)" in words_on(figure)


def test_members_of_small_groups_are_listed() -> None:
    """Up to five groups of up to three."""
    w = np.array([-20.0, 3.0, 3.1, *np.linspace(0.0, 0.5, 10)])
    groups = Groups(np.array([0, 1, 1] + [2] * 10), np.array([-20.0, 3.05, 0.25]))
    words = words_on(draw_parameters(w, groups, strength=4.0, names=[f"name {k}" for k in range(13)]))
    assert {"−20: name 0", "3.05: name 1; name 2"} <= set(words)
    assert not any("name 3" in word for word in words)
    words = words_on(draw_parameters(*_case("sixty groups"), strength=4.0, names=["a"] * 135))
    assert any(word.startswith("... and ") for word in words)


@given(st.text(max_size=25), st.text(min_size=1, max_size=200))
@settings(max_examples=15, deadline=None)
def test_any_names_are_drawn_beside_parameters(name: str, title: str) -> None:
    """Formulas, line breaks and letters the font lacks, without a warning."""
    w, groups = _case("as many groups as parameters")
    figure = draw_parameters(w, groups, strength=1.0, names=[name] * len(w), title=title)
    with TemporaryDirectory() as folder:
        save_figure(figure, Path(folder) / "parameters.svg")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w": np.array([0.0, np.nan, 1.0])}, "finite numbers; number 1 is not"),
        ({"w": np.array([0.0, np.inf, 1.0])}, "finite numbers"),
        ({"w": np.zeros(2)}, "groups tie 3 parameters; got values of shape"),
        ({"w": np.zeros((3, 1))}, "groups tie 3 parameters"),
        ({"w": np.empty(0), "groups": Groups(np.empty(0, np.int64), np.empty(0))}, "no parameters to draw"),
        ({"strength": 0.0}, "positive and finite"),
        ({"strength": np.nan}, "positive and finite"),
        ({"orders": np.ones(2)}, "3 parameters need as many orders"),
        ({"names": ["a"]}, "3 parameters need as many names; got 1"),
    ],
)
def test_wrong_parameters_are_refused(change: dict[str, object], message: str) -> None:
    """The check is at the call."""
    right = {"w": np.array([0.0, 0.5, 1.0]), "groups": Groups(np.array([0, 0, 1]), np.array([0.2, 1.0])), "strength": 1}
    with pytest.raises(InputError, match=message):
        draw_parameters(**(right | change))
