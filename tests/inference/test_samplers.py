"""Promises of every engine whose answers have errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.sampling.annealed import Annealed
from mrfit.inference.sampling.annealed_posterior import AnnealedPosterior
from mrfit.inference.sampling.gibbs import Gibbs, GibbsPosterior
from mrfit.inference.sampling.tempered_posterior import TemperedPosterior
from mrfit.inference.sampling.tempering import Tempering
from populations import SAMPLERS, SCOPES, random_factors

ENGINES = [engine for engines in SAMPLERS.values() for engine in engines]
ONE_EACH = [engines[0] for engines in SAMPLERS.values()]
Sampler = Gibbs | Annealed | Tempering
SampledPosterior = GibbsPosterior | AnnealedPosterior | TemperedPosterior


def _run(engine: Sampler, product: Factors) -> SampledPosterior:
    return engine.run(engine.plan(product), product)  # type: ignore[return-value]


def _exact(product: Factors):
    return Enumeration().run(Enumeration().plan(product), product)


@pytest.mark.parametrize("zeros", [0.0, 1.0], ids=["finite", "one state possible"])
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: f"{engine.word} {engine.jobs}")
@pytest.mark.parametrize("name", SCOPES)
def test_marginals_and_log_z_are_within_their_errors(
    name: str, engine: Sampler, zeros: float, rng: np.random.Generator
) -> None:
    """Scopes in any order, single variables and nothing are asked for; 5 errors, as there are thousands of numbers."""
    product = random_factors(rng, *SCOPES[name], zeros=zeros)
    exact, found = _exact(product), _run(engine, product)
    assert not found.exact
    turned = [scope[::-1] for scope in product.scopes]
    for scope in [*product.scopes, *turned, *((i,) for i in range(len(product.shape))), ()]:
        p, expected, error = found.marginal(scope), exact.marginal(scope), found.marginal_error(scope)
        assert p.sum() == pytest.approx(1.0)
        assert (abs(p - expected) <= 5.0 * error + 2e-3).all()
        assert (error < 0.15).all()
        assert not p[expected == 0.0].any()
    if not isinstance(found, GibbsPosterior):
        assert abs(found.log_z - exact.log_z) <= 5.0 * found.error + 2e-3
        assert found.error < 0.3
    else:
        assert np.isnan(found.log_z)
        assert found.error is None


@pytest.mark.parametrize("engine", ONE_EACH, ids=lambda engine: engine.word)
def test_joint_marginals_of_any_set(engine: Sampler, rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES["mixed cardinalities"])
    targets = ((3, 0, 2), (2, 1, 0, 3))
    found = engine.run(engine.plan(product, targets), product)
    for scope in targets:
        p, expected = found.marginal(scope), _exact(product).marginal(scope)
        assert (abs(p - expected) <= 5.0 * found.marginal_error(scope) + 2e-3).all()  # type: ignore[attr-defined]


@pytest.mark.parametrize("engine", ONE_EACH, ids=lambda engine: engine.word)
@pytest.mark.parametrize("name", ["cycle", "mixed cardinalities"])
def test_seeds_decide_and_threads_do_not(engine: Sampler, name: str, rng: np.random.Generator) -> None:
    product = random_factors(rng, *SCOPES[name])
    scope = product.scopes[0]
    one, two, other = (_run(replace(engine, chains=130, jobs=j, seed=s), product) for j, s in ((1, 0), (3, 0), (1, 1)))
    assert one.marginal(scope).tobytes() == two.marginal(scope).tobytes()
    assert one.remarks == two.remarks
    assert one.marginal(scope).tobytes() != other.marginal(scope).tobytes()
    if not isinstance(one, GibbsPosterior):
        assert one.log_z == two.log_z != other.log_z


@pytest.mark.parametrize("engine", ONE_EACH, ids=lambda engine: engine.word)
def test_a_known_variable_has_one_state(engine: Sampler, rng: np.random.Generator) -> None:
    """Conditionals from tables cut down to what is known, of two states and of more."""
    for shape in ((2, 2, 2, 2), (2, 3, 2, 3)):
        product = random_factors(rng, shape, [(0, 1), (1, 2), (2, 0), (3, 1)])
        tables = [
            (
                scope,
                np.take(table.reshape([shape[i] for i in scope]), [1], axis=scope.index(1)) if 1 in scope else table,
            )
            for scope, table in zip(product.scopes, product.tables, strict=True)
        ]
        known = Factors.from_tables((shape[0], 1, *shape[2:]), tables)
        joint = _exact(product).marginal((0, 1, 2)).reshape(shape[:3])[:, 1]
        found = _run(engine, known)
        error = found.marginal_error((0, 2))
        assert (abs(found.marginal((0, 2)) - (joint / joint.sum()).ravel()) <= 5.0 * error + 2e-3).all()
        assert found.marginal((1,)).tolist() == pytest.approx([1.0])


@pytest.mark.parametrize("engine", ONE_EACH, ids=lambda engine: engine.word)
def test_no_possible_state_is_told(engine: Sampler) -> None:
    empty = Factors.from_tables((2,), [((0,), [-np.inf, -np.inf])])
    contradiction = Factors.from_tables((2, 2), [((0,), [0.0, -np.inf]), ((1, 0), [[-np.inf, 0.0]] * 2)])
    for product in (empty, contradiction):
        with pytest.raises(InputError, match="a joint state possible"):
            _run(engine, product)


@pytest.mark.parametrize("engine", ONE_EACH, ids=lambda engine: engine.word)
def test_tables_of_any_size(engine: Sampler, rng: np.random.Generator) -> None:
    """Constants change no marginal; log-odds beyond single precision go another way; sums that overflow are told."""
    product = random_factors(rng, *SCOPES["cycle"])
    moved, steep = product.with_values(product.values + 1e6), product.with_values(1e5 * product.values)
    np.testing.assert_allclose(_run(engine, moved).marginal((0, 1)), _run(engine, product).marginal((0, 1)), atol=0.05)
    found = _run(engine, steep)
    state = int(np.argmax(_exact(steep).marginal((0, 1, 2, 3))))
    assert found.marginal((0, 1, 2, 3))[state] > 0.0
    with pytest.raises(InputError, match="overflow"):
        _run(engine, Factors.from_tables((2,), [((0,), [1e308, 0.0])] * 2))


@pytest.mark.parametrize("engine", ONE_EACH, ids=lambda engine: engine.word)
def test_plans_fit_any_number_of_variables(engine: Sampler, rng: np.random.Generator) -> None:
    """A plan is for its scopes, whatever the numbers; its limit is on what is kept."""
    scopes = [(i, i + 1) for i in range(1499)]
    product = random_factors(rng, (2,) * 1500, scopes)
    plan = engine.plan(product)
    assert plan.fits
    assert plan == engine.plan(product.with_values(np.zeros(len(product.values))))
    assert plan.n_bytes == plan.n_cells < 1e9
    small = replace(engine, max_cells=1000)
    with pytest.raises(InputError, match=r"keeps .* states of 1500 .*, about .* [kMG]B; the limit is 1,000\. Use"):
        _run(small, product)
    with pytest.raises(InputError, match="Plan again"):
        engine.run(plan, random_factors(rng, *SCOPES["tree"]))


@pytest.mark.parametrize("engine", ONE_EACH, ids=lambda engine: engine.word)
@pytest.mark.parametrize(("scope", "message"), [((0, 0), "twice"), ((4,), "names variable 4")])
def test_wrong_questions_are_refused(engine: Sampler, scope: tuple[int, ...], message: str) -> None:
    product = random_factors(np.random.default_rng(0), *SCOPES["cycle"])
    with pytest.raises(InputError, match=message):
        engine.plan(product, [scope])
    with pytest.raises(InputError, match=message):
        _run(engine, product).marginal(scope)


@pytest.mark.parametrize(
    ("engine", "settings", "message"),
    [
        (Gibbs, {"chains": 1}, "with 1 chains.*at least 4 chains"),
        (Gibbs, {"sweeps": 100, "max_sweeps": 50}, "100 sweeps of at most 50"),
        (Gibbs, {"seed": -1}, "The seed is -1"),
        (Annealed, {"seed": -1}, "The seed is -1"),
        (Annealed, {"temperatures": 0}, "0 temperatures"),
        (Annealed, {"precision": -0.01}, "The precision is -0.01"),
        (Tempering, {"chains": 3}, "with 3 chains.*at least 4 chains"),
        (Tempering, {"max_sweeps": 100}, "100 sweeps; expected .* 1,536 sweeps"),
        (Tempering, {"seed": -1}, "The seed is -1"),
        (Tempering, {"precision": 0.0}, r"The precision is 0\.0"),
        (Annealed, {"bases": ("uniform", "nothing")}, "'nothing'"),
    ],
)
def test_wrong_settings_are_refused(engine: type, settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        engine(**settings)
