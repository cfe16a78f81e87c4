"""Groups of rows: known answers, definitions, levels of tests, and what cannot be compared."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mrfit
from mrfit import L1, Dataset, Domain, Learned, Learner, NoPenalty, UniqueRows, Variable, compare_groups
from mrfit.analysis.groups.group_differences import Differences, PermutationTest
from mrfit.analysis.stability import resamples as draw
from mrfit.analysis.stability.resampled_networks import Networks, pairs_of
from mrfit.core.errors import DataError, InputError
from mrfit.data.grouped_rows import GroupedRows
from mrfit.learning.objective_specs import LIKELIHOOD
from mrfit.model.wald import adjusted_p, equality_tests
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from populations import domain_of

PLAIN = Learner(penalty=NoPenalty())
EBIC = Learned(select="ebic", rule="and")


@pytest.fixture
def expected(conformance_dir: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((conformance_dir / "applied" / "groups" / "summary.json").read_text())
    return document


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


# -- what others found ---------------------------------------------------------------------------------------------


def test_likelihood_ratio_of_czech(expected: dict[str, Any], named_rows: Callable[[str, str], UniqueRows]) -> None:
    found = compare_groups(PLAIN, named_rows("czech", "data"), by="smoke").likelihood
    known = expected["czech"]["lrt"]
    assert found is not None
    for name, nested in (("free", found.free), ("equal_pairs", found.equal_interactions), ("equal_all", found.equal)):
        assert nested.log_likelihood == pytest.approx(known[f"ll_{name}"], abs=1e-5)
        assert nested.n_parameters == known[f"npar_{name}"]
    assert found.statistic == pytest.approx(known["chi2_pairs"], abs=1e-5)
    assert (found.degrees, found.p) == (known["df"], pytest.approx(known["p"], abs=1e-5))
    assert found.held == ()


def test_differences_and_p_of_networks_that_others_learned(expected: dict[str, Any], conformance_dir: Path) -> None:
    """M, S and both p, from the weights of the groups and the permuted statistics."""
    folder = conformance_dir / "applied" / "groups"
    edges, permuted = _lines(folder / "czech_nct_edges.csv"), _lines(folder / "czech_nct_permuted.csv")
    observed = Differences.of(np.array([[float(edge[w]) for edge in edges] for w in ("w1", "w2")]), 5)
    np.testing.assert_allclose(observed.edges, [float(edge["diff"]) for edge in edges], atol=1e-12)
    largest, total = (np.array([float(line[name]) for line in permuted]) for name in ("M", "S"))
    nothing = np.zeros((len(permuted), 0))
    test = PermutationTest(observed, Differences(largest, total, nothing, nothing), len(permuted), {})
    known = expected["czech"]
    assert observed.largest == pytest.approx(known["M"], abs=1e-12)
    assert observed.total == pytest.approx(known["S"], abs=1e-12)
    assert test.p_largest == pytest.approx(known["p_M"], abs=1e-12)
    assert test.p_total == pytest.approx(known["p_S"], abs=1e-12)


def _given(name: str, conformance_dir: Path) -> tuple[UniqueRows, np.ndarray, np.ndarray, np.ndarray]:
    """The table with its groups, permutations as counts in both, and NetworkComparisonTest's M and S of each."""
    folder = conformance_dir / "applied" / "groups"
    lines = _lines(folder / f"{name}_permutations.csv")
    n = list(lines[0]).index("count1")
    names = list(lines[0])[:n]
    numbers = np.array([[float(value) for value in line.values()] for line in lines])
    codes, counts, first = numbers[:, :n].astype(np.uint8), numbers[:, n : n + 2], numbers[:, n + 2 :].T
    domain = Domain(tuple(Variable(name, ("0", "1")) for name in ("group", *names)))
    both = np.vstack([np.insert(codes, 0, group, axis=1) for group in (0, 1)])
    rows = UniqueRows.from_codes(domain, both, counts.T.reshape(-1))
    place = GroupedRows.of(rows, "group").rows.places_of(codes)
    permutations = np.zeros((len(first), 2, len(codes)))
    permutations[:, 0, place], permutations[:, 1, place] = first, counts.sum(axis=1) - first
    permuted = _lines(folder / f"{name}_nct_permuted.csv")
    largest, total = (np.array([float(line[statistic]) for line in permuted]) for statistic in ("M", "S"))
    return rows, permutations, largest, total


