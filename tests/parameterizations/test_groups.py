"""Groups of parameters that share a value: classes, clustering, the best groups with a center pinned at zero."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mrfit.core.errors import InputError
from mrfit.parameterizations.groups import Groups, classes_of, clustered

VALUES = arrays(np.float64, st.integers(1, 8), elements=st.integers(-40, 40).map(lambda v: v / 8))


def test_classes_say_who_may_share_a_group() -> None:
    order, penalized = np.array([1, 1, 2, 2, 3]), np.array([True, False, True, True, True])
    assert classes_of(order, penalized, "all").tolist() == [0, -1, 0, 0, 0]
    assert classes_of(order, penalized, "apart").tolist() == [0, -1, 1, 1, 1]
    assert classes_of(order, penalized, "orders").tolist() == [0, -1, 1, 1, 2]
    with pytest.raises(InputError, match=r"no way 'some'.*all, apart, orders"):
        classes_of(order, penalized, "some")


def test_every_class_is_clustered_for_itself() -> None:
    w, classes = np.array([0.0, 5.0, 0.1, 5.1, 9.0, 0.2]), np.array([0, 0, 1, 1, -1, 1])
    groups = clustered(w, classes, 2)
    assert groups.assignment.tolist() == [0, 1, 2, 3, -1, 2]
    np.testing.assert_allclose(groups.centers, [0.0, 5.0, 0.15, 5.1])
    np.testing.assert_allclose(groups.tied(w), [0.0, 5.0, 0.15, 5.1, 9.0, 0.15])
    assert groups.cost(w) == pytest.approx(2 * 0.05**2)
    assert groups.sizes.tolist() == [1, 1, 2, 1]
    assert groups.n_groups == 4


def test_fewer_values_than_groups_have_one_group_each() -> None:
    groups = clustered(np.array([1.0, 1.0, 2.0]), np.zeros(3, int), 3)
    assert groups.assignment.tolist() == [0, 0, 1]
    assert groups.cost(np.array([1.0, 1.0, 2.0])) == 0.0


@given(VALUES, st.integers(1, 4))
def test_with_a_pinned_center_the_groups_are_the_best_of_all(values: np.ndarray, k: int) -> None:
    """All ways to cut the sorted values into at most k intervals, any one of which may have its center at zero."""
    ordered = np.sort(values)
    best = float(np.sum(ordered**2))
    for n_cuts in range(min(k, len(ordered)) + 1):
        for cuts in combinations(range(len(ordered) + 1), n_cuts):
            parts = np.split(ordered, cuts)
            free = [float(np.sum((part - part.mean()) ** 2)) if len(part) else 0.0 for part in parts]
            raw = [float(np.sum(part**2)) for part in parts]
            if len(parts) <= k:
                best = min(best, min(sum(free) - free[i] + raw[i] for i in range(len(parts))))
            if len(parts) < k:  # nothing near zero
                best = min(best, sum(free))
    groups = clustered(values, np.zeros(len(values), int), k, pin_zero=True)
    assert groups.pinned is not None
    assert groups.pinned.sum() == 1
    assert groups.centers[groups.pinned].tolist() == [0.0]
    assert groups.n_groups <= k
    assert groups.cost(values) == pytest.approx(best, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("assignment", "centers", "pinned", "message"),
    [
        ([[0]], [1.0], None, "one number for each parameter"),
        ([0, 2], [1.0, 2.0], None, "2 groups.*number 2"),
        ([0], [np.inf], None, "finite"),
        ([0], [1.0], [True], "zero where they are pinned"),
        ([0], [1.0], [True, False], "one center for each group"),
    ],
)
def test_groups_that_do_not_fit_are_refused(assignment: list, centers: list, pinned: list | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Groups(np.array(assignment), np.array(centers), None if pinned is None else np.array(pinned))
