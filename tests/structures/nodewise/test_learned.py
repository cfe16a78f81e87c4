"""Learning a structure: bounds, rules, selections, wishes, evidence, and the value of what is learned."""

from __future__ import annotations

import csv
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, StructureError
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.specification import learn
from mrfit.structures.base import LearnedStructure
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.criteria import HeldOutCriterion, ebic
from mrfit.structures.nodewise.forward_neighbours import ForwardNeighbours
from mrfit.structures.nodewise.lasso_paths import NodePath, PathSettings, node_paths
from mrfit.structures.nodewise.learned import BOUNDS, SELECTIONS, Learned
from mrfit.structures.nodewise.neighbours import Neighbours
from mrfit.structures.nodewise.notes import remarks
from mrfit.structures.nodewise.observed_states import SeenStates
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from mrfit.structures.nodewise.path_selection import PathSelection, theoretical_strength
from mrfit.structures.structure import Structure
from populations import SHAPES, domain_of, random_codes, random_rows
from reference.nodewise import DenseRegression, drawn_rows, pairwise_probabilities
from words import learner

WAYS = [("degree", bound) for bound in BOUNDS] + [(select, "path") for select in SELECTIONS if select != "degree"]
every_way = pytest.mark.parametrize(("select", "bound"), WAYS, ids=[f"{select}-{bound}" for select, bound in WAYS])

GRID = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]


@cache
def _grid_rows(n_rows: int = 800, seed: int = 0, states: int = 2) -> UniqueRows:
    shape = (states,) * 6
    return drawn_rows(np.random.default_rng(seed), shape, pairwise_probabilities(shape, GRID, 0.4), n_rows)


def _learned(select: str, bound: str, **others: object) -> PairwiseLearner:
    own = {"degree": {"max_degree": 2, "bound": bound}, "strength": {"select_strength": 20.0}}
    known = {name: value for name, value in others.items() if name != "select_strength" or select == "strength"}
    return Learned(**{"select": select, **own.get(select, {}), **known})


def _learn(rows: UniqueRows, select: str, bound: str, *, jobs: int = 1, **others: object) -> LearnedStructure:
    return _learned(select, bound, **others).learn(rows, valid=rows, jobs=jobs)


def _edges(learned: LearnedStructure) -> set[tuple[int, int]]:
    return {(a, b) for a, b in learned.structure.edges.tolist()}


def _whole_paths(rows: UniqueRows) -> list[NodePath]:
    """Paths as far as selections by score may go."""
    return node_paths(rows, PathSettings(len(rows.domain), lowest=1e-4, tolerance=1e-5))


def _joined(n: int, chosen: list[set[int]], rule: str) -> set[tuple[int, int]]:
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    return {(a, b) for a, b in pairs if (all if rule == "and" else any)([b in chosen[a], a in chosen[b]])}


@every_way
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("required", [(), [("x0", "x1"), ("x0", "x2")]], ids=["free", "required"])
def test_every_regression_is_told_of_once(select: str, bound: str, jobs: int, required: object) -> None:
    rows = _grid_rows(300)
    told: list[int] = []
    _learned(select, bound, require=required).learn(rows, valid=rows, jobs=jobs, callback=told.append)
    assert sum(told) == len(rows.domain)
    assert min(told) > 0


# -- bounds and rules --------------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_every_way_on_every_shape(shape: tuple[int, ...], select: str, bound: str, rng: np.random.Generator) -> None:
    """A structure with all variables, evidence for each edge, no NaN where there is something to say."""
    rows = random_rows(rng, shape, 200, fractional=True)
    learned = _learn(rows, select, bound)
    assert learned.structure.n_variables == len(shape)
    assert len(learned.structure.blocks[1]) == len(shape)
    np.testing.assert_array_equal(learned.report.edges, learned.structure.edges)
    assert learned.report.coefficients.shape == learned.report.entered.shape == (len(learned.report), 2)
    assert np.isfinite(learned.report.coefficients).all()
    assert learned.violation is None or 0 <= learned.violation <= 1e-5


@every_way
def test_what_both_chose_is_part_of_what_either_chose(select: str, bound: str) -> None:
    for seed in range(3):
        rows = _grid_rows(150, seed)
        both, either = (_edges(_learn(rows, select, bound, rule=rule)) for rule in ("and", "or"))
        assert both <= either
        if bound in ("graph", "joint"):
            assert both == either


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("states", [2, 3])
def test_bounds_keep_their_promise(bound: str, most: int, states: int) -> None:
    """Rule "and": all bounds but ``joint`` limit degrees. Rule "or": only ``graph`` does, as choices are joined."""
    for seed in range(3):
        rows = _grid_rows(200, seed, states)
        both = _learn(rows, "degree", bound, max_degree=most, rule="and").structure
        either = _learn(rows, "degree", bound, max_degree=most, rule="or").structure
        assert bound == "joint" or both.degrees.max() <= most
        assert len(either.edges) <= most * 6
        if bound == "graph":
            assert either.degrees.max() <= most


