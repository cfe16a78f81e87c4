"""Truncated Newton where conjugate gradients alone take long."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mrfit.core.domain import Domain
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.tying.hard_tying import TiedObjective
from mrfit.objectives import conditional_loss, hessian
from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.hessian import Hessian, Matrix
from mrfit.objectives.objective import Expansion, ExplicitHessian, Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.groups import Groups
from mrfit.penalties.cluster_penalty import ClusterPenalty
from mrfit.penalties.l2 import Ridge
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.structures.structure import Structure


class WithoutMatrix(Objective):
    """Objective that has products with its Hessian but no matrix."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.n_parameters, self.n_cells = objective.n_parameters, objective.n_cells

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        return self.objective.value_and_gradient(w)

    def expand(self, w: np.ndarray) -> Expansion:
        return replace(self.objective.expand(w), explicit=None)


@pytest.fixture
def alike(rng: np.random.Generator) -> PseudoLikelihood:
    """Columns that are nearly copies of each other, and many rows: products are dear, and many."""
    first = rng.integers(0, 2, (20_000, 4))
    codes = np.concatenate([first ^ (rng.random(first.shape) < 0.01) for _ in range(5)], axis=1).astype(np.uint8)
    domain = Domain.from_states({f"x{i}": ["0", "1"] for i in range(codes.shape[1])})
    rows = UniqueRows.from_codes(domain, codes, np.ones(len(codes)))
    return PseudoLikelihood(ConditionalCells.count(rows, Canonical(domain, Structure.complete(20))))


def passes(objective: Objective, penalty: Ridge | ClusterPenalty) -> tuple[int, np.ndarray]:
    counted = CachedObjective(objective)
    smooth, _ = penalty.added_to(counted, total_weight=20_000.0)
    solution = minimize(smooth, TruncatedNewton(), tolerance=1e-8)
    assert solution.converged
    return counted.passes, solution.w


def groups() -> np.ndarray:
    return np.arange(210) % 5


@pytest.mark.parametrize("penalty", [Ridge(0.001), ClusterPenalty(0.1, groups())], ids=["l2", "tied"])
def test_the_hessian_as_a_matrix_saves_passes_and_leads_to_the_same_optimum(
    alike: PseudoLikelihood, penalty: Ridge | ClusterPenalty
) -> None:
    with_matrix, w = passes(alike, penalty)
    without, expected = passes(WithoutMatrix(alike), penalty)
    assert with_matrix < without
    np.testing.assert_allclose(w, expected, atol=1e-4)


@pytest.mark.parametrize("penalty", [Ridge(0.001), ClusterPenalty(0.1, groups())], ids=["l2", "tied"])
def test_so_does_the_hessian_as_blocks(
    alike: PseudoLikelihood, penalty: Ridge | ClusterPenalty, monkeypatch: pytest.MonkeyPatch
) -> None:
    without, expected = passes(WithoutMatrix(alike), penalty)
    for room in (hessian, conditional_loss):
        monkeypatch.setattr(room, "MOST_DENSE", 20)
    in_blocks, w = passes(alike, penalty)
    assert in_blocks < without
    np.testing.assert_allclose(w, expected, atol=1e-4)


def test_parameters_tied_hard_have_the_matrix_of_their_products(
    alike: PseudoLikelihood, rng: np.random.Generator
) -> None:
    pinned = np.array([False, True, False, False, False])
    reduced = TiedObjective(alike, Groups(groups(), np.zeros(5), pinned))
    expansion = reduced.expand(rng.normal(size=reduced.n_parameters))
    assert expansion.explicit is not None
    matrix = np.stack([expansion.product(column) for column in np.eye(reduced.n_parameters)])
    found = expansion.explicit.hessian()
    assert isinstance(found, Matrix)
    np.testing.assert_allclose(found.entries, matrix, atol=1e-12)


def _given(explicit: ExplicitHessian) -> Hessian | None:
    previous = explicit.previous()
    return None if previous is None else previous()


def test_what_is_made_of_a_remembered_matrix_is_made_when_it_is_asked_for(alike: PseudoLikelihood) -> None:
    """Summing it over groups takes longer than a few products."""
    explicit, made = CachedObjective(alike).expand(np.zeros(alike.n_parameters)).explicit, list[Hessian]()
    assert explicit is not None

    def change(hessian: Hessian) -> Hessian:
        made.append(hessian)
        return hessian

    first = explicit.hessian()
    previous = explicit.mapped(change).previous()
    assert previous is not None
    assert not made
    assert previous() is first
    assert made == [first]


def test_a_matrix_that_was_worked_out_is_remembered(alike: PseudoLikelihood) -> None:
    objective = CachedObjective(alike)
    here, there = (objective.expand(np.full(alike.n_parameters, value)).explicit for value in (0.0, 0.1))
    assert here is not None
    assert there is not None
    assert there.previous() is None
    first = here.hessian()
    assert _given(there) is first
    assert objective.passes >= round(here.products)
    assert there.spent() == 0
    there.hessian()
    assert _given(there) is not first
