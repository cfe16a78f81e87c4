"""Local search for most probable states: its moves, its bound, and what it finds where message passing does not."""

from __future__ import annotations

import json
from itertools import product as cells_of
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.datasets import load_digits

from mrfit import Dataset, read_network
from mrfit._kernels.inference.block_moves import choose_block
from mrfit._kernels.inference.dual_bound import lower_bound
from mrfit._kernels.inference.state_moves import anneal, climb, pick_cells
from mrfit.core.domain import Domain
from mrfit.core.errors import ImpossibleError, InputError
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.formats.uai_evidence import read_evidence
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.map.state_blocks import StateBlocks
from mrfit.inference.map.state_search import StateSearch, _SearchProblem
from mrfit.inference.messages.max_product import MaxBeliefs, MaxProduct
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.structures.simple import CompleteGraph
from populations import SCOPES, factors, forests, random_factors, spin_glass
from reference import factors as reference

FOUND_IN_UAI = ["CSP_12", "DBN_11", "Grids_11", "Grids_12", "Grids_15", "ObjectDetection_34", "Pedigree_11"]
FOUND_IN_UAI += ["Pedigree_12", "Promedus_15", "Promedus_24", "Segmentation_11", "Segmentation_14"]
PROVEN_IN_UAI = {"ObjectDetection_34", "Promedus_24", "Segmentation_11", "Segmentation_14"}
AWKWARD = ["cycle", "nested", "duplicate, turned", "mixed cardinalities", "one-state variables"]


def _largest(product: Factors) -> float:
    return max(reference.log_potential(product, x) for x in cells_of(*map(range, product.shape)))


def _random(seed: int = 1) -> np.ndarray:
    return np.array([seed], np.uint64)


def _grid_pairs(side: int) -> list[tuple[int, int]]:
    number = np.arange(side * side).reshape(side, side)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    return [(int(i), int(j)) for i, j in np.concatenate([across, down])]


def _by_max_product(product: Factors) -> float:
    engine = MaxProduct()
    found = engine.run(engine.plan(product), product)
    assert isinstance(found, MaxBeliefs)
    return found.score


@settings(max_examples=80)
@given(factors())
def test_the_bound_is_one_from_both_sides(product: Factors) -> None:
    """The score is that of a state, the bound that of none; equal, they are the optimum."""
    truth = _largest(product)
    slack = 1e-9 * (1.0 + abs(truth))
    found = StateSearch(work=10**6).best(product)
    assert found.log_potential == pytest.approx(product.log_potential(found.codes[None])[0], abs=1e-12)
    assert found.log_potential <= truth + slack
    assert found.bound >= truth - slack
    assert found.proven == (not found.remarks)
    if found.proven:
        assert found.log_potential == pytest.approx(truth, abs=1e-8 * (1.0 + abs(truth)))


@settings(max_examples=40)
@given(forests())
def test_the_bound_is_met_on_forests(product: Factors) -> None:
    assert StateSearch().best(product).proven


@pytest.mark.parametrize("seed", range(6))
def test_a_small_frustrated_model_keeps_a_gap(seed: int) -> None:
    """Its optimum is found, and the bound lies truly above it."""
    product = spin_glass([(i, j) for i in range(8) for j in range(i)], np.random.default_rng(seed))
    found, truth = StateSearch().best(product), _largest(product)
    assert found.log_potential == pytest.approx(truth, abs=1e-9)
    assert found.bound > truth + 0.01
    assert f"{found.n_hits} of {found.n_starts} starts" in found.remarks[0]


@pytest.mark.parametrize("rounds", [1, 3, 50])
@pytest.mark.parametrize("name", AWKWARD)
def test_moving_values_changes_no_sum(name: str, rounds: int, rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES[name])
    problem = _SearchProblem.of(product)
    before = problem.terms(-np.inf)
    fields, tables = before.field.copy(), before.table.copy()
    bound, _ = lower_bound(before, fields, tables, rounds, 0.0)
    after = before._replace(field=fields, table=tables)
    cell = np.empty(len(problem.graph.hosts), np.int64)
    sums = []
    for x in cells_of(*map(range, product.shape)):
        state = np.array(x, np.int64)
        sums.append(pick_cells(before, state, cell))
        assert pick_cells(after, state, cell) == pytest.approx(sums[-1], abs=1e-10)
    assert bound >= max(sums) - 1e-10


