"""Resamples, what is learned from them, and what follows."""

from __future__ import annotations

import csv
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mrfit
from mrfit import ChowLiuTree, CompleteGraph, Learned, Learner, NoPenalty, UniqueRows
from mrfit.analysis.stability import resamples as draw
from mrfit.analysis.stability.case_dropping import CaseDrop, correlations, cs_coefficient
from mrfit.analysis.stability.complementary_pairs import expected_false, largest, n_kept_for
from mrfit.analysis.stability.resampled_networks import Networks, pairs_of
from mrfit.analysis.stability.resamples_file import read_resamples
from mrfit.analysis.stability.stars import Stars, subsample_size
from mrfit.core.errors import InputError
from mrfit.learning.objective_specs import LikelihoodSpec, ObjectiveSpec, PseudoLikelihoodSpec
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.criteria import ebic
from mrfit.structures.nodewise.lasso_paths import PathSettings
from mrfit.structures.nodewise.path_selection import PathSelection
from populations import domain_of

EBIC = Learned(select="ebic", rule="and")
ISINGFIT = Learned(select="ebic", rule="and", scale="standard")


def _rows(rng: np.random.Generator, n: int = 300, n_variables: int = 5) -> UniqueRows:
    common = rng.integers(0, 2, n)
    codes = np.stack([np.where(rng.random(n) < 0.6, common, rng.integers(0, 2, n)) for _ in range(n_variables)], axis=1)
    return UniqueRows.from_codes(domain_of((2,) * n_variables), codes.astype(np.uint8), np.ones(n))


def _chain(rng: np.random.Generator, n: int, agreement: tuple[float, ...]) -> UniqueRows:
    """Every variable agrees with the one before it in a share of rows."""
    codes = [rng.integers(0, 2, n)]
    for share in agreement:
        codes.append(np.where(rng.random(n) < share, codes[-1], 1 - codes[-1]))
    table = np.stack(codes, axis=1).astype(np.uint8)
    return UniqueRows.from_codes(domain_of((2,) * len(codes)), table, np.ones(n))


# -- what others found ---------------------------------------------------------------------------------------------


def _given(conformance_dir: Path, name: str, file: str) -> tuple[UniqueRows, np.ndarray]:
    """A table and resamples of it."""
    path = conformance_dir / "applied" / "bootstrap" / f"{name}_{file}.csv"
    with path.open() as opened:
        names = next(csv.reader(opened))
    variables = names[: names.index("count")]
    table = UniqueRows.from_file(
        path, weight="count", reading=mrfit.data.encoding.ParseOptions(columns=tuple(variables))
    )
    return table, read_resamples(path, table)


@pytest.mark.parametrize("name", ["jonas", "czech"])
@pytest.mark.parametrize(("variant", "lowest"), [("raw01", 1e-2), ("raw0001", 1e-4)])
def test_bootstrap_of_given_resamples(name: str, variant: str, lowest: float, conformance_dir: Path) -> None:
    """The extended BIC over the whole path down to a share of the critical strength, as others have walked it."""
    rows, resamples = _given(conformance_dir, name, "resamples")
    pairs = pairs_of(len(rows.domain))

    def weigh(part: UniqueRows) -> np.ndarray:
        walk = PathSettings(len(part.domain), lowest=lowest, tolerance=1e-8)
        selection = PathSelection(walk, criterion=ebic(part, 0.25, refit=False), behind=0)
        found = selection.neighbours(part, AllowedPairs.all(len(part.domain)))
        report, weights = found.report(part, found.edges("and")), np.zeros((len(part.domain),) * 2)
        weights[tuple(report.edges.T)] = report.coefficients.mean(axis=1)
        return weights[pairs[:, 0], pairs[:, 1]]

    networks = Networks.learned(weigh, rows, resamples)
    found = {(edge.source, edge.target): edge for edge in networks.edges()}
    with (conformance_dir / "applied" / "bootstrap" / f"{name}_edges.csv").open() as file:
        for line in csv.DictReader(file):
            edge = found.get((line["a"], line["b"]))
            if edge is None:
                assert float(line[f"{variant}_inclusion"]) == 0.0
                continue
            assert edge.inclusion == pytest.approx(float(line[f"{variant}_inclusion"]), abs=1e-12)
            # Some of jonas' resamples are nearly separated there: weights reach 32. Solved a hundred times tighter,
            # ours move by 1e-5, and the means stay as far from theirs.
            tolerance = 1e-4 if (name, variant) == ("jonas", "raw0001") else 1e-6
            assert edge.mean == pytest.approx(float(line[f"{variant}_mean"]), abs=tolerance)
            assert edge.sd == pytest.approx(float(line[f"{variant}_sd"]), abs=10 * tolerance)
            if variant == "raw01":
                assert edge.low == pytest.approx(float(line["raw01_q025"]), abs=10 * tolerance)
                assert edge.high == pytest.approx(float(line["raw01_q975"]), abs=10 * tolerance)


