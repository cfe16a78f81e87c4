"""Whole fits by chains: real data against exact engines, and what is asked for wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.learning import Learner
from mrfit.learning.chain_backend import optimum_of
from mrfit.learning.chains.ascent import Target, climb
from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.chains.log_z_estimate import evidence
from mrfit.learning.objective_specs import LIKELIHOOD
from mrfit.learning.pseudo_counts import PseudoCounts
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import Ridge
from mrfit.solvers.solution import Status
from mrfit.structures.simple import ChowLiuTree, Learned
from populations import STRUCTURES, domain_of, random_rows

Rows = Callable[[str, str], UniqueRows]


def _learned(rows: UniqueRows, *, strength: float, seed: int = 0, jobs: int = 1) -> tuple[ChainProblem, Ridge]:
    """Five neighbours by gain, joined by OR; singles free."""
    structure = Learned(max_degree=5, bound="gain", rule="or", with_tree=True).learn(rows).structure
    parameters = Canonical(rows.domain, structure)
    return ChainProblem(parameters, rows, seed=seed, jobs=jobs), Ridge(strength, parameters.order_of_parameter > 1)


def test_kdd_by_exact_log_z(named_rows: Rows) -> None:
    """Chains reach -2.195 on test rows by a junction tree, where pseudo-likelihood ends at -12.7; other seeds agree."""
    train, test = named_rows("kdd", "train"), named_rows("kdd", "test")
    problem, penalty = _learned(train, strength=1.0)
    fits = [problem.fit(penalty), ChainProblem(problem.parameters, train, seed=1).fit(penalty)]
    engine, of_test = JunctionTree(), problem.features.means(test).of_features
    for fit in fits:
        factors = problem.parameters.to_factors(fit.w)
        log_z = engine.run(engine.plan(factors), factors).log_z
        assert float(of_test @ fit.w) - log_z == pytest.approx(-2.195, abs=0.02)
        assert fit.is_clean
        assert not fit.evidence.is_unmixed
        assert fit.evidence.log_z == pytest.approx(log_z, abs=4.0 * fit.evidence.error + 0.01)
        assert fit.train == pytest.approx(float(problem.means.of_features @ fit.w) - log_z, abs=0.03)
    assert fits[0].w.tobytes() != fits[1].w.tobytes()


@pytest.mark.parametrize(("name", "strength", "largest"), [("plants", 1.0, 0.15), ("jester", 10.0, 0.05)])
def test_other_seeds_agree_within_the_stated_error(
    name: str, strength: float, largest: float, named_rows: Rows
) -> None:
    """Scores of test rows are compared with the stated errors: of log Z, and of unfinished learning."""
    problem, penalty = _learned(named_rows(name, "train"), strength=strength)
    of_test = problem.features.means(named_rows(name, "test")).of_features
    fits = [ChainProblem(problem.parameters, problem.rows, seed=seed).fit(penalty) for seed in range(4)]
    scores = [float(of_test @ fit.w) - fit.evidence.log_z for fit in fits]
    for (a, one), (b, other) in combinations(zip(scores, fits, strict=True), 2):
        assert abs(a - b) < 3.0 * np.hypot(one.error, other.error)
    assert len(set(scores)) == len(scores)
    assert max(fit.error for fit in fits) < largest
    assert all(fit.evidence.error < fit.error and fit.ascent.error < fit.error for fit in fits)


def test_chains_that_do_not_mix_say_so(named_rows: Rows) -> None:
    """pumsb_star is nearly deterministic: from its best tree chains freeze, so that few weights decide.

    From independent variables, where learning begins by itself, they do not.
    """
    rows = named_rows("pumsb_star", "train")
    problem, penalty = _learned(rows, strength=1.0)
    tree = Learner(ChowLiuTree(), PseudoCounts(0.3), LIKELIHOOD).fit(rows).model
    frozen = problem.parameters.spread(tree.parameters, tree.w)
    schedule = replace(problem.schedule(warm=True), damping=5.0, iterations=200, looks=())
    assert problem.fit(penalty, start=frozen, schedule=schedule).evidence.is_unmixed
    assert not problem.fit(penalty, schedule=replace(schedule, iterations=300)).evidence.is_unmixed


def test_chains_freeze_at_the_tree_of_ad(named_rows: Rows) -> None:
    """Its means seem to match; one chain decides, and another base says hundreds of nats more."""
    rows = named_rows("ad", "train")
    tree = Learner(ChowLiuTree(), PseudoCounts(0.3), LIKELIHOOD).fit(rows).model
    problem = ChainProblem(tree.parameters, rows, chains=128)
    target = Target(problem.means, Ridge(0.1, problem.features.orders > 1))
    schedule = replace(problem.schedule(warm=True), iterations=60, looks=())
    ascent = climb(target, problem.chains(), tree.w, schedule)
    found = evidence(problem.parameters.to_factors(ascent.w), problem.codes, max_temperatures=1000)
    assert ascent.look.matches
    assert found.near.ess < 5.0
    assert found.far.log_z > found.near.log_z + 10.0
    assert found.is_unmixed


def test_what_the_hunt_leaves_on_book_is_told(named_rows: Rows) -> None:
    """Its heaviest row has 465 of 500 ones, and a mode there is too heavy after learning.

    What the hunt leaves is in log Z, so that the score is worse by no more than its mass.
    """
    rows, test = named_rows("book", "train"), named_rows("book", "test")
    problem, penalty = _learned(rows, strength=1.0)
    fit = problem.fit(penalty)
    assert fit.hunts > 0
    solution = optimum_of(problem, fit, 1.0, penalty=penalty, begun=0.0).solution
    assert (solution.status is Status.SPURIOUS_MODE) is not fit.is_clean
    score = float(problem.features.means(test).of_features @ fit.w) - fit.evidence.log_z
    assert score == pytest.approx(-35.77, abs=0.05 - np.log1p(-fit.evidence.far_mass))


def test_threads_change_no_bit(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2, 2, 2), 200, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](5))
    fits = [ChainProblem(parameters, rows, seed=3, jobs=jobs).fit(Ridge(1.0)) for jobs in (1, 2)]
    assert fits[0].w.tobytes() == fits[1].w.tobytes()
    assert fits[0].train == fits[1].train
    assert fits[0].evidence.log_z == fits[1].evidence.log_z


def test_a_near_start_is_used(rng: np.random.Generator) -> None:
    """And left unchanged; its schedule is the calm one."""
    rows = random_rows(rng, (2,) * 5, 200)
    problem = ChainProblem(Canonical(rows.domain, STRUCTURES["complete"](5)), rows)
    assert problem.schedule(warm=True).first_step < problem.schedule(warm=False).first_step
    start = np.full(problem.parameters.n_parameters, 0.25)
    none = replace(problem.schedule(warm=True), iterations=1, looks=(), first_step=1e-9)
    np.testing.assert_allclose(problem.fit(Ridge(1.0), start=start, schedule=none).w, start, atol=1e-6)
    assert (start == 0.25).all()


def test_rare_states_take_more_chains(rng: np.random.Generator) -> None:
    even, rare = rng.integers(0, 2, (500, 4)), (rng.random((500, 4)) < 0.01).astype(int)
    numbers = [
        ChainProblem(Canonical(rows.domain, STRUCTURES["complete"](4)), rows).n_chains
        for rows in (UniqueRows.from_codes(domain_of((2,) * 4), c.astype(np.uint8), np.ones(500)) for c in (even, rare))
    ]
    assert numbers == [256, 1024]


def test_wrong_numbers_of_chains_are_refused(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 2), 10)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](2))
    for chains in (0, 64, 100, -128):
        with pytest.raises(InputError, match=f"blocks of 64, at least two; got {chains}"):
            ChainProblem(parameters, rows, chains=chains)


def test_other_reference_states_are_refused(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 2), 10)
    with pytest.raises(InputError, match="first state"):
        ChainProblem(Canonical(rows.domain, STRUCTURES["complete"](2), (1, 0)), rows)


@pytest.mark.parametrize("n_rows", [1, 3])
def test_few_rows_and_constant_columns_give_numbers(n_rows: int, rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2), n_rows)
    problem = ChainProblem(Canonical(rows.domain, STRUCTURES["complete"](3)), rows)
    fit = problem.fit(Ridge(1.0))
    assert np.isfinite(fit.w).all()
    assert np.isfinite(fit.train)
