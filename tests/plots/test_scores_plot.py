"""Pictures of held-out scores: every series with its rival, the same bytes for the same scores."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrfit.core.errors import InputError
from mrfit.plots.page import COLOURS, save_figure
from mrfit.plots.scores_plot import ScoreCurve, draw_scores
from readable import assert_readable, panels_of, words_on

K = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100, 200)


def _curve(label: str, lowest: float, best: int, l2: float, bend: float = 0.02) -> ScoreCurve:
    return ScoreCurve(label, K, [lowest + bend * np.log(k / best) ** 2 for k in K], l2)


PAPER = [_curve("d = 5", 12.4, 30, 12.45), _curve("d = 15", 12.2, 20, 12.42), _curve("d = 50", 12.15, 10, 12.7)]
TABLES = {
    "the paper's": PAPER,
    "one point": [ScoreCurve("a", [4], [1.0], 1.0)],
    "one k": [ScoreCurve("a", [7], [1.0], 2.0), ScoreCurve("b", [7], [3.0], 2.5)],
    "all equal": [ScoreCurve("a", K, [0.0] * len(K), 0.0), ScoreCurve("b", K, [0.0] * len(K), 0.0)],
    "different k": [ScoreCurve("a", [9, 1], [2.0, 1.0], 1.5), ScoreCurve("b", [1_000, 3], [1.2, 1.9], 1.1)],
    "close by": [ScoreCurve("a", [1, 2], [9_999.9991, 9_999.9992], 9_999.999)],
    "all k": [ScoreCurve("a", range(1, 101), np.linspace(1.0, 2.0, 100), 1.5)],
    "ten series": [_curve(f"strength {k}", 12 + 0.01 * k, 20, 12.5 + 0.001 * k) for k in range(10)],
    "twenty series": [_curve(f"series {k}", 12 + k, 20, 12.5 + k) for k in range(20)],
    "long labels": [_curve("a label of very, very, very many letters", 12, 20, 12.5)],
    "empty labels": [_curve("", 12, 20, 12.5), _curve("", 13, 20, 12.5)],
}


@pytest.mark.parametrize("case", TABLES)
def test_awkward_scores_are_drawn(case: str) -> None:
    """Plots are readable and draw no warning."""
    assert_readable(draw_scores(TABLES[case], title="A title"))
    assert_readable(draw_scores(TABLES[case]))


def test_each_series_has_a_line_and_its_rival() -> None:
    """Solid and dotted in one colour, a ring at the best number of groups, names beside them."""
    figure = draw_scores(PAPER)
    (axes,) = panels_of(figure)
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[0] < 1 < 200 < axes.get_xlim()[1]
    assert axes.get_ylim()[0] < 12.15 < 12.7 < axes.get_ylim()[1]
    for curve, colour in zip(PAPER, COLOURS, strict=False):
        mine = [line for line in axes.lines if line.get_color() == colour]
        (dotted,) = (line for line in mine if line.get_linestyle() == ":")
        assert set(dotted.get_ydata()) == {curve.l2}
        (solid,) = (line for line in mine if len(line.get_xdata()) == len(K))
        np.testing.assert_array_equal(solid.get_xydata(), np.stack([curve.at, curve.scores], axis=1))
        assert solid.get_linestyle() == "-"
        (ring,) = (line for line in mine if line.get_linestyle() == "None")
        np.testing.assert_array_equal(ring.get_xydata(), [curve.best])
    best = {"d = 5, best k = 30", "d = 15, best k = 20", "d = 50, best k = 10"}
    assert set(words_on(figure)) == best | {"d = 5, L2", "d = 15, L2", "d = 50, L2"}
    assert {"1", "10", "100"} <= {label.get_text() for label in axes.get_xticklabels()}


def test_the_score_has_a_name_and_a_unit() -> None:
    (axes,) = panels_of(draw_scores(PAPER, measure="log-likelihood"))
    assert axes.get_ylabel() == "negative held-out log-likelihood,\nnats a row (lower is better)"


def test_errors_are_drawn_and_said_to_be_of_differences() -> None:
    """None at the best, which the others are compared with; nothing is said where none are known."""
    curve = ScoreCurve("a", [1, 2, 5], [3.0, 2.0, 2.5], 2.2, [0.3, 0.0, 0.1])
    figure = draw_scores([curve], title="a title", subtitle="100 validation rows")
    assert_readable(figure)
    (axes,) = panels_of(figure)
    ends = {tuple(np.round(segment[:, 1], 9)) for box in axes.containers for segment in box[2][0].get_segments()}
    assert ends == {(2.7, 3.3), (2.4, 2.6)}
    assert axes.get_ylim()[1] > 3.3
    said = "bars: standard error of the difference from the best (ring)"
    assert f"100 validation rows; {said}" in words_on(figure)
    assert not any(said in words for words in words_on(draw_scores(PAPER, subtitle="rows")))


@pytest.mark.parametrize("errors", [[0.1], [0.1, -0.1], [0.1, float("nan")]])
def test_wrong_errors_are_refused(errors: list[float]) -> None:
    with pytest.raises(InputError, match="Errors of series 'a'"):
        ScoreCurve("a", [1, 2], [1.0, 2.0], 1.0, errors)


def test_a_common_rival_is_drawn_once() -> None:
    """One strength of L2, several of tying."""
    figure = draw_scores([_curve("a", 12, 20, 12.5), _curve("b", 12.2, 20, 12.5)])
    (axes,) = panels_of(figure)
    assert sum(line.get_linestyle() == ":" for line in axes.lines) == 1
    assert "L2" in words_on(figure)


def test_the_best_of_equals_is_the_smallest() -> None:
    """Fewer groups are simpler."""
    assert ScoreCurve("a", [9, 3, 5], [1.0, 1.0, 2.0], 1.0).best == (3, 1.0)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_equal_scores_are_equal_files(suffix: str, tmp_path: Path) -> None:
    """Whatever the order of the points."""
    turned = [ScoreCurve(c.label, c.at[::-1], c.scores[::-1], c.l2) for c in PAPER]
    save_figure(draw_scores(PAPER), tmp_path / f"a{suffix}")
    save_figure(draw_scores(turned), tmp_path / f"b{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@given(st.text(max_size=25), st.text(min_size=1, max_size=200))
@settings(max_examples=15, deadline=None)
def test_any_series_are_drawn(name: str, title: str) -> None:
    """Formulas, line breaks and letters the font lacks, without a warning."""
    figure = draw_scores([ScoreCurve(name, [1, 2], [1.0, 2.0], 1.5)], title=title)
    with TemporaryDirectory() as folder:
        save_figure(figure, Path(folder) / "scores.svg")


@pytest.mark.parametrize(
    ("groups", "scores", "l2", "message"),
    [
        ([1, 2], [1.0], 1.0, "Series 'a' has 2 numbers of groups and 1 scores"),
        ([], [], 1.0, "at least one"),
        ([0, 2], [1.0, 2.0], 1.0, "a score for 0 groups"),
        ([1, 2], [1.0, np.nan], 1.0, "must be finite"),
        ([1, 2], [1.0, 2.0], np.nan, "must be finite"),
    ],
)
def test_wrong_scores_are_refused(groups: list[int], scores: list[float], l2: float, message: str) -> None:
    """The check is at the call."""
    with pytest.raises(InputError, match=message):
        ScoreCurve("a", groups, scores, l2)
    with pytest.raises(InputError, match="no series to draw"):
        draw_scores([])