@pytest.mark.parametrize(("one_step", "column"), [(False, "refit"), (True, "one_step")], ids=["refit", "one-step"])
def test_refits_on_given_resamples(one_step: bool, column: str, conformance_dir: Path) -> None:
    rows, resamples = _given(conformance_dir, "czech", "resamples")
    learner = Learner(CompleteGraph(), NoPenalty(), tolerance=1e-9)
    found = mrfit.bootstrap_edges(learner, rows, resamples=resamples, one_step=one_step).edges
    edges = {frozenset((edge.source, edge.target)): edge for edge in found}
    with (conformance_dir / "applied" / "bootstrap" / "czech_pl_refits.csv").open() as file:
        lines = {frozenset(line["term"].split("|")): line for line in csv.DictReader(file)}
    pairs = {scope: line for scope, line in lines.items() if len(scope) == 2}
    assert edges.keys() == pairs.keys()
    for scope, line in pairs.items():
        assert edges[scope].sample == pytest.approx(float(line["estimate"]), abs=1e-6)
        assert edges[scope].mean == pytest.approx(float(line[f"{column}_mean"]), abs=1e-6)
        assert edges[scope].sd == pytest.approx(float(line[f"{column}_sd"]), abs=1e-6)


@pytest.mark.parametrize("name", ["rochdale", "czech"])
def test_cs_coefficients_of_given_correlations(name: str, conformance_dir: Path) -> None:
    folder = conformance_dir / "applied" / "bootstrap"
    expected = json.loads((folder / "cs_coefficient.json").read_text())[name]
    rows, subsets = _given(conformance_dir, name, "casedrop_subsets")
    dropped = 1.0 - subsets.sum(axis=1) / rows.total_weight
    with (folder / f"{name}_casedrop.csv").open() as file:
        lines = list(csv.DictReader(file))
    for column, coefficient in expected.items():
        values = np.array([float(line[column]) if line[column] not in ("", "NA") else 0.0 for line in lines])
        assert cs_coefficient(dropped, values) == pytest.approx(coefficient, abs=1e-9)


@pytest.mark.parametrize("name", ["rochdale", "czech"])
def test_cs_coefficients_of_given_subsets(name: str, conformance_dir: Path) -> None:
    """Learned again as IsingFit does; its own regressions are not solved to the end, so that correlations are near."""
    folder = conformance_dir / "applied" / "bootstrap"
    expected = json.loads((folder / "cs_coefficient.json").read_text())[name]
    rows, subsets = _given(conformance_dir, name, "casedrop_subsets")
    found = mrfit.case_dropping(ISINGFIT, rows, resamples=subsets).case_drop
    assert found is not None
    with (folder / f"{name}_casedrop.csv").open() as file:
        lines = list(csv.DictReader(file))
    names = {"edges": "cor_edge", "strength": "cor_strength", "expected_influence": "cor_expected_influence"}
    for mine, theirs in names.items():
        values = np.array([float(line[theirs]) if line[theirs] not in ("", "NA") else 0.0 for line in lines])
        np.testing.assert_allclose(found.correlations[mine], values, atol=1e-2)
        assert np.median(np.abs(found.correlations[mine] - values)) < 1e-4
        assert found.coefficients[mine] == pytest.approx(expected[theirs], abs=1e-9)


