"""Learning with scores of ordered variables: against independent fits, and with everything that learners can do."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from mrfit import L1, L2, Learner, MarkovNetwork, NoPenalty, UniqueRows, fit_incomplete
from mrfit.analysis.groups.compare_groups import compare_groups
from mrfit.analysis.stability.edge_bootstrap import bootstrap_edges
from mrfit.core.errors import InputError
from mrfit.data.encoding import UNOBSERVED
from mrfit.learning.objective_specs import LIKELIHOOD, PSEUDO_LIKELIHOOD, ObjectiveSpec
from mrfit.parameterizations.ordered import Ordered
from mrfit.structures.structure import Structure
from populations import domain_of, rows_from

SCORED = Learner(penalty=NoPenalty(), parameterization="ordered")
EXACT = Learner(penalty=NoPenalty(), parameterization="ordered", objective=LIKELIHOOD)
TRUTH = np.array([0.3, -0.4, 0.2, 0.1, -0.5, 0.4, 0.6, -0.3, 0.0])  # pairs last


@pytest.fixture(scope="module")
def rows() -> UniqueRows:
    parameters = Ordered(domain_of((3, 4, 2)), Structure.complete(3))
    return rows_from(parameters.to_factors(TRUTH), 4000, np.random.default_rng(5))


def _terms(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Indicators of all states but the first, and products of codes of all pairs, from rows of codes."""
    x = x.astype(float)
    singles = [x[:, i] == s for i, c in enumerate(shape) for s in range(1, c)]
    return np.stack([*singles, *(x[:, i] * x[:, j] for i, j in combinations(range(len(shape)), 2))], axis=1)


def _poisson(rows: UniqueRows) -> np.ndarray:
    """The log-linear model of the counts of all cells, a constant and the terms, by maximum likelihood."""
    shape = rows.domain.shape
    cells = np.indices(shape).reshape(len(shape), -1).T
    return _newton(np.column_stack([np.ones(len(cells)), _terms(cells, shape)]), _counts(rows).ravel())[1:]


def _counts(rows: UniqueRows) -> np.ndarray:
    counts = np.zeros(rows.domain.shape)
    np.add.at(counts, tuple(rows.codes.T.astype(int)), rows.sample_weight)
    return counts


