"""Promises of every parameterization: its features, their moments, and the map to other coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.linalg import hadamard

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.objectives.likelihood import Likelihood
from mrfit.parameterizations.bases import contrasts
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.full import Full
from mrfit.parameterizations.generalized_ising import GeneralizedIsing
from mrfit.parameterizations.ising import Ising
from mrfit.parameterizations.joint import Joint, Listed, Saturated, converted
from mrfit.parameterizations.joint_choice import joint_of
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.parameterizations.spectral import Spectral
from mrfit.structures.structure import Structure
from populations import SHAPES, STRUCTURES, all_parameterizations, domain_of, full_rows
from reference import features as plain
from reference.features import DenseLikelihood, joint_states


def _once(say: Callable[..., Any]) -> Callable[..., Any]:
    """Cache a value by the object's identity: most tests ask the same of the same objects, which cannot be keys."""
    said: dict[int, tuple[Any, Any]] = {}

    def ask(about: Any, *more: Any) -> Any:
        if id(about) not in said:
            said[id(about)] = about, say(about, *more)
        return said[id(about)][1]

    return ask


feature_matrix, scopes_of = _once(plain.feature_matrix), _once(plain.scopes_of)

CLOSED = ["independent", "complete", "order 3", "saturated", "permuted duplicates"]


@cache
def _all(shape: str, structure: str) -> list[Parameterization]:
    """Built once: what one test has worked out of them serves the next."""
    domain = domain_of(SHAPES[shape])
    return all_parameterizations(domain, STRUCTURES[structure](len(domain)), np.random.default_rng(2))


@_once
def _complete(structure: Structure, domain: Domain) -> list[Parameterization]:
    """Coordinates of a closed structure that can say whatever any others can."""
    return [each for each in all_parameterizations(domain, structure, np.random.default_rng(3)) if _is_complete(each)]


def _label(parameters: Parameterization) -> str:
    return f"{parameters.word}{parameters.reference or ''}" if isinstance(parameters, Canonical) else parameters.word


Promise = Callable[[Parameterization, np.random.Generator], None]


def _cases(shapes: list[str], structures: list[str]) -> Callable[[Promise], Callable[[str, str], None]]:
    """One test for every shape and structure, in all coordinates: a failure notes in which."""

    def over_all(promise: Promise) -> Callable[[str, str], None]:
        @pytest.mark.parametrize("structure", structures)
        @pytest.mark.parametrize("shape", shapes)
        def test(shape: str, structure: str) -> None:
            for parameters in _all(shape, structure):
                try:
                    promise(parameters, np.random.default_rng(0))
                except Exception as problem:
                    problem.add_note(f"In {_label(parameters)} coordinates.")
                    raise

        return test

    return over_all


every_case = _cases(list(SHAPES), list(STRUCTURES))
every_closed_case = _cases(list(SHAPES), CLOSED)


def _is_complete(parameters: Parameterization) -> bool:
    """Whether it can say whatever canonical coordinates of the same closed structure can."""
    binary = max(parameters.domain.shape) <= 2
    return parameters.word in ("canonical", "spectral", "full") or (parameters.word == "generalized-ising" and binary)


def _potentials(parameters: Parameterization, w: np.ndarray) -> np.ndarray:
    return feature_matrix(parameters) @ w


def _up_to_a_constant(q: np.ndarray) -> np.ndarray:
    return q - q.mean()


def _in_c_order(joint: Joint, values: np.ndarray) -> np.ndarray:
    return joint.base.by_state(values).ravel()


def _moments(joint: Joint, p: np.ndarray) -> np.ndarray:
    """Moments of a distribution over the states in C order."""
    a = np.empty(joint.base.size)
    a[joint.base.positions(joint_states(joint.base.shape))] = p
    return joint.base.moments(a)


def _distribution(rng: np.random.Generator, n: int) -> np.ndarray:
    p = rng.random(n) ** 2
    return p / p.sum()


def _covariance(features: np.ndarray, p: np.ndarray) -> np.ndarray:
    centred = features - p @ features
    return (centred.T * p) @ centred


