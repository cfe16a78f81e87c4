"""Message passing: exact on forests, bounds and estimates elsewhere, and the promises of every such engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.engine import Engine, Posterior
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.messages.belief_propagation import BeliefPropagation
from mrfit.inference.messages.factor_graph import FactorGraph
from mrfit.inference.messages.max_product import MaxBeliefs, MaxProduct
from mrfit.inference.messages.mean_field import MeanField
from mrfit.inference.messages.tree_reweighted import TreeReweighted
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.structures.simple import FixedStructure, Learned
from populations import MESSAGE_ENGINES, SCOPES, factors, forests, random_factors
from reference import factors as reference
from reference.messages import PlainMessages

SUMS = [*MESSAGE_ENGINES[BeliefPropagation], *MESSAGE_ENGINES[TreeReweighted]]
ALL = [engine for engines in MESSAGE_ENGINES.values() for engine in engines]
FORESTS = [name for name, (shape, scopes) in SCOPES.items() if FactorGraph(shape, tuple(scopes)).is_forest]


def _run(engine: Engine, product: Factors) -> Posterior:
    return engine.run(engine.plan(product), product)


def _takes(engine: Engine, product: Factors) -> bool:
    graph = FactorGraph(product.shape, product.scopes)
    return engine.word != "trw" or max(map(len, graph.hosts), default=0) <= 2


def _sees_a_forest(engine: Engine, product: Factors) -> bool:
    return FactorGraph(product.shape, product.scopes, getattr(engine, "merge", True)).is_forest


def _check_exact(engine: Engine, product: Factors, known: tuple[float, dict] | None = None) -> None:
    log_z, p = known or reference.probabilities(product)
    found = _run(engine, product)
    assert found.exact
    assert (found.error, found.remarks, found.bound, found.value) == (0.0, (), None, "exact")
    assert found.log_z == pytest.approx(log_z, rel=1e-9, abs=1e-9)
    for scope in [
        *product.scopes,
        *(scope[::-1] for scope in product.scopes),
        *((i,) for i in range(len(product.shape))),
    ]:
        expected = reference.marginal(product, p, scope)
        np.testing.assert_allclose(found.marginal(scope), expected, rtol=0, atol=1e-9, err_msg=str(scope))
        np.testing.assert_array_equal(found.marginal(scope) == 0, expected == 0)


def test_the_population_has_forests_of_all_kinds() -> None:
    """Also those that look like loops: tables inside each other, twice, turned, and over one-state variables."""
    assert {"tree", "nested", "duplicate, turned", "one-state variables", "no variables", "disconnected"} <= set(
        FORESTS
    )
    assert not {"cycle", "mixed cardinalities"} & set(FORESTS)


@pytest.mark.parametrize("zeros", [0.0, 0.3, 1.0], ids=["finite", "zeros", "one state possible"])
@pytest.mark.parametrize("engine", SUMS, ids=str)
@pytest.mark.parametrize("name", FORESTS)
def test_exact_on_forests(name: str, engine: Engine, zeros: float, rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES[name], zeros=zeros)
    if _takes(engine, product) and _sees_a_forest(engine, product):
        _check_exact(engine, product)


@settings(max_examples=40)
@given(forests())
def test_exact_on_any_forest(product: Factors) -> None:
    known = reference.probabilities(product)
    for engine in SUMS:
        if _takes(engine, product) and _sees_a_forest(engine, product):
            _check_exact(engine, product, known)


@settings(max_examples=40)
@given(forests())
def test_the_best_state_of_any_forest(product: Factors) -> None:
    """No other has a larger score; max-marginals are those of the definition."""
    q = {x: reference.log_potential(product, x) for x in reference.probabilities(product)[1]}
    for engine in MESSAGE_ENGINES[MaxProduct]:
        found = _run(engine, product)
        assert isinstance(found, MaxBeliefs)
        assert found.exact
        assert found.score == pytest.approx(max(q.values()), rel=1e-12, abs=1e-12)
        assert found.score == pytest.approx(q[tuple(found.state.tolist())], rel=1e-12, abs=1e-12)
        for i, c in enumerate(product.shape):
            best = np.exp([max(q[x] for x in q if x[i] == s) - found.score for s in range(c)])
            np.testing.assert_allclose(found.marginal((i,)), best / best.sum(), atol=1e-9)


def test_ties_are_broken_together() -> None:
    """Two best states, of which no variable alone can tell."""
    product = Factors.from_tables((2, 2), [((0, 1), [[0.0, 1.0], [1.0, 0.0]])])
    assert tuple(_run(MaxProduct(), product).state.tolist()) in {(0, 1), (1, 0)}


@settings(max_examples=60)
@given(factors())
def test_bounds_hold(product: Factors) -> None:
    """Bounds are from above for pairs, from below for all scopes, where an engine gives them."""
    log_z = reference.probabilities(product)[0]
    slack = 1e-7 * (1.0 + abs(log_z))
    for engine in [*MESSAGE_ENGINES[TreeReweighted], *MESSAGE_ENGINES[MeanField]]:
        if _takes(engine, product):
            found = _run(engine, product)
            side = {"trw": "upper", "mean-field": "lower"}[engine.word]
            assert found.bound == (side if np.isfinite(found.log_z) and not found.exact else None)
            assert np.isnan(found.log_z) or (found.log_z - log_z) * (1 if side == "upper" else -1) >= -slack
            if found.exact:
                assert found.log_z == pytest.approx(log_z, abs=slack)
            else:
                assert found.error is None
                assert found.remarks


@pytest.mark.parametrize("scale", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("states", [2, 3])
def test_bounds_on_both_sides_of_a_grid(states: int, scale: float, rng: np.random.Generator) -> None:
    """Optimised appearance probabilities give a bound that is not larger than that of the random ones."""
    scopes = [(3 * r + c, 3 * r + c + 1) for r in range(3) for c in range(2)] + [(k, k + 3) for k in range(6)]
    product = random_factors(rng, (states,) * 9 if states == 2 else (3, 2, 3, 2, 2, 2, 3, 2, 3), scopes)
    product = product.with_values(0.5 * scale * product.values)
    log_z = reference.probabilities(product)[0]
    upper, first, lower = (
        _run(engine, product) for engine in (TreeReweighted(), TreeReweighted(max_trees=0), MeanField())
    )
    assert lower.log_z <= log_z <= upper.log_z + 1e-7
    assert upper.log_z <= first.log_z
    assert (upper.bound, lower.bound) == ("upper", "lower")


@settings(max_examples=60)
@given(factors())
def test_beliefs_are_distributions_that_agree(product: Factors) -> None:
    """Scopes agree with single variables also on graphs with loops; impossible cells have no belief."""
    for engine in (BeliefPropagation(), BeliefPropagation(merge=True)):
        found = _run(engine, product)
        assert found.exact == (_sees_a_forest(engine, product) and found.converged)
        assert found.value == ("exact" if found.exact else "Bethe")
        if not found.exact:
            assert "Bethe" in found.remarks[0]
        assert np.isnan(found.log_z) == (not found.converged)
        for scope, table in zip(product.scopes, product.tables, strict=True):
            joint = found.marginal(scope)
            assert joint.sum() == pytest.approx(1.0, abs=1e-12)
            if engine.merge:  # else another table over the same variables may not know of it
                assert not joint[np.isneginf(table)].any()
            for axis, i in enumerate(scope):
                others = tuple(k for k in range(len(scope)) if k != axis)
                single = joint.reshape([product.shape[j] for j in scope]).sum(axis=others)
                if found.converged:
                    np.testing.assert_allclose(single, found.marginal((i,)), atol=1e-7)


def test_messages_go_through_the_factors_as_given(rng: np.random.Generator) -> None:
    """A pair inside a triple, and a pair twice: fixed points of the definition, which merging moves."""
    product = random_factors(rng, (2, 3, 2), [(0, 1), (1, 0), (2, 1, 0), (0,), (1,)])
    product = product.with_values(0.5 * product.values)
    tables = {
        scope: np.exp(product.table(f)).reshape([product.shape[i] for i in scope])
        for f, scope in enumerate(product.scopes)
    }
    fields = [tables.get((i,), np.ones(c)) for i, c in enumerate(product.shape)]
    plain = PlainMessages(fields, {scope: table for scope, table in tables.items() if len(scope) > 1})
    for number in range(300):
        plain.sweep(number)
    found, merged = _run(BeliefPropagation(), product), _run(BeliefPropagation(merge=True), product)
    for i in range(3):
        np.testing.assert_allclose(found.marginal((i,)), plain.belief(i), atol=1e-9)
    assert max(np.abs(found.marginal((i,)) - merged.marginal((i,))).max() for i in range(3)) > 1e-3
    assert merged.exact
    assert not found.exact
    assert "BeliefPropagation(merge=True) is exact here" in found.remarks[1]


def test_merging_is_said(rng: np.random.Generator) -> None:
    """A remark is made if merging changes the messages and the answer is not exact in spite of it."""
    shape, scopes = SCOPES["cycle"]
    product = random_factors(rng, shape, [*scopes, scopes[0]])
    assert "1 table was merged" in _run(BeliefPropagation(merge=True), product).remarks[1]
    assert len(_run(BeliefPropagation(), product).remarks) == 1
    assert len(_run(BeliefPropagation(merge=True), random_factors(rng, shape, scopes)).remarks) == 1


def test_the_marginals_are_the_gradient_of_the_bethe_value(rng: np.random.Generator) -> None:
    """The fixed point depends on the tables, but the value does not change with it to first order."""
    product, step = random_factors(rng, *SCOPES["mixed cardinalities"]), 1e-5
    product = product.with_values(0.3 * product.values)
    engine = BeliefPropagation(tolerance=1e-13)
    gradient = np.concatenate([_run(engine, product).marginal(scope) for scope in product.scopes])
    for cell in range(0, len(product.values), 7):
        change = np.zeros(len(product.values))
        change[cell] = step
        above, below = (_run(engine, product.with_values(product.values + side * change)).log_z for side in (1, -1))
        assert gradient[cell] == pytest.approx((above - below) / (2 * step), abs=1e-7)


@pytest.mark.parametrize("engine", SUMS, ids=str)
@pytest.mark.parametrize("shift", [690.0, -690.0, 1e6])
def test_the_scale_of_tables_is_a_constant(engine: Engine, shift: float, rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES["cycle"])
    product = product.with_values(0.3 * product.values)
    here, there = _run(engine, product), _run(engine, product.with_values(product.values + shift))
    assert there.log_z == pytest.approx(here.log_z + 4 * shift, rel=1e-12)
    np.testing.assert_allclose(there.marginal((3, 0)), here.marginal((3, 0)), atol=1e-7)


@pytest.mark.parametrize("engine", SUMS, ids=str)
def test_numbers_far_apart(engine: Engine) -> None:
    """Products below what a float holds, which no sum in linear space would see: chains of e^-800."""
    for c in (2, 3):
        table = np.full((c, c), -800.0)
        table[0, 0], table[1, 1] = 0.0, -750.0
        chain = [((i, i + 1), table) for i in range(4)]
        product = Factors.from_tables((c,) * 5, [*chain, ((0,), [-1600.0] + [0.0] * (c - 1))])
        _check_exact(engine, product)


@pytest.mark.parametrize("engine", ALL, ids=str)
def test_no_possible_state_is_told(engine: Engine) -> None:
    """Whether one table is empty or two contradict each other; mean field cannot know, and gives no bound."""
    empty = Factors.from_tables((2,), [((0,), [-np.inf, -np.inf])])
    contradiction = Factors.from_tables(
        (2, 2, 2), [((0,), [0.0, -np.inf]), ((1, 0), [[-np.inf, 0.0]] * 2), ((1, 2), np.zeros(4))]
    )
    for product in (empty, contradiction):
        if engine.word == "mean-field" and product is contradiction:
            found = _run(engine, product)
            assert np.isnan(found.log_z)
            assert found.bound is None
            assert "no bound" in found.remarks[0]
            continue
        with pytest.raises(InputError, match="no joint state possible"):
            _run(engine, product)


@pytest.mark.parametrize("engine", ALL, ids=str)
def test_sums_that_overflow_are_told(engine: Engine) -> None:
    large = [((0,), [1e308, 0.0])] * 2
    for tables in (large, [*large, ((0,), [-np.inf, 0.0])], [((0,), [1e308, 0.0]), ((1,), [1e308, 0.0])]):
        with pytest.raises(InputError, match="overflow"):
            _run(engine, Factors.from_tables((2, 2), tables))


def test_mean_field_finds_possible_states(rng: np.random.Generator) -> None:
    """Equal variables: from uniform ones every state of each meets impossible cells."""
    same = np.where(np.eye(3, dtype=bool), 0.0, -np.inf)
    product = Factors.from_tables((3, 3, 3), [((0, 1), same), ((1, 2), same), ((2,), [0.0, 1.0, 0.0])])
    found = _run(MeanField(), product)
    assert found.log_z == pytest.approx(1.0)
    symmetric = Factors.from_tables((3, 3), [((0, 1), same)])
    assert _run(MeanField(), symmetric).log_z == pytest.approx(0.0, abs=1e-9)


def test_more_starts_do_not_lower_the_bound(rng: np.random.Generator) -> None:
    product = random_factors(rng, (2,) * 8, [(i, j) for i in range(8) for j in range(i)])
    bounds = [_run(MeanField(n_starts=n), product).log_z for n in (1, 5, 20)]
    assert bounds == sorted(bounds)
    assert _run(MeanField(n_starts=5, seed=3), product).log_z == _run(MeanField(n_starts=5, seed=3), product).log_z


def test_no_value_without_convergence(rng: np.random.Generator) -> None:
    """A frustrated complete graph with strong couplings, and one sweep."""
    product = random_factors(rng, (2,) * 6, [(i, j) for i in range(6) for j in range(i)])
    product = product.with_values(3.0 * product.values)
    few = [BeliefPropagation(max_sweeps=1), BeliefPropagation("flooding", max_sweeps=2), TreeReweighted(max_sweeps=1)]
    for engine in few:
        found = _run(engine, product)
        assert not found.converged
        assert np.isnan(found.log_z)
        assert (found.exact, found.error, found.bound) == (False, None, None)
        assert "did not converge" in found.remarks[0]
        assert found.marginal((1, 0)).sum() == pytest.approx(1.0)


def test_damping_after_a_failure() -> None:
    """Then residuals. Complete graphs with couplings of both signs, on which sweeps alone run in circles."""
    for seed, schedule in ((5, "sequential, damping 0.5"), (151, "residual, damping 0.5")):
        rng = np.random.default_rng(seed)
        product = random_factors(rng, (2,) * 7, [(i, j) for i in range(7) for j in range(i)])
        first, found = _run(BeliefPropagation("sequential"), product), _run(BeliefPropagation(), product)
        assert not first.converged
        assert found.converged
        assert f"converged only so: {schedule}." in found.remarks[0]


def test_scopes_of_three_have_no_tree_bound() -> None:
    """Unless one of their variables is known."""
    with pytest.raises(InputError, match=r"Scope \(0, 1, 2\) has 3 variables; tree-reweighting .* Use"):
        TreeReweighted().plan(Factors((2, 2, 2), ((0, 1, 2),), np.zeros(8)))
    assert TreeReweighted().plan(Factors((2, 1, 2), ((0, 1, 2),), np.zeros(4))).fits


@pytest.mark.parametrize("engine", [*SUMS, *MESSAGE_ENGINES[MaxProduct]], ids=str)
def test_joint_marginals_of_variables_that_share_no_table(engine: Engine, rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES["cycle"])
    for ask in (lambda: engine.plan(product, [(0, 2)]), lambda: _run(engine, product).marginal((0, 2))):
        with pytest.raises(InputError, match=r"No table holds all variables of \(0, 2\).*Ask"):
            ask()


@pytest.mark.parametrize("engine", ALL, ids=str)
def test_a_plan_is_for_its_scopes(engine: Engine, rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES["cycle"])
    plan = engine.plan(product)
    other = product.with_values(rng.standard_normal(len(product.values)))
    assert engine.plan(other) == plan
    assert plan.forecast > 0
    assert plan.n_cells == 2 * 2 * 4  # two messages of two cells for each of four pairs
    np.testing.assert_equal(engine.run(plan, other).log_z, _run(engine, other).log_z)
    for wrong in (random_factors(rng, *SCOPES["tree"]), Factors((2,) * 4, ((0, 1),), np.zeros(4))):
        with pytest.raises(InputError, match="Plan again"):
            engine.run(plan, wrong)


@pytest.mark.parametrize("engine", ALL, ids=str)
@pytest.mark.parametrize(("scope", "message"), [((0, 0), "twice"), ((4,), "names variable 4"), ((-1,), "variable -1")])
def test_wrong_questions_are_refused(engine: Engine, scope: tuple[int, ...], message: str) -> None:
    product = random_factors(np.random.default_rng(0), *SCOPES["cycle"])
    with pytest.raises(InputError, match=message):
        engine.plan(product, [scope])
    with pytest.raises(InputError, match=message):
        _run(engine, product).marginal(scope)


def test_a_learned_network(named_rows: Callable[[str, str], UniqueRows]) -> None:
    """Five neighbours for each of 16 variables: how far off each approximation is, and that sweeps are few."""
    rows = named_rows("nltcs", "train")
    structure = Learned(max_degree=5, bound="gain", rule="or").learn(rows).structure
    product = Learner(FixedStructure(structure), L2(0.1)).fit(rows).best.model.factors
    truth = _run(Enumeration(), product)
    found = _run(BeliefPropagation(), product)
    assert found.log_z - truth.log_z == pytest.approx(-0.371, abs=2e-3)
    assert 30 < found.n_sweeps < 50
    worst = max(np.abs(found.marginal((i,)) - truth.marginal((i,))).max() for i in range(16))
    assert worst == pytest.approx(0.17, abs=0.01)
    upper, lower = _run(TreeReweighted(), product), _run(MeanField(), product)
    assert 1.0 < upper.log_z - truth.log_z < 1.4  # 1.8 with random trees
    assert lower.log_z - truth.log_z == pytest.approx(-0.854, abs=5e-3)


@pytest.mark.parametrize("engine", MESSAGE_ENGINES, ids=lambda engine: engine.word)
def test_the_limit_is_a_setting(engine: type) -> None:
    product = Factors((2, 3), ((0, 1),), np.zeros(6))
    assert engine(max_cells=5).plan(product).fits
    small = engine(max_cells=4)
    with pytest.raises(InputError, match=r"holds messages of 5 cells between 2 variables .*limit is 4\. .*max_cells"):
        small.run(small.plan(product), product)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BeliefPropagation("parallel"), "schedule='parallel'"),  # type: ignore[arg-type]
        (lambda: BeliefPropagation(damping=1.0), "damping=1.0"),
        (lambda: MaxProduct(tolerance=-1.0), "tolerance=-1.0"),
        (lambda: MaxProduct(tolerance=float("nan")), "tolerance=nan"),
        (lambda: MeanField(max_sweeps=0), "max_sweeps=0"),
        (lambda: MeanField(n_starts=0), "n_starts=0"),
        (lambda: TreeReweighted(max_trees=-1), "max_trees=-1"),
        (lambda: TreeReweighted(gap=float("nan")), "gap=nan"),
    ],
)
def test_settings_that_cannot_be_met(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]
