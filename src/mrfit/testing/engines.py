"""Promises of every exact engine: log Z and marginals of every distribution that it takes."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.core.factors import Factors
from mrfit.inference.engine import Engine, Posterior
from mrfit.testing.assertions import close, refused, same
from mrfit.testing.promises import check_promises
from mrfit.testing.samples import FACTORS, joint_states, random_factors

Generator = np.random.Generator


def check_engine(engine: Engine, *, seed: int = 0) -> None:
    """Check that an exact engine keeps every promise, by comparison with the sum over all joint states.

    Parameters
    ----------
    engine : Engine
        Engine that answers marginals exactly, for any factors within its limits.
    seed : int, default 0
        Random seed of the factors.

    Raises
    ------
    AssertionError
        If a promise is broken; the message names it.

    See Also
    --------
    Engine : The interface.
    register : Make the engine known by its word.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.testing import check_engine
    >>> check_engine(mrfit.Enumeration())
    """
    check_promises(PROMISES, engine, seed=seed)


def run(engine: Engine, product: Factors) -> Posterior:
    return engine.run(engine.plan(product), product)


def equals_enumeration(engine: Engine, product: Factors) -> None:
    """Check log Z, the marginals of all scopes in both directions, of single variables and of the empty scope."""
    log_z, p = _probabilities(product)
    found = run(engine, product)
    close(found.log_z, log_z, "log Z", rtol=1e-12, atol=1e-12)
    turned = [scope[::-1] for scope in product.scopes]
    for scope in [*product.scopes, *turned, *((i,) for i in range(len(product.shape))), ()]:
        marginal, expected = found.marginal(scope), _marginal(product, p, scope)
        close(marginal, expected, f"marginal of {scope}", rtol=1e-11, atol=1e-300)
        same(marginal == 0, expected == 0, f"impossible states of {scope}")


def _probabilities(product: Factors) -> tuple[float, Floats]:
    """Return log Z and joint probabilities by the definition: the sum of all tables at every joint state."""
    q = np.asarray(product.log_potential(joint_states(product.shape)), np.float64)
    p = np.exp(q - q.max())
    return float(q.max() + np.log(p.sum())), p / p.sum()


def _marginal(product: Factors, p: Floats, scope: Scope) -> Floats:
    states, cell, n_cells = joint_states(product.shape), np.zeros(len(p), np.int64), 1
    for i in scope:
        cell, n_cells = cell * product.shape[i] + states[:, i], n_cells * product.shape[i]
    return np.asarray(np.bincount(cell, weights=p, minlength=n_cells), np.float64)


def it_equals_the_definition(engine: Engine, rng: Generator) -> None:
    """Trees, cycles, nested and empty scopes, with impossible states and without, equal the definition."""
    for shape, scopes in FACTORS.values():
        for zeros in (0.0, 0.3, 1.0):
            equals_enumeration(engine, random_factors(rng, shape, scopes, zeros=zeros))


def marginals_are_the_gradient_of_log_z(engine: Engine, rng: Generator) -> None:
    """Central differences of log Z in every cell of every table equal the marginals."""
    for name in ("tree", "cycle", "nested and repeated"):
        product, step = random_factors(rng, *FACTORS[name]), 1e-5
        found = run(engine, product)
        gradient = np.concatenate([found.marginal(scope) for scope in product.scopes])
        for cell, change in enumerate(step * np.eye(len(product.values))):
            above, below = (run(engine, product.with_values(product.values + side * change)).log_z for side in (1, -1))
            close(gradient[cell], (above - below) / (2 * step), f"marginal of cell {cell}", atol=1e-8)


def joint_marginals_of_planned_sets(engine: Engine, rng: Generator) -> None:
    """Marginals of the plan's targets, with variables in the order of each query."""
    product = random_factors(rng, *FACTORS["many states"])
    targets = ((3, 0, 2), (1, 2), (2, 1, 0, 3))
    found = engine.run(engine.plan(product, targets), product)
    for scope in targets:
        close(found.marginal(scope), _marginal(product, _probabilities(product)[1], scope), f"{scope}", rtol=1e-11)


