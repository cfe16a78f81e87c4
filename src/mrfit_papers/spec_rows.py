"""The data sets of Buchman et al. (2012), all binary: pooled, and split into equal thirds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mrfit import Dataset, Domain, UniqueRows
from mrfit.data.named_datasets import find, named_set

Codes = NDArray[np.uint8]

IN_FIGURES = ("nltcs", "yeast", "usps")  # the paper shows these, and reports that the others look alike
SETS = (*IN_FIGURES, "jokes", "flow", "rochdale", "czech")
SMALL = ("rochdale", "czech")

FLOW_IN_WORDS = (
    "flow has three levels a variable in the public copy; each is cut in two here, low against the rest or high "
    "against the rest, whichever divides the rows more evenly. The paper does not say how it cut them."
)

_FIRST_SEED = 1000


def parts_of(name: str) -> tuple[tuple[str, str], ...]:
    """Return the files that make up a data set."""
    splits = ("train", "valid", "test") if "train" in named_set(name).splits else ("data",)
    return tuple((name, split) for split in splits)


@lru_cache(maxsize=1)
def pooled(name: str) -> tuple[Domain, Codes]:
    """Return all rows, in the order of the files."""
    parts = [Dataset.from_file(find(*part)) for part in parts_of(name)]
    domain = parts[0].domain
    codes = np.concatenate([part.recoded(domain).codes for part in parts])
    return binarised(domain, codes) if max(domain.shape) > 2 else (domain, codes)


def all_rows(name: str) -> UniqueRows:
    domain, codes = pooled(name)
    return UniqueRows.from_codes(domain, codes, np.ones(len(codes)))


def thirds(name: str, split: int, *, seed: int = 0) -> tuple[UniqueRows, UniqueRows, UniqueRows]:
    """Return training, validation and test rows; every number of ``split`` divides all rows differently."""
    domain, codes = pooled(name)
    order = np.random.default_rng(_FIRST_SEED + seed + split).permutation(len(codes))
    third = len(codes) // 3
    parts = order[:third], order[third : 2 * third], order[2 * third :]
    train, valid, test = (UniqueRows.from_codes(domain, codes[part], np.ones(len(part))) for part in parts)
    return train, valid, test


def binarised(domain: Domain, codes: Codes) -> tuple[Domain, Codes]:
    """Cut ordered states in two, where this divides a variable's rows most evenly; of equal cuts the lower one."""
    binary = np.empty_like(codes)
    for column, n_states in enumerate(domain.shape):
        cuts = range(1, n_states)
        above = [np.count_nonzero(codes[:, column] >= cut) for cut in cuts]
        best = min(cuts, key=lambda cut: abs(2 * above[cut - 1] - len(codes)))
        binary[:, column] = codes[:, column] >= best
    return Domain.from_states(dict.fromkeys(domain.names, ("low", "high"))), binary