# -- features ----------------------------------------------------------------------------------------------------


@every_case
def test_values_and_moments_of_all_states(parameters: Parameterization, rng: np.random.Generator) -> None:
    """One transform and its adjoint instead of a matrix of features."""
    features, joint = feature_matrix(parameters), Listed(parameters)
    assert features.shape[1] == parameters.n_parameters == joint.n_parameters
    w, r = rng.standard_normal(parameters.n_parameters), rng.standard_normal(len(features))
    forward = _in_c_order(joint, joint.base.potentials(joint.spread(w)))
    np.testing.assert_allclose(forward, features @ w, rtol=0, atol=1e-12)
    backward = joint.gather(_moments(joint, r))
    np.testing.assert_allclose(backward, features.T @ r, rtol=0, atol=1e-12)
    assert forward @ r == pytest.approx(w @ backward, abs=1e-11)


@every_case
def test_tables_sum_to_the_values(parameters: Parameterization, rng: np.random.Generator) -> None:
    """And a gradient in tables is pulled back by the adjoint."""
    states, w = joint_states(parameters.domain.shape), rng.standard_normal(parameters.n_parameters)
    tables = parameters.to_tables(w)
    assert set(tables) == set(scopes_of(parameters))
    total = np.zeros(len(states))
    for scope, table in tables.items():
        total += table[tuple(states[:, i] for i in scope)]
    np.testing.assert_allclose(total, _potentials(parameters, w), rtol=0, atol=1e-12)
    r = {scope: rng.standard_normal(table.shape) for scope, table in tables.items()}
    dots = sum(float((tables[scope] * r[scope]).sum()) for scope in tables)
    assert dots == pytest.approx(w @ parameters.pull_back(r), abs=1e-11)


@every_case
def test_every_parameter_has_a_place_and_a_name(parameters: Parameterization, rng: np.random.Generator) -> None:
    """Its scope, the size of it, and a name that nothing else has and that holds the names of its variables."""
    expected, names = scopes_of(parameters), list(parameters.names())
    assert [parameters.scope(k) for k in range(parameters.n_parameters)] == expected
    assert parameters.order_of_parameter.tolist() == [len(scope) for scope in expected]
    numbered = list(parameters.structure.scopes)
    assert [numbered[k] for k in parameters.scope_of_parameter] == expected
    assert len(set(names)) == len(names)
    for name, scope in zip(names, expected, strict=True):
        assert all(parameters.domain[i].name in name for i in scope)


# -- curvature by lookup -----------------------------------------------------------------------------------------


@every_case
def test_covariances_by_lookup(parameters: Parameterization, rng: np.random.Generator) -> None:
    """Any choice of features, in any order, has its covariances in the moments of the base."""
    features, joint = feature_matrix(parameters), Listed(parameters)
    p = _distribution(rng, len(features))
    expected, moments = _covariance(features, p), _moments(joint, p)
    np.testing.assert_allclose(joint.variances(moments), np.diag(expected), rtol=0, atol=1e-12)
    chosen = rng.permutation(parameters.n_parameters)[:40]
    np.testing.assert_allclose(joint.covariance(moments, chosen), expected[np.ix_(chosen, chosen)], rtol=0, atol=1e-12)
    assert joint.covariance(moments, chosen[:0]).shape == (0, 0)