def the_scale_of_tables_is_a_constant(engine: Engine, rng: Generator) -> None:
    """Tables times e^shift, up to 1e300 and beyond, shift log Z and leave marginals unchanged."""
    product = random_factors(rng, *FACTORS["cycle"])
    here = run(engine, product)
    for shift in (690.0, -690.0, 1e6):
        there = run(engine, product.with_values(product.values + shift))
        close(there.log_z, here.log_z + 4 * shift, "log Z", rtol=1e-14)
        close(there.marginal((3, 0)), here.marginal((3, 0)), "marginals", rtol=1e-8)


def factors_without_a_possible_state_are_refused(engine: Engine, rng: Generator) -> None:
    """An empty table is refused, and so are two tables that contradict each other."""
    empty = Factors.from_tables((2,), [((0,), [-np.inf, -np.inf])])
    contradiction = Factors.from_tables((2, 2), [((0,), [0.0, -np.inf]), ((1, 0), [[-np.inf, 0.0]] * 2)])
    for product in (empty, contradiction):
        with refused("no joint state possible", "a distribution without a possible state"):
            run(engine, product)


def sums_that_overflow_are_refused(engine: Engine, rng: Generator) -> None:
    """Sums that overflow are refused rather than answered by infinity."""
    with refused("overflow", "a sum that overflows"):
        run(engine, Factors.from_tables((2,), [((0,), [1e308, 0.0])] * 2))


def a_plan_beyond_all_memory_is_refused_without_work(engine: Engine, rng: Generator) -> None:
    """All pairs of many variables: the figures are exact, and no memory is allocated that grows with them."""
    for n in (60, 300):
        pairs = tuple(combinations(range(n), 2))
        product = Factors((2,) * n, pairs, np.zeros(4 * len(pairs)))
        engine.plan(product)  # compiles
        tracemalloc.start()
        plan = engine.plan(product)
        with refused(rf"\d.* of {n} variables.*; the limit is \d.*\. Observe", "a plan beyond all memory"):
            engine.run(plan, product)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert not plan.fits, "the plan says that it fits"
        assert 2**n <= plan.n_cells < 2 ** (n + 1), f"{plan.n_cells} cells of {n} variables in one clique"
        assert peak < 20_000_000, f"planning took {peak} bytes"


def a_plan_is_for_its_shape(engine: Engine, rng: Generator) -> None:
    """A plan serves other tables over the same scopes, and no other variables."""
    product = random_factors(rng, *FACTORS["cycle"])
    plan = engine.plan(product)
    other = product.with_values(rng.standard_normal(len(product.values)))
    assert engine.plan(other) == plan, "equal shapes and scopes have different plans"
    assert engine.run(plan, other).log_z == run(engine, other).log_z, "a plan does not serve other tables"
    with refused("Plan again", "a plan for other variables"):
        engine.run(plan, random_factors(rng, *FACTORS["tree"]))


def wrong_questions_are_refused(engine: Engine, rng: Generator) -> None:
    """Variables that are named twice, or do not exist, are refused."""
    product = random_factors(rng, *FACTORS["cycle"])
    for scope, message in (((0, 0), "twice"), ((4,), "names variable 4"), ((-1,), "variable -1")):
        with refused(message, f"a plan for {scope}"):
            engine.plan(product, [scope])
        with refused(message, f"the marginal of {scope}"):
            run(engine, product).marginal(scope)


PROMISES = (
    it_equals_the_definition,
    marginals_are_the_gradient_of_log_z,
    joint_marginals_of_planned_sets,
    the_scale_of_tables_is_a_constant,
    factors_without_a_possible_state_are_refused,
    sums_that_overflow_are_refused,
    a_plan_beyond_all_memory_is_refused_without_work,
    a_plan_is_for_its_shape,
    wrong_questions_are_refused,
)