def test_path_is_the_last_point_within_the_bound() -> None:
    rows = _grid_rows(200)
    paths = node_paths(rows, PathSettings(2, tolerance=1e-5))
    chosen = [set(path.points[-1].selected.tolist()) for path in paths]
    for rule in ("and", "or"):
        assert _edges(_learn(rows, "degree", "path", rule=rule)) == _joined(6, chosen, rule)


def test_top_is_the_largest_of_a_weak_regression() -> None:
    rows = _grid_rows(200)
    paths = node_paths(rows, PathSettings(50, ratio=0.75, tolerance=1e-5))
    chosen = []
    for path in paths:
        last = path.points[-1]
        chosen.append(set(last.selected[np.argsort(-np.abs(last.sizes))[:2]].tolist()))
    for rule in ("and", "or"):
        assert _edges(_learn(rows, "degree", "top", rule=rule)) == _joined(6, chosen, rule)


# -- selections --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.0, 0.25, 1.0])
def test_the_ebic_is_that_of_the_definition(gamma: float) -> None:
    """-2 log-likelihood + k log N + 2 gamma k log(n - 1) at the l1 solutions, from losses computed densely."""
    rows = _grid_rows(300)
    chosen = []
    for path in _whole_paths(rows):
        dense = DenseRegression.of(rows, path.variable)
        scores = []
        for point in path.points:
            k = len(point.selected)
            scores.append(2 * dense.loss(dense.beta_of(point)) + k * np.log(300) + 2 * gamma * k * np.log(5))
        chosen.append(set(path.points[int(np.argmin(scores))].selected.tolist()))
    for rule in ("and", "or"):
        assert _edges(_learn(rows, "ebic", "path", gamma=gamma, rule=rule, refit=False)) == _joined(6, chosen, rule)


@pytest.mark.parametrize("gamma", [0.25, 1.0])
def test_the_ebic_of_groups_is_that_of_refits(gamma: float) -> None:
    """The reference maximises the likelihood on every set of neighbours along the path."""
    rows = _grid_rows(300, states=3)
    chosen = []
    for path in _whole_paths(rows):
        scores = {}
        for neighbours in {tuple(point.selected.tolist()) for point in path.points}:
            part = rows.on_columns([path.variable, *neighbours])
            dense = DenseRegression.of(part, 0)
            loss = dense.loss(dense.solve(1e-3, share=1e-6) if neighbours else dense.independent)
            k = 4 * len(neighbours)
            scores[neighbours] = 2 * loss + k * np.log(300) + 2 * gamma * k * np.log(5)
        chosen.append(set(min(scores, key=scores.__getitem__)))
    for rule in ("and", "or"):
        assert _edges(_learn(rows, "ebic", "path", gamma=gamma, rule=rule)) == _joined(6, chosen, rule)


def test_the_ebic_of_refits_of_two_states() -> None:
    """The default maximises the likelihood on every set of neighbours along the path."""
    rows, gamma = _grid_rows(300), 0.25
    chosen = []
    for path in _whole_paths(rows):
        scores = {}
        for neighbours in {tuple(point.selected.tolist()) for point in path.points}:
            dense = DenseRegression.of(rows.on_columns([path.variable, *neighbours]), 0)
            loss = dense.loss(dense.solve(1e-3, share=1e-6) if neighbours else dense.independent)
            scores[neighbours] = 2 * loss + len(neighbours) * (np.log(300) + 2 * gamma * np.log(5))
        chosen.append(set(min(scores, key=scores.__getitem__)))
    for rule in ("and", "or"):
        found = Learned(select="ebic", gamma=gamma, rule=rule).learn(rows)
        assert _edges(found) == _joined(6, chosen, rule)
        assert found.remarks == ()


def test_refits_at_infinity_are_told() -> None:
    """b never occurs without a; c has nothing to do with them."""
    table = {"a": [0, 1, 1, 1] * 30, "b": [0, 0, 1, 1] * 30, "c": [0, 1] * 30 + [1, 0] * 30}
    learned = Learned(select="ebic", gamma=0.0).learn(UniqueRows.of(table))
    assert _edges(learned) == {(0, 1)}
    assert any("2 of 3 variables have their optimum at infinity: 'a', 'b'" in said for said in learned.remarks)


