"""Networks given covariates: against definitions, and with everything that learners and models can do."""

from __future__ import annotations

import io
import json
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from mrfit import (
    L1,
    L2,
    FactorNetwork,
    Learned,
    Learner,
    MarkovNetwork,
    NoPenalty,
    SoftTied,
    UniqueRows,
    fit_incomplete,
    learn,
)
from mrfit.analysis.groups.compare_groups import compare_groups
from mrfit.analysis.sample_size.power import sample_size
from mrfit.analysis.stability.edge_bootstrap import bootstrap_edges
from mrfit.core.errors import InputError
from mrfit.data.encoding import UNOBSERVED
from mrfit.formats import mrf
from mrfit.formats.models import read_network, write_network
from mrfit.learning.objective_specs import LIKELIHOOD, LikelihoodSpec
from mrfit.learning.pseudo_counts import PseudoCounts
from mrfit.learning.serialization import to_plain
from mrfit.structures.simple import ChowLiuTree

N = 3000
PLAIN = Learner(penalty=NoPenalty(), covariates=("z",))
ON_EDGES = Learner(penalty=NoPenalty(), covariates=("z",), covariates_on_edges=True)


@pytest.fixture(scope="module")
def table() -> dict[str, np.ndarray]:
    """a and b interact; z, with three states, moves a, b and c."""
    rng = np.random.default_rng(0)
    z = rng.choice(3, N, p=[0.5, 0.1, 0.4])
    effect = np.array([[0.0, 0.8, 1.5], [0.0, -0.5, 0.7], [0.0, 0.3, 1.2]])
    states = np.array(list(product((0, 1), repeat=3)))
    q = np.array([-0.5, 0.2, -0.3]) @ states.T + effect[:, z].T @ states.T + 0.9 * states[:, 0] * states[:, 1]
    p = np.exp(q - logsumexp(q, axis=1, keepdims=True))
    drawn = states[(p.cumsum(axis=1) < rng.random(N)[:, None]).sum(axis=1)]
    return {"a": drawn[:, 0], "b": drawn[:, 1], "c": drawn[:, 2], "z": z}


@pytest.fixture(scope="module")
def rows(table: dict[str, np.ndarray]) -> UniqueRows:
    return UniqueRows.of(table)


def _terms(x: np.ndarray, *, on_edges: bool) -> np.ndarray:
    """Features of log p(a, b, c | z) in rows a, b, c, z, in the order of scopes."""
    a, b, c = x[:, :3].T.astype(float)
    one, two = ((x[:, 3] == s).astype(float) for s in (1, 2))
    pairs = [a * b, a * c, a * one, a * two, b * c, b * one, b * two, c * one, c * two]
    triples = [t for pair in (a * b, a * c, b * c) for t in (pair * one, pair * two)]
    return np.stack([a, b, c, *pairs, *(triples if on_edges else [])], axis=1)


def _negative_pll(w: np.ndarray, rows: UniqueRows, on_edges: bool) -> float:
    """The sum over a, b and c alone."""
    total = 0.0
    for i in range(3):
        q = []
        for state in (0, 1):
            x = rows.codes.copy()
            x[:, i] = state
            q.append(_terms(x, on_edges=on_edges) @ w)
        own = np.where(rows.codes[:, i] == 1, q[1], q[0])
        total -= float(rows.sample_weight @ (own - np.logaddexp(*q)))
    return total / rows.total_weight


def _all_states(z: int) -> np.ndarray:
    return np.array([(*x, z) for x in product((0, 1), repeat=3)], np.uint8)


def _distribution(model: MarkovNetwork, z: int) -> np.ndarray:
    q = model.factors.log_potential(_all_states(z))
    return np.exp(q - logsumexp(q))