@pytest.mark.parametrize(("name", "digits"), [("czech", 1e-4), ("jonas", 0.1)])
def test_bootstrap_as_isingfit_does(name: str, digits: float, conformance_dir: Path) -> None:
    """Inclusion is the same; means are where its regressions end (jonas' nearly separated resamples far from it)."""
    rows, resamples = _given(conformance_dir, name, "resamples")
    edges = mrfit.bootstrap_edges(ISINGFIT, rows, resamples=resamples).edges
    found = {(edge.source, edge.target): (edge.inclusion, edge.mean) for edge in edges}
    with (conformance_dir / "applied" / "bootstrap" / f"{name}_edges.csv").open() as file:
        for line in csv.DictReader(file):
            inclusion, mean = found.get((line["a"], line["b"]), (0.0, 0.0))
            assert inclusion == pytest.approx(float(line["isingfit_inclusion"]), abs=1e-12)
            assert mean == pytest.approx(float(line["isingfit_mean"]), abs=digits)


def test_bounds_on_false_edges(conformance_dir: Path) -> None:
    """Bounds without an assumption, and for unimodal distributions, agree to three digits.

    For r-concave ones the published bounds are up to three percent smaller, and never larger. Where they differ most, a
    fine grid over all such distributions gives our numbers: the worst one stands at the end of a range.
    """
    with (conformance_dir / "applied" / "stability" / "cpss_bounds.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) > 100
    for line in lines:
        n_pairs, n_kept, n_halves = (int(line[name]) for name in ("p", "q", "B"))
        found = expected_false(n_pairs, n_kept, float(line["cutoff"]), n_halves, line["assumption"])
        expected = float(line["PFER"])
        if line["assumption"] != "r-concave":
            assert found == pytest.approx(expected, rel=5e-3)
        else:
            assert expected * (1 - 5e-3) <= found <= 1.03 * expected + 1e-12


# -- resamples -----------------------------------------------------------------------------------------------------


def test_resamples_are_of_the_right_size(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    assert (draw.bootstrap(rows, 7, rng).sum(axis=1) == 300).all()
    first, second = draw.halves(rows, 4, rng).reshape(4, 2, -1).transpose(1, 0, 2)
    assert (first.sum(axis=1) == 150).all()
    assert (second.sum(axis=1) == 150).all()
    assert (first + second <= rows.sample_weight).all()
    dropped = draw.case_drop(rows, (0.1, 0.5), 3, rng)
    assert dropped.sum(axis=1).tolist() == [270] * 3 + [150] * 3
    assert (dropped <= rows.sample_weight).all()


def test_weights_that_are_no_counts(rng: np.random.Generator) -> None:
    """The bootstrap draws as many rows as they are worth and keeps their total; parts of rows there are none."""
    plain = _rows(rng)
    rows = UniqueRows.from_codes(plain.domain, plain.codes, rng.uniform(0.5, 2.0, plain.n_distinct))
    np.testing.assert_allclose(draw.bootstrap(rows, 3, rng).sum(axis=1), rows.total_weight)
    with pytest.raises(InputError, match="have to be whole numbers"):
        draw.halves(rows, 3, rng)


def test_bad_resamples(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    for counts, said in [
        (np.ones((3, 2)), "distinct rows"),
        (np.full((3, rows.n_distinct), -1.0), "none of them negative"),
        (np.full((3, rows.n_distinct), np.nan), "none of them negative"),
        (np.empty((0, rows.n_distinct)), "distinct rows"),
    ]:
        with pytest.raises(InputError, match=said):
            mrfit.bootstrap_edges(EBIC, rows, resamples=counts)


# -- any learner ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner",
    [
        EBIC,
        ChowLiuTree(),
        Learned(max_degree=2),
        Learner(),
        Learner(penalty=mrfit.L1(3.0)),
        Learner(EBIC, mrfit.SoftTied(groups=2, strength=1.0)),
        Learner(ChowLiuTree(), objective=mrfit.learning.objective_specs.LIKELIHOOD),
        Learner(parameterization="spectral"),
    ],
    ids=["ebic", "tree", "gain", "l2", "l1", "tied", "likelihood", "spectral"],
)
def test_any_learner(learner: Any, rng: np.random.Generator) -> None:
    """A resample that is the table itself gives what the table gives, and the number of threads changes nothing."""
    rows = _rows(rng)
    resamples = np.vstack([rows.sample_weight, draw.bootstrap(rows, 3, rng)])
    one, two = (mrfit.bootstrap_edges(learner, rows, resamples=resamples, jobs=jobs).networks for jobs in (1, 2))
    np.testing.assert_array_equal(one.weights[0], one.sample)
    np.testing.assert_array_equal(one.weights, two.weights)
    assert one.sample.any()
    assert not one.failures


def test_everything_is_learned_again(rng: np.random.Generator) -> None:
    """Each resample leads to the network that the learner finds in it alone."""
    rows = _rows(rng)
    resamples = draw.bootstrap(rows, 5, rng)
    networks = mrfit.bootstrap_edges(EBIC, rows, resamples=resamples).networks
    for weight, found in zip(resamples, networks.weights, strict=True):
        learned = EBIC.learn(rows.reweighted(weight))
        joined = {tuple(pair) for pair in pairs_of(5)[found != 0].tolist()}
        assert joined == {tuple(edge) for edge in learned.structure.edges.tolist()}


@pytest.mark.parametrize("parameterization", ["canonical", "spectral"])
@pytest.mark.parametrize(
    "objective", [PseudoLikelihoodSpec(), LikelihoodSpec("enumeration"), LikelihoodSpec("tree")], ids=str
)
def test_one_step_is_a_newton_step_of_the_whole_objective(
    objective: ObjectiveSpec, parameterization: str, rng: np.random.Generator
) -> None:
    """The table itself leads nowhere; resamples near it lead to their refits, but for what is second order."""
    rows = _rows(rng, 2000, 4)
    near = np.vstack([rows.sample_weight, rows.sample_weight + rng.uniform(-0.01, 0.01, rows.n_distinct)])
    learner = Learner(penalty=mrfit.L2(5.0), objective=objective, parameterization=parameterization, tolerance=1e-10)
    stepped, refitted = (
        mrfit.bootstrap_edges(learner, rows, resamples=near, one_step=one_step).networks for one_step in (True, False)
    )
    np.testing.assert_allclose(stepped.weights[0], stepped.sample, atol=1e-8)
    change = np.abs(refitted.weights[1] - refitted.sample).max()
    np.testing.assert_allclose(stepped.weights[1], refitted.weights[1], atol=0.02 * change)


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (EBIC, "parameters of a Learner"),
        (Learner(ChowLiuTree()), "not the structure"),
        (Learner(penalty=mrfit.L1(1.0)), "selects parameters"),
    ],
    ids=["structure", "learned", "l1"],
)
def test_one_step_is_not_for_all(learner: Any, said: str, rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match=said):
        mrfit.bootstrap_edges(learner, _rows(rng), resamples=3, one_step=True)