def _zero_sum_norm(coefficients: np.ndarray) -> float:
    """Frobenius norm of the table of dummy coefficients in zero-sum gauge."""
    table = np.zeros(np.add(coefficients.shape, 1))
    table[1:, 1:] = coefficients
    centring = [np.eye(c) - 1 / c for c in table.shape]
    return float(np.linalg.norm(centring[0] @ table @ centring[1]))


def test_coefficients_chosen_by_refits_are_refitted() -> None:
    """The refit has an l1 strength of 1 on the sum over rows, not the strength that selected the coefficients."""
    rows = _grid_rows(300, states=3)
    report = _learn(rows, "ebic", "path").report
    for i in range(6):
        has = (report.edges == i).any(axis=1)
        own = (report.edges[has, 1] == i).astype(int)
        sizes, others = report.coefficients[has, own], report.edges[has, 1 - own]
        dense = DenseRegression.of(rows.on_columns([i, *others[sizes > 0]]), 0)
        beta = dense.solve(1.0, share=1e-7)
        expected = [_zero_sum_norm(beta[group]) for group in dense.groups.values()]
        np.testing.assert_allclose(sizes[sizes > 0], expected, atol=1e-3)


def _questionnaire(n_rows: int = 549, states: int = 5) -> UniqueRows:
    """Twelve items on a scale, six for each of two traits; the last of each is asked the other way round."""
    rng = np.random.default_rng(0)
    trait = np.repeat(rng.normal(size=(n_rows, 2)), 6, axis=1)
    trait[:, [5, 11]] *= -1.0
    answers = trait + 0.7 * rng.normal(size=trait.shape)
    codes = np.searchsorted(np.quantile(answers, np.linspace(0, 1, states + 1)[1:-1]), answers)
    domain = Domain.from_states({f"item{k}": [str(s) for s in range(1, states + 1)] for k in range(12)})
    return UniqueRows.from_codes(domain, codes.astype(np.uint8), np.ones(n_rows))


