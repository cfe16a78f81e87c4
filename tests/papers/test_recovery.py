"""Whether groups are found: the same seed finds the same, more rows find more, far fewer than theory asks for do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit_papers.recovery import METHODS, Design, Truth, recover, recovery_share


def test_a_network_depends_on_its_seed_and_design_alone() -> None:
    one, same, wide = (Truth.drawn(Design(spread=spread), 0) for spread in (0.0, 0.0, 0.2))
    np.testing.assert_array_equal(one.w, same.w)
    np.testing.assert_array_equal(one.groups.assignment, wide.groups.assignment)
    assert (one.theory.omega, wide.theory.omega) == (0.0, pytest.approx(0.2))
    assert one.theory.alpha == pytest.approx(0.8)
    assert sorted(np.bincount(one.groups.assignment)) == [6, 7, 7]


def test_the_same_seed_finds_the_same() -> None:
    truth = Truth.drawn(Design(5, 4), 1)
    one, same = (recover(truth, 300, np.random.default_rng(7), restarts=1) for _ in range(2))
    assert one == same
    assert tuple(one.found) == METHODS


@pytest.mark.parametrize("objective", ["likelihood", "pseudo-likelihood"])
def test_far_fewer_rows_than_theory_asks_for_find_the_groups(objective: str) -> None:
    truth = Truth.drawn(Design(5, 4, centers=(-1.0, 1.0), objective=objective), 1)
    few = recovery_share(truth, 20, repetitions=8, restarts=0)
    many = recovery_share(truth, 4000, repetitions=8, restarts=0)
    assert few.found["soft tying"] < 1.0
    assert many.found == dict.fromkeys(METHODS, 1.0)
    assert many.center_error < few.center_error
    assert many.n_rows < truth.theory.soft.proven.n_samples < truth.theory.soft.n_samples < math.inf


def test_with_as_many_rows_as_are_proven_to_suffice_the_groups_are_found() -> None:
    truth = Truth.drawn(Design(2, 1, centers=(-1.0, 1.0), objective="pseudo-likelihood"), 0)
    n_rows = math.ceil(truth.theory.soft.proven.n_samples_kmeans)
    found = recovery_share(truth, n_rows, repetitions=5, restarts=0)
    assert found.found["L2 + k-means"] == 1.0


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ({"n_variables": 0}, "n_variables is 0"),
        ({"n_variables": 40}, "n_variables is 40; expected 1 to 16"),
        ({"n_variables": 3, "n_edges": 4}, "n_edges is 4; expected 0 to 3"),
        ({"centers": (1.0, 0.0)}, "ascending order"),
        ({"centers": ()}, "centers are"),
        ({"spread": -1.0}, "spread is -1.0"),
        ({"objective": "both"}, "no objective 'both'"),
    ],
)
def test_wrong_designs_are_named_in_one_line(design: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Design(**design)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_wrong_numbers_of_rows_and_repetitions() -> None:
    truth = Truth.drawn(Design(3, 2), 0)
    with pytest.raises(InputError, match="n_rows is 0"):
        recovery_share(truth, 0)
    with pytest.raises(InputError, match="repetitions is 0"):
        recovery_share(truth, 10, repetitions=0)