@_cases(list(SHAPES), ["complete", "order 3", "saturated", "some singles"])
def test_the_hessian_of_the_likelihood_is_the_derivative_of_its_gradient(
    parameters: Parameterization, rng: np.random.Generator
) -> None:
    """Products, look-ups and the diagonal agree; value and gradient are those of the dense matrix."""
    rows = full_rows(rng, parameters.domain.shape)
    objective, dense = Likelihood(parameters, rows), DenseLikelihood(feature_matrix(parameters), rows)
    w = 0.3 * rng.standard_normal(parameters.n_parameters)
    value, gradient = objective.value_and_gradient(w)
    expected_value, expected_gradient = dense.value_and_gradient(w)
    assert value == pytest.approx(expected_value, rel=1e-13, abs=1e-13)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=0, atol=1e-13)
    chosen = np.sort(rng.permutation(parameters.n_parameters)[:25])
    expansion, step = objective.expand(w), 1e-5
    for at, row in zip(chosen, expansion.block(chosen), strict=True):  # type: ignore[misc]
        move = np.zeros(len(w))
        move[at] = step
        slope = (objective.value_and_gradient(w + move)[1] - objective.value_and_gradient(w - move)[1]) / (2 * step)
        scale = max(np.abs(slope).max(), 1e-3)
        np.testing.assert_allclose(row, slope[chosen], rtol=0, atol=1e-6 * scale)
        np.testing.assert_allclose(expansion.product(move / step), slope, rtol=0, atol=1e-6 * scale)
        assert expansion.diagonal()[at] == pytest.approx(slope[at], abs=1e-6 * scale)


# -- all sets of variables without a list of them ----------------------------------------------------------------


def _order(joint: Joint) -> np.ndarray:
    """Positions of the parameters in the list: nothing is pruned if nothing is zero."""
    return joint.pruned(np.ones(joint.n_parameters))[1]


@_cases(list(SHAPES), ["saturated"])
def test_saturated_is_listed_in_another_order(parameters: Parameterization, rng: np.random.Generator) -> None:
    """Wherever there is a form without a list of scopes."""
    lean, listed = joint_of(parameters), Listed(parameters)
    binary = max(parameters.domain.shape) <= 2
    minimal, agreeing = ("canonical", "spectral"), ("ising", "generalized-ising") if binary else ()
    assert isinstance(lean, Listed) == (parameters.word not in (*minimal, *agreeing))
    assert isinstance(lean, Saturated) == (parameters.word in minimal)
    assert lean.n_parameters == listed.n_parameters
    order = _order(lean)
    assert sorted(order) == list(range(lean.n_parameters))
    if isinstance(lean, Saturated):
        np.testing.assert_array_equal(order, parameters.joint_entries()[0] - 1)
    w = rng.standard_normal(listed.n_parameters)
    lean_w = np.empty_like(w)
    lean_w[order] = w
    values = lean.base.potentials(lean.spread(lean_w))
    expected = listed.base.potentials(listed.spread(w))
    # The constant that Ising features hold cancels in every probability; a lean form may leave it out.
    np.testing.assert_allclose(values - values[0], expected - expected[0], rtol=0, atol=1e-12)
    moments = _moments(lean, _distribution(rng, lean.base.size))
    np.testing.assert_allclose(lean.gather(moments)[order], listed.gather(moments), rtol=0, atol=1e-13)
    np.testing.assert_allclose(lean.variances(moments)[order], listed.variances(moments), rtol=0, atol=1e-13)
    if len(w):
        chosen = rng.permutation(len(w))[:20]
        np.testing.assert_allclose(
            lean.covariance(moments, order[chosen]), listed.covariance(moments, chosen), rtol=0, atol=1e-13
        )
    np.testing.assert_array_equal(lean.orders[order], listed.orders)
    pairs = set(zip(lean.scopes[order].tolist(), listed.scopes.tolist(), strict=True))
    assert len(pairs) == len(set(lean.scopes.tolist())) == len(set(listed.scopes.tolist()))


@every_case
def test_pruning_leaves_out_scopes_of_zeros(parameters: Parameterization, rng: np.random.Generator) -> None:
    """Single variables stay; what is left says the same."""
    scopes = scopes_of(parameters)
    dropped = {scope for scope in sorted(set(scopes)) if rng.random() < 0.5}
    w = np.array([0.0 if scope in dropped else 1.0 + rng.random() for scope in scopes])
    for joint in (Listed(parameters), joint_of(parameters)):
        order = _order(joint)
        own = np.empty_like(w)
        own[order] = w
        smaller, kept = joint.pruned(own)
        expected = {scope for scope in scopes if scope not in dropped or len(scope) == 1}
        assert set(scopes_of(smaller)) == expected
        assert type(smaller) is type(parameters)
        np.testing.assert_allclose(_potentials(smaller, own[kept]), _potentials(parameters, w), rtol=0, atol=1e-12)


