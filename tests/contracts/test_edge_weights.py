"""An edge weight belongs to the distribution: no change of coordinates, reference states or coding changes it."""

from __future__ import annotations

import numpy as np
import pytest

import mrfit
from mrfit import MarkovNetwork
from mrfit.core.factors import Factors
from mrfit.formats.mrf_network import to_model
from mrfit.model.factor_network import FactorNetwork
from mrfit.parameterizations.ordered import Ordered
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.registry import PARAMETERIZATIONS
from mrfit.structures.structure import Structure
from populations import domain_of

SHAPES = {
    "two": (2, 2, 2, 2),
    "three": (3, 3, 3),
    "five": (5, 5, 5),
    "mixed": (2, 3, 5, 2),
}
WORDS = ("canonical", "spectral", "full", "ising", "generalized-ising", "ordered")
REFERENCES = ("first", "last", "random")


def _scores(model: MarkovNetwork) -> list[np.ndarray | None]:
    """Plain: 0 and 1 for two states, those of ordered variables, none for categories."""
    found: list[np.ndarray | None] = []
    for i, variable in enumerate(model.domain):
        parameters = model.parameters
        if variable.n_states == 2:
            found.append(np.array([0.0, 1.0]))
        elif isinstance(parameters, Ordered) and i in (parameters.ordered or ()):
            found.append(np.array(dict(parameters.scores).get(i, range(variable.n_states)), float))
        else:
            found.append(None)
    return found


def _plain(model: MarkovNetwork) -> dict[tuple[int, int], float]:
    """Edge weights from log p of all joint states: the mean table of each pair, centered; its slope, or its norm."""
    shape = model.domain.shape
    log_p = model.factors.log_potential(np.array(list(np.ndindex(*shape)))).reshape(shape)
    scores, found = _scores(model), {}
    for a, b in model.structure.edges.tolist():
        table = log_p.mean(axis=tuple(i for i in range(len(shape)) if i not in (a, b)))
        table = (np.eye(shape[a]) - 1 / shape[a]) @ table @ (np.eye(shape[b]) - 1 / shape[b])
        u, v = scores[a], scores[b]
        if u is None or v is None:
            found[a, b] = float(np.linalg.norm(table))
        else:
            products = np.outer(u - u.mean(), v - v.mean()).ravel()
            found[a, b] = float(np.linalg.lstsq(products[:, None], table.ravel(), rcond=None)[0][0])
    return found


def _weights(model: MarkovNetwork) -> dict[tuple[int, int], float]:
    return dict(zip(map(tuple, model.structure.edges.tolist()), model.edge_weights.tolist(), strict=True))


def _model(word: str, shape: tuple[int, ...], order: int, rng: np.random.Generator) -> MarkovNetwork:
    parameters: Parameterization
    structure = Structure.up_to_order(len(shape), order)
    if word == "ordered":
        large = tuple(i for i, c in enumerate(shape) if c > 2)
        own = ((large[0], tuple(np.cumsum(rng.uniform(0.5, 2.0, shape[large[0]])))),) if large else ()
        parameters = Ordered(domain_of(shape), structure, ordered=large[:2] or (0,), scores=own)
    else:
        parameters = PARAMETERIZATIONS[word](domain_of(shape), structure)
    return MarkovNetwork(parameters, rng.normal(size=parameters.n_parameters))


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("word", WORDS)
def test_no_change_of_coordinates_changes_a_weight(word: str, name: str, order: int, rng: np.random.Generator) -> None:
    model = _model(word, SHAPES[name], min(order, len(SHAPES[name])), rng)
    expected = _plain(model)
    assert _weights(model) == pytest.approx(expected, abs=1e-9)
    for other in ("canonical", "spectral", "full"):
        for reference in REFERENCES if other == "canonical" else ("first",):
            changed = model.to_parameterization(other, reference=reference)
            assert _weights(changed) == pytest.approx(expected, abs=1e-9), (other, reference)
            assert changed.weighted_edges.unit == model.weighted_edges.unit
            assert changed.edge_signs.tolist() == model.edge_signs.tolist()


def test_tables_of_a_file_have_the_weights_of_the_model(rng: np.random.Generator) -> None:
    """Single variables and pairs spread over tables in any way."""
    model = _model("canonical", (2, 3, 2), 3, rng)
    apart = Factors.from_tables((2, 3, 2), [*zip(model.factors.scopes, model.factors.tables, strict=True),
                                            ((2, 0), [[1.0, 1.0], [-2.0, -2.0]])])  # fmt: skip
    assert _weights(to_model(FactorNetwork(model.domain, apart))) == pytest.approx(_weights(model), abs=1e-9)


@pytest.mark.parametrize("word", ["canonical", "spectral", "ising", "full"])
def test_signs_and_zeros_are_the_same_data(word: str, rng: np.random.Generator) -> None:
    """0/1, -1/+1 and words: the same rows, the same edge weights."""
    codes = rng.integers(0, 2, (200, 3))
    codes[:, 1] = np.where(rng.random(200) < 0.7, codes[:, 0], codes[:, 1])
    names = ["a", "b", "c"]
    fits = [
        mrfit.learn(
            {name: np.array(values)[codes[:, k]] for k, name in enumerate(names)},
            parameterization=word, penalty=mrfit.L2(strength=(1.0,)),
        ).model
        for values in ([0, 1], [-1, 1], ["no", "yes"])
    ]  # fmt: skip
    for other in fits[1:]:
        np.testing.assert_allclose(other.edge_weights, fits[0].edge_weights, atol=1e-9)
