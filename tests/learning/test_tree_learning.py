"""Learning by the likelihood on junction trees: the same optima as over all joint states, and how they are begun."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.tree_states import TreeStates
from mrfit.learning import FitResult, Learner
from mrfit.learning.backend import ExactCoordinates, TreeCoordinates
from mrfit.learning.chain_backend import ChainCoordinates
from mrfit.learning.objective_specs import LIKELIHOOD, LikelihoodSpec
from mrfit.learning.penalty_specs import L2
from mrfit.learning.specification import learn
from mrfit.learning.tying.hard_tying import TiedObjective
from mrfit.learning.tying.tying_problem import TyingProblem
from mrfit.model.markov_network import MarkovNetwork
from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.chow_liu_closed_form import forest_parameters
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.row_scores import row_ll
from mrfit.objectives.tree_likelihood import TreeLikelihood
from mrfit.registry import PARAMETERIZATIONS, PENALTIES
from mrfit.structures.simple import AllInteractions, ChowLiuTree, FixedStructure
from mrfit.structures.structure import Structure
from populations import STRUCTURES, domain_of, full_rows, random_rows
from words import learner

BINARY, MIXED = (2,) * 6, (2, 3, 4, 2, 3)
TRIPLES = Structure.from_scopes(6, [(0, 1, 2), (2, 3), (3, 4, 5)])


def fitted(rows: UniqueRows, structure: Structure, engine: str, *strengths: float, **more: Any) -> FitResult:
    valid = more.pop("valid", None)
    own = learner(strengths or None, objective=LikelihoodSpec(engine), **{"tolerance": 1e-8} | more)
    return learn(rows, structure, own, valid=valid)


def _scores(model: MarkovNetwork, rows: UniqueRows) -> np.ndarray:
    return row_ll(model.parameters, model.w, rows.codes)


def assert_same(rows: UniqueRows, structure: Structure, *strengths: float, **more: Any) -> None:
    """Values and parameters of all fits by both engines."""
    mine, theirs = (fitted(rows, structure, engine, *strengths, **more) for engine in ("tree", "enumeration"))
    assert (mine.engine, theirs.engine) == ("tree", "enumeration")
    for one, other in zip(mine.fits, theirs.fits, strict=True):
        assert one.solution.converged
        assert other.solution.converged
        assert one.solution.value == pytest.approx(other.solution.value, abs=1e-9)
        assert (one.train, one.train_pll) == pytest.approx((other.train, other.train_pll), abs=1e-6)
        assert (one.held_out is None) == (other.held_out is None)
        assert one.rank == pytest.approx(other.rank, abs=1e-6)
    np.testing.assert_allclose(_scores(mine.model, rows), _scores(theirs.model, rows), atol=1e-5)


@pytest.mark.parametrize("kind", PARAMETERIZATIONS)
@pytest.mark.parametrize("penalty", ["l2", "l1", "group", "hierarchical", "flat-l1", "flat-l2"])
def test_both_engines_reach_one_optimum(penalty: str, kind: str, rng: np.random.Generator) -> None:
    """All parameterizations are tested, with pairs and triples."""
    rows = random_rows(rng, BINARY, 200)
    assert_same(rows, TRIPLES, 4.0, 1.0, penalty=penalty, parameterization=kind)


@pytest.mark.parametrize("penalty", ["l2", "l1", "group"])
@pytest.mark.parametrize("reference", ["first", "last"])
def test_variables_of_several_states(penalty: str, reference: str, rng: np.random.Generator) -> None:
    rows = random_rows(rng, MIXED, 300, fractional=True)
    assert_same(rows, STRUCTURES["tree"](5), 2.0, penalty=penalty, reference=reference)


@pytest.mark.parametrize("penalty", ["tied", "hard", "ltr"])
@pytest.mark.parametrize("orders", [None, (1,)])
def test_tied_parameters(penalty: str, orders: tuple[int, ...] | None, rng: np.random.Generator) -> None:
    """There are many optima: each engine may find its own, and the other engine certifies it."""
    rows, structure = random_rows(rng, BINARY, 300), STRUCTURES["chain"](6)
    for engine, other in (("tree", Likelihood), ("enumeration", TreeLikelihood)):
        best = fitted(rows, structure, engine, 1.0, penalty=penalty, groups=2, free_orders=orders).best
        assert best.solution.converged
        groups, w = best.model.groups, best.model.w
        assert groups is not None
        objective = CachedObjective(other(best.model.parameters, rows))
        if penalty == "tied":
            problem = TyingProblem(objective, rows.total_weight)
            certified, value, violation = problem.certificate(groups, w, 1.0)
            np.testing.assert_allclose(certified.centers, groups.centers, atol=1e-12)
        else:  # the groups are equal, without a penalty
            reduced = TiedObjective(objective, groups)
            value, slope = reduced.value_and_gradient(reduced.unknowns.means(w))
            violation = np.abs(slope).max()
        assert value == pytest.approx(best.solution.value, abs=1e-12)
        assert violation <= 1.1e-8


def test_no_penalty_has_a_duality_gap_or_none(rng: np.random.Generator) -> None:
    """All joint states occur in the rows, so that every optimum is finite."""
    rows = full_rows(rng, BINARY)
    assert_same(rows, TRIPLES, penalty="none")


@pytest.mark.parametrize("held_out", ["valid", "folds"])
def test_paths_choose_the_same(held_out: str, rng: np.random.Generator) -> None:
    """Held-out rows choose, down an l1 path and along given strengths."""
    rows, valid = random_rows(rng, BINARY, 150), random_rows(rng, BINARY, 80)
    more: dict[str, Any] = {"valid": valid} if held_out == "valid" else {"folds": 3}
    assert_same(rows, STRUCTURES["chain"](6), 0.1, 1.0, 10.0, **more)
    assert_same(rows, STRUCTURES["chain"](6), penalty="l1", **more)


def test_the_l1_family_is_certified(rng: np.random.Generator) -> None:
    """The duality gap is below the tolerance."""
    rows = random_rows(rng, BINARY, 200)
    for penalty in ("l1", "group", "flat-l1"):
        best = fitted(rows, TRIPLES, "tree", 3.0, penalty=penalty).best
        assert best.solution.gap is not None
        assert -1e-12 < best.solution.gap <= 1e-8


def test_order_two_is_the_same_in_all_complete_coordinates(rng: np.random.Generator) -> None:
    """No penalty means that coordinates do not matter: one distribution, one likelihood."""
    rows = full_rows(rng, MIXED)
    fits = [
        fitted(rows, STRUCTURES["tree"](5), "tree", penalty="none", parameterization=kind).best
        for kind in ("canonical", "spectral", "full")
    ]
    for other in fits[1:]:
        assert other.train == pytest.approx(fits[0].train, abs=1e-10)
        np.testing.assert_allclose(_scores(other.model, rows), _scores(fits[0].model, rows), atol=1e-5)


# -- which engine ------------------------------------------------------------------------------------------------


def test_auto_takes_what_is_faster(rng: np.random.Generator) -> None:
    """All joint states where they are few or the structure is dense; a tree where it is sparse; chains elsewhere."""
    small, wide = random_rows(rng, (2,) * 4, 20), random_rows(rng, (2,) * 40, 20)
    middle = random_rows(rng, (2,) * 18, 20)

    def coordinates(rows: UniqueRows, structure: Structure) -> object:
        parameters = PARAMETERIZATIONS["canonical"](rows.domain, structure)
        return type(LIKELIHOOD.coordinates(parameters, listed=False, keep_zeros=False, jobs=1))

    assert coordinates(small, Structure.complete(4)) is ExactCoordinates
    assert coordinates(middle, Structure.complete(18)) is ExactCoordinates
    assert coordinates(middle, STRUCTURES["chain"](18)) is TreeCoordinates
    assert coordinates(wide, STRUCTURES["chain"](40)) is TreeCoordinates
    assert coordinates(wide, Structure.complete(40)) is ChainCoordinates


def test_what_an_engine_cannot_do_is_refused(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2,) * 40, 20)
    with pytest.raises(InputError, match="no engine 'chance'; choose one of 'auto', 'exact', 'enumeration', 'tree'"):
        LikelihoodSpec("chance")
    with pytest.raises(InputError, match=r"goes over all 1.1e\+12 joint states of 40 variables"):
        fitted(rows, STRUCTURES["chain"](40), "enumeration")
    with pytest.raises(InputError, match="the junction tree is a single clique"):
        fitted(random_rows(rng, (2,) * 4, 9), Structure.up_to_order(4, 4), "tree")


# -- data that have no finite optimum ----------------------------------------------------------------------------


def _same_bounds(rows: UniqueRows, structure: Structure, **more: Any) -> None:
    mine, theirs = (fitted(rows, structure, engine, tolerance=1e-6, **more).best for engine in ("tree", "enumeration"))
    assert mine.held == theirs.held
    assert mine.train == pytest.approx(theirs.train, abs=1e-6)
    assert np.isfinite(mine.model.w).all()


def test_pairs_that_never_occur_are_held(rng: np.random.Generator) -> None:
    """Separable rows without a penalty: the same parameters are held at the same bounds."""
    codes = rng.integers(0, 2, (60, 3)).astype(np.uint8)
    codes[:, 1] &= 1 - codes[:, 0]
    rows = UniqueRows.from_codes(domain_of((2, 2, 2)), codes, np.ones(60))
    _same_bounds(rows, STRUCTURES["chain"](3), penalty="none")


def test_constant_columns_are_held(rng: np.random.Generator) -> None:
    codes = rng.integers(0, 2, (60, 4)).astype(np.uint8)
    codes[:, 1], codes[:, 2] = 0, 1
    rows = UniqueRows.from_codes(domain_of((2,) * 4), codes, np.ones(60))
    _same_bounds(rows, STRUCTURES["chain"](4), penalty="l2")
    _same_bounds(rows, STRUCTURES["chain"](4), penalty="l1", strength=2.0)


def test_one_row_needs_a_penalty_on_all() -> None:
    rows = UniqueRows.from_codes(domain_of((2, 2, 2)), np.ones((1, 3), np.uint8), np.full(1, 5.0))
    with pytest.raises(InputError, match="All rows are equal"):
        fitted(rows, STRUCTURES["chain"](3), "tree")
    assert_same(rows, STRUCTURES["chain"](3), 1.0, free_orders=())


# -- defaults ----------------------------------------------------------------------------------------------------


def test_single_variables_are_free_by_default_with_l2(rng: np.random.Generator) -> None:
    """Both engines of the likelihood leave them free unless told otherwise."""
    rows = random_rows(rng, BINARY, 50)
    for engine in ("tree", "enumeration"):
        model = fitted(rows, STRUCTURES["chain"](6), engine, 1e6).model
        means = (rows.sample_weight @ rows.codes) / rows.total_weight
        np.testing.assert_allclose(model.w[:6], np.log(means / (1 - means)), atol=1e-3)
        shrunk = fitted(rows, STRUCTURES["chain"](6), engine, 1e6, free_orders=()).model
        assert np.abs(shrunk.w).max() < 1e-3
    assert PENALTIES["l2"]().free_orders_in(TRIPLES, learner().objective) == ()


# -- where fits begin --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["canonical", "spectral"])
def test_a_forest_is_its_own_maximum(kind: str, rng: np.random.Generator) -> None:
    """The start on a tree is the optimum without a penalty, up to its smoothing."""
    rows = full_rows(rng, MIXED)
    heavy = UniqueRows.from_codes(rows.domain, rows.codes, 1e6 * rows.sample_weight)
    parameters = PARAMETERIZATIONS[kind](rows.domain, STRUCTURES["tree"](5))
    start = forest_parameters(parameters, heavy)
    assert start is not None
    _, gradient = TreeLikelihood(parameters, heavy).value_and_gradient(start)
    assert np.abs(gradient).max() < 1e-8


def test_a_forest_is_no_worse_than_independence(rng: np.random.Generator) -> None:
    """The best tree inside the structure is used if it has loops."""
    rows = random_rows(rng, BINARY, 100)
    parameters = PARAMETERIZATIONS["canonical"](rows.domain, Structure.complete(6))
    states = TreeStates(parameters)
    start = forest_parameters(parameters, rows)
    assert start is not None
    objective, loose = TreeLikelihood(states, rows), np.where(np.arange(len(start)) < 6, start, 0.0)
    means = (rows.sample_weight @ rows.codes) / rows.total_weight
    loose[:6] = np.log(means / (1 - means))
    assert objective.value_and_gradient(start)[0] < objective.value_and_gradient(loose)[0]
    assert np.count_nonzero(start[6:]) == 5


def test_other_structures_have_no_forest(rng: np.random.Generator) -> None:
    rows = random_rows(rng, BINARY, 20)
    for structure, kind in (("independent", "canonical"), ("pairs without singles", "canonical"), ("chain", "ising")):
        parameters = PARAMETERIZATIONS[kind](rows.domain, STRUCTURES[structure](6))
        assert forest_parameters(parameters, rows) is None


@pytest.mark.parametrize("kind", ["canonical", "spectral"])
def test_the_forest_of_larger_scopes_is_that_of_their_pairs(kind: str, rng: np.random.Generator) -> None:
    rows = random_rows(rng, BINARY, 100)
    triples, pairs = (PARAMETERIZATIONS[kind](rows.domain, Structure.up_to_order(6, order)) for order in (3, 2))
    whole, part = forest_parameters(triples, rows), forest_parameters(pairs, rows)
    assert whole is not None
    assert part is not None
    assert np.array_equal(whole[: len(part)], part)
    assert not whole[len(part) :].any()


# -- towards the tree --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["tree", "enumeration"])
@pytest.mark.parametrize("kind", ["canonical", "spectral"])
@pytest.mark.parametrize("shape", [BINARY, MIXED])
def test_a_strong_penalty_towards_the_tree_leaves_the_tree(
    engine: str, kind: str, shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    """All sets of variables included, whose parameters could stand in another order."""
    rows = random_rows(rng, shape, 300)
    for structure in (Structure.complete(len(shape)), Structure.up_to_order(len(shape), 3)):
        penalty = L2(1e9, (), toward="tree")
        how = Learner(FixedStructure(structure), penalty, LikelihoodSpec(engine), kind)
        solution = how.fit(rows).best.solution
        wanted = forest_parameters(PARAMETERIZATIONS[kind](rows.domain, structure), rows)
        np.testing.assert_allclose(solution.w[: len(wanted)], wanted, atol=1e-5)
    saturated = Learner(AllInteractions(None), L2(1e9, (), toward="tree"), LikelihoodSpec("enumeration"), kind)
    pairs = Learner(AllInteractions(2), L2(1e9, (), toward="tree"), LikelihoodSpec("enumeration"), kind)
    assert saturated.fit(rows).best.train == pytest.approx(pairs.fit(rows).best.train, abs=1e-5)


def test_both_engines_reach_one_optimum_towards_the_tree(rng: np.random.Generator) -> None:
    rows = random_rows(rng, BINARY, 200)
    one, other = (
        Learner(FixedStructure(TRIPLES), L2(5.0, toward="tree"), LikelihoodSpec(engine), tolerance=1e-8).fit(rows).best
        for engine in ("tree", "enumeration")
    )
    assert one.solution.value == pytest.approx(other.solution.value, abs=1e-9)
    assert one.train > Learner(FixedStructure(TRIPLES), L2(5.0), LIKELIHOOD).fit(rows).best.train
    assert one.model.provenance["penalty"]["toward"] == "tree"


def test_no_tree_to_be_drawn_to(rng: np.random.Generator) -> None:
    rows = random_rows(rng, BINARY, 50)
    with pytest.raises(InputError, match="canonical or spectral"):
        Learner(ChowLiuTree(), L2(1.0, toward="tree"), LIKELIHOOD, "ising").fit(rows)
    with pytest.raises(InputError, match="towards 'zero' or the 'tree'; got 'bush'"):
        L2(1.0, toward="bush")


def test_no_bound_cuts_off_an_optimum() -> None:
    """A variable that ten others follow: at none of them, it is as good as impossible."""
    rng = np.random.default_rng(0)
    hub = rng.integers(0, 2, (2000, 1))
    codes = np.hstack([hub, np.where(rng.random((2000, 10)) < 0.01, 1 - hub, hub)]).astype(np.uint8)
    rows = UniqueRows.from_codes(domain_of((2,) * 11), codes, np.ones(2000))
    star = Structure.from_edges(11, [(0, k) for k in range(1, 11)])
    best = Learner(FixedStructure(star), L2(1e-3), LikelihoodSpec("tree")).fit(rows).best
    assert best.solution.converged
    assert np.abs(best.model.w).max() > 40
    assert not len(best.solution.at_bound)