# -- other coordinates -------------------------------------------------------------------------------------------


@every_case
def test_canonical_coordinates_give_the_same_distribution(
    parameters: Parameterization, rng: np.random.Generator
) -> None:
    """The map is a sparse matrix, up to a constant."""
    w = rng.standard_normal(parameters.n_parameters)
    canonical = parameters.canonical
    assert isinstance(canonical, Canonical)
    assert canonical.reference is None
    mapped = parameters.to_canonical(w)
    np.testing.assert_allclose(mapped, parameters.canonical_map @ w, rtol=0, atol=1e-13)
    q, own = _potentials(canonical, mapped), _potentials(parameters, w)
    np.testing.assert_allclose(q - q[0], own - own[0], rtol=0, atol=1e-12)
    assert q[0] == 0.0  # the first states are silent


@every_closed_case
def test_round_trips_between_complete_coordinates(parameters: Parameterization, rng: np.random.Generator) -> None:
    """Round trips go through canonical parameters or through tables; minimal parameters come back unchanged."""
    if not _is_complete(parameters):
        return
    w = rng.standard_normal(parameters.n_parameters)
    q = _up_to_a_constant(_potentials(parameters, w))
    scale = 1e-12 * (1.0 + np.abs(parameters.to_canonical(w)).max(initial=0.0))
    for target in _complete(parameters.structure, parameters.domain)[2:]:  # one canonical is enough
        found = target.from_canonical(parameters.canonical, parameters.to_canonical(w))
        np.testing.assert_allclose(converted(parameters, w, target), found, rtol=0, atol=1e-11)
        np.testing.assert_allclose(_up_to_a_constant(_potentials(target, found)), q, rtol=0, atol=scale)
        by_tables = target.from_tables(parameters.to_tables(w))
        np.testing.assert_allclose(_up_to_a_constant(_potentials(target, by_tables)), q, rtol=0, atol=scale)
        back = parameters.from_canonical(target.canonical, target.to_canonical(found))
        np.testing.assert_allclose(_up_to_a_constant(_potentials(parameters, back)), q, rtol=0, atol=scale)
        if parameters.word in ("canonical", "spectral"):
            np.testing.assert_allclose(back, w, rtol=0, atol=scale)


@pytest.mark.parametrize("structure", ["a triple without its parts", "pairs without singles", "some singles"])
@pytest.mark.parametrize("shape", ["binary", "mixed"])
def test_open_structures_are_closed_on_the_way(shape: str, structure: str, rng: np.random.Generator) -> None:
    """A scope without its parts spreads over them in other coordinates."""
    domain = domain_of(SHAPES[shape])
    targets = _complete(STRUCTURES[structure](len(domain)).closure(), domain)
    for source in _all(shape, structure):
        w = rng.standard_normal(source.n_parameters)
        q = _up_to_a_constant(_potentials(source, w))
        for target in targets:
            found = target.from_tables(source.to_tables(w))
            np.testing.assert_allclose(_up_to_a_constant(_potentials(target, found)), q, rtol=0, atol=1e-11)


def test_tables_may_come_in_any_order_of_variables(rng: np.random.Generator) -> None:
    """The axes of a table are those of its scope as it is written."""
    domain = domain_of((2, 3, 2))
    target = Spectral(domain, Structure.up_to_order(3, 3))
    table = rng.standard_normal((2, 2, 3))  # over variables 2, 0, 1
    w = target.from_tables({(2, 0, 1): table, (1,): np.arange(3.0)})
    expected = np.transpose(table, (1, 2, 0)) + np.arange(3.0)[None, :, None]
    np.testing.assert_allclose(_potentials(target, w), expected.ravel() - expected.mean(), atol=1e-13)


