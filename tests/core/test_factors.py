"""Products of tables as values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from populations import PARAMETERIZATIONS, SCOPES, STRUCTURES, domain_of, factors, random_factors
from reference import factors as reference
from reference.features import feature_matrix, joint_states


@settings(max_examples=50, deadline=None)
@given(factors())
def test_log_potentials_of_rows(product: Factors) -> None:
    """The sum of every table at the states of a row."""
    codes = joint_states(product.shape)
    expected = [reference.log_potential(product, tuple(x)) for x in codes.tolist()]
    np.testing.assert_allclose(product.log_potential(codes), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", PARAMETERIZATIONS, ids=lambda kind: kind.word)
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (2, 3, 1, 2), (3,)], ids=str)
def test_parameters_as_factors(kind: type, structure: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """Tables come in the same order as scope by scope, and give the same function of all joint states."""
    for parameters in PARAMETERIZATIONS[kind](domain_of(shape), STRUCTURES[structure](len(shape)), rng):
        w = rng.standard_normal(parameters.n_parameters)
        product, tables = parameters.to_factors(w), parameters.to_tables(w)
        assert product.scopes == tuple(tables)
        expected = np.concatenate([np.empty(0), *(table.ravel() for table in tables.values())])
        np.testing.assert_allclose(product.values, expected, rtol=1e-13, atol=1e-14)
        q = feature_matrix(parameters) @ w
        np.testing.assert_allclose(product.log_potential(joint_states(shape)), q, rtol=1e-12, atol=1e-12)


def test_tables_flat_or_with_axes() -> None:
    """Values are in C order of the scope as it is listed."""
    table = np.arange(6.0).reshape(3, 2)
    dense = Factors.from_tables((2, 3), [((1, 0), table), ((), 5.0)])
    assert dense == Factors.from_tables((2, 3), [([1, 0], table.ravel().tolist()), ((), [5.0])])
    assert dense == Factors((2, 3), ((1, 0), ()), np.array([0.0, 1, 2, 3, 4, 5, 5]))
    assert dense.table(0).tolist() == [0, 1, 2, 3, 4, 5]
    assert [each.tolist() for each in dense.tables] == [[0, 1, 2, 3, 4, 5], [5]]
    assert dense.log_potential(np.array([[1, 2], [0, 1]])).tolist() == [10.0, 7.0]
    assert repr(dense) == "Factors(2 variables, 2 tables, 7 cells)"


def test_factors_are_values(rng: np.random.Generator) -> None:
    """Copied, read-only, equal by what they hold, minus infinity and the sign of zero included."""
    values = np.array([0.0, -np.inf, 1.0])
    product = Factors((3,), ((0,),), values)
    values[0] = 7.0
    assert product.values.tolist() == [0.0, -np.inf, 1.0]
    assert product.has_impossible_states
    with pytest.raises(ValueError, match="read-only"):
        product.table(0)[0] = 1.0
    same = Factors((np.int64(3),), [[np.int64(0)]], [-0.0, -np.inf, 1.0])  # type: ignore[arg-type]
    assert product == same
    assert len({product, same}) == 1
    assert product != product.with_values(np.zeros(3))
    assert product != Factors((3, 1), ((0,),), product.values)
    assert product != Factors((3, 1), ((0, 1),), product.values)
    assert product != "factors"


@pytest.mark.parametrize("name", SCOPES)
def test_hashes_agree_with_equality(name: str) -> None:
    first, second = (random_factors(np.random.default_rng(3), *SCOPES[name], zeros=0.3) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)


@pytest.mark.parametrize(
    ("shape", "scopes", "values", "message"),
    [
        ((2,), ((1,),), [0.0, 0.0], r"Scope \(1,\) names variable 1; there are 1, numbered from 0"),
        ((2,), ((-1,),), [0.0, 0.0], "names variable -1"),
        ((2, 2), ((0, 0),), [0.0] * 4, r"Scope \(0, 0\) names a variable twice"),
        ((2, 0), ((0,),), [0.0, 0.0], "Variable 1 has 0 states; give each at least one"),
        ((2,), ((0,),), [0.0, 0.0, 0.0], r"1 tables have 2 cells; got an array of shape \(3,\)"),
        ((2,), ((0,),), [[0.0, 0.0]], r"shape \(1, 2\)"),
        ((2,), ((0,),), [0.0, np.nan], r"hold 'nan' \(1 times\)"),
        ((2,), ((0,),), [np.inf, np.inf], r"hold 'inf' \(2 times\); expected logarithms"),
        ((2,) * 300, (tuple(range(300)),), [0.0], "1 tables have 20370359"),
    ],
)
def test_wrong_factors_are_refused(shape: object, scopes: object, values: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Factors(shape, scopes, np.array(values))  # type: ignore[arg-type]


@pytest.mark.parametrize("table", [np.zeros((2, 3)), np.zeros(5), 0.0])
def test_tables_of_another_shape_are_refused(table: object) -> None:
    """A table over (1, 0) is not one over (0, 1), though it has as many cells."""
    with pytest.raises(InputError, match=r"scope \(1, 0\) has shape .*; expected \(3, 2\)"):
        Factors.from_tables((2, 3), [((1, 0), table)])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (np.zeros((1, 3), int), r"shape \(1, 3\); expected whole numbers, one column for each of the 2"),
        (np.zeros(2, int), r"shape \(2,\)"),
        (np.zeros((1, 2)), "float64"),
        (np.array([[0, 3]]), "Column 1 has codes beyond its 3 states"),
        (np.array([[-1, 0]]), "Column 0"),
    ],
)
def test_wrong_rows_are_refused(codes: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Factors((2, 3), ((0,),), np.zeros(2)).log_potential(codes)
