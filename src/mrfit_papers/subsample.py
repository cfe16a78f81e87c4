"""Small training sets: subsets of a data set, or draws from a network whose parameters take few values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from mrfit import Domain, FixedStructure, MarkovNetwork, Structure, UniqueRows
from mrfit.data.named_datasets import named_set
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.simple import StructureLearner
from mrfit_papers.benchmark_rows import Prepared, read

ALL = 0  # stands in for the number of all rows
TIED = "tied grid"  # not a data set: draws from a network whose parameters take few values
SIDE = 5  # of the grid


@lru_cache(maxsize=1)
def subsample(name: str, n_rows: int, seed: int, learned: StructureLearner) -> Prepared:
    """Return training rows and a quarter as many validation rows: small tables have few of both."""
    if name == TIED:
        model = tied_network()
        sizes = (n_rows, max(25, n_rows // 4), 20_000)
        rows, valid, test = (UniqueRows.of(model.sample(n, seed=10 * seed + k)) for k, n in enumerate(sizes))
        return Prepared.of(rows, valid, test, FixedStructure(grid_structure()))
    rows, valid, test = read(name)
    if n_rows == ALL:
        return Prepared.of(rows, valid, test, learned)
    rng = np.random.default_rng([seed, n_rows])
    return Prepared.of(_some(rows, n_rows, rng), _some(valid, max(25, n_rows // 4), rng), test, learned)


def _some(rows: UniqueRows, n_rows: int, rng: np.random.Generator) -> UniqueRows:
    """Draw rows without replacement, or return all of them if they are too few."""
    counts = rows.sample_weight.astype(np.int64)
    taken = rng.multivariate_hypergeometric(counts, min(n_rows, int(counts.sum())), method="marginals")
    return UniqueRows.from_codes(rows.domain, rows.codes[taken > 0], taken[taken > 0].astype(np.float64))


def sizes_of(name: str, sizes: Sequence[int], *, whole: bool) -> list[int]:
    """Return numbers of rows below the size of a set, and that of all rows."""
    if name == TIED:
        return list(sizes)
    most = next(file.rows for file in named_set(name).files if file.split == "train")
    return [n for n in sizes if n < most] + ([ALL] if whole else [])


def grid_structure() -> Structure:
    """Return the structure of a square grid."""
    number = np.arange(SIDE**2).reshape(SIDE, SIDE)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    return Structure.from_scopes(SIDE**2, np.concatenate([across, down]).tolist())


def tied_network() -> MarkovNetwork:
    """Return a grid of 25 binary variables whose 65 parameters take four values: -1, -0.4, 0.5 and 1.2."""
    domain = Domain.from_states({f"x{i}": ["0", "1"] for i in range(SIDE**2)})
    parameters = Canonical(domain, grid_structure())
    single = parameters.order_of_parameter == 1
    w = np.empty(parameters.n_parameters)
    rng = np.random.default_rng(0)
    for chosen, values in ((single, (-1.0, -0.4)), (~single, (0.5, 1.2))):
        w[chosen] = rng.permutation(np.resize(values, int(chosen.sum())))
    return MarkovNetwork(parameters, w)