@pytest.mark.parametrize(
    ("kind", "shape", "order"), [(Ising, (2, 2, 2), 3), (Ising, (3, 3), 2), (GeneralizedIsing, (3, 3), 2)]
)
def test_coordinates_that_cannot_say_it_refuse(
    kind: type[Parameterization], shape: tuple[int, ...], order: int, rng: np.random.Generator
) -> None:
    """The error names the parameterizations that could."""
    domain, structure = domain_of(shape), Structure.up_to_order(len(shape), order)
    source, target = Canonical(domain, structure), kind(domain, structure)
    w = rng.standard_normal(source.n_parameters)
    with pytest.raises(InputError, match=f"The {kind.word} parameterization .* use full, canonical or spectral"):
        target.from_canonical(source, w)
    with pytest.raises(InputError, match="cannot express the distribution"):
        target.from_tables(source.to_tables(w))


def test_a_structure_that_is_too_small_refuses(rng: np.random.Generator) -> None:
    """Pairs cannot say what a triple does; nor can a triple without its parts in other coordinates."""
    domain = domain_of((2, 2, 2))
    full = Spectral(domain, Structure.up_to_order(3, 3))
    w = rng.standard_normal(full.n_parameters)
    for target in (
        Full(domain, Structure.complete(3)),
        Canonical(domain, Structure.from_scopes(3, [(0, 1, 2)], closed=False)),
    ):
        with pytest.raises(InputError, match="a structure that has all subsets of its scopes"):
            target.from_canonical(full.canonical, full.to_canonical(w))


def test_incomplete_coordinates_take_what_they_can_say(rng: np.random.Generator) -> None:
    """A distribution that came from them goes back, if not to the same parameters."""
    for shape in ((2, 2, 2), (2, 2, 2, 2), (3, 3, 3)):
        domain = domain_of(shape)
        for kind in (Ising, GeneralizedIsing):
            own = kind(domain, Structure.complete(len(shape)))
            w = rng.standard_normal(own.n_parameters)
            back = own.from_canonical(own.canonical, own.to_canonical(w))
            np.testing.assert_allclose(
                _up_to_a_constant(_potentials(own, back)), _up_to_a_constant(_potentials(own, w)), atol=1e-12
            )


@pytest.mark.parametrize("n", [2, 5, 8])
def test_spectral_to_both_canonicals_and_back(n: int, rng: np.random.Generator) -> None:
    """S -> C1 -> C2 -> S."""
    domain, structure = domain_of((2,) * n), Structure.up_to_order(n, n)
    s, c1, c2 = Spectral(domain, structure), Canonical(domain, structure), Canonical(domain, structure, (1,) * n)
    w = rng.standard_normal(s.n_parameters) / np.exp2(s.order_of_parameter)
    w1 = c1.from_canonical(s.canonical, s.to_canonical(w))
    w2 = c2.from_canonical(c1.canonical, c1.to_canonical(w1))
    back = s.from_canonical(c2.canonical, c2.to_canonical(w2))
    np.testing.assert_allclose(back, w, rtol=0, atol=1e-12)
    assert np.abs(w1 - w2).max() > 0.1


# -- identities of the paper -------------------------------------------------------------------------------------


def _signs(n: int) -> np.ndarray:
    """Joint states as -1 and +1, in C order."""
    return 2.0 * joint_states((2,) * n) - 1.0