@pytest.mark.parametrize("learner", [PLAIN, ON_EDGES], ids=["nodes", "edges"])
def test_the_optimum_by_definition(learner: Learner, rows: UniqueRows) -> None:
    fitted = learner.fit(rows)
    n = fitted.model.parameters.n_parameters
    found = minimize(
        _negative_pll, np.zeros(n), args=(rows, learner.covariates_on_edges), method="BFGS", options={"gtol": 1e-7}
    )
    np.testing.assert_allclose(fitted.model.w, found.x, atol=1e-4)
    assert fitted.best.train == pytest.approx(-found.fun, abs=1e-9)
    assert fitted.model.pll(rows) == pytest.approx(-found.fun, abs=1e-9)


def test_held_out_rows_judge_given_their_covariates(rows: UniqueRows) -> None:
    """The likelihood is that of x given z, not that of x and z."""
    fitted = Learner(penalty=L2((1.0, 10.0)), covariates=("z",), folds=2, judge="ll").fit(rows)
    assert fitted.best.held_out == pytest.approx(fitted.model.ll(rows), abs=0.02)
    validated = Learner(penalty=L2((1.0, 10.0)), covariates=("z",), judge="ll").fit(rows, rows)
    assert validated.best.held_out == pytest.approx(validated.model.ll(rows), abs=1e-12)


def test_one_variable_has_the_frequencies_of_every_state_of_its_covariate(table: dict[str, np.ndarray]) -> None:
    rows = UniqueRows.of({name: table[name] for name in ("a", "z")})
    model = PLAIN.fit(rows).model
    for z in range(3):
        share = table["a"][table["z"] == z].mean()
        assert model.conditional("a", {"z": z})["1"] == pytest.approx(share, abs=1e-6)


def test_effects_of_the_truth_are_within_errors(rows: UniqueRows) -> None:
    model = PLAIN.fit(rows, errors="sandwich").model
    assert model.errors is not None
    truth = [-0.5, 0.2, -0.3, 0.9, 0.0, 0.8, 1.5, 0.0, -0.5, 0.7, 0.3, 1.2]
    assert (np.abs(model.w - truth) < 3 * model.errors.standard_errors).all()
    assert {test.variables for test in model.wald_tests()} >= {("a", "z"), ("a", "b")}


def test_rows_are_scored_given_their_covariates(rows: UniqueRows, table: dict[str, np.ndarray]) -> None:
    model = PLAIN.fit(rows).model
    log_p = np.stack([np.log(_distribution(model, z)) for z in range(3)])
    number = 4 * table["a"] + 2 * table["b"] + table["c"]
    np.testing.assert_allclose(model.ll_rows(table), log_p[table["z"], number], atol=1e-12)


def test_questions_take_the_covariates(rows: UniqueRows) -> None:
    model = PLAIN.fit(rows).model
    p = _distribution(model, 2)
    assert model.marginals(evidence={"z": 2})["a"]["1"] == pytest.approx(p[4:].sum(), abs=1e-12)
    np.testing.assert_allclose(model.joint(["a", "b", "c"], evidence={"z": 2}).table.ravel(), p, atol=1e-12)
    drawn = model.sample(4000, evidence={"z": 2}, seed=1).codes
    assert (drawn[:, 3] == 2).all()
    assert drawn[:, 0].mean() == pytest.approx(p[4:].sum(), abs=0.03)
    told = model.explain("a", {"z": 2, "b": 1}, state=1)
    assert told.p_before == pytest.approx(p[4:].sum(), abs=1e-12)
    assert [influence.variable for influence in told.influences] == ["b"]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda model: model.marginals(), "has covariates .* give a state of 'z' as evidence"),
        (lambda model: model.sample(3), "give a state of 'z'"),
        (lambda model: model.map(evidence={"a": 1}), "give a state of 'z'"),
        (lambda model: model.log_z(evidence={"z": [0.2, 0.3, 0.5]}), "give a state of 'z'"),
        (lambda model: model.marginals(["z"], evidence={"z": 1}), "conditional on the covariate 'z'"),
        (
            lambda model: model.predict_proba("z", {"a": [1], "b": [1], "c": [1], "z": [1]}),
            "conditional on the covariate 'z'",
        ),
        (lambda model: model.predict_proba("a", {"b": [1], "c": [1]}), "covariate 'z' is missing in some rows"),
        (lambda model: model.impute({"a": [1], "b": [1], "c": [1]}), "covariate 'z' is missing in some rows"),
        (lambda model: sample_size(model, Learned()), "conditional on 'z'"),
        (lambda model: model.nodes(), "conditional on 'z'"),
        (lambda model: model.goodness({"a": [1], "b": [1], "c": [1], "z": [1]}), "conditional on 'z'"),
    ],
)
def test_nothing_is_said_of_covariates(ask: Any, said: str, rows: UniqueRows) -> None:
    with pytest.raises(InputError, match=said):
        ask(PLAIN.fit(rows).model)


