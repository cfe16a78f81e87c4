"""Distributions whose mass is not where one would look for it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mrfit.core.factors import Factors


def two_modes(n: int) -> tuple[Factors, float]:
    """All zeros, and all ones with e^8 times the mass; nothing probable between them. And log Z."""
    field = ((n * (n - 1)) // 2 - 8.0) / n
    tables = [((i,), [0.0, -field]) for i in range(n)]
    pairs = [((i, j), [0.0, 0.0, 0.0, 1.0]) for i in range(n) for j in range(i)]
    ones = np.arange(n + 1)
    log_binomial = np.cumsum([0.0, *(np.log((n - k) / (k + 1.0)) for k in range(n))])
    log_p = log_binomial + ones * (ones - 1) / 2.0 - field * ones
    return Factors.from_tables((2,) * n, [*tables, *pairs]), float(np.logaddexp.reduce(log_p))


def phantom_mode(rng: np.random.Generator) -> tuple[Factors, float, np.ndarray]:
    """A network learned by pseudo-likelihood, its exact log Z, and rows with the means of its data."""
    stored = json.loads(Path(__file__).with_name("phantom_mode.json").read_text(encoding="utf-8"))
    n = len(stored["fields"])
    tables = [((i,), [0.0, field]) for i, field in enumerate(stored["fields"])]
    pairs = [(pair, [0.0, 0.0, 0.0, j]) for pair, j in zip(stored["pairs"], stored["couplings"], strict=True)]
    rows = (rng.random((2000, n)) < stored["data_means"]).astype(np.int64)
    return Factors.from_tables((2,) * n, [*tables, *pairs]), stored["log_z"], rows
