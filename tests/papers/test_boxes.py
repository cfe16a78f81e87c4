"""Box plots of methods on several tables."""

from __future__ import annotations

import pytest

from mrfit_papers.boxes import BoxPanel, BoxStyle, draw_boxes

STYLE = BoxStyle({"a": "one", "b": "two", "c": "two"}, breaks=["b"])


def _axes(figure: object) -> list:
    return figure.axes[1:]  # type: ignore[attr-defined]  # the first covers the page


def test_a_panel_for_each_table_and_names_on_the_left_only() -> None:
    panel = BoxPanel("first", {"a": [1.0, 2.0, 3.0], "b": [2.0, 2.5]})
    axes = _axes(draw_boxes([[panel, BoxPanel("second", {"c": [1.0]})], [panel]], STYLE, label="x"))
    assert [each.get_title(loc="left") for each in axes] == ["first", "second", "first"]
    names = [[label.get_text() for label in each.get_yticklabels()] for each in axes]
    assert names == [["a", "b", "c"], ["", "", ""], ["a", "b", "c"]]


@pytest.mark.parametrize(("log", "words"), [(False, "900 ▸"), (True, "900 ▸")])
def test_what_is_beyond_the_limit_is_a_number_at_the_edge(log: bool, words: str) -> None:
    panel = BoxPanel("t", {"a": [10.0, 12.0], "b": [900.0, 900.0]}, limit=20.0)
    (axes,) = _axes(draw_boxes([[panel]], STYLE, label="x", log=log))
    assert axes.get_xlim()[1] == 20.0
    assert [text.get_text() for text in axes.texts] == [words]


def test_intervals_in_place_of_boxes() -> None:
    panel = BoxPanel("t", {"a": [0.5], "b": [0.0]}, None, {"a": (0.1, 0.3), "b": (float("inf"), float("inf"))})
    (axes,) = _axes(draw_boxes([[panel]], STYLE, label="x", zero=True))
    ends = [tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2 and line.get_ydata()[0] == 0]
    assert ends[:2] == [(0.4, 0.6), (0.2, 0.8)]  # then the line at zero
    assert not [line for line in axes.lines if list(line.get_ydata()) == [1, 1]]  # no interval without an end