def test_files_and_learners_keep_the_covariates(rows: UniqueRows, tmp_path: Path) -> None:
    model = ON_EDGES.fit(rows).model
    model.save(tmp_path / "m.mrf")
    loaded = MarkovNetwork.load(tmp_path / "m.mrf")
    assert loaded.covariates == ("z",)
    assert loaded.pll(rows) == model.pll(rows)
    assert Learner.from_dict(loaded.provenance["learner"]) == ON_EDGES
    network = read_network(tmp_path / "m.mrf")
    assert network.marginals(evidence={"z": 0})["b"] == model.marginals(evidence={"z": 0})["b"]
    with pytest.raises(InputError, match="not a distribution of all variables"):
        write_network(tmp_path / "m.uai", network)
    assert not (tmp_path / "m.uai").exists()


def test_other_coordinates_give_the_same_distribution(rows: UniqueRows) -> None:
    model = PLAIN.fit(rows).model
    spectral = model.to_parameterization("spectral")
    assert spectral.covariates == ("z",)
    assert spectral.pll(rows) == pytest.approx(model.pll(rows), abs=1e-12)
    assert spectral.ll(rows) == pytest.approx(model.ll(rows), abs=1e-12)


def test_ordered_covariates_have_one_effect(rows: UniqueRows) -> None:
    """Covariates named as ordered have one effect; otherwise they have one for each state."""
    learner = Learner(penalty=NoPenalty(), covariates=("z",), parameterization="ordered", ordered=("a", "b", "c", "z"))
    model = learner.fit(rows).model
    assert [name for name in model.parameters.names() if "z" in name] == ["a × z", "b × z", "c × z"]
    unnamed = Learner(penalty=NoPenalty(), covariates=("z",), parameterization="ordered").fit(rows).model
    assert [name for name in unnamed.parameters.names() if "a × z" in name] == ["a × z=1", "a × z=2"]
    assert model.pll(rows) == pytest.approx(_pll_by_definition(model, rows), abs=1e-9)


def _pll_by_definition(model: MarkovNetwork, rows: UniqueRows) -> float:
    """Pseudo-log-likelihood from the distributions given every state of z."""
    log_p = np.log(np.stack([_distribution(model, z).reshape(2, 2, 2) for z in range(3)], axis=-1))
    given_rest = sum(log_p - logsumexp(log_p, axis=axis, keepdims=True) for axis in range(3))
    return float(rows.sample_weight @ given_rest[tuple(rows.codes.T.astype(int))]) / rows.total_weight


def test_l1_leaves_covariates_free(rows: UniqueRows) -> None:
    """Covariates are free as single variables are: without pairs, effects are those without a penalty."""
    strong = Learner(penalty=L1(1e4), covariates=("z",)).fit(rows).model
    alone = Learner.from_dict({**PLAIN.to_dict(), "structure": {"kind": "independent"}}).fit(rows).model
    found = dict(zip(strong.parameters.names(), strong.w, strict=True))
    assert found.keys() == set(alone.parameters.names())
    for name, value in zip(alone.parameters.names(), alone.w, strict=True):
        assert found[name] == pytest.approx(value, abs=1e-4)


