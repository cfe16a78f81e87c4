"""Hessians that were worked out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from mrfit.objectives import hessian
from mrfit.objectives.hessian import BlockLayout, Blocks, Matrix
from mrfit.penalties.cluster_penalty import ClusterPenalty
from mrfit.penalties.l2 import Ridge


def positive(rng: np.random.Generator, size: int) -> np.ndarray:
    root = rng.normal(size=(size, size + 2))
    return root @ root.T


def in_blocks(rng: np.random.Generator, n: int, *numbers: list[int]) -> Blocks:
    sizes = np.array([len(mine) for mine in numbers])
    entries = np.concatenate([positive(rng, size).ravel() for size in sizes])
    return Blocks(BlockLayout(n, sizes, np.concatenate(numbers)), entries)


def whole(blocks: Blocks) -> np.ndarray:
    """Entry by entry."""
    n, at = blocks.layout.n, 0
    matrix = np.zeros((n + 1, n + 1))
    for mine in np.split(blocks.layout.numbers, blocks.layout.starts[1:-1]):
        for row in mine:
            for column in mine:
                matrix[row, column] += blocks.entries[at]
                at += 1
    return matrix[:n, :n]


def inverse(blocks: Blocks) -> np.ndarray:
    """Inverse of the matrix, column by column."""
    divide = blocks.division()
    return np.stack([divide(column) for column in np.eye(blocks.layout.n)], axis=1)


@pytest.fixture
def overlapping(rng: np.random.Generator) -> Blocks:
    return in_blocks(rng, 6, [0, 1, 2], [2, 3, 6], [4], [1, 4, 5, 0])  # 6 is none


def test_blocks_sum_to_a_matrix(overlapping: Blocks) -> None:
    matrix = overlapping.summed(np.arange(6), 6)
    assert isinstance(matrix, Matrix)
    np.testing.assert_allclose(matrix.entries, whole(overlapping), rtol=1e-14)


def test_parameters_that_become_one_add_up(overlapping: Blocks) -> None:
    number = np.array([0, 1, 0, -1, 1, 2])
    s = np.zeros((6, 3))
    s[number >= 0, number[number >= 0]] = 1.0
    expected = s.T @ whole(overlapping) @ s
    for some in (overlapping, Matrix(whole(overlapping))):
        matrix = some.summed(number, 3)
        assert isinstance(matrix, Matrix)
        np.testing.assert_allclose(matrix.entries, expected, rtol=1e-13)


def test_too_many_to_be_a_matrix_stay_blocks(overlapping: Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hessian, "MOST_DENSE", 2)
    number = np.array([0, 1, 0, -1, 1, 2])
    reduced = overlapping.summed(number, 3)
    assert isinstance(reduced, Blocks)
    s = np.zeros((6, 3))
    s[number >= 0, number[number >= 0]] = 1.0
    np.testing.assert_allclose(whole(reduced), s.T @ whole(overlapping) @ s, rtol=1e-13)


def test_other_coordinates(overlapping: Blocks, rng: np.random.Generator) -> None:
    change = np.triu(rng.normal(size=(6, 6)))
    expected = change.T @ whole(overlapping) @ change
    adjoint = csr_array(change.T)
    np.testing.assert_allclose(whole(overlapping.through(adjoint)), expected, rtol=1e-12)
    np.testing.assert_allclose(Matrix(whole(overlapping)).through(adjoint).entries, expected, rtol=1e-12)


def test_division_is_exact_where_no_parameter_is_in_two_blocks(rng: np.random.Generator) -> None:
    apart = in_blocks(rng, 5, [0, 3], [1, 2, 4]).plus(Ridge(3.0), np.zeros(5), 0.5)
    expected = np.linalg.inv(whole(apart) + 1.5 * np.eye(5))
    np.testing.assert_allclose(inverse(apart), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "penalty", [Ridge(3.0), ClusterPenalty(3.0, np.array([0, 0, 1, -1, 1, 0]))], ids=["l2", "tied"]
)
def test_division_is_exact_where_blocks_are_diagonal(penalty: Ridge | ClusterPenalty, rng: np.random.Generator) -> None:
    numbers = [[0, 1, 2], [2, 3, 4], [5, 0]]
    entries = np.concatenate([np.diag(rng.uniform(0.5, 2.0, len(mine))).ravel() for mine in numbers])
    layout = BlockLayout(6, np.array([len(mine) for mine in numbers]), np.concatenate(numbers))
    blocks = Blocks(layout, entries).plus(penalty, np.zeros(6), 0.5)
    expected = np.linalg.inv(whole(blocks) + 0.5 * penalty.hessian(np.zeros(6)))
    np.testing.assert_allclose(inverse(blocks), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "penalty", [Ridge(0.3), ClusterPenalty(3.0, np.array([0, 0, 1, -1, 1, 0]))], ids=["l2", "tied"]
)
def test_division_is_symmetric_positive_definite_and_better_than_by_the_diagonal(
    overlapping: Blocks, penalty: Ridge | ClusterPenalty
) -> None:
    blocks = overlapping.plus(penalty, np.zeros(6), 0.5)
    guess, true = inverse(blocks), whole(blocks) + 0.5 * penalty.hessian(np.zeros(6))
    np.testing.assert_allclose(guess, guess.T, atol=1e-12)
    values = np.linalg.eigvals(guess @ true).real
    alone = np.linalg.eigvals(true / true.diagonal()[:, None]).real
    assert values.min() > 0
    assert values.max() / values.min() < alone.max() / alone.min()


def test_what_never_occurs_is_divided_by_something(rng: np.random.Generator) -> None:
    """No row has the feature, and nothing penalises it."""
    entries = np.zeros((2, 2))
    entries[0, 0] = 1.0
    blocks = Blocks(BlockLayout(2, np.array([2]), np.array([0, 1])), entries.ravel())
    assert np.isfinite(inverse(blocks)).all()


def test_another_penalty_is_another_division(overlapping: Blocks) -> None:
    weak, strong = (overlapping.plus(Ridge(strength), np.zeros(6), 1.0) for strength in (0.1, 100.0))
    first = inverse(weak)
    assert np.abs(inverse(strong)).max() < 0.02
    np.testing.assert_array_equal(inverse(weak), first)
