"""The picture of probabilities before and after."""

from __future__ import annotations

from typing import Any

import pytest

from mrfit.core.errors import InputError
from mrfit.model.queries.answer import Distribution
from mrfit.plots.marginals_plot import draw_marginals
from mrfit.plots.page import save_figure

Tables = dict[str, dict[str, float]]


def tables(n: int, *, n_states: int = 2, shift: float = 0.0) -> Tables:
    """Variables whose later ones move more."""
    out = {}
    for i in range(n):
        p = 0.3 + shift * i / n
        out[f"v{i}"] = {"s0": 1 - p, "s1": p, **{f"s{k}": 0.0 for k in range(2, n_states)}}
    return out


def words(figure: Any) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize(("n", "n_states"), [(1, 1), (1, 40), (3, 2), (10, 1), (10, 5), (10, 40), (100, 3)])
def test_any_numbers_of_variables_and_states(n: int, n_states: int, tmp_path: Any) -> None:
    before, after = tables(n, n_states=n_states), tables(n, n_states=n_states, shift=0.5)
    if n_states == 1:
        before = after = {name: {"only": 1.0} for name in after}
    figure = draw_marginals(after, before, given="x=1", title="t")
    width, height = figure.get_size_inches()
    assert 3 < width < 20
    assert 1 < height < 20
    save_figure(figure, tmp_path / "p.png")
    without = draw_marginals(after)
    assert "before" not in words(without)


def test_numbers_and_names_are_there() -> None:
    found = words(draw_marginals({"cough": {"no": 0.25, "yes": 0.75}}, {"cough": {"no": 0.5, "yes": 0.5}}, given="a=b"))
    assert "cough = yes" in found
    assert "0.500 → 0.750" in found
    assert "given a=b" in found


def test_of_too_many_those_that_moved_most_are_drawn() -> None:
    found = words(draw_marginals(tables(500, shift=0.5), tables(500)))
    assert "v499 = s1" in found
    assert "v0 = s1" not in found
    assert "340 more variables not shown, which changed less" in found
    assert "v0 = s1" in words(draw_marginals(tables(500)))


def test_long_names_are_cut_and_states_stay() -> None:
    name, state = "How often did you feel down in the last two weeks, all in all", "several days of the week, or more"
    found = words(draw_marginals({name: {"never": 0.5, state: 0.5}}))
    (label,) = [text for text in found if text.startswith("How")]
    assert "… = several" in label
    assert label.endswith("…")


def test_of_many_states_the_most_probable_are_drawn() -> None:
    after = {"v": {f"s{k}": p for k, p in enumerate([0.5, *[0.4 / 28] * 28, 0.1])}}
    found = words(draw_marginals(after))
    assert {"s0", "s29", "23 less probable states"} <= set(found)


def test_names_are_never_mathematics(tmp_path: Any) -> None:
    save_figure(draw_marginals({"$x_{": {"$": 0.5, "a\nb": 0.5}}), tmp_path / "p.svg")


def test_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="at least one"):
        draw_marginals({})


def test_approximate_probabilities_have_their_errors() -> None:
    """Digits are those that are known, and a line shows one standard error to both sides."""
    before = Distribution({"no": 0.41234, "yes": 0.58766}, {"no": 0.0312, "yes": 0.0312}, exact=False)
    after = Distribution({"no": 0.25, "yes": 0.75}, {"no": None, "yes": None}, exact=False)
    exact = {"no": 0.25, "yes": 0.75}
    drawn = draw_marginals({"cough": before})
    assert "0.59 ± 0.03" in words(drawn)
    assert "0.59 ± 0.03 → 0.75" in words(draw_marginals({"cough": after}, {"cough": before}))
    plain = draw_marginals({"cough": exact})
    assert "0.750" in words(plain)
    (line,) = [line for line in drawn.axes[0].lines if line.get_color() == "0.2"]
    (low, high), bar = line.get_xdata(), drawn.axes[0].patches[0]
    assert (low + high) / 2 == pytest.approx(bar.get_x() + bar.get_width())
    assert (high - low) / 2 == pytest.approx(bar.get_width() * 0.0312 / 0.58766)
    assert not [line for line in plain.axes[0].lines if line.get_color() == "0.2"]
