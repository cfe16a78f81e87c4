"""`--bound joint` from rows to a report."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.specification import learn
from mrfit.structures.simple import Learned
from populations import domain_of, random_rows
from reference.nodewise import drawn_rows, pairwise_probabilities
from words import learner

STAR = [(0, k) for k in range(1, 7)]


def _star(n_rows: int = 1500, seed: int = 0) -> UniqueRows:
    shape = (2,) * 7
    return drawn_rows(np.random.default_rng(seed), shape, pairwise_probabilities(shape, STAR, 0.4), n_rows)


def test_a_bound_of_one_holds_a_star_whole() -> None:
    """Its leaves own the edges; the centre has six neighbours and the report says who owns what."""
    learned = Learned(max_degree=1, bound="joint").learn(_star())
    assert set(map(tuple, learned.structure.edges.tolist())) == set(STAR)
    assert learned.structure.degrees.max() == 6
    report = learned.report
    assert report.owner is not None
    assert report.gain is not None
    assert np.bincount(report.owner, minlength=7).max() == 1
    assert (report.gain > 10).all()
    np.testing.assert_array_equal(report.coefficients[:, 0], report.coefficients[:, 1])
    record = next(report.rows(tuple("abcdefg")))
    assert record["owner"] in (record["source"], record["target"])
    assert "chosen on held-out rows" in learned.remarks[0]


def test_signs_are_those_of_the_states_as_declared() -> None:
    """Whichever state is more frequent."""
    rng = np.random.default_rng(0)
    a = (rng.random(3000) < 0.8).astype(int)
    b = np.where(rng.random(3000) < 0.9, a, 1 - a)
    codes = np.stack([a, b, 1 - b], 1).astype(np.uint8)
    rows = UniqueRows.from_codes(domain_of((2, 2, 2)), codes, np.ones(3000))
    report = Learned(bound="joint", forbid=[("x1", "x2")]).learn(rows).report
    signs = dict(zip(map(tuple, report.edges.tolist()), report.signs.tolist(), strict=True))
    assert all(sign == (1 if edge == (0, 1) else -1) for edge, sign in signs.items())
    assert signs


def test_rows_that_are_given_choose_and_others_are_split_the_same_way_every_time() -> None:
    rows, valid = _star(300), _star(300, seed=1)
    by_valid = Learned(max_degree=2, bound="joint").learn(rows, valid=valid)
    again = Learned(max_degree=2, bound="joint").learn(rows, valid=valid)
    assert by_valid.structure == again.structure
    assert by_valid.remarks == again.remarks
    alone = [Learned(max_degree=2, bound="joint").learn(rows) for _ in range(2)]
    assert alone[0].structure == alone[1].structure
    np.testing.assert_array_equal(alone[0].report.coefficients, alone[1].report.coefficients)


@pytest.mark.parametrize("jobs", [2, 3])
@pytest.mark.parametrize("states", [2, 3])
def test_jobs_change_nothing(jobs: int, states: int, rng: np.random.Generator) -> None:
    rows = random_rows(rng, (states,) * 7, 200, fractional=True)
    one, more = (Learned(max_degree=2, bound="joint").learn(rows, jobs=n) for n in (1, jobs))
    assert one.structure == more.structure
    np.testing.assert_array_equal(one.report.coefficients, more.report.coefficients)
    assert one.remarks == more.remarks


def test_required_edges_beyond_all_bounds_have_no_owner(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2,) * 4, 60)
    names = rows.domain.names
    pairs = [(names[a], names[b]) for a in range(4) for b in range(a)]
    report = Learned(max_degree=1, bound="joint", require=pairs).learn(rows).report
    assert len(report) == 6
    assert sorted(report.owner.tolist())[:2] == [-1, -1]
    assert {record["owner"] for record in report.rows(names)} == {"", *names}


def test_few_rows_choose_nothing_and_say_so(rng: np.random.Generator) -> None:
    learned = Learned(bound="joint").learn(random_rows(rng, (2, 2, 2), 10))
    assert "not chosen" in " ".join(learned.remarks)


def test_an_empty_graph_says_why() -> None:
    rng = np.random.default_rng(2)
    rows = UniqueRows.from_codes(domain_of((2,) * 4), rng.integers(0, 2, (200, 4)).astype(np.uint8), np.ones(200))
    learned = Learned(bound="joint").learn(rows)
    assert len(learned.report) == 0
    assert any(remark.startswith("No edges: no pair gains") for remark in learned.remarks)


@pytest.mark.parametrize("wrong", [0, -3])
def test_a_bound_below_one_is_refused(wrong: int) -> None:
    with pytest.raises(InputError, match=str(wrong)):
        Learned(max_degree=wrong, bound="joint")


def test_real_rows_are_predicted_at_least_as_well_as_by_gain(named_rows: Callable[[str, str], UniqueRows]) -> None:
    train, valid, test = (named_rows("nltcs", part) for part in ("train", "valid", "test"))
    scores = {}
    for bound in ("gain", "joint"):
        structure = Learned(max_degree=5, bound=bound).learn(train, valid=valid).structure
        assert len(structure.edges) <= 5 * len(train.domain)
        scores[bound] = learn(train, structure, learner((0.1, 1.0, 10.0)), valid=valid).best.model.pll(test)
    assert scores["joint"] >= scores["gain"]