def test_what_covariates_explain_is_no_edge(rows: UniqueRows) -> None:
    """a and c hang together by z only."""
    structure = Learned(max_degree=2, rule="and")
    without, given = (Learner(structure, L2(1.0), covariates=names).fit(rows).model.graph for names in ((), ("z",)))
    assert set(given.edges) == {("a", "b"), ("a", "z"), ("b", "z"), ("c", "z")}
    marginal = Learner(structure, L2(1.0)).fit(UniqueRows.of({"a": _column(rows, 0), "c": _column(rows, 2)})).model
    assert ("a", "c") in set(marginal.graph.edges)
    assert ("c", "z") in set(without.edges)


def test_false_edges_given_covariates_are_as_rare_as_the_threshold_says() -> None:
    """a and b are independent given z; a neighbour enters beyond the 95 % point of chi-square. Of 40 tables, 3 sd."""
    found = dict.fromkeys(((), ("z",)), 0)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        z = rng.integers(0, 3, 400)
        a, b = ((rng.random(400) < 0.1 + 0.4 * z).astype(int) for _ in range(2))
        tables = {(): UniqueRows.of({"a": a, "b": b}), ("z",): UniqueRows.of({"a": a, "b": b, "z": z})}
        for names, rows in tables.items():
            structure = Learner(Learned(max_degree=1), covariates=names).learn_structure(rows).structure
            found[names] += [0, 1] in structure.edges.tolist()
    assert found[()] == 40
    assert found["z",] <= 40 * 0.05 + 3 * np.sqrt(40 * 0.05 * 0.95)


def _column(rows: UniqueRows, i: int) -> np.ndarray:
    return np.repeat(rows.codes[:, i], rows.sample_weight.astype(int))


def test_a_check_takes_covariates_as_they_are_in_the_rows(rows: UniqueRows) -> None:
    """If every pair has a table for every state of z, all frequencies of pairs are nearly matched."""
    model = ON_EDGES.fit(rows).model
    check = model.check(rows)
    assert check.max_pair_error is not None
    assert check.max_pair_error < 0.01
    assert check.ll == pytest.approx(model.ll(rows), abs=1e-9)


def test_missing_cells(rows: UniqueRows) -> None:
    """Variables may be missing, covariates may not."""
    codes = np.repeat(rows.codes, rows.sample_weight.astype(int), axis=0)
    holes = np.random.default_rng(1).random(codes.shape) < 0.05
    for column, complete in ((slice(0, 3), True), (slice(0, 4), False)):
        some = codes.copy()
        some[:, column][holes[:, column]] = UNOBSERVED
        holed = UniqueRows.from_codes(rows.domain, some, np.ones(len(some)))
        if not complete:
            with pytest.raises(InputError, match="covariate 'z' is missing in some rows"):
                fit_incomplete(PLAIN, holed)
            continue
        model = fit_incomplete(PLAIN, holed, errors="sandwich").fitted.model
        assert model.errors is not None
        np.testing.assert_array_less(np.abs(model.w - PLAIN.fit(rows).model.w), model.errors.standard_errors)
        with pytest.raises(InputError, match="with covariates cannot score rows with missing values"):
            model.pll(holed)


def test_resamples_groups_and_ties(rows: UniqueRows) -> None:
    found, stepped = (bootstrap_edges(PLAIN, rows, resamples=10, one_step=one_step) for one_step in (False, True))
    assert found.networks.n_failed == 0
    np.testing.assert_allclose(stepped.networks.weights, found.networks.weights, atol=0.1)
    assert (found.networks.weights[:, 0] > 0).all()
    compared = compare_groups(PLAIN, rows, by="c")
    assert compared.likelihood is None
    assert compared.wald is not None
    tied = Learner(penalty=SoftTied(1.0, groups=2), covariates=("z",)).fit(rows)
    assert tied.best.solution.converged
    assert tied.model.covariates == ("z",)