def test_a_questionnaire_with_five_states_has_edges_within_its_traits() -> None:
    """Each pair has 16 coefficients, whose price a shrunken loss never paid."""
    learned = Learned(select="ebic", rule="or").learn(_questionnaire())
    assert len(learned.report) >= 10
    assert (learned.structure.degrees > 0).all()
    assert all(a // 6 == b // 6 for a, b in learned.structure.edges.tolist())
    reversed_items = np.isin(learned.report.edges, [5, 11]).any(axis=1)
    np.testing.assert_array_equal(learned.report.signs, np.where(reversed_items, -1, 1))


def test_groups_recover_their_graph() -> None:
    edges = _edges(_learn(_grid_rows(2000, states=3), "ebic", "path", rule="and"))
    assert edges == set(GRID)


@pytest.mark.parametrize(
    ("select", "others", "words"),
    [
        ("ebic", {"gamma": 1.0}, r"lowers 2 x loss by \d+\.\d, at a price of \d+\.\d \(1 x "),
        ("valid", {}, "held-out rows are predicted best without"),
        ("strength", {"select_strength": 1e6}, "not below the largest critical one"),
        ("theory", {"theory": 1e3}, "not below the largest critical one"),
    ],
)
def test_a_structure_without_edges_says_why(select: str, others: dict, words: str) -> None:
    x = np.array([(a, b, c) for a in range(2) for b in range(2) for c in range(2)] * 8, np.uint8)
    x[:2, 0] = 1  # hardly any dependence
    rows, valid = (UniqueRows.from_codes(domain_of((2,) * 3), codes, np.ones(64)) for codes in (x, 1 - x[:, ::-1]))
    learned = _learned(select, "path", **others).learn(rows, valid=valid)
    assert not len(learned.report)
    assert re.search(words, " ".join(learned.remarks))


def test_a_structure_of_constants_says_why() -> None:
    rows = UniqueRows.from_codes(domain_of((2, 2)), np.zeros((5, 2), np.uint8), np.ones(5))
    for select, bound in WAYS:
        assert _learn(rows, select, bound).remarks == ("No edges: no variable helps to predict another.",)


def test_choices_that_do_not_meet_are_told() -> None:
    neighbours = Neighbours.of_matrices(np.array([[False, True], [False, False]]), np.zeros((2, 2)))
    said = remarks(_grid_rows(50).on_columns([0, 1]), ForwardNeighbours(1), neighbours, n_edges=0)
    assert said == ["No edges: 1 neighbours were chosen, but none by both variables of a pair; rule 'or' joins."]


def test_a_state_that_never_occurs_takes_no_edge_away(data_dir: Path) -> None:
    """Nor do rows of weight zero, as resamples have them: raf keeps the neighbours it has in the other rows."""
    rows = UniqueRows.from_file(data_dir / "flow" / "data.csv.gz")
    present = rows.codes[:, 0] != 2
    some = UniqueRows(rows.domain, rows.codes, np.where(present, rows.sample_weight, 0.0), rows.n_rows)
    states = {v.name: v.states[:2] if v.name == "raf" else v.states for v in rows.domain}
    narrow = UniqueRows.from_codes(Domain.from_states(states), rows.codes[present], rows.sample_weight[present])
    for way in ({"select": "ebic"}, {"max_degree": 3}, {"select": "strength", "select_strength": 100.0}):
        one, other = (Learned(**way).learn(r) for r in (some, narrow))
        assert one.structure == other.structure
        np.testing.assert_array_equal(one.report.coefficients, other.report.coefficients)
        assert one.structure.degrees[0] >= 2


def test_held_out_rows_in_states_that_were_not_learned_from() -> None:
    """A row in such a state of the variable itself is not judged; such a state of a neighbour says nothing."""
    rows = _grid_rows(150, states=3)
    present = rows.codes[:, 0] != 2
    some = UniqueRows.from_codes(rows.domain, rows.codes[present], rows.sample_weight[present])
    path = node_paths(some, PathSettings(6))[0]
    point = path.points[-1]
    losses = HeldOutCriterion(rows, SeenStates.of(some)), HeldOutCriterion(some, SeenStates.of(some))
    assert losses[0].score(0, point) == pytest.approx(losses[1].score(0, point), rel=1e-12)
    assert losses[1].score(0, point) == pytest.approx(point.loss, rel=1e-9)
    assert np.isfinite(_learned("valid", "path").learn(some, valid=rows).report.coefficients).all()


# -- how far selections walk -------------------------------------------------------------------------------------


def _totals(rows: UniqueRows, gamma: float = 0.25) -> tuple[float, LearnedStructure]:
    """The EBIC of the chosen regressions in a binary table, summed, from the report's coefficients alone."""
    learned = Learned(select="ebic", rule="or", gamma=gamma, refit=False).learn(rows)
    n, total = len(rows.domain), 0.0
    for i in range(n):
        has = (learned.report.edges == i).any(axis=1)
        own = (learned.report.edges[has, 1] == i).astype(int)
        values = learned.report.coefficients[has, own]
        others = learned.report.edges[has, 1 - own][values != 0]
        z = rows.codes[:, others] @ values[values != 0]
        constant = optimize.brentq(lambda c, z=z, i=i: rows.sample_weight @ (expit(c + z) - rows.codes[:, i]), -99, 99)
        loss = rows.sample_weight @ (np.logaddexp(0.0, constant + z) - rows.codes[:, i] * (constant + z))
        total += 2 * loss + len(others) * (np.log(rows.total_weight) + 2 * gamma * np.log(n - 1))
    return total, learned


@pytest.mark.parametrize(
    ("name", "file", "total", "digits"),
    [
        ("yeast", "data", 7663.6, 0.1),
        ("nltcs", "train", 162413.0, 0.5),
        ("jokes", "data", 311006.7, 0.1),
        ("rochdale", "data", 4954.5082449, 1e-3),
        ("czech", "data", 12712.023852, 1e-3),
    ],
)
def test_paths_go_on_while_their_ebic_falls(name: str, file: str, total: float, digits: float, data_dir: Path) -> None:
    """Ending at 1 % of the critical strength leaves yeast at 8097.5 and nltcs at 162558."""
    found, learned = _totals(UniqueRows.from_file(data_dir / name / f"{file}.csv.gz"))
    assert found == pytest.approx(total, abs=digits)
    assert learned.violation <= 1e-5


def _known_rows(name: str, data_dir: Path, conformance_dir: Path) -> UniqueRows:
    jonas = conformance_dir / "psychonetrics" / "jonas8.csv"
    return UniqueRows.from_file(jonas if name == "jonas" else data_dir / name / "data.csv.gz")


@pytest.mark.parametrize(
    ("name", "scale", "variant", "digits"),
    [
        ("czech", "raw", "raw0001", 2e-5),
        ("rochdale", "raw", "raw0001", 2e-5),
        ("czech", "standard", "std_tight", 2e-6),
        ("rochdale", "standard", "std_tight", 2e-6),
        ("yeast", "standard", "std_tight", 6e-3),  # nearly separated
        ("jonas", "raw", "raw0001", 2e-5),
        ("jonas", "standard", "std_tight", 1e-5),
    ],
)
def test_the_coefficients_of_glmnet_at_the_best_ebic(
    name: str, scale: str, variant: str, digits: float, data_dir: Path, conformance_dir: Path
) -> None:
    """Columns as they are and the grid down to 1e-4 of the critical strength, or standardised on glmnet's own grid."""
    rows = _known_rows(name, data_dir, conformance_dir)
    refit = {"raw": False, "standard": None}[scale]  # IsingFit is repeated by the scale alone
    report = Learned(select="ebic", rule="or", scale=scale, refit=refit, tolerance=1e-7).learn(rows).report
    found = {frozenset(rows.domain.names[i] for i in edge): k for k, edge in enumerate(report.edges.tolist())}
    with (conformance_dir / "applied" / "ebic" / f"{name}_pairs.csv").open(encoding="utf-8") as lines:
        for pair in csv.DictReader(lines):
            expected = {pair["a"]: float(pair[f"{variant}_a_on_b"]), pair["b"]: float(pair[f"{variant}_b_on_a"])}
            k = found.get(frozenset(expected))
            own = dict.fromkeys(expected, 0.0)
            if k is not None:
                names = [rows.domain.names[i] for i in report.edges[k].tolist()]
                own = dict(zip(names, report.coefficients[k].tolist(), strict=True))
            assert own == pytest.approx(expected, abs=digits)


@pytest.mark.parametrize("name", ["czech", "rochdale", "yeast", "jonas"])
def test_the_paths_of_glmnet_point_for_point(name: str, data_dir: Path, conformance_dir: Path) -> None:
    """Critical strengths, where every path ends, which point has the best EBIC, and how good it is."""
    rows = _known_rows(name, data_dir, conformance_dir)
    criterion = ebic(rows, 0.25, refit=False)
    selection = PathSelection.as_glmnet(criterion, rows, tolerance=1e-6)
    found = selection.neighbours(rows, AllowedPairs.all(len(rows.domain)))
    with (conformance_dir / "applied" / "ebic" / f"{name}_nodes.csv").open(encoding="utf-8") as lines:
        expected = {line["node"]: line for line in csv.DictReader(lines)}
    for path in found.paths:
        line, best = expected[rows.domain.names[path.variable]], criterion.best(path)
        assert path.critical / rows.total_weight == pytest.approx(float(line["std_tight_critical"]), abs=1e-9)
        assert (len(path.points), 1 + best) == (int(line["std_tight_points"]), int(line["std_tight_point"]))
        assert criterion.along(path)[best] == pytest.approx(float(line["std_tight_ebic"]), abs=1e-3)


def test_variables_that_hardly_vary_are_left_out_as_isingfit_does() -> None:
    """A state of one row: the others are as if the variable were not there, its price included."""
    rows = _grid_rows(400)
    codes = np.column_stack([rows.codes, np.zeros(rows.n_distinct, np.uint8)])
    codes[0, -1] = 1
    weight = rows.sample_weight.copy()
    weight[0] = 1.0
    wider = UniqueRows.from_codes(domain_of((2,) * 7), codes, weight)
    learned = Learned(select="ebic", scale="standard", rule="and")
    with_it, without = learned.learn(wider).report, learned.learn(wider.on_columns(range(6))).report
    assert with_it.edges.tolist() == without.edges.tolist()
    np.testing.assert_allclose(with_it.coefficients, without.coefficients, atol=1e-4)


def test_columns_of_more_states_are_not_standardised() -> None:
    with pytest.raises(InputError, match=r"variables of two states; 'x0' has 3\. Use the scale 'raw'"):
        Learned(select="ebic", scale="standard").learn(_grid_rows(200, states=3))


def test_variables_at_the_end_of_their_path_are_told(data_dir: Path) -> None:
    rows = UniqueRows.from_file(data_dir / "jokes" / "data.csv.gz")
    learned = Learned(select="ebic", refit=False).learn(rows)
    assert [rows.domain.names[i] for i in learned.at_end] == ["joke5", "joke7", "joke13", "joke18"]
    assert re.search("4 of 10 variables was still falling.*0.0001.*'joke5'", learned.remarks[0])


def test_held_out_rows_take_paths_as_far_as_the_ebic_does(data_dir: Path) -> None:
    train, valid = (UniqueRows.from_file(data_dir / "nltcs" / f"{part}.csv.gz") for part in ("train", "valid"))
    learned = Learned(select="valid").learn(train, valid=valid)
    weakest = np.nanmin(learned.report.entered)
    critical = max(path.critical for path in node_paths(train, PathSettings(0)))
    assert weakest < 0.01 * critical


def test_a_larger_gamma_selects_no_more() -> None:
    rows = _grid_rows(200)
    sizes = [len(_edges(_learn(rows, "ebic", "path", gamma=gamma))) for gamma in (0.0, 0.25, 0.5, 1.0)]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("states", [2, 3])
def test_held_out_rows_select_what_they_like_best(states: int) -> None:
    rows, valid = _grid_rows(150, 0, states), _grid_rows(150, 1, states)
    chosen = []
    for path in _whole_paths(rows):
        dense = DenseRegression.of(valid, path.variable)
        losses = [dense.loss(dense.beta_of(point)) for point in path.points]
        chosen.append(set(path.points[int(np.argmin(losses))].selected.tolist()))
    for rule in ("and", "or"):
        learned = _learned("valid", "path", rule=rule).learn(rows, valid=valid)
        assert _edges(learned) == _joined(6, chosen, rule)


def test_held_out_rows_are_matched_by_name() -> None:
    """Columns in another order, states in another order: the same rows."""
    rows, valid = _grid_rows(150, 0), _grid_rows(150, 1)
    codes = 1 - valid.codes[:, ::-1]
    domain = type(rows.domain).from_states({f"x{i}": ["s1", "s0"] for i in reversed(range(6))})
    turned = UniqueRows.from_codes(domain, codes, valid.sample_weight)
    one, other = (_learned("valid", "path").learn(rows, valid=v) for v in (valid, turned))
    assert one.structure == other.structure


@pytest.mark.parametrize("states", [2, 3])
@pytest.mark.parametrize("strength", [5.0, 30.0, 1e6])
def test_a_given_strength_is_solved_at_exactly(strength: float, states: int) -> None:
    rows = _grid_rows(300, states=states)
    learned = _learn(rows, "strength", "path", select_strength=strength)
    chosen, size = [], np.zeros((6, 6))
    for i in range(6):
        dense = DenseRegression.of(rows, i)
        beta = dense.solve(strength)
        chosen.append({j for j, group in dense.groups.items() if beta[group].any()})
        for j, group in dense.groups.items():
            size[i, j] = beta[group][0, 0] if states == 2 else _zero_sum_norm(beta[group])
    assert _edges(learned) == _joined(6, chosen, "or")
    a, b = learned.structure.edges.T
    np.testing.assert_allclose(learned.report.coefficients, np.stack([size[a, b], size[b, a]], axis=1), atol=1e-3)


def test_theory_is_a_strength() -> None:
    """A quarter of c sqrt(N log(n^2 / 0.05)): spins are twice columns, and so are couplings of pairs of them, twice."""
    rows = _grid_rows(500)
    strength = theoretical_strength(rows, 0.4)
    assert strength == pytest.approx(0.1 * np.sqrt(500 * np.log(36 / 0.05)))
    theory, given = (
        _learn(rows, "theory", "path", theory=0.4),
        _learn(rows, "strength", "path", select_strength=strength),
    )
    assert theory.structure == given.structure
    np.testing.assert_array_equal(theory.report.coefficients, given.report.coefficients)


def test_theory_is_against_the_weight_of_rows() -> None:
    rows = _grid_rows(500)
    doubled = UniqueRows.from_codes(rows.domain, rows.codes, 4.0 * rows.sample_weight)
    assert theoretical_strength(doubled, 0.2) == pytest.approx(2.0 * theoretical_strength(rows, 0.2))


# -- wishes ------------------------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("rule", ["and", "or"])
def test_required_edges_are_there_and_forbidden_ones_are_not(select: str, bound: str, rule: str) -> None:
    """The data contradict the requirements: a pair that does not interact, and two that do."""
    wishes = {"require": [("x5", "x0")], "forbid": [("x1", "x0"), ("x4", "x5")]}
    edges = _edges(_learn(_grid_rows(), select, bound, rule=rule, **wishes))
    assert (0, 5) in edges
    assert not edges & {(0, 1), (4, 5)}


def test_a_required_edge_that_no_path_selected_has_no_evidence() -> None:
    learned = _learn(_grid_rows(), "strength", "path", select_strength=1e6, require=[("x0", "x5")])
    assert _edges(learned) == {(0, 5)}
    np.testing.assert_array_equal(learned.report.coefficients, 0.0)
    assert np.isnan(learned.report.entered).all()


@pytest.mark.parametrize(
    ("wishes", "error", "word"),
    [
        ({"require": [("x0", "x1")], "forbid": [("x1", "x0")]}, StructureError, "both required and forbidden"),
        ({"require": [("x0", "nobody")]}, InputError, "nobody"),
        ({"forbid": [("nobody", "x1")]}, InputError, "nobody"),
        ({"require": [("x2", "x2")]}, StructureError, "two different variables"),
        ({"forbid": [("x0", "x1", "x2")]}, StructureError, "two different variables"),
    ],
)
@every_way
def test_wishes_that_make_no_sense(wishes: dict, error: type[Exception], word: str, select: str, bound: str) -> None:
    with pytest.raises(error, match=word):
        _learn(_grid_rows(50), select, bound, **wishes)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"bound": "most"}, "most"),
        ({"rule": "xor"}, "xor"),
        ({"select": "aic"}, "aic"),
        ({"max_degree": 0}, "0"),
        ({"select": "strength"}, "strength"),
        ({"select": "strength", "select_strength": -1.0}, "-1"),
        ({"select": "strength", "select_strength": float("nan")}, "nan"),
        ({"gamma": 1.5}, "1.5"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict, word: str) -> None:
    with pytest.raises(InputError, match=word):
        Learned(**wrong)


