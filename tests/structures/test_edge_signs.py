"""Signs of edges: coefficients of two binary variables, the order of states for more, none without an order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mrfit.core.domain import Domain
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.edge_report import EdgeReport
from mrfit.structures.edge_signs import edge_signs
from mrfit.structures.simple import Learned

PAIR = np.array([[0, 1]])


def _pair(first: list[str], second: list[str], codes: np.ndarray) -> UniqueRows:
    domain = Domain.from_states({"a": first, "b": second})
    return UniqueRows.from_codes(domain, codes.astype(np.uint8), np.ones(len(codes)))


def _falling(n_states: int, n_rows: int = 300) -> np.ndarray:
    rng = np.random.default_rng(0)
    a = rng.integers(0, n_states, n_rows)
    b = np.where(rng.random(n_rows) < 0.7, n_states - 1 - a, rng.integers(0, n_states, n_rows))
    return np.stack([a, b], axis=1)


@pytest.mark.parametrize("seed", range(8))
def test_ordered_states_have_the_sign_of_kendalls_concordance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, (4, 3), (40, 2))
    rows = _pair(list("1234"), list("123"), codes)
    expected = np.sign(round(stats.kendalltau(codes[:, 0], codes[:, 1]).statistic, 12))
    assert edge_signs(rows, PAIR, np.array([9.0])).tolist() == [expected]


@pytest.mark.parametrize(
    ("first", "second", "sign"),
    [
        (["1", "2", "3"], ["1", "2", "3"], -1),
        (["-1.5", "0", "1e1"], ["1", "2", "3"], -1),
        (["3", "2", "1"], ["1", "2", "3"], 1),  # the order of numbers, not of the declaration
        (["9", "10", "11"], ["1", "2", "3"], -1),
        (["low", "middle", "high"], ["1", "2", "3"], 0),
        (["1", "2", "nan"], ["1", "2", "3"], 0),
        (["1", "2", ""], ["1", "2", "3"], 0),
    ],
)
def test_an_order_is_that_of_numbers(first: list[str], second: list[str], sign: int) -> None:
    assert edge_signs(_pair(first, second, _falling(3)), PAIR, np.array([2.0])).tolist() == [sign]


def test_two_states_are_in_the_order_declared() -> None:
    codes = _falling(3)
    codes[:, 0] = codes[:, 0] > 0
    assert edge_signs(_pair(["no", "yes"], ["1", "2", "3"], codes), PAIR, np.array([2.0])).tolist() == [-1]
    assert edge_signs(_pair(["yes", "no"], ["a", "b", "c"], codes), PAIR, np.array([2.0])).tolist() == [0]


@pytest.mark.parametrize("coefficient", [-0.5, 0.0, 2.0])
def test_two_binary_variables_have_the_sign_of_their_coefficient(coefficient: float) -> None:
    """The sign given all others may differ from that of the pair alone."""
    rows = _pair(["no", "yes"], ["no", "yes"], _falling(2))
    assert edge_signs(rows, PAIR, np.array([coefficient])).tolist() == [np.sign(coefficient)]


def test_exact_independence_has_no_sign() -> None:
    codes = np.array([(a, b) for a in range(3) for b in range(3)])
    assert edge_signs(_pair(list("123"), list("123"), codes), PAIR, np.array([1.0])).tolist() == [0]


@pytest.mark.parametrize(("states", "sign"), [("123", -1), ("xyz", 0)])
@pytest.mark.parametrize("way", [{"select": "ebic"}, {"max_degree": 1}])
def test_weights_of_categories_have_no_sign(states: str, sign: int, way: dict) -> None:
    rows = _pair(list(states), list(states), _falling(3))
    report = Learned(**way).learn(rows).report
    assert report.signs.tolist() == [sign]
    assert report.weight.tolist() == [report.coefficients.mean()]
    assert (report.has_sign.tolist(), report.unit) == ([False], "norm of the centered table, no sign")
    record = next(report.rows(("a", "b")))
    assert (record["weight"], record["sign"]) == (report.weight[0], sign)


def test_weights_of_binary_edges_are_mean_coefficients() -> None:
    coefficients = np.array([(0.5, 0.1), (-2.0, -1.0), (0.0, 0.0)])
    edges = np.array([(0, 1), (0, 2), (1, 2)])
    report = EdgeReport(edges, coefficients, coefficients, np.array([1, -1, 0]))
    np.testing.assert_array_equal(report.weight, coefficients.mean(axis=1))