def _scope_products(n: int) -> tuple[list[tuple[int, ...]], np.ndarray]:
    scopes = [scope for size in range(1, n + 1) for scope in combinations(range(n), size)]
    return scopes, np.stack([_signs(n)[:, list(scope)].prod(axis=1) for scope in scopes], axis=1)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_moebius_inversion_and_the_walsh_transform(n: int, rng: np.random.Generator) -> None:
    """Buchman et al. (2012), eq. 2 for canonical and eq. 6 and 7 for spectral parameters of one distribution."""
    q = np.log(_distribution(rng, 2**n) + 0.01)
    domain, structure = domain_of((2,) * n), Structure.up_to_order(n, n)
    whole = {tuple(range(n)): q.reshape((2,) * n)}
    # 2. Signed sums of log p over the subsets at +1, the rest at -1.
    at = q.reshape((2,) * n)
    scopes, products = _scope_products(n)
    moebius = [
        sum(
            (-1) ** (len(scope) - r) * at[tuple(1 if i in part else 0 for i in range(n))]
            for r in range(len(scope) + 1)
            for part in combinations(scope, r)
        )
        for scope in scopes
    ]
    canonical = Canonical(domain, structure)
    np.testing.assert_allclose(canonical.from_tables(whole), moebius, rtol=0, atol=1e-12)
    # 6. Means of log p times the products of signs.
    spectral = Spectral(domain, structure)
    w = spectral.from_tables(whole)
    np.testing.assert_allclose(w, products.T @ q / 2**n, rtol=0, atol=1e-13)
    np.testing.assert_allclose(w, spectral.from_canonical(canonical, np.array(moebius)), rtol=0, atol=1e-12)
    # 7. Hadamard's matrix, normalised, which has +1 at bit zero: states are counted from the last.
    transformed = 2.0 ** (-n / 2) * (hadamard(2**n) / 2.0 ** (n / 2)) @ q[::-1]
    position = [sum(1 << (n - 1 - i) for i in scope) for scope in scopes]
    np.testing.assert_allclose(w, transformed[position], rtol=0, atol=1e-13)