@pytest.mark.parametrize("name", AWKWARD)
def test_a_climb_ends_where_no_pair_gains(name: str, rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES[name])
    problem = _SearchProblem.of(product)
    state = rng.integers(0, product.shape)
    begun = product.log_potential(state[None])[0]
    score, work = climb(problem.terms(-np.inf), state, _random(), 5, 10**6)
    assert work > 0
    assert score + problem.constant == pytest.approx(product.log_potential(state[None])[0], abs=1e-10)
    assert score + problem.constant >= begun - 1e-10
    for i, j in {(i, j) for host in problem.graph.hosts for i in host for j in host if i < j}:
        for s, t in cells_of(range(product.shape[i]), range(product.shape[j])):
            other = state.copy()
            other[[i, j]] = s, t
            assert product.log_potential(other[None])[0] <= score + problem.constant + 1e-9


def test_a_forest_moves_as_one(rng: np.random.Generator) -> None:
    """A chain of equals in the wrong state: every flip of one or two loses, all together gain."""
    together = np.where(np.eye(3, dtype=bool), 2.0, 0.0)
    chain = [((i, i + 1), together) for i in range(19)]
    product = Factors.from_tables((3,) * 20, [*chain, *(((i,), [0.0, 0.2, 0.1]) for i in range(20))])
    terms = _SearchProblem.of(product).terms(-np.inf)
    state = np.zeros(20, np.int64)
    climb(terms, state, _random(), 0, 10**6)
    assert state.tolist() == [0] * 20
    climb(terms, state, _random(), 1, 10**6)
    assert state.tolist() == [1] * 20


def test_annealing_is_slow_cooling(rng: np.random.Generator) -> None:
    """Annealing at one temperature is a Gibbs sampler: frequencies of states are those of the model."""
    product = random_factors(rng, *SCOPES["mixed cardinalities"])
    product = product.with_values(0.3 * product.values)
    p = reference.probabilities(product)[1]
    terms, random, counts = _SearchProblem.of(product).terms(-np.inf), _random(), dict.fromkeys(p, 0)
    state = np.zeros(4, np.int64)
    for _ in range(20_000):
        anneal(terms, state, random, 1.0, 1.0, 3)
        counts[tuple(state.tolist())] += 1
    single = np.zeros(5)
    for x, n in counts.items():
        single[x[1]] += n / 20_000
    np.testing.assert_allclose(single, reference.marginal(product, p, (1,)), atol=0.015)


@pytest.mark.parametrize("max_cells", [4, 16, 64])
def test_blocks_have_small_cliques_and_are_solved(max_cells: int, rng: np.random.Generator) -> None:
    """The best joint state of the free variables, by trying all; and eliminating them makes no larger clique."""
    scopes = [(i, j) for i in range(9) for j in range(i) if (i + j) % 3] + [(0, 4, 8)]
    product = random_factors(rng, (2, 3, 2, 2, 3, 2, 2, 2, 2), scopes)
    problem = _SearchProblem.of(product)
    blocks = StateBlocks.of(problem.graph, problem.terms(-np.inf))
    order = np.empty(9, np.int64)
    states = np.array(product.shape, np.int64)
    free = order[: choose_block(blocks.joined.copy(), states, float(max_cells), _random(3), order)].tolist()
    left = product.given({i: 0 for i in range(9) if i not in free})
    plan = JunctionTree(merge=False).plan(left, order=free)
    assert np.prod([product.shape[i] for i in plan.largest]) <= max_cells
    assert free
    state = np.zeros(9, np.int64)
    raised, share, work = blocks.raised(state, max_cells, _random(3))
    assert share == len(free) / 9
    assert work > 0
    best = max(reference.log_potential(left, x) for x in cells_of(*map(range, left.shape)))
    assert product.log_potential(raised[None])[0] == pytest.approx(best, abs=1e-10)
    assert all(raised[i] == 0 for i in range(9) if i not in free)


def test_a_spin_glass_on_a_grid(rng: np.random.Generator) -> None:
    """A junction tree proves the optimum, which max-product misses by far."""
    product = spin_glass(_grid_pairs(15), rng)
    tree = JunctionTree()
    truth = tree.best(tree.plan(product), product)[1]
    found = StateSearch().best(product)
    assert found.log_potential == pytest.approx(truth, abs=1e-9)
    assert found.bound > truth
    assert _by_max_product(product) < truth - 5.0