def test_descriptions_keep_their_names(rows: UniqueRows) -> None:
    """Names in saved models and stored results stay, whatever the settings are called today; both names are read."""
    document = ON_EDGES.to_dict()
    assert list(document)[-2:] == ["given", "given_edges"]
    assert (document["given"], document["given_edges"]) == (["z"], True)
    assert Learner.from_dict(document) == ON_EDGES
    words = {"covariates": document.pop("given"), "covariates_on_edges": document.pop("given_edges")}
    assert Learner.from_dict({**document, **words}) == ON_EDGES
    assert to_plain(PLAIN, terse=True) == {"kind": "Learner", "penalty": {"kind": "none"}, "given": ["z"]}
    with zipfile.ZipFile(io.BytesIO(mrf.to_bytes(PLAIN.fit(rows).model))) as archive:
        described = json.loads(archive.read("model.json"))
    assert described["given"] == described["provenance"]["learner"]["given"] == ["z"]


def test_earlier_names_of_covariates(rows: UniqueRows) -> None:
    """A warning names the new setting, and points at the line with the old one."""
    with pytest.warns(FutureWarning, match="of Learner is now 'covariates") as told:
        learner = Learner(penalty=NoPenalty(), given=("z",), given_edges=True)
    assert learner == ON_EDGES
    assert [str(one.message).split()[0] for one in told] == ["'given'", "'given_edges'"]
    assert {one.filename for one in told} == {__file__}
    with pytest.warns(FutureWarning, match="'given' of Learner"):
        model = learn(rows, penalty=NoPenalty(), given=("z",)).model
    with pytest.warns(FutureWarning, match=r"Learner\.given_edges is now Learner\.covariates_on_edges"):
        assert learner.given_edges
    with pytest.warns(FutureWarning, match=r"MarkovNetwork\.given is now MarkovNetwork\.covariates"):
        assert model.given == model.covariates == ("z",)
    with pytest.warns(FutureWarning, match=r"Canonical\.given is now Canonical\.covariate_indices"):
        assert model.parameters.given == model.covariate_indices == (3,)
    with pytest.warns(FutureWarning, match="'covariates' of FactorNetwork is now 'covariate_indices'"):
        again = FactorNetwork(model.domain, model.factors, covariates=(3,))
    assert (again.covariates, again.covariate_indices) == (("z",), (3,))
    with pytest.raises(TypeError, match="got 'given' and 'covariates', its new name; pass 'covariates' only"):
        Learner(covariates=("z",), given=("a",))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"parameterization": "spectral"}, "canonical coordinates with the first states as reference, or ordered"),
        ({"reference": "last"}, "with the first states as reference"),
        ({"penalty": L1(search="hierarchical")}, "does not support covariates"),
        ({"covariates": (), "covariates_on_edges": True}, "without covariates; name some"),
        ({"covariates": 3}, "must be names of variables"),
    ],
)
def test_settings_that_do_not_go_together(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Learner(**{"covariates": ("z",), **settings})


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (Learner(covariates=("y",)), "There is no variable 'y'"),
        (Learner(covariates=("a", "b", "c", "z")), "All variables are covariates"),
        (Learner(ChowLiuTree(), covariates=("z",)), "tree is neither"),
        (Learner(Learned(select="ebic"), covariates=("z",)), "stay in regressions that grow"),
        (Learner(objective=LikelihoodSpec("chains"), covariates=("z",)), "Chains do not support covariates"),
        (
            Learner(penalty=PseudoCounts(1.0), objective=LIKELIHOOD, covariates=("z",)),
            "Pseudo-counts smooth whole rows",
        ),
    ],
)
def test_what_cannot_be_learned_is_refused(learner: Learner, said: str, rows: UniqueRows) -> None:
    with pytest.raises(InputError, match=said):
        learner.fit(rows)
