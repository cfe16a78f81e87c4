"""Changes of names and order that must not change the distribution."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.core.domain import Domain
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.specification import learn
from mrfit.structures.structure import Structure
from populations import domain_of, full_rows, random_codes
from words import learner

TIGHT = 1e-10


def _scopes(n: int) -> list[tuple[int, ...]]:
    return [(i, (i + 1) % n) for i in range(n)] + [(0, 1, 2)]


@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (2, 3, 4, 2)])
def test_the_order_of_columns_is_not_seen(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """L2 in canonical coordinates does not depend on it, so scores of rows stay the same."""
    codes = random_codes(rng, shape, 80)
    order = rng.permutation(len(shape))
    place = np.argsort(order)
    scopes = _scopes(len(shape))
    moved = [tuple(int(place[i]) for i in scope) for scope in scopes]
    permuted_domain = Domain(tuple(domain_of(shape)[int(i)] for i in order))
    scores = []
    for domain, table, generators in ((domain_of(shape), codes, scopes), (permuted_domain, codes[:, order], moved)):
        dataset = Dataset(domain, table)
        structure = Structure.from_scopes(len(shape), generators)
        fit = learn(UniqueRows.from_dataset(dataset), structure, learner((0.5,), tolerance=TIGHT)).best
        scores.append(fit.model.pll_rows(dataset))
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-7)


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 4)])
def test_the_order_of_states_is_not_seen_without_a_penalty(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """A closed structure is one family of distributions whatever the reference states are."""
    rows = full_rows(rng, shape)
    orders = [rng.permutation(c) for c in shape]
    table = np.stack([np.argsort(order)[rows.codes[:, i]] for i, order in enumerate(orders)], axis=1)
    relabelled = Domain.from_states(
        {v.name: [v.states[k] for k in order] for v, order in zip(rows.domain, orders, strict=True)}
    )
    settings = learner((1.0,), free_orders=(1, 2), tolerance=TIGHT)
    other_rows = UniqueRows.from_codes(relabelled, table.astype(np.uint8), rows.sample_weight)
    one, other = (learn(r, Structure.complete(len(shape)), settings).best.model for r in (rows, other_rows))
    np.testing.assert_allclose(
        one.pll_rows(Dataset(rows.domain, rows.codes)),
        other.pll_rows(Dataset(relabelled, table)),
        atol=1e-7,
    )


def test_every_coding_of_two_states_is_the_same_table(rng: np.random.Generator) -> None:
    """0/1, spins, booleans and words give the same parameters, bit for bit."""
    bits = random_codes(rng, (2, 2, 2, 2), 60)
    tables = {
        "0/1": bits.astype(int),
        "spins": 2 * bits.astype(int) - 1,
        "booleans": bits.astype(bool),
        "floats": bits.astype(float),
        "words": np.where(bits == 1, "yes", "no"),
    }
    models = {}
    for name, table in tables.items():
        rows = UniqueRows.from_dataset(Dataset.from_table(table))
        models[name] = learn(rows, Structure.complete(4)).best.model
    for name, model in models.items():
        np.testing.assert_array_equal(model.w, models["0/1"].w, err_msg=name)
        np.testing.assert_array_equal(model.pll_rows(tables[name]), models["0/1"].pll_rows(bits), err_msg=name)


@pytest.mark.parametrize("counts", [(3, 5), (7, 2, 1), (1, 1, 1, 40, 2)])
def test_pseudo_likelihood_of_one_variable_is_likelihood(counts: tuple[int, ...]) -> None:
    """Parameters tend to log-odds of frequencies, and the score to minus the entropy, as the strength falls."""
    rows = UniqueRows.from_codes(
        domain_of((len(counts),)), np.arange(len(counts), dtype=np.uint8)[:, None], np.array(counts, float)
    )
    frequency = np.array(counts) / sum(counts)
    for settings in (learner((1e-9,), tolerance=TIGHT), learner((1.0,), free_orders=(1,), tolerance=TIGHT)):
        fit = learn(rows, Structure.independent(1), settings).best
        np.testing.assert_allclose(fit.model.w, np.log(frequency[1:] / frequency[0]), atol=1e-6)
        assert fit.train_pll == pytest.approx(frequency @ np.log(frequency), abs=1e-9)


def test_independent_variables_are_scored_apart(rng: np.random.Generator) -> None:
    """Every marginal is the table of its own variable."""
    rows = full_rows(rng, (2, 3, 4))
    fit = learn(rows, Structure.independent(3), learner((1.0,), free_orders=(1,), tolerance=TIGHT)).best
    expected = 0.0
    for i, c in enumerate(rows.domain.shape):
        p = np.bincount(rows.codes[:, i], rows.sample_weight, c) / rows.total_weight
        expected += p @ np.log(p)
    assert fit.train_pll == pytest.approx(expected, abs=1e-9)


def test_a_saturated_model_has_the_empirical_conditionals(rng: np.random.Generator) -> None:
    """Log p(x) is the log of the frequencies up to a constant, with all scopes and no penalty."""
    rows = full_rows(rng, (2, 3, 2))
    settings = learner((1.0,), free_orders=(1, 2, 3), tolerance=1e-11)
    model = learn(rows, Structure.up_to_order(3, 3), settings).best.model
    joint = np.zeros(rows.domain.shape)
    joint[tuple(rows.codes.T)] = rows.sample_weight
    expected = sum(np.log(joint) - np.log(joint.sum(axis=i, keepdims=True)) for i in range(3))
    found = model.pll_rows(Dataset(rows.domain, rows.codes))
    np.testing.assert_allclose(found, expected[tuple(rows.codes.T)], atol=1e-7)