def test_networks_and_permutations_as_others_learn_them(expected: dict[str, Any], conformance_dir: Path) -> None:
    """Rows lead to the M, S and p of NetworkComparisonTest on its own permutations; IsingFit solves less tightly."""
    rows, permutations, largest, total = _given("czech", conformance_dir)
    learner = Learned(select="ebic", rule="and", scale="standard")
    found, known = compare_groups(learner, rows, by="group", permutations=permutations).permutations, expected["czech"]
    assert found is not None
    assert (found.observed.largest, found.observed.total) == pytest.approx((known["M"], known["S"]), abs=1e-4)
    np.testing.assert_allclose(found.permuted.largest, largest, atol=1e-4)
    np.testing.assert_allclose(found.permuted.total, total, atol=1e-4)
    assert (found.p_largest, found.p_total) == pytest.approx((known["p_M"], known["p_S"]), abs=1e-12)


def test_one_permutation_of_jonas_is_not_solved_to_its_end(expected: dict[str, Any], conformance_dir: Path) -> None:
    """p of S is .055 and not .060, by one permutation in 200: its S is 12.85 where regressions are solved to the end.

    Ours rest there: a hundred times tighter they move it by less than 1e-4, and the file says 13.13. Groups of jonas
    are nearly separated, where the usual tolerance of glmnet, by which the file was made, may end on the way.
    """
    rows, permutations, largest, total = _given("jonas", conformance_dir)
    usual, tight = (
        compare_groups(
            Learned(select="ebic", rule="and", scale="standard", tolerance=tolerance),
            rows,
            by="group",
            permutations=some,
        ).permutations
        for tolerance, some in ((1e-6, permutations), (1e-8, permutations[[152]]))
    )
    known = expected["jonas"]
    assert usual is not None
    assert tight is not None
    assert (usual.observed.largest, usual.observed.total) == pytest.approx((known["M"], known["S"]), abs=1e-3)
    assert usual.p_largest == pytest.approx(known["p_M"], abs=1e-12)
    others = (total >= known["S"]) != (usual.permuted.total >= usual.observed.total)
    assert np.flatnonzero(others).tolist() == [152]
    assert usual.p_total == pytest.approx(known["p_S"] - 1.0 / 201.0, abs=1e-12)
    assert usual.permuted.total[152] == pytest.approx(12.8466, abs=1e-4)
    assert tight.permuted.total[0] == pytest.approx(usual.permuted.total[152], abs=1e-4)
    same = np.abs(usual.permuted.total - total) < 1e-3
    assert same.mean() > 0.5
    np.testing.assert_allclose(usual.permuted.largest[same], largest[same], atol=5e-3)


# -- by definition -------------------------------------------------------------------------------------------------


def _table(rng: np.random.Generator, n: int = 400, n_groups: int = 2, apart: float = 0.0) -> dict[str, np.ndarray]:
    """Four variables; the first two depend on each other more in the last group, by ``apart``."""
    group = np.arange(n) % n_groups
    common, more = rng.integers(0, 2, n), (group == n_groups - 1) * apart
    columns = {name: np.where(rng.random(n) < 0.4, common, rng.integers(0, 2, n)) for name in "abcd"}
    columns["b"] = np.where(rng.random(n) < more, columns["a"], columns["b"])
    return {"group": np.array([f"g{k}" for k in group]), **columns}


def test_differences_by_hand() -> None:
    weights = np.array([[1.0, 0.0, -2.0], [0.5, 0.0, -np.inf], [0.0, 0.0, 1.0]])
    two = Differences.of(weights[[0, 2]], 3)
    np.testing.assert_array_equal(two.edges, [1.0, 0.0, 3.0])
    assert (two.largest, two.total) == (3.0, 2.0)
    np.testing.assert_array_equal(two.strengths, [1.0, 2.0, 1.0])  # pairs (0, 1), (0, 2), (1, 2)
    three = Differences.of(weights, 3)
    np.testing.assert_array_equal(three.edges, [1.0, 0.0, np.inf])
    np.testing.assert_array_equal(three.strengths, [1.0, np.inf, np.inf])
    same = Differences.of(np.full((2, 1), np.inf), 2)
    assert (same.largest, same.total) == (0.0, 0.0)


