"""Ordered coordinates: scores, names, and orders that nobody has said."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.ordered import Ordered, check_orders, ordered_variables
from mrfit.structures.structure import Structure
from populations import domain_of

ITEMS = Domain.from_states(
    {"mood": ["low", "fair", "high"], "sleep": ["1", "2", "3", "10"], "job": ["farm", "office", "sea"]}
)


def test_a_pair_of_ordered_variables_has_one_parameter() -> None:
    """Its table is the product of the scores."""
    parameters = Ordered(ITEMS, Structure.from_edges(3, [(0, 1)]))
    assert list(parameters.names())[-1] == "mood × sleep"
    table = parameters.to_tables(np.array([*np.zeros(7), 0.5]))[0, 1]
    np.testing.assert_allclose(table, 0.5 * np.outer([0, 1, 2], [0, 1, 2, 3]))


def test_own_scores_count_from_that_of_the_first_state() -> None:
    """Variables with the same shape and other scores have features of their own."""
    domain = domain_of((3, 3, 3))
    parameters = Ordered(domain, Structure.complete(3), (0, 1, 2), ((0, (1, 2, 5)), (1, (0.0, 1.0, 4.0))))
    tables = parameters.to_tables(np.array([*np.zeros(6), 0.5, 2.0, 1.0]))
    np.testing.assert_allclose(tables[0, 1], 0.5 * np.outer([0, 1, 4], [0, 1, 4]))
    np.testing.assert_allclose(tables[0, 2], 2.0 * np.outer([0, 1, 4], [0, 1, 2]))
    assert parameters.with_options(**parameters.options) == parameters
    assert "scores" not in Ordered(domain, Structure.complete(3)).options


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ((0, 1), r"'mood' has 3 states \('low', 'fair', 'high'\) and 2 scores; give one for each"),
        ((0, 2, 1), "The scores of 'mood' are 0, 2, 1; they must be finite, not fall"),
        ((1, 1, 1), "not all be equal"),
        ((0, 1, np.nan), "must be finite"),
    ],
)
def test_scores_that_are_none(scores: tuple[float, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Ordered(ITEMS, Structure.complete(3), scores=((0, scores),))


def test_a_variable_without_an_order_has_one_for_each_state() -> None:
    parameters = Ordered(ITEMS, Structure.complete(3), (0, 1))
    names = list(parameters.names())
    assert names[:7] == ["mood=fair", "mood=high", "sleep=2", "sleep=3", "sleep=10", "job=office", "job=sea"]
    assert names[7:] == [
        *("mood × sleep", "mood × job=office", "mood × job=sea", "sleep × job=office", "sleep × job=sea"),
    ]
    assert parameters.states(7) == ()
    assert parameters.states(9) == ((2, 2),)


def test_without_ordered_variables_all_is_canonical(rng: np.random.Generator) -> None:
    """And so it is for two states, ordered or not."""
    for domain, ordered in ((ITEMS, ()), (domain_of((2, 2, 2)), None)):
        structure = Structure.up_to_order(3, 3)
        own, canonical = Ordered(domain, structure, ordered), Canonical(domain, structure)
        w = rng.standard_normal(own.n_parameters)
        np.testing.assert_array_equal(own.to_canonical(w), w)
        assert own.n_parameters == canonical.n_parameters


def test_reversing_an_order_turns_signs(rng: np.random.Generator) -> None:
    """Pairs of that variable change sign: the same distributions can be represented, single variables being free."""
    domain, structure = domain_of((3, 4)), Structure.complete(2)
    own = Ordered(domain, structure)
    w = rng.standard_normal(own.n_parameters)
    whole = sum(
        np.expand_dims(table, 1 - scope[0]) if len(scope) == 1 else table for scope, table in own.to_tables(w).items()
    )
    back = own.from_tables({(0, 1): whole[::-1]})
    assert back[-1] == pytest.approx(-w[-1], abs=1e-12)


def test_orders_of_words_are_to_be_declared() -> None:
    """Words in the order in which a table has them are no order; numbers, two states and declared orders are."""
    domain = Domain.from_states({"x": ["agree", "deny", "neither"], "y": ["no", "yes"], "z": ["1", "2", "10"]})
    check_orders(("y", "z"), domain, ())
    check_orders("all", domain, {"x"})
    check_orders("all", ITEMS, {"job"})
    for names in ("all", ("x",)):
        with pytest.raises(InputError, match=r"'x' is to be ordered, but its states are words: 'agree', 'deny', 'nei"):
            check_orders(names, domain, ())


def test_codes_of_missing_answers_are_refused() -> None:
    """But not where somebody has looked at the states: they are declared, or have scores."""
    domain = Domain.from_states({"x": ["-99", "1", "2", "3"], "y": ["-1", "0", "1"], "z": ["1", "2", "3", "88"]})
    check_orders(("y",), domain, ())
    check_orders("all", domain, {"x", "z"})
    check_orders("all", domain, {"x"}, scored={"z"})
    check_orders("all", domain, (), covariates={"x", "z"})
    with pytest.raises(InputError, match=r"'-99' lies outside its scale \(1 to 3\), and so do codes of 'z'.*-99, 88\]"):
        check_orders("all", domain, ())
    with pytest.raises(InputError, match=r"'z' is to be ordered, but '88' lies outside its scale \(1 to 3\)\. "):
        check_orders("all", domain, (), covariates={"x"})


def test_all_are_those_that_are_modelled() -> None:
    assert ordered_variables("all", ITEMS) == (0, 1, 2)
    first, second, _ = ITEMS.names
    assert ordered_variables("all", ITEMS, covariates=(first, second)) == (2,)
    assert ordered_variables("all", ITEMS, covariates=(first, second), scored=(first,)) == (0, 2)
    assert ordered_variables((first,), ITEMS, covariates=(first,)) == (0,)


def test_variables_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="there are 3, counted from 0"):
        Ordered(ITEMS, Structure.complete(3), (0, 3))