@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (2, 3, 5, 2), (3, 1, 4)])
def test_parseval(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """The squares of the values, but for their mean, are states times the squares of the parameters."""
    parameters = Spectral(domain_of(shape), Structure.up_to_order(len(shape), len(shape)))
    w = rng.standard_normal(parameters.n_parameters)
    q = _potentials(parameters, w)
    assert q.mean() == pytest.approx(0.0, abs=1e-13)
    assert q @ q == pytest.approx(len(q) * (w @ w), rel=1e-14)


def test_spectral_features_of_two_states_are_products_of_signs() -> None:
    """-1 for the first state, +1 for the second."""
    np.testing.assert_array_equal(contrasts(2), [[1.0, -1.0], [1.0, 1.0]])
    parameters = Spectral(domain_of((2, 2, 2)), Structure.up_to_order(3, 3))
    np.testing.assert_array_equal(parameters.features((1,)).ravel(), [-1, 1])
    np.testing.assert_array_equal(parameters.features((0, 2)).ravel(), [1, -1, -1, 1])
    np.testing.assert_array_equal(parameters.features((0, 1, 2)).ravel(), [-1, 1, 1, -1, 1, -1, -1, 1])


@pytest.mark.parametrize("c", [2, 3, 4, 7])
def test_contrasts_are_orthogonal(c: int) -> None:
    """Each of length sqrt(states), and to the constant."""
    np.testing.assert_allclose(contrasts(c).T @ contrasts(c), c * np.eye(c), atol=1e-14)


def _lengths(parameters: Spectral, w: np.ndarray, power: int) -> np.ndarray:
    """l1 or l2 norms of all scopes."""
    sums = np.bincount(parameters.scope_of_parameter, np.abs(w) ** power, minlength=parameters.structure.n_scopes)
    return sums ** (1.0 / power)


def _random_contrasts(rng: np.random.Generator, c: int) -> np.ndarray:
    """1 and any orthonormal basis of what sums to zero, times sqrt(c)."""
    q, _ = np.linalg.qr(np.hstack([np.ones((c, 1)), rng.standard_normal((c, c - 1))]))
    return np.hstack([np.ones((c, 1)), np.sqrt(c) * q[:, 1:]])


def test_group_norms_depend_on_neither_labels_nor_basis(rng: np.random.Generator) -> None:
    """The l2 norm of a scope's parameters does not; the l1 norm does."""
    shape = (3, 4, 2, 5)
    parameters = Spectral(domain_of(shape), Structure.up_to_order(4, 4))
    table = rng.standard_normal(shape)
    w = parameters.from_tables({(0, 1, 2, 3): table})
    relabelled = table[np.ix_(*(rng.permutation(c) for c in shape))]
    moved = parameters.from_tables({(0, 1, 2, 3): relabelled})
    np.testing.assert_allclose(_lengths(parameters, moved, 2), _lengths(parameters, w, 2), rtol=1e-12)
    assert np.abs(_lengths(parameters, moved, 1) / _lengths(parameters, w, 1) - 1.0).max() > 0.01
    # Coefficients in another basis: the tensor product is orthogonal, so its inverse is its transpose over the states.
    other = table
    for axis, c in enumerate(shape):
        other = np.moveaxis(np.tensordot(_random_contrasts(rng, c).T / c, other, (1, axis)), 0, axis)
    digits = np.indices(shape).reshape(4, -1)
    scope_number = {scope: k for k, scope in enumerate(parameters.structure.scopes)}
    at = [scope_number.get(tuple(np.flatnonzero(column)), -1) for column in digits.T]
    for power, agrees in ((2, True), (1, False)):
        sums = np.bincount(np.array(at) + 1, np.abs(other.ravel()) ** power)[1:] ** (1.0 / power)
        ratio = sums / _lengths(parameters, w, power)
        assert (np.abs(ratio - 1.0).max() < 1e-12) == agrees


def test_l1_norms_of_two_states_depend_on_neither(rng: np.random.Generator) -> None:
    """Flipping the values of a variable flips signs."""
    parameters = Spectral(domain_of((2, 2, 2)), Structure.up_to_order(3, 3))
    table = rng.standard_normal((2, 2, 2))
    w = parameters.from_tables({(0, 1, 2): table})
    flipped = parameters.from_tables({(0, 1, 2): table[:, ::-1]})
    sign = np.array([-1.0 if 1 in scope else 1.0 for scope in scopes_of(parameters)])
    np.testing.assert_allclose(flipped, sign * w, atol=1e-14)


# -- words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        (Canonical, {}, ["smoker=yes", "lung=ill", "lung=bad", "smoker=yes & lung=ill", "smoker=yes & lung=bad"]),
        (
            Canonical,
            {"reference": (1, 1)},
            ["smoker=no", "lung=ok", "lung=bad", "smoker=no & lung=ok", "smoker=no & lung=bad"],
        ),
        (Spectral, {}, ["smoker", "lung[ill]", "lung[bad]", "smoker × lung[ill]", "smoker × lung[bad]"]),
        (Ising, {}, ["smoker=yes", "lung=ill", "lung=bad", "smoker = lung"]),
        (
            GeneralizedIsing,
            {},
            [
                "smoker=no",
                "smoker=yes",
                "lung=ok",
                "lung=ill",
                "lung=bad",
                "smoker=no & lung=ok",
                "smoker=yes & lung=ill",
            ],
        ),
        (
            Full,
            {},
            [
                "smoker=no",
                "smoker=yes",
                "lung=ok",
                "lung=ill",
                "lung=bad",
                "smoker=no & lung=ok",
                "smoker=no & lung=ill",
                "smoker=no & lung=bad",
                "smoker=yes & lung=ok",
                "smoker=yes & lung=ill",
                "smoker=yes & lung=bad",
            ],
        ),
    ],
)  # fmt: skip
def test_names_say_what_a_parameter_means(kind: type, options: dict[str, object], expected: list[str]) -> None:
    """Names use the words of the domain."""
    domain = Domain.from_states({"smoker": ["no", "yes"], "lung": ["ok", "ill", "bad"]})
    parameters = kind(domain, Structure.complete(2), **options)
    assert list(parameters.names()) == expected


@pytest.mark.parametrize("reference", [(0, 0), (0, 0, 2), (0, -1, 0)])
def test_a_reference_that_is_no_state_is_refused(reference: tuple[int, ...]) -> None:
    """The error says what was expected."""
    with pytest.raises(InputError, match=r"expected a state of each of the 3 variables, which have \[2, 3, 2\] states"):
        Canonical(domain_of((2, 3, 2)), Structure.complete(3), reference)
