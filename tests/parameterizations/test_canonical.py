"""Canonical coordinates against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from mrfit.core.domain import Domain
from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure
from populations import SHAPES, STRUCTURES, domain_of, problems
from reference import network


def _check(parameters: Canonical) -> None:
    expected = network.assignments(parameters)
    assert parameters.n_parameters == len(expected)
    assert [parameters.assignment(k) for k in range(len(expected))] == expected
    assert parameters.order_of_parameter.tolist() == [len(pairs) for pairs in expected]


@given(problems())
def test_parameters_are_scope_after_scope_in_c_order(problem: tuple[UniqueRows, Canonical, np.ndarray]) -> None:
    """One parameter for each scope and combination of states other than the first."""
    _check(problem[1])


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_parameters_of_every_structure_on_every_shape(shape: str, structure: str) -> None:
    """The named awkward cases; scopes of a variable with one state have no parameters."""
    domain = domain_of(SHAPES[shape])
    _check(Canonical(domain, STRUCTURES[structure](len(domain))))


def test_names_read_like_conditions() -> None:
    """Variable and state names as the user gave them."""
    domain = Domain.from_states({"smoker": ["no", "yes"], "lung": ["ok", "ill", "very ill"]})
    parameters = Canonical(domain, Structure.complete(2))
    assert list(parameters.names()) == [
        "smoker=yes",
        "lung=ill",
        "lung=very ill",
        "smoker=yes & lung=ill",
        "smoker=yes & lung=very ill",
    ]


@given(problems())
def test_conditionals_hold_every_parameter_once_for_each_variable_of_its_scope(
    problem: tuple[UniqueRows, Canonical, np.ndarray],
) -> None:
    """Slots and conditions of a variable spell out the features of its conditional."""
    parameters = problem[1]
    c, shape = parameters.conditionals, parameters.domain.shape
    indicators = [(i, s) for i, n_states in enumerate(shape) for s in range(1, n_states)]
    found = []
    for i, n_states in enumerate(shape):
        width = 1 + c.feature_start[i + 1] - c.feature_start[i]
        slots = c.parameter_of_slot[c.slot_start[i] : c.slot_start[i + 1]].reshape(n_states - 1, width)
        for s in range(1, n_states):
            for column in range(width):
                f = c.feature_start[i] + column - 1
                rest = c.conditions[c.condition_start[f] : c.condition_start[f + 1]] if column else []
                pairs = tuple(sorted([(i, s), *(indicators[k] for k in rest)]))
                if slots[s - 1, column] >= 0:
                    assert parameters.assignment(int(slots[s - 1, column])) == pairs
                    found.append((i, pairs))
                else:
                    assert column == 0
    expected = [(i, pairs) for pairs in network.assignments(parameters) for i, _ in pairs]
    assert sorted(found) == sorted(expected)