def test_a_learner_is_a_value_of_what_decides_alone() -> None:
    """Equal, whatever its pairs came in; how many threads learn is no part of it."""
    pairs = [["a", "b"]]
    one, other = Learned(require=pairs), Learned(require=(("a", "b"),))
    assert one == other
    assert hash(one) == hash(other)
    pairs.append(["a", "c"])
    assert one == other
    assert not {"jobs", "callback"} & {setting.name for setting in fields(one)}
    plain = Learner(Learned(max_degree=3, forbid=pairs))
    assert Learner.from_json(plain.to_json()) == plain


def test_selection_by_held_out_rows_needs_them() -> None:
    with pytest.raises(InputError, match="validation"):
        Learned(select="valid").learn(_grid_rows(50))


# -- evidence ----------------------------------------------------------------------------------------------------


def test_the_report_has_both_coefficients_and_where_they_entered() -> None:
    rows = _grid_rows(300)
    learned = _learn(rows, "degree", "path")
    paths = node_paths(rows, PathSettings(2, tolerance=1e-5))
    report = learned.report
    for (a, b), coefficients, entered in zip(report.edges.tolist(), report.coefficients, report.entered, strict=True):
        for k, (i, j) in enumerate(((a, b), (b, a))):
            last = paths[i].points[-1]
            sizes = dict(zip(last.selected.tolist(), last.edge_weights.tolist(), strict=True))
            assert coefficients[k] == sizes.get(j, 0.0)
            assert entered[k] == pytest.approx(paths[i].entered().get(j, np.nan), nan_ok=True)
    np.testing.assert_allclose(report.weight, report.coefficients.mean(axis=1))


