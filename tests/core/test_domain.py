"""Variables and domains."""

from __future__ import annotations

import pytest

from mrfit.core.domain import Domain, Variable
from mrfit.core.errors import DataError, InputError, listed


def test_codes_are_positions() -> None:
    """States keep the order in which they are given."""
    variable = Variable("size", ("small", "large", "huge"))
    assert variable.n_states == 3
    assert variable.codes == {"small": 0, "large": 1, "huge": 2}


def test_a_domain_knows_names_shape_and_positions() -> None:
    """The order is the column order."""
    domain = Domain.from_states({"b": ["x"], "a": ["0", "1", "2"], 7: [False, True]})
    assert domain.names == ("b", "a", "7")
    assert domain.shape == (1, 3, 2)
    assert [domain.index(name) for name in domain.names] == [0, 1, 2]
    assert domain[2] == Variable("7", ("False", "True"))
    assert list(domain) == [domain[0], domain[1], domain[2]]
    assert len(domain) == 3
    assert "a" in domain
    assert "c" not in domain


def test_states_go_both_ways() -> None:
    """`to_states` is the inverse of `from_states`; order matters to equality."""
    states = {"b": ["y", "x"], "a": ["0"]}
    assert Domain.from_states(states).to_states() == states
    assert Domain.from_states(Domain.from_states(states).to_states()) == Domain.from_states(states)
    assert Domain.from_states({"a": ["0"], "b": ["y", "x"]}) != Domain.from_states(states)


def test_wrong_domains_are_refused_with_their_names() -> None:
    """No columns, repeated columns, no states, repeated states."""
    with pytest.raises(DataError, match="no columns"):
        Domain(())
    with pytest.raises(DataError, match="repeated: 'a'"):
        Domain((Variable("a", ("0",)), Variable("b", ("0",)), Variable("a", ("1",))))
    with pytest.raises(DataError, match="'a' has no states"):
        Variable("a", ())
    with pytest.raises(DataError, match="'a' repeats a state in 'x', 'y', 'x'"):
        Variable("a", ("x", "y", "x"))


def test_an_unknown_variable_is_named() -> None:
    """The error lists the known variables."""
    with pytest.raises(InputError, match="no variable 'c'; the variables are 'a', 'b'"):
        Domain.from_states({"a": "01", "b": "01"}).index("c")


def test_long_lists_are_cut() -> None:
    """Six names, then how many there are."""
    assert listed(range(6)) == "'0', '1', '2', '3', '4', '5'"
    assert listed(range(12)) == "'0', '1', '2', '3', '4', '5', ... (12 in all)"