def test_rows_of_a_cluster_stay_together(rng: np.random.Generator) -> None:
    """Ranges are those of as many rows as there are clusters, where each repeats one row nine times."""
    rows = rng.integers(0, 2, (60, 3))
    rows[:, 1] = np.where(rng.random(60) < 0.5, rows[:, 0], rows[:, 1])
    few = {name: rows[:, k] for k, name in enumerate("abc")}
    many = {name: np.repeat(column, 9) for name, column in few.items()}
    learner, light = (Learner(CompleteGraph(), mrfit.L2(strength)) for strength in (9.0, 1.0))
    how: dict[str, Any] = {"one_step": True, "resamples": 200}
    clustered = mrfit.bootstrap_edges(learner, many, clusters=np.repeat(np.arange(60), 9), **how)
    alone, nested = mrfit.bootstrap_edges(light, few, **how), mrfit.bootstrap_edges(learner, many, **how)
    sd = [found.networks.weights.std(axis=0)[0] for found in (clustered, alone, nested)]
    assert sd[0] > 2.0 * sd[2]  # about three times
    assert sd[0] == pytest.approx(sd[1], rel=0.3)
    dropped = mrfit.case_dropping(EBIC, many, clusters=np.repeat(np.arange(60), 9), resamples=20).case_drop
    assert len(np.unique(dropped.dropped)) == 10