def test_strong_fields_are_proven(rng: np.random.Generator) -> None:
    """Tables of any kind on a grid, for which the bound of message passing is tight."""
    fields = [((i,), 3.0 * rng.standard_normal(2)) for i in range(144)]
    pairs = [(pair, rng.standard_normal(4)) for pair in _grid_pairs(12)]
    product = Factors.from_tables((2,) * 144, [*fields, *pairs])
    found, tree = StateSearch().best(product), JunctionTree()
    assert found.proven
    assert found.log_potential == pytest.approx(tree.best(tree.plan(product), product)[1], abs=1e-9)


def test_handwritten_digits() -> None:
    """A complete network of 64 pixels: no tree fits, and no row is more probable than what is found."""
    pixels = (load_digits().data > 7).astype(np.uint8)
    domain = Domain.from_states({f"p{k}": ("off", "on") for k in range(64)})
    rows = UniqueRows.from_dataset(Dataset(domain, pixels))
    product = Learner(CompleteGraph(), L2(10.0)).fit(rows).best.model.factors
    found = StateSearch().best(product)
    assert found.log_potential >= product.log_potential(rows.codes).max() - 1e-9
    assert found.log_potential > _by_max_product(product) + 0.5
    assert found.n_hits >= 5


@pytest.mark.parametrize("name", FOUND_IN_UAI)
def test_uai_2014(name: str, conformance_dir: Path) -> None:
    """Largest products of the competition's models given their evidence, without a tree over the whole."""
    folder = conformance_dir / "uai2014"
    network = read_network(folder / f"{name}.uai.gz")
    (known,) = read_evidence(folder / f"{name}.uai.evid", network.domain.shape)
    expected = json.loads((folder / "expected.json").read_text())[name]["ln_max"]
    found = StateSearch().best(network.factors.given(known))
    assert found.log_potential == pytest.approx(expected, abs=1e-6)
    assert found.bound >= found.log_potential
    assert found.proven == (name in PROVEN_IN_UAI)


def test_a_seed_is_a_result(rng: np.random.Generator) -> None:
    product = spin_glass(_grid_pairs(8), rng)
    one, again, other = (StateSearch(seed=seed).best(product) for seed in (3, 3, 4))
    assert (one.codes == again.codes).all()
    assert (one.log_potential, one.bound, one.n_starts) == (again.log_potential, again.bound, again.n_starts)
    assert one.bound == other.bound


def test_rows_are_starts() -> None:
    """A best state that nothing leads to: one cell of a table of all variables, which all else points away from."""
    n = 10
    table = np.zeros(2**n)
    table[-1] = 40.0
    away = [((i,), [2.0, 0.0]) for i in range(n)]
    pairs = [((i, j), [0.0, 0.1, 0.1, 0.0]) for i in range(n) for j in range(i)]
    product = Factors.from_tables((2,) * n, [(tuple(range(n)), table), *away, *pairs])
    rows = np.array([[0] * n, [1] * n])
    assert StateSearch(work=10).best(product, rows).codes.tolist() == [1] * n


def test_impossible_states_are_left_alone(rng: np.random.Generator) -> None:
    """Neighbours on a cycle differ: of three states, and of two where the cycle is odd."""
    differ = [((i, (i + 1) % 9), np.where(np.eye(3, dtype=bool), -np.inf, 0.0)) for i in range(9)]
    product = Factors.from_tables((3,) * 9, [*differ, *(((i,), rng.standard_normal(3)) for i in range(9))])
    assert StateSearch().best(product).log_potential == pytest.approx(_largest(product), abs=1e-9)
    odd = [((i, (i + 1) % 9), np.where(np.eye(2, dtype=bool), -np.inf, 0.0)) for i in range(9)]
    nothing = StateSearch(work=10**6).best(Factors.from_tables((2,) * 9, odd))
    assert nothing.log_potential == -np.inf
    assert "impossible" in nothing.remarks[-1]
    seen = [((0,), [0.0, -np.inf]), ((1, 0), [[-np.inf, 0.0]] * 2)]
    with pytest.raises(ImpossibleError):
        StateSearch().best(Factors.from_tables((2, 2), seen))


@pytest.mark.parametrize("wrong", [{"work": 0}, {"hits": 0}])
def test_settings_that_cannot_be_met(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match=r"work=.*hits=.*at least 1"):
        StateSearch(**wrong)