def test_wald_of_two_groups_is_that_of_their_difference(rng: np.random.Generator) -> None:
    rows = UniqueRows.of(_table(rng))
    found = compare_groups(PLAIN, rows, by="group").wald
    models = [PLAIN.fit(part, errors="sandwich").model for part in GroupedRows.of(rows, "group").groups()]
    apart, (first, second) = models[0].w - models[1].w, (model.errors for model in models)
    assert found is not None
    for test, k in zip(found.edges, range(4, 10), strict=True):
        z = apart[k] ** 2 / (first.covariance[k, k] + second.covariance[k, k])
        assert test.statistic == pytest.approx(z, rel=1e-9)
    pairs = slice(4, 10)
    covariance = (first.covariance + second.covariance)[pairs, pairs]
    assert found.whole.statistic == pytest.approx(apart[pairs] @ np.linalg.solve(covariance, apart[pairs]), rel=1e-9)
    assert found.whole.degrees == 6
    assert [test.variables for test in found.nodes] == [("a",), ("b",), ("c",), ("d",)]
    np.testing.assert_allclose(
        [test.adjusted for test in found.edges], adjusted_p(np.array([test.p for test in found.edges]))
    )


def test_wald_of_three_groups_is_the_distance_from_their_best_common_value(rng: np.random.Generator) -> None:
    w = [rng.normal(size=2) for _ in range(3)]
    covariances = [matrix @ matrix.T + np.eye(2) for matrix in rng.normal(size=(3, 2, 2))]
    precision = [np.linalg.inv(covariance) for covariance in covariances]
    common = np.linalg.solve(sum(precision), sum(p @ each for p, each in zip(precision, w, strict=True)))
    expected = sum((each - common) @ p @ (each - common) for p, each in zip(precision, w, strict=True))
    (test,) = equality_tests(w, covariances, [(("a", "b"), np.arange(2))])
    assert test.statistic == pytest.approx(expected)
    assert test.degrees == 4


def test_wald_agrees_with_the_likelihood_ratio_on_many_rows(rng: np.random.Generator) -> None:
    learner = Learner(penalty=NoPenalty(), objective=LIKELIHOOD)
    found = compare_groups(learner, _table(rng, 6000, 3, apart=0.1), by="group")
    assert found.wald is not None
    assert found.likelihood is not None
    assert found.wald.whole.degrees == found.likelihood.degrees == 12
    assert found.wald.whole.statistic == pytest.approx(found.likelihood.statistic, rel=0.1)