def test_clusters_are_of_single_rows(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    with pytest.raises(InputError, match="single rows"):
        mrfit.bootstrap_edges(EBIC, rows, clusters=[1, 2])
    with pytest.raises(InputError, match="need no clusters"):
        mrfit.bootstrap_edges(EBIC, {"a": [0, 1], "b": [0, 1]}, clusters=[1, 2], resamples=np.ones((1, 2)))


def test_seeds(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    first, same, other = (mrfit.bootstrap_edges(EBIC, rows, resamples=5, seed=s).networks.weights for s in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_failures_are_counted_and_named(rng: np.random.Generator) -> None:
    """A resample of one distinct row has no likelihood; the others are not lost by it."""
    rows = _rows(rng)
    resamples = draw.bootstrap(rows, 3, rng)
    resamples[1] = np.eye(rows.n_distinct)[0] * 300
    learner = Learner(penalty=NoPenalty(), objective=mrfit.learning.objective_specs.LIKELIHOOD)
    networks = mrfit.bootstrap_edges(learner, rows, resamples=resamples).networks
    ((reason, times),) = networks.failures.items()
    assert "All rows are equal" in reason
    assert times == 1
    assert len(networks.known) == 2
    with pytest.raises(InputError, match="failed in each of 1 resamples: All rows are equal"):
        _ = mrfit.bootstrap_edges(learner, rows, resamples=resamples[1:2]).edges


def test_what_fails_on_the_whole_table_is_an_error(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="needs them"):
        mrfit.bootstrap_edges(Learned(select="valid"), _rows(rng), resamples=3)


def test_a_constant_column_and_few_rows(rng: np.random.Generator) -> None:
    table = {"a": [0, 1, 1], "b": [0, 1, 0], "c": [0, 0, 0]}
    found = mrfit.bootstrap_edges(EBIC, table, resamples=20)
    assert found.networks.n_failed == 0
    with pytest.raises(InputError, match="one column"):
        mrfit.bootstrap_edges(EBIC, {"a": [0, 1, 1]}, resamples=20)


def test_infinite_weights_are_told_and_left_out_of_means() -> None:
    """If b never occurs without a in a sample, the weight has no finite value."""
    weights = np.array([[1.0], [3.0], [np.inf], [2.0]])
    (edge,) = Networks(("a", "b"), np.array([2.0]), weights, {}).edges()
    assert edge.mean == pytest.approx(2.0)
    assert edge.sd == pytest.approx(1.0)
    assert edge.infinite == 0.25
    assert edge.high == np.inf
    table = {"a": [0, 1, 0, 1] * 9 + [1], "b": [0, 0, 0, 0] * 9 + [1]}
    found = mrfit.bootstrap_edges(Learner(penalty=NoPenalty()), table, resamples=20)
    assert np.isinf(found.networks.weights).any()


def _only_some_triples() -> UniqueRows:
    """Every pair has all its states and no parameter reaches a bound; yet no pair has a finite weight."""
    codes = np.random.default_rng(1).integers(0, 2, (400, 3))
    return UniqueRows.of(dict(zip("abc", codes[codes.sum(axis=1) % 3 > 0].T, strict=True)))


def test_weights_are_infinite_where_the_solver_stops_short_of_a_bound() -> None:
    learner, rows = Learner(penalty=NoPenalty()), _only_some_triples()
    assert not len(learner.fit(rows).best.solution.at_bound)
    found = mrfit.bootstrap_edges(learner, rows, resamples=2).networks
    assert (found.sample == -np.inf).all()
    assert (found.weights == -np.inf).all()


def test_one_step_does_not_lead_from_where_the_solver_stopped() -> None:
    with pytest.raises(InputError, match="no finite optimum"):
        mrfit.bootstrap_edges(Learner(penalty=NoPenalty()), _only_some_triples(), resamples=2, one_step=True)


# -- what follows --------------------------------------------------------------------------------------------------


def test_edges_by_hand() -> None:
    weights = np.array([[0.0, 1.0, 0.0], [2.0, 3.0, 0.0], [2.0, 5.0, 0.0]])
    networks = Networks(("a", "b", "c"), np.array([1.0, 2.0, 0.0]), weights, {})
    first, second = networks.edges(0.5)
    assert (first.source, first.target, first.inclusion, first.mean, first.sd) == ("a", "c", 1.0, 3.0, 2.0)
    assert (first.low, first.high) == (1.0, 5.0)  # the first and the third of three, by the sixth definition
    assert (second.inclusion, second.zeros) == pytest.approx((2 / 3, 1 / 3))
    assert networks.differences(0.5).tolist() == [[False, True, False], [True, False, True], [False, True, False]]


def test_correlations_by_hand() -> None:
    sample = np.array([1.0, 2.0, 4.0])
    subsets = np.array([[2.0, 4.0, 8.0], [1.0, 1.0, 1.0], [4.0, 2.0, 1.0], [np.inf, 1.0, 2.0]])
    expected = [1.0, 0.0, float(np.corrcoef(sample, subsets[2])[0, 1]), 0.0]
    np.testing.assert_allclose(correlations(subsets, sample), expected, atol=1e-12)
    assert cs_coefficient(np.array([0.1, 0.1, 0.5]), np.array([0.9, 0.8, 0.6])) == 0.1
    assert cs_coefficient(np.array([0.1]), np.array([0.7])) == 0.0


def test_dropping_rows(rng: np.random.Generator) -> None:
    rows = _chain(rng, 2000, (0.95, 0.9, 0.8, 0.7))
    found = mrfit.case_dropping(EBIC, rows, resamples=40).case_drop
    assert isinstance(found, CaseDrop)
    assert len(np.unique(found.dropped)) == 10
    assert found.coefficients["edges"] == pytest.approx(0.75, abs=0.01)
    noise = UniqueRows.from_codes(domain_of((2,) * 5), rng.integers(0, 2, (60, 5), np.uint8), np.ones(60))
    assert mrfit.case_dropping(EBIC, noise, resamples=40).case_drop.coefficients["edges"] < 0.5


def test_complementary_pairs_keep_their_bound(rng: np.random.Generator) -> None:
    """The bound holds over 30 tables of a chain of eight variables, 21 of whose 28 pairs have no edge."""
    false, bounds, found = [], [], []
    for _ in range(30):
        rows, learner = _chain(rng, 400, (0.75,) * 7), Learned(select="ebic", rule="and", gamma=0.0)
        control = mrfit.ErrorControl(false_edges=3.0, assumption="none")
        pairs = mrfit.stability_selection(learner, rows, control, resamples=40).pairs
        stable = pairs_of(8)[pairs.stable]
        false.append(int((stable[:, 1] - stable[:, 0] > 1).sum()))
        found.append(int((stable[:, 1] - stable[:, 0] == 1).sum()))
        bounds.append(pairs.bound)
    assert np.mean(false) <= bounds[0] <= 3.0
    assert np.mean(found) > 5


def test_how_many_edges_a_half_may_keep() -> None:
    for assumption in ("none", "unimodal", "r-concave"):
        n = n_kept_for(1.0, 120, 0.75, 50, assumption)
        assert expected_false(120, n, 0.75, 50, assumption) <= 1.0 < expected_false(120, n + 1, 0.75, 50, assumption)
    with pytest.raises(InputError, match="cannot be promised"):
        n_kept_for(1e-4, 10, 0.75, 50, "none")
    with pytest.raises(InputError, match=r"above 0\.5"):
        expected_false(10, 2, 0.5, 50, "none")
    with pytest.raises(InputError, match="no assumption"):
        expected_false(10, 2, 0.9, 50, "normal")


def test_the_largest_of_each_half() -> None:
    kept = largest(np.array([[1.0, -3.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0]]), 2)
    assert kept.tolist() == [[False, True, False, True], [False, False, False, True]]


def test_stars_by_hand() -> None:
    stars = Stars(np.array([3.0, 2.0, 1.0]), np.array([[0.0, 0.0], [1.0, 0.02], [0.5, 0.5]]))
    np.testing.assert_allclose(stars.instability, [0.0, 0.0196, 0.5])
    assert stars.chosen == 1
    assert subsample_size(10_000) == 1000
    assert subsample_size(100) == 80


def test_stars(rng: np.random.Generator) -> None:
    """Edges that enter one after another: the first are stable before the next ones come."""
    rows = _chain(rng, 3000, (0.98, 0.93, 0.87, 0.8, 0.73, 0.67))
    found = mrfit.stars(Learned(rule="and"), rows, resamples=20)
    assert found.stars.instability[found.stars.chosen] <= 0.05
    assert found.stars.chosen > 0
    joined = {tuple(pair) for pair in pairs_of(7)[found.networks.sample != 0].tolist()}
    assert {(0, 1)} <= joined <= {(i, i + 1) for i in range(6)}
    with pytest.raises(InputError, match="needs the structure learner Learned"):
        mrfit.stars(Learner(), _rows(rng), resamples=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("analysis", "resamples", "said"),
    [
        (mrfit.bootstrap_edges, 0, "at least 1 resamples"),
        (mrfit.case_dropping, 5, "at least 10 resamples"),
        (mrfit.stability_selection, 1, "at least 2 resamples"),
        (mrfit.stars, 0, "at least 1 resamples"),
    ],
)
def test_too_few_resamples(analysis: Any, resamples: int, said: str, rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match=said):
        analysis(EBIC, _rows(rng), resamples=resamples)


@pytest.mark.parametrize(
    ("settings", "said"), [({"threshold": 0.4}, r"above 0\.5"), ({"assumption": "normal"}, "no assumption 'normal'")]
)
def test_error_is_controlled_within_its_theory(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        mrfit.ErrorControl(**settings)


@pytest.mark.parametrize(
    ("analysis", "idle"),
    [
        (mrfit.bootstrap_edges, "threshold"),
        (mrfit.bootstrap_edges, "control"),
        (mrfit.case_dropping, "false_edges"),
        (mrfit.stability_selection, "false_edges"),
        (mrfit.stars, "one_step"),
        (mrfit.stars, "resume"),
        (mrfit.stars, "control"),
    ],
)
def test_an_idle_setting_cannot_be_written(analysis: Any, idle: str, rng: np.random.Generator) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{idle}'"):
        analysis(EBIC, _rows(rng), **{idle: None})


@pytest.mark.parametrize(
    "function",
    [mrfit.bootstrap_edges, mrfit.case_dropping, mrfit.stability_selection, mrfit.stars, mrfit.stability],
    ids=lambda function: function.__name__,
)
def test_no_function_has_more_than_ten_arguments(function: Any) -> None:
    assert len(inspect.signature(function).parameters) <= 10


@pytest.mark.parametrize(
    ("kind", "settings", "now"),
    [
        (
            "bootstrap",
            {"level": 0.8, "threshold": 0.9},
            lambda rows: mrfit.bootstrap_edges(EBIC, rows, level=0.8, resamples=20),
        ),
        ("drop", {}, lambda rows: mrfit.case_dropping(EBIC, rows, resamples=20)),
        (
            "pairs",
            {"false_edges": 3.0, "threshold": 0.8, "assumption": "none", "level": 0.5},
            lambda rows: mrfit.stability_selection(
                EBIC, rows, mrfit.ErrorControl(3.0, 0.8, "none"), resamples=20
            ).at_level(0.5),
        ),
        ("stars", {"one_step": False, "resume": None}, lambda rows: mrfit.stars(EBIC, rows, resamples=20)),
    ],
)
def test_the_earlier_form_works_with_a_warning(
    kind: str, settings: dict[str, Any], now: Any, rng: np.random.Generator
) -> None:
    rows = _rows(rng)
    with pytest.warns(FutureWarning, match=rf"mrfit\.stability\(kind='{kind}'\) is now mrfit\.") as warned:
        found = mrfit.stability(EBIC, rows, kind=kind, resamples=20, **settings)
    assert warned[0].filename == __file__
    assert type(found) is type(now(rows))
    assert found.to_dict() == now(rows).to_dict()
    assert found.lines() == now(rows).lines()


def test_the_earlier_form_refuses_what_it_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="no kind of resampling 'jackknife'"):
        mrfit.stability(EBIC, _rows(rng), kind="jackknife")
    with (
        pytest.warns(FutureWarning, match="is now mrfit.stars"),
        pytest.raises(InputError, match="leave one_step out"),
    ):
        mrfit.stability(EBIC, _rows(rng), kind="stars", one_step=True)


def test_results_name_their_numbers(rng: np.random.Generator) -> None:
    """A result is a line in a terminal, and its findings are properties."""
    rows = _chain(rng, 400, (0.9, 0.9))
    dropped = mrfit.case_dropping(EBIC, rows, resamples=10)
    assert repr(dropped) == f"<CaseDropping: 10 resamples, 0 failed, {len(dropped.edges)} edges>"
    assert dropped.coefficients == dropped.to_dict()["cs_coefficients"]
    selected = mrfit.stability_selection(EBIC, rows, mrfit.ErrorControl(2.0), resamples=20)
    assert {frozenset(edge[:2]) for edge in selected.stable} == {frozenset(("x0", "x1")), frozenset(("x1", "x2"))}
    assert [edge[2] for edge in selected.stable] == sorted((edge[2] for edge in selected.stable), reverse=True)
    found = mrfit.stars(EBIC, rows, resamples=5)
    assert found.strength == found.to_dict()["strength"] > 0.0


def test_levels_are_checked(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="between 0 and 1; got 95"):
        mrfit.bootstrap_edges(EBIC, _rows(rng), resamples=2, level=95)
    with pytest.raises(InputError, match="between 0 and 1; got 0"):
        mrfit.case_dropping(EBIC, _rows(rng), resamples=10).at_level(0.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x0,b0\n0,1\n", "no column 'x1'"),
        ("x0,x1,count\n0,0,1\n", "only columns of variables"),
        ("x0,x1,b0\n0,2,1\n", "line 2: '2' is no state of 'x1'"),
        ("x0,x1,b0\n0,1,1\n", "line 2: the row '0', '1' is not in the data"),
        ("x0,x1,b0\n0,0,often\n", "line 2: could not convert"),
        ("x0,x1,b0\n0,0\n", "line 2: 2 fields where 3"),
        ("", "no column 'x0'"),
    ],
)
def test_bad_files_of_resamples(text: str, said: str, tmp_path: Path) -> None:
    domain = mrfit.Domain(tuple(mrfit.Variable(name, ("0", "1")) for name in ("x0", "x1")))
    rows = UniqueRows.from_codes(domain, np.array([[0, 0], [1, 1]], np.uint8), np.ones(2))
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read_resamples(tmp_path / "r.csv", rows)
    with pytest.raises(InputError, match="Cannot read the resamples file"):
        read_resamples(tmp_path / "nowhere.csv", rows)


def test_named_rows_of_a_file(tmp_path: Path, rng: np.random.Generator, named_rows: Callable[..., UniqueRows]) -> None:
    """Rows without a line occur in no resample, and the order of lines and columns does not matter."""
    rows = named_rows("czech", "data")
    names, first = rows.domain.names, rows.codes[0].tolist()
    states = [rows.domain[i].states[code] for i, code in enumerate(first)]
    header = ",".join(["b1", *reversed(names), "b2"])
    (tmp_path / "r.csv").write_text(f"{header}\n3,{','.join(reversed(states))},4\n")
    found = read_resamples(tmp_path / "r.csv", rows)
    assert found[:, 0].tolist() == [3.0, 4.0]
    assert not found[:, 1:].any()
