"""The document that the page reads: what it holds, and that no name can get out of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mrfit import UniqueRows, learn
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.explorer.document import SCHEMA, Document
from mrfit.explorer.finite_weights import finite_matrix
from mrfit.explorer.html_page import ASSETS, asset, notebook_frame, report_page, served_page
from mrfit.explorer.node_positions import Places
from mrfit.formats.mrf_network import to_model
from mrfit.model.factor_network import FactorNetwork
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure
from populations import domain_of, random_rows

HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202egnp.exe",
    "nul\x00",
    "n" * 450,
)


def _hostile_model() -> MarkovNetwork:
    domain = Domain.from_states({name: ["<b>no</b>", "=cmd|'/c calc'!A1"] for name in HOSTILE})
    parameters = Canonical(domain, Structure.complete(len(domain)))
    return MarkovNetwork(parameters, np.linspace(-1, 1, parameters.n_parameters))


def _model_of(factors: Factors) -> MarkovNetwork:
    return to_model(FactorNetwork(domain_of(factors.shape), factors))


def _weights(model: MarkovNetwork) -> np.ndarray:
    return finite_matrix(model.weighted_edges, len(model.domain))


def test_a_pair_of_two_states_has_its_log_odds_ratio() -> None:
    factors = Factors.from_tables((2, 2), [((0, 1), [[0.3, -0.2], [0.1, 1.4]]), ((1,), [5.0, -3.0])])
    assert _weights(_model_of(factors))[0, 1] == pytest.approx(0.3 + 0.2 - 0.1 + 1.4)


@pytest.mark.parametrize(("shape", "word"), [((2, 2, 2, 2), "spectral"), ((2, 3, 2, 2), "full")])
def test_weights_do_not_depend_on_coordinates(shape: tuple[int, ...], word: str, rng: np.random.Generator) -> None:
    model = learn(random_rows(rng, shape, 60), structure=Structure.up_to_order(4, 3)).model
    other = model.to_parameterization(word)
    ours, others = (_weights(each) for each in (model, other))
    np.testing.assert_allclose(others, ours, atol=1e-9)


def test_impossible_states_have_finite_weights() -> None:
    factors = Factors.from_tables((2, 2), [((1, 0), [[0.0, -np.inf], [0.0, 0.0]])])
    assert abs(_weights(_model_of(factors))[0, 1]) == pytest.approx(30.0)


def test_every_variable_has_a_place_of_its_own() -> None:
    weights = np.zeros((9, 9))
    for a, b, weight in [(0, 1, 1.0), (1, 2, -0.5), (4, 5, 0.1)]:
        weights[a, b] = weights[b, a] = weight
    places = Places.of(weights)
    assert np.isfinite(places.positions).all()
    assert len(np.unique(places.positions.round(6), axis=0)) == 9
    assert places.community[3] == -1
    assert places.community[0] == places.community[2] != places.community[4]


def test_many_variables_are_placed_by_their_strongest_edges(rng: np.random.Generator) -> None:
    """Two halves, each joined strongly, and every pair weakly: the halves are communities, and stand apart."""
    half = np.arange(80) % 2
    weights = np.where(half[:, None] == half[None, :], 1.0, 0.01) + rng.uniform(0, 0.005, (80, 80))
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    places = Places.of(weights)
    assert len(np.unique(places.positions.round(6), axis=0)) == 80
    middles = [places.positions[half == side].mean(axis=0) for side in (0, 1)]
    spread = places.positions[half == 0].std(axis=0).max()
    assert np.linalg.norm(middles[0] - middles[1]) > spread


def test_nothing_joined_has_places_too() -> None:
    assert len(np.unique(Places.of(np.zeros((30, 30))).positions, axis=0)) == 30


def test_the_tables_are_those_of_the_model(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2), 50)
    model = learn(rows, structure=Structure.complete(3)).model
    told = json.loads(Document.of(model, title="t", rows=rows).to_json())
    assert told["schema"] == SCHEMA
    tables = [(scope, table) for scope, table in told["scopes"]]
    assert Factors.from_tables(rows.domain.shape, tables) == model.factors
    exact = model.marginals()
    for variable, p in zip(told["variables"], told["marginals"]["values"], strict=True):
        assert p == pytest.approx(list(exact[variable["name"]].values()), abs=1e-12)
    assert [sum(variable["frequency"]) for variable in told["variables"]] == pytest.approx([1.0] * 3, abs=1e-5)
    assert told["scores"][0]["value"] == pytest.approx(model.pll(rows))
    assert all(variable["explained"] < 1.0 for variable in told["variables"])


def test_rows_are_not_in_it(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2,) * 12, 2000)
    model = learn(rows, structure=Structure.complete(12)).model
    few = UniqueRows.from_codes(rows.domain, rows.codes[:20], rows.sample_weight[:20])
    small, large = (len(Document.of(model, title="t", rows=part).to_json()) for part in (few, rows))
    assert abs(large - small) < 400


def test_names_cannot_end_the_script() -> None:
    document = Document.of(_hostile_model(), title=HOSTILE[0])
    assert not set("<>&") & set(document.to_json())
    assert document.to_json().isascii()
    assert [variable["name"] for variable in json.loads(document.to_json())["variables"]] == list(HOSTILE)
    for page in (report_page(document), served_page(document)):
        assert page.count(b"</script>") == 3  # the document in two, and the page's own
        assert b"<script>alert" not in page


def test_minus_infinity_is_null() -> None:
    parameters = Canonical(domain_of((2, 2)), Structure.complete(2))
    model = MarkovNetwork(parameters, np.zeros(3)).to_parameterization("full")
    w = model.w.copy()
    w[-1] = -np.inf
    told = json.loads(Document.of(MarkovNetwork(model.parameters, w), title="t").to_json())
    assert told["scopes"][-1][1][-1] is None


def test_files_stay_small_enough_to_be_mailed(rng: np.random.Generator) -> None:
    """84 kB of assets; a report of 100 kB and 0.4 for each variable and edge."""
    assert sum(len(asset(name)) for name in ASSETS) <= 84_000
    rows = random_rows(rng, (2,) * 30, 200)
    document = Document.of(learn(rows).model, title="t", rows=rows)
    assert len(report_page(document)) <= 100_000 + 400 * (30 + len(document.content["edges"]))


def test_a_report_fetches_nothing() -> None:
    page = report_page(Document.of(_hostile_model(), title="t")).decode()
    assert "default-src 'none'" in page
    head = page[: page.index("<script")]
    assert "src=" not in head
    assert head.count("href=") == 1  # an empty icon


def test_a_notebook_frame_is_sandboxed() -> None:
    frame = notebook_frame(Document.of(_hostile_model(), title="t"))
    assert "allow-same-origin" not in frame
    assert "<script" not in frame


def test_models_of_some_variables_given_others_are_refused(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 2, 2), 80)
    model = learn(rows, covariates=("x0",)).model
    assert "<iframe" not in model._repr_html_()
    with pytest.raises(InputError, match="covariates"):
        Document.of(model, title="t")