def test_the_records_of_a_report_name_the_regression() -> None:
    """``source_given_target`` is the coefficient in the regression of the source."""
    learned = _learn(_grid_rows(300), "degree", "path")
    report, names = learned.report, tuple("abcdef")
    records = list(report.rows(names))
    assert len(records) == len(report) == len(learned.structure.edges)
    weights = [abs(record["weight"]) for record in records]
    assert weights == sorted(weights, reverse=True)
    by_pair = {(names[a], names[b]): k for k, (a, b) in enumerate(report.edges.tolist())}
    for record in records:
        k = by_pair[record["source"], record["target"]]
        assert (record["source_given_target"], record["target_given_source"]) == tuple(report.coefficients[k])
        entered = (record["entered_source"], record["entered_target"])
        np.testing.assert_array_equal(entered, report.entered[k])


@pytest.mark.parametrize("bound", ["gain", "graph"])
def test_gains_have_coefficients_of_sign_and_size_but_no_path(bound: str) -> None:
    learned = _learn(_grid_rows(5000), "degree", bound, max_degree=3)
    assert np.isnan(learned.report.entered).all()
    truth = {edge: 4 * 0.4 * (-1) ** k for k, edge in enumerate(GRID)}
    found = dict(zip(map(tuple, learned.report.edges.tolist()), learned.report.weight, strict=True))
    for edge, coupling in truth.items():
        assert found[edge] == pytest.approx(coupling, abs=0.3)


