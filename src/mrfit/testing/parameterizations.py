"""Promises of every parameterization: its features, their moments, and the map to canonical coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.core.domain import Domain
from mrfit.objectives.likelihood import Likelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.joint import Joint, Listed, converted
from mrfit.parameterizations.joint_choice import joint_of
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.structures.structure import Structure
from mrfit.testing.assertions import close
from mrfit.testing.promises import as_cases, check_promises
from mrfit.testing.samples import SHAPES, domain_of, joint_states, random_rows, structures

Generator = np.random.Generator


def check_parameterization(
    make: Callable[[Domain, Structure], Any], *, shapes: tuple[tuple[int, ...], ...] = SHAPES, seed: int = 0
) -> None:
    """Check that a parameterization keeps every promise that learning and models rely on.

    Parameters
    ----------
    make : callable
        ``make(domain, structure)`` returns the parameterization, or a list of several; its class, if it has no
        settings.
    shapes : tuple of tuple of int, default ((2, 2, 2), (2, 3, 2, 2), (3, 1, 2), (3,))
        Numbers of states of the variables of each case.
    seed : int, default 0
        Random seed of the parameters.

    Raises
    ------
    AssertionError
        If tables and parameters do not agree, or another promise is broken; the message names it.

    See Also
    --------
    Parameterization : The interface.
    register : Make the parameterization known by its word.

    Examples
    --------
    >>> from mrfit.parameterizations import Spectral
    >>> from mrfit.testing import check_parameterization
    >>> check_parameterization(Spectral, shapes=((2, 2),))
    """
    for shape in shapes:
        domain, n = domain_of(shape), len(shape)
        triples = Structure.up_to_order(n, min(n, 3))
        for structure in (*structures(n), triples):
            for parameters in as_cases(make(domain, structure)):
                check_promises(PROMISES, parameters, seed=seed)


def scopes_of(parameters: Parameterization) -> list[Scope]:
    """Return the scope of every parameter, from the features of each scope."""
    return [scope for scope in _scopes(parameters) for _ in range(parameters.features(scope).shape[1])]


def feature_matrix(parameters: Parameterization) -> Floats:
    """Return the features of all joint states, shape (states, parameters), from those of each scope."""
    shape = parameters.domain.shape
    states = joint_states(shape)
    columns = [np.zeros((len(states), 0))]
    for scope in _scopes(parameters):
        own = tuple(shape[i] for i in scope)
        columns.append(parameters.features(scope)[np.ravel_multi_index(tuple(states[:, list(scope)].T), own)])
    return np.hstack(columns)


def _scopes(parameters: Parameterization) -> list[Scope]:
    shape = parameters.domain.shape
    return [scope for scope in parameters.structure.scopes if all(shape[i] > 1 for i in scope)]


def _moments(joint: Joint, p: Floats) -> Floats:
    """Return moments of numbers at the joint states, given in C order."""
    a = np.empty(joint.base.size)
    a[joint.base.positions(joint_states(joint.base.shape).astype(np.uint8))] = p
    return joint.base.moments(a)


def it_counts_its_features(parameters: Parameterization, rng: Generator) -> None:
    """Numbers of parameters equal numbers of features, scope by scope."""
    for scope in _scopes(parameters):
        found, expected = parameters.features(scope).shape[1], parameters.n_features(scope)
        assert found == expected, f"{found} features of {scope}, n_features says {expected}"
    assert parameters.n_parameters == len(scopes_of(parameters)), "n_parameters is not the sum over scopes"


def every_parameter_has_a_place_and_a_name(parameters: Parameterization, rng: Generator) -> None:
    """Every parameter has a scope, its order, and a unique name that contains the names of its variables."""
    expected, names = scopes_of(parameters), list(parameters.names())
    assert [parameters.scope(k) for k in range(parameters.n_parameters)] == expected, "scope()"
    assert parameters.order_of_parameter.tolist() == [len(scope) for scope in expected], "order_of_parameter"
    numbered = list(parameters.structure.scopes)
    assert [numbered[k] for k in parameters.scope_of_parameter] == expected, "scope_of_parameter"
    assert len(set(names)) == len(names), f"two parameters have one name: {names}"
    for name, scope in zip(names, expected, strict=True):
        assert all(parameters.domain[i].name in name for i in scope), f"{name!r} does not name the variables {scope}"


def values_and_moments_of_all_states(parameters: Parameterization, rng: Generator) -> None:
    """One transform and its adjoint equal the matrix of features."""
    features, joint = feature_matrix(parameters), Listed(parameters)
    w, r = rng.standard_normal(parameters.n_parameters), rng.standard_normal(len(features))
    forward = joint.base.by_state(joint.base.potentials(joint.spread(w))).ravel()
    close(forward, features @ w, "values at all joint states", atol=1e-12)
    close(joint.gather(_moments(joint, r)), features.T @ r, "moments", atol=1e-12)


def tables_sum_to_the_values(parameters: Parameterization, rng: Generator) -> None:
    """The sum of the tables is the log-potential, and a gradient in tables is pulled back by the adjoint."""
    states, w = joint_states(parameters.domain.shape), rng.standard_normal(parameters.n_parameters)
    tables, total = parameters.to_tables(w), np.zeros(len(states))
    for scope, table in tables.items():
        total += table[tuple(states[:, i] for i in scope)]
    close(total, feature_matrix(parameters) @ w, "sums of tables", atol=1e-12)
    r = {scope: rng.standard_normal(table.shape) for scope, table in tables.items()}
    dots = sum(float((tables[scope] * r[scope]).sum()) for scope in tables)
    close(dots, float(w @ parameters.pull_back(r)), "pull_back", atol=1e-11)


def covariances_by_lookup(parameters: Parameterization, rng: Generator) -> None:
    """Variances and covariances of any choice of features follow from the moments of the base."""
    features, joint = feature_matrix(parameters), Listed(parameters)
    p = rng.random(len(features)) ** 2
    p /= p.sum()
    centred = features - p @ features
    expected, moments = (centred.T * p) @ centred, _moments(joint, p)
    close(joint.variances(moments), np.diag(expected), "variances", atol=1e-12)
    chosen = rng.permutation(parameters.n_parameters)[:40]
    close(joint.covariance(moments, chosen), expected[np.ix_(chosen, chosen)], "covariances", atol=1e-12)


def the_gradient_of_the_likelihood_is_the_difference_of_means(parameters: Parameterization, rng: Generator) -> None:
    """The gradient is the means of the features under the model minus those in the rows."""
    rows = random_rows(rng, parameters.domain.shape, 30)
    features, w = feature_matrix(parameters), 0.3 * rng.standard_normal(parameters.n_parameters)
    q = features @ w
    p = np.exp(q - q.max())
    at = np.ravel_multi_index(tuple(rows.codes.T.astype(np.int64)), parameters.domain.shape)
    data = np.bincount(at, rows.sample_weight, len(q)) / rows.total_weight
    _, gradient = Likelihood(parameters, rows).value_and_gradient(w)
    close(gradient, features.T @ (p / p.sum() - data), "gradient of the likelihood", atol=1e-12)


def pruning_leaves_out_scopes_of_zeros(parameters: Parameterization, rng: Generator) -> None:
    """Single variables stay; what remains is the same function."""
    scopes = scopes_of(parameters)
    dropped = {scope for scope in sorted(set(scopes)) if rng.random() < 0.5}
    w = np.array([0.0 if scope in dropped else 1.0 + rng.random() for scope in scopes])
    for joint in (Listed(parameters), joint_of(parameters)):
        order = joint.pruned(np.ones(joint.n_parameters))[1]
        own = np.empty_like(w)
        own[order] = w
        smaller, kept = joint.pruned(own)
        expected = {scope for scope in scopes if scope not in dropped or len(scope) == 1}
        assert set(scopes_of(smaller)) == expected, "other scopes are left"
        assert type(smaller) is type(parameters), "the kind changed"
        close(feature_matrix(smaller) @ own[kept], feature_matrix(parameters) @ w, "values", atol=1e-12)


def canonical_coordinates_give_the_same_distribution(parameters: Parameterization, rng: Generator) -> None:
    """A sparse matrix maps the parameters to canonical ones, up to a constant."""
    w = rng.standard_normal(parameters.n_parameters)
    canonical = parameters.canonical
    assert isinstance(canonical, Canonical), "canonical must be Canonical"
    mapped = parameters.to_canonical(w)
    close(mapped, parameters.canonical_map @ w, "canonical_map", atol=1e-13)
    q, own = feature_matrix(canonical) @ mapped, feature_matrix(parameters) @ w
    close(q - q[0], own - own[0], "values but for a constant", atol=1e-12)


def what_it_says_it_can_say_again(parameters: Parameterization, rng: Generator) -> None:
    """A distribution of this parameterization converts back, to the same parameters if it is minimal."""
    w = rng.standard_normal(parameters.n_parameters)
    again = converted(parameters, w, parameters)
    q, own = feature_matrix(parameters) @ again, feature_matrix(parameters) @ w
    close(q - q[0], own - own[0], "values but for a constant", atol=1e-10)
    if parameters.is_minimal:
        close(again, w, "the parameters of a minimal parameterization", atol=1e-10)


def its_options_rebuild_it(parameters: Parameterization, rng: Generator) -> None:
    """Domain, structure and the options in a model file rebuild the parameterization."""
    again = type(parameters)(parameters.domain, parameters.structure).with_options(**parameters.options)
    close(feature_matrix(again), feature_matrix(parameters), "features after options and with_options")


PROMISES = (
    it_counts_its_features,
    every_parameter_has_a_place_and_a_name,
    values_and_moments_of_all_states,
    tables_sum_to_the_values,
    covariances_by_lookup,
    the_gradient_of_the_likelihood_is_the_difference_of_means,
    pruning_leaves_out_scopes_of_zeros,
    canonical_coordinates_give_the_same_distribution,
    what_it_says_it_can_say_again,
    its_options_rebuild_it,
)
