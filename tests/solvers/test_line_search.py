"""The line search, on functions whose values are made up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.penalty import ZeroPenalty
from mrfit.solvers.method import CompositeProblem, State, line_search
from populations import SHAPES, STRUCTURES, penalized, random_rows

EPS = np.finfo(float).eps
START = State(np.zeros(1), 1.0, np.array([-1.0]))


def _search(
    evaluate: Callable[[float], tuple[float, float]], *, bound: float = np.inf, start: State = START
) -> tuple[tuple[float, float] | None, list[float]]:
    """(point, step) found from 0 along +1, and the points that were tried; the value at 0 is 1, the slope -1."""
    rows = random_rows(np.random.default_rng(0), SHAPES["one variable"], 5)
    objective = penalized(rows, Canonical(rows.domain, STRUCTURES["independent"](1)))
    problem = CompositeProblem(objective, ZeroPenalty(), np.array([bound]), {"evaluations": 0, "products": 0})
    tried: list[float] = []

    def function(w: np.ndarray) -> tuple[float, np.ndarray]:
        tried.append(float(w[0]))
        value, slope = evaluate(float(w[0]))
        return value, np.array([slope])

    found = line_search(problem.clip, start, np.array([1.0]), function)
    return (None if found is None else (float(found[0][0]), found[3])), tried


def test_the_full_step_is_taken_where_it_decreases() -> None:
    """One evaluation."""
    assert _search(lambda x: (1 - 0.5 * x, -0.5)) == ((1.0, 1.0), [1.0])


def test_a_decrease_that_suffices_needs_no_shallower_slope() -> None:
    """Straight down."""
    assert _search(lambda x: (1 - x, -1.0)) == ((1.0, 1.0), [1.0])


def test_steps_are_halved_until_the_decrease_suffices() -> None:
    """A valley narrower than the step."""
    found, tried = _search(lambda x: (1 - x + 4 * x * x, -1 + 8 * x))
    assert tried == [1.0, 0.5, 0.25, 0.125]
    assert found == (0.125, 0.125)


@pytest.mark.parametrize(("rise", "accepted"), [(2 * EPS, True), (1e-13, False), (1e-10, False)])
def test_a_rise_is_taken_only_within_rounding(rise: float, accepted: bool) -> None:
    """The slope must have shrunk; a rise by more than rounding is an ascent."""
    found, _ = _search(lambda x: (1 + rise, 0.1))
    assert found == ((1.0, 1.0) if accepted else None)


def test_a_rise_within_rounding_with_a_steep_slope_is_refused() -> None:
    """The value cannot tell, the slope says that the step is far too long."""
    found, tried = _search(lambda x: (1 + 2 * EPS, 5.0 if x > 0.3 else 0.1))
    assert tried == [1.0, 0.5, 0.25]
    assert found == (0.25, 0.25)


def test_an_ascent_gives_up() -> None:
    """The number of halvings is limited."""
    found, tried = _search(lambda x: (2.0, 1.0))
    assert found is None
    assert len(tried) <= 60


def test_values_that_are_not_numbers_are_stepped_over() -> None:
    """An overflow far out is no reason to stop."""
    found, _ = _search(lambda x: (np.nan if x > 0.2 else 1 - 0.5 * x, -0.5))
    assert found == (0.125, 0.125)


def test_steps_end_at_the_bound() -> None:
    """The decrease is measured over the move that was made."""
    found, tried = _search(lambda x: (1 - 0.5 * x, -0.5), bound=0.3)
    assert tried == [0.3]
    assert found == (0.3, 1.0)


def test_a_slope_within_its_own_rounding_is_not_followed() -> None:
    """The slope promises less than 1e-32 of the value, which cannot be told from nothing."""
    found, tried = _search(lambda x: (1.0, 0.0), start=State(np.zeros(1), 1.0, np.array([-0.5 * EPS * EPS])))
    assert (found, tried) == (None, [])


def test_a_direction_that_leads_nowhere_is_not_followed() -> None:
    """All of it is cut off by the bound."""
    found, tried = _search(lambda x: (0.5, -1.0), bound=0.0)
    assert (found, tried) == (None, [])