def test_an_empty_report() -> None:
    report = _learn(_grid_rows(), "strength", "path", select_strength=1e6).report
    assert len(report) == 0
    assert report.weight.shape == (0,)
    assert list(report.rows(tuple("abcdef"))) == []


# -- what must not matter ----------------------------------------------------------------------------------------


def _assert_same(one: LearnedStructure, other: LearnedStructure) -> None:
    assert one.structure == other.structure
    np.testing.assert_allclose(one.report.coefficients, other.report.coefficients, rtol=1e-12)
    np.testing.assert_array_equal(one.report.entered, other.report.entered)


@every_way
def test_weights_are_repeated_rows_in_any_order(select: str, bound: str, rng: np.random.Generator) -> None:
    shape = (2, 3, 2, 2, 2)
    domain, codes, times = domain_of(shape), random_codes(rng, shape, 80), rng.integers(1, 6, 80)
    repeated = rng.permutation(np.repeat(codes, times, axis=0))
    weighted = UniqueRows.from_codes(domain, codes, times.astype(float))
    _assert_same(
        _learn(weighted, select, bound),
        _learn(UniqueRows.from_codes(domain, repeated, np.ones(len(repeated))), select, bound),
    )


@every_way
def test_jobs_change_nothing(select: str, bound: str) -> None:
    rows = _grid_rows(300)
    _assert_same(_learn(rows, select, bound, jobs=1), _learn(rows, select, bound, jobs=2))