def _newton(design: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The Poisson regression of counts on a design whose first column is the constant."""
    b = np.zeros(design.shape[1])
    b[0] = np.log(counts.mean())
    for _ in range(50):
        mean = np.exp(design @ b)
        b += np.linalg.solve((design.T * mean) @ design, design.T @ (counts - mean))
    return b


def _negative_pll(w: np.ndarray, rows: UniqueRows) -> float:
    total, shape = 0.0, rows.domain.shape
    for i, c in enumerate(shape):
        turned = np.repeat(rows.codes[None], c, axis=0)
        turned[:, :, i] = np.arange(c)[:, None]
        q = np.stack([_terms(each, shape) @ w for each in turned], axis=1)
        own = np.take_along_axis(q, rows.codes[:, [i]].astype(int), axis=1)[:, 0]
        total -= float(rows.sample_weight @ (own - logsumexp(q, axis=1)))
    return total / rows.total_weight


def test_the_likelihood_is_that_of_a_poisson_model(rows: UniqueRows) -> None:
    np.testing.assert_allclose(EXACT.fit(rows).model.w, _poisson(rows), atol=1e-6)


@pytest.mark.parametrize("objective", [LIKELIHOOD, PSEUDO_LIKELIHOOD], ids=["exact", "pseudo"])
def test_own_scores_of_a_table_of_two_items(objective: ObjectiveSpec, rows: UniqueRows) -> None:
    """Linear-by-linear association of a 3 x 4 table, whose design is written down by hand; kept by a file."""
    table = rows.on_columns([0, 1])
    scores = {"x0": (1, 2, 5), "x1": (0, 1, 3, 7)}
    learner = Learner(penalty=NoPenalty(), parameterization="ordered", scores=scores, objective=objective)
    model = learner.fit(table).model
    a, b = np.indices((3, 4)).reshape(2, -1)
    product = np.array([1, 2, 5])[a] * np.array([0, 1, 3, 7])[b]
    design = np.column_stack([np.ones(12), *(a == s for s in (1, 2)), *(b == s for s in (1, 2, 3)), product])
    expected = _newton(design, _counts(table).ravel())
    if objective is LIKELIHOOD:
        assert model.w[-1] == pytest.approx(expected[-1], abs=1e-7)
        fitted = np.exp(design @ expected) / table.total_weight
        cells = {"x0": [f"s{state}" for state in a], "x1": [f"s{state}" for state in b]}
        np.testing.assert_allclose(np.exp(model.ll_rows(cells)), fitted, atol=1e-7)
    else:
        assert model.w[-1] == pytest.approx(expected[-1], abs=0.05)
    assert Learner.from_json(learner.to_json()) == learner


def test_the_pseudo_likelihood_has_its_optimum_by_definition(rows: UniqueRows) -> None:
    fitted = SCORED.fit(rows)
    found = minimize(_negative_pll, np.zeros(len(TRUTH)), args=(rows,), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(fitted.model.w, found.x, atol=2e-5)
    assert fitted.model.pll(rows) == pytest.approx(-found.fun, abs=1e-9)


@pytest.mark.parametrize("learner", [SCORED, EXACT], ids=["pseudo", "exact"])
def test_the_truth_is_within_errors(learner: Learner, rows: UniqueRows) -> None:
    """Seeded: all nine within three standard errors, and these are small."""
    model = learner.fit(rows, errors="sandwich").model
    assert model.errors is not None
    error = model.errors.standard_errors
    assert error.max() < 0.25
    assert (np.abs(model.w - TRUTH) < 3 * error).all()


def test_edges_have_signs(rows: UniqueRows) -> None:
    model = SCORED.fit(rows).model
    np.testing.assert_array_equal(np.sign(model.edge_weights[:2]), [1, -1])
    assert model.graph.edges["x0", "x1"]["weight"] == pytest.approx(0.6, abs=0.15)


def test_questions_see_the_tables(rows: UniqueRows) -> None:
    """Answers equal those of the same distribution in canonical coordinates; files store what is ordered."""
    model = SCORED.fit(rows).model
    canonical = model.to_parameterization("canonical")
    given = {"x0": "s2"}
    for name, p in model.marginals(evidence=given).marginals.items():
        assert canonical.marginals(evidence=given)[name] == pytest.approx(p, abs=1e-12)
    assert model.ll(rows) == pytest.approx(canonical.ll(rows), abs=1e-12)


def test_a_file_keeps_what_is_ordered(rows: UniqueRows, tmp_path: Path) -> None:
    learner = Learner(parameterization="ordered", ordered=("x1", "x0"))
    model = learner.fit(rows).model
    model.save(tmp_path / "m.mrf")
    loaded = MarkovNetwork.load(tmp_path / "m.mrf")
    assert loaded.parameters == model.parameters
    assert loaded.parameters.options == {"ordered": ["x0", "x1"]}
    again = Learner.from_dict(loaded.provenance["learner"])
    assert again == learner
    np.testing.assert_array_equal(again.fit(rows).model.w, model.w)


def test_sparse_scores_are_chosen_as_any(rows: UniqueRows) -> None:
    """The pair that is independent goes first."""
    model = Learner(penalty=L1(60.0), parameterization="ordered").fit(rows).model
    assert model.edges.tolist() == [[0, 1], [0, 2]]


def test_missing_cells(rows: UniqueRows) -> None:
    """EM with nothing missing is the fit, errors included; with some, the estimates stay near."""
    plain = SCORED.fit(rows, errors="sandwich").model
    whole = fit_incomplete(SCORED, rows, errors="sandwich").fitted.model
    assert plain.errors is not None
    assert whole.errors is not None
    np.testing.assert_allclose(whole.w, plain.w, atol=1e-5)
    np.testing.assert_allclose(whole.errors.standard_errors, plain.errors.standard_errors, rtol=1e-3)
    codes = np.repeat(rows.codes, rows.sample_weight.astype(int), axis=0)
    codes[np.random.default_rng(1).random(codes.shape) < 0.05] = UNOBSERVED
    holed = UniqueRows.from_codes(rows.domain, codes, np.ones(len(codes)))
    found = fit_incomplete(SCORED, holed, errors="sandwich").fitted.model
    assert found.errors is not None
    assert (np.abs(found.w - TRUTH) < 3 * found.errors.standard_errors).all()


def test_resamples(rows: UniqueRows) -> None:
    """Refits and one step agree, with signs."""
    refits, steps = (bootstrap_edges(SCORED, rows, resamples=20, one_step=one_step) for one_step in (False, True))
    np.testing.assert_allclose(refits.networks.weights, steps.networks.weights, atol=0.05)
    assert (refits.networks.weights[:, 0] > 0).all()


def test_groups(rows: UniqueRows) -> None:
    """Are compared by Wald tests; a likelihood ratio would let scores shift where any state may, and is refused."""
    found = compare_groups(SCORED, rows, by="x2")
    assert found.likelihood is None
    assert found.wald is not None
    assert found.wald.whole.degrees == 1
    with pytest.raises(InputError, match="which ordered ones do not allow"):
        compare_groups(SCORED, rows, by="x2", tests=("likelihood",))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"ordered": ("x0",)}, "belong to ordered coordinates; got"),
        ({"parameterization": "ordered", "ordered": "x0"}, "'all' or a tuple of names"),
        ({"parameterization": "ordered", "ordered": 3}, "must be 'all', or names of variables"),
    ],
)
def test_settings_that_say_nothing_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Learner(penalty=L2(), **settings)


def test_unknown_names_are_refused(rows: UniqueRows) -> None:
    with pytest.raises(InputError, match="There is no variable 'mood'"):
        Learner(parameterization="ordered", ordered=("mood",)).fit(rows)
