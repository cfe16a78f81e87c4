"""Text and JSON of an answer."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mrfit import Domain, FactorNetwork, Factors
from mrfit.analysis.query_record import PlanSummary, QuerySummary, movements


@pytest.fixture
def network() -> FactorNetwork:
    domain = Domain.from_states({"a": ["no", "yes"], "b": ["no", "yes"]})
    return FactorNetwork(domain, Factors.from_tables((2, 2), [((0, 1), np.log([[0.4, 0.1], [0.2, 0.3]]))]))


def test_before_and_after(network: FactorNetwork) -> None:
    answer = QuerySummary.of(network, [], evidence={"a": "yes"})
    assert answer.moved == pytest.approx({"b": 0.2})
    assert answer.log_p_given == pytest.approx(np.log(0.5))
    assert json.loads(json.dumps(answer.to_dict()))["before"]["b"] == pytest.approx({"no": 0.6, "yes": 0.4})


def test_only_joint_states(network: FactorNetwork) -> None:
    answer = QuerySummary.of(network, [("b", "a")], evidence={})
    assert answer.after.marginals == {}
    assert answer.before is None
    assert answer.moved == {}
    np.testing.assert_allclose(answer.joints[0].table, [[0.4, 0.2], [0.1, 0.3]])


def test_movements_are_total_variation() -> None:
    after = {"a": {"x": 0.5, "y": 0.3, "z": 0.2}}
    assert movements(after, {"a": {"x": 0.2, "y": 0.3, "z": 0.5}}) == pytest.approx({"a": 0.3})
    assert movements(after, None) == {"a": 0.0}


def test_plans(network: FactorNetwork) -> None:
    tree = PlanSummary.of(network.plan(engine="tree"), network.display_names)
    assert (tree.width, tree.largest, tree.fits) == (1, ["a", "b"], True)
    every = PlanSummary.of(network.plan(engine="enumeration"), network.display_names)
    assert (every.width, every.cells) == (None, 4.0)
    json.dumps(tree.to_dict())