@every_way
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_callback_counts_all_variables(select: str, bound: str, jobs: int, rng: np.random.Generator) -> None:
    """Constant variables count, too."""
    rows, told = random_rows(rng, (2, 3, 1, 2, 2), 100), []
    _learned(select, bound).learn(rows, valid=rows, jobs=jobs, callback=told.append)
    assert sum(told) == 5


# -- awkward tables ----------------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("kind", ["copies", "constants", "rare", "two", "one", "one row"])
def test_awkward_tables(kind: str, select: str, bound: str) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, (100, 4))
    rare = (np.arange(100) == 3).astype(int)
    codes = {
        "copies": np.c_[x, x[:, 0], x[:, 0], 1 - x[:, 0]],
        "constants": np.c_[x, x[:, 0], 0 * rare, 0 * rare + 1],
        "rare": np.c_[x, rare, rare],
        "two": np.c_[rare, rare],
        "one": x[:, :1],
        "one row": x[:1],
    }[kind]
    rows = UniqueRows.from_codes(domain_of((2,) * codes.shape[1]), codes.astype(np.uint8), np.ones(len(codes)))
    learned = _learn(rows, select, bound, select_strength=0.1)
    assert np.isfinite(learned.report.coefficients).all()
    assert learned.violation is None or learned.violation <= 1e-5
    constant = np.flatnonzero(codes.std(axis=0) == 0)
    assert not np.isin(learned.structure.edges, constant).any()
    if kind == "two" and select != "theory":  # two rows that differ are not enough for theory
        assert _edges(learned) == {(0, 1)}


def test_more_variables_than_rows() -> None:
    """The weak regressions of ``top`` go furthest."""
    codes = np.random.default_rng(2).integers(0, 2, (8, 20)).astype(np.uint8)
    rows = UniqueRows.from_codes(domain_of((2,) * 20), codes, np.ones(8))
    assert Learned(bound="top").learn(rows).violation <= 1e-5


# -- real data ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bound", "least"), [("gain", -5.02), ("graph", -5.10)])
def test_five_neighbours_are_enough_for_nltcs(bound: str, least: float, data_dir: Path) -> None:
    """Test pseudo-log-likelihood after refitting, the strength chosen on held-out rows."""
    train, valid, test = (
        UniqueRows.from_file(data_dir / "nltcs" / f"{part}.csv.gz") for part in ("train", "valid", "test")
    )
    structure = Learned(max_degree=5, bound=bound).learn(train).structure
    if bound == "graph":
        assert structure.degrees.max() <= 5
    best = learn(train, structure, learner((0.1, 1.0, 10.0)), valid=valid).best
    assert best.model.pll(test) >= least
    assert best.model.pll(test) > learn(train, Structure.independent(16)).best.model.pll(test) + 2.0


@pytest.mark.parametrize("bound", ["path", "top", "gain", "graph"])
def test_a_forbidden_variable_takes_no_place_of_another(bound: str, rng: np.random.Generator) -> None:
    """A bound of one goes to the second-best neighbour if the best is forbidden."""
    b = rng.integers(0, 2, 4000)
    a = np.where(rng.random(4000) < 0.9, b, 1 - b)
    c = np.where(rng.random(4000) < 0.75, b, 1 - b)
    rows = UniqueRows.from_dataset(Dataset.from_table({"a": a, "b": b, "c": c}))
    learned = Learned(max_degree=1, bound=bound, rule="or", forbid=[("a", "b")]).learn(rows)
    assert (1, 2) in {(int(i), int(j)) for i, j in learned.structure.edges}
    assert (0, 1) not in {(int(i), int(j)) for i, j in learned.structure.edges}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"select": "ebic", "max_degree": 3},
            "max_degree=3 has no effect with select='ebic': it needs select='degree'",
        ),
        ({"select": "valid", "bound": "path"}, "bound='path' has no effect with select='valid'"),
        ({"gamma": 0.5}, "gamma=0.5 has no effect with select='degree': it needs select='ebic'"),
        ({"select_strength": 3.0}, "it needs select='strength'"),
        ({"select": "ebic", "theory": 2.0}, "it needs select='theory'"),
    ],
)
def test_settings_without_effect_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Learned(**settings)