def test_permutations_keep_rows_and_sizes(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permutations deal out all rows, and the groups keep their sizes."""
    learn = PairwiseLearner.learn
    table = _table(rng, 90, 3)
    ids = np.arange(90) // 3
    for paired in (None, ids):
        seen: list[UniqueRows] = []
        monkeypatch.setattr(
            PairwiseLearner,
            "learn",
            lambda self, rows, seen=seen, **how: (seen.append(rows), learn(self, rows, **how))[1],
        )
        compare_groups(Learned(max_degree=1), table, by="group", paired=paired, permutations=5)
        groups, pooled, permuted = seen[:3], seen[3], seen[4:]
        assert len(permuted) == 15
        for k in range(5):
            merged = UniqueRows.merged(permuted[3 * k : 3 * k + 3])
            np.testing.assert_array_equal(merged.sample_weight, pooled.sample_weight)
            assert [part.total_weight for part in permuted[3 * k : 3 * k + 3]] == [30, 30, 30]
        assert any(part != group for part, group in zip(permuted, groups * 5, strict=True))


def test_given_permutations_and_their_p(rng: np.random.Generator) -> None:
    """The groups themselves as a permutation are as far apart as the groups; equal halves are not."""
    rows = UniqueRows.of(_table(rng, 400, 2, apart=0.9))
    counts = GroupedRows.of(rows, "group").counts
    same = np.stack([counts.sum(axis=0) / 2] * 2)
    found = compare_groups(EBIC, rows, by="group", permutations=np.stack([counts, same, counts[::-1]])).permutations
    assert found is not None
    assert found.p_largest == found.p_total == 3 / 4
    np.testing.assert_array_equal(found.p_edges[found.observed.edges > 0], 3 / 4)
    np.testing.assert_array_equal(found.p_edges[found.observed.edges == 0], 1.0)


def test_any_number_of_jobs_gives_the_same(rng: np.random.Generator) -> None:
    rows = UniqueRows.of(_table(rng))
    one, two = (
        compare_groups(EBIC, rows, by="group", permutations=8, seed=3, jobs=jobs).permutations for jobs in (1, 2)
    )
    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(one.permuted.edges, two.permuted.edges)


def test_persons_keep_their_rows(rng: np.random.Generator) -> None:
    grouped = GroupedRows.paired(Dataset.from_table(_table(rng, 60)), "group", np.arange(60) // 2)
    assert grouped.members is not None
    assert grouped.members.shape == (30, 2)
    for k in range(2):
        counts = np.bincount(grouped.members[:, k], minlength=grouped.rows.n_distinct)
        np.testing.assert_array_equal(counts, grouped.counts[k])
    for split in draw.swaps(grouped.rows, grouped.members, 4, rng):
        np.testing.assert_array_equal(split.sum(axis=0), grouped.rows.sample_weight)
    stay = np.stack([grouped.members[:, 0]] * 2, axis=1)  # somebody who never changes has nothing to swap
    np.testing.assert_array_equal(draw.swaps(grouped.rows, stay, 3, rng).std(axis=0), 0.0)


# -- levels --------------------------------------------------------------------------------------------------------


def test_tests_of_equal_groups_keep_their_level() -> None:
    """60 tables of two equal groups: Wald and likelihood ratio each reject 5 % of them, within Monte Carlo error."""
    rng = np.random.default_rng(2)
    rejected = np.zeros(2)
    for _ in range(60):
        found = compare_groups(PLAIN, _table(rng, 500), by="group")
        assert found.wald is not None
        assert found.likelihood is not None
        rejected += [found.wald.whole.p < 0.05, found.likelihood.p < 0.05]
    error = np.sqrt(0.05 * 0.95 / 60)
    np.testing.assert_allclose(rejected / 60, 0.05, atol=3 * error)


def test_permutations_of_equal_groups_keep_their_level() -> None:
    """200 tables, weights that take no time: p of M and of S is at most 0.1 in a tenth of them."""
    rng = np.random.default_rng(1)

    def weigh(rows: UniqueRows) -> np.ndarray:
        covariance = np.cov(rows.codes.T.astype(float), aweights=rows.sample_weight, ddof=0)
        return np.asarray(covariance[tuple(pairs_of(4).T)])

    p = []
    for _ in range(200):
        grouped = GroupedRows.of(UniqueRows.of(_table(rng, 100)), "group")
        resamples = draw.splits(grouped.rows, [50, 50], 19, rng).reshape(38, -1)
        observed = np.stack([weigh(part) for part in grouped.groups()])
        found = PermutationTest.of(observed, Networks.learned(weigh, grouped.rows, resamples))
        p.append([found.p_largest, found.p_total])
    np.testing.assert_allclose((np.array(p) <= 0.1).mean(axis=0), 0.1, atol=3 * np.sqrt(0.1 * 0.9 / 200))


def test_groups_that_differ_are_found(rng: np.random.Generator) -> None:
    table = _table(rng, 800, 2, apart=0.8)
    plain = compare_groups(PLAIN, table, by="group")
    learned = compare_groups(EBIC, table, by="group", permutations=39)
    assert plain.wald is not None
    assert learned.permutations is not None
    assert plain.wald.whole.p < 1e-4
    assert min(plain.wald.edges, key=lambda test: test.p).variables == ("a", "b")
    assert learned.permutations.p_largest == 1 / 40
    assert learned.permutations.observed.edges.argmax() == 0


# -- what there is no answer to ------------------------------------------------------------------------------------


def test_failures_are_counted_and_named(rng: np.random.Generator) -> None:
    names, weights = ("a", "b", "c"), rng.normal(size=(6, 3))
    weights[3] = np.nan
    assert len(pairs_of(3)) == 3
    found = PermutationTest.of(weights[:2], Networks(names, weights[0], weights, {"a reason": 1}))
    assert (found.n, found.failures) == (2, {"a reason": 1})


def test_an_item_that_is_constant_in_a_group(rng: np.random.Generator) -> None:
    """Its pairs have no Wald test, the others do; regressions leave it without edges."""
    table = _table(rng)
    table["d"] = np.where(table["group"] == "g1", 0, table["d"])
    plain, learned = compare_groups(PLAIN, table, by="group"), compare_groups(EBIC, table, by="group", permutations=9)
    assert plain.wald is not None
    assert plain.likelihood is not None
    tests = {test.variables: test.p for test in plain.wald.edges}
    assert all(np.isnan(p) == ("d" in pair) for pair, p in tests.items())
    assert plain.wald.whole.degrees == 3
    assert any("in g1" in name for name in plain.likelihood.held)
    with_d = (pairs_of(4) == 3).any(axis=1)
    assert not learned.weights[1, with_d].any()


@pytest.mark.parametrize(
    ("change", "how", "said"),
    [
        ({}, {"by": "sex"}, "no column 'sex'.*'group'"),
        ({"group": ["x"] * 400}, {}, "one value, 'x'"),
        ({"group": ["x"] * 399 + ["y"]}, {}, "group 'y' of 'group' are identical"),
        ({}, {"tests": ["anova"]}, "'wald', 'likelihood', 'permutations'; got 'anova'"),
        ({}, {"permutations": 0, "tests": ["permutations"]}, "must be positive; got 0"),
        (
            {},
            {"permutations": np.ones((2, 7)), "tests": ["permutations"]},
            r"2 groups, \d+ distinct rows\); got \(2, 7\)",
        ),
        ({}, {"paired": range(400)}, "Person '0' has 0 rows in the group 'g1'"),
        ({}, {"paired": range(3)}, "Each of the 400 rows needs the name of its person"),
        ({}, {"paired": np.arange(400) // 2, "tests": ["wald"]}, "suppose that rows are independent"),
    ],
    ids=["by", "one-group", "one-row", "test", "none", "shape", "unpaired", "few-ids", "paired-wald"],
)
def test_refusals(change: dict[str, Any], how: dict[str, Any], said: str, rng: np.random.Generator) -> None:
    with pytest.raises((InputError, DataError), match=said):
        compare_groups(PLAIN, _table(rng) | change, **{"by": "group", **how})


@pytest.mark.parametrize("test", ["wald", "likelihood"])
@pytest.mark.parametrize("learner", [EBIC, Learner(mrfit.ChowLiuTree(), NoPenalty())], ids=["learned", "tree"])
def test_structures_that_were_learned_have_no_wald_tests(test: str, learner: Any, rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="a structure that was not learned"):
        compare_groups(learner, _table(rng), by="group", tests=[test])


def test_penalties_that_select_are_compared_by_permutations(rng: np.random.Generator) -> None:
    found = compare_groups(Learner(penalty=L1(5.0)), _table(rng), by="group", permutations=3)
    assert found.wald is None
    assert found.permutations is not None


def test_weights_that_are_no_counts_have_no_permutations(rng: np.random.Generator) -> None:
    table = Dataset.from_table(_table(rng), sample_weight=rng.uniform(0.5, 2.0, 400))
    assert compare_groups(PLAIN, table, by="group").wald is not None
    with pytest.raises(InputError, match="have to be whole numbers"):
        compare_groups(EBIC, table, by="group", permutations=5)


def test_two_columns_are_too_few() -> None:
    with pytest.raises(InputError, match="fewer than two columns"):
        compare_groups(PLAIN, {"group": ["x", "y"] * 5, "a": [0, 1, 1, 0, 1] * 2}, by="group")


def test_pooled_rows_are_distinct(rng: np.random.Generator) -> None:
    codes = rng.integers(0, 3, (200, 4)).astype(np.uint8)
    rows = UniqueRows.from_codes(domain_of((3,) * 4), codes, np.ones(200))
    grouped = GroupedRows.of(rows, rows.domain.names[1])
    assert grouped.counts.sum() == 200
    for k, part in enumerate(grouped.groups()):
        mine = codes[codes[:, 1] == k][:, [0, 2, 3]]
        assert part == UniqueRows.from_codes(part.domain, mine, np.ones(len(mine)))
