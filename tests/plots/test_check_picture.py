"""The picture of a check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from mrfit.analysis.goodness.check_plot import draw_check
from mrfit.core.domain import Domain, Variable
from mrfit.core.factors import Factors
from mrfit.data.dataset import Dataset
from mrfit.model.factor_network import FactorNetwork
from mrfit.plots.page import save_figure
from phantom import phantom_mode


def _check(shape: tuple[int, ...], rng: np.random.Generator, n_rows: int = 50, **how: Any) -> Any:
    domain = Domain(tuple(Variable(f"x{i}", tuple(f"s{k}" for k in range(c))) for i, c in enumerate(shape)))
    codes = np.stack([rng.integers(0, c, n_rows) for c in shape], axis=1).astype(np.uint8)
    tables = [((i,), rng.normal(size=c)) for i, c in enumerate(shape)]
    return FactorNetwork(domain, Factors.from_tables(shape, tables)).check(Dataset(domain, codes), **how)


def _points(axes: Any) -> int:
    return sum(len(each.get_offsets()) for each in axes.collections if isinstance(each, PathCollection))


@pytest.mark.parametrize("shape", [(2,), (2, 2), (3, 4, 2), (1, 2), (2,) * 40])
@pytest.mark.parametrize("engine", ["auto", "ais"])
def test_any_shape(shape: tuple[int, ...], engine: str, rng: np.random.Generator, tmp_path: Path) -> None:
    """A point for every pair of indicators, and for every state; of two states the second."""
    figure = draw_check(_check(shape, rng, engine=engine, seconds=0.1), title="t")
    indicators = np.repeat(np.arange(len(shape)), np.array(shape) - 1)
    n_pairs = int((indicators[:, None] < indicators[None, :]).sum())
    n_states = len(indicators) if max(shape) <= 2 else sum(shape)
    assert _points(figure.axes[1]) == n_pairs + n_states
    save_figure(figure, tmp_path / "p.svg")


def test_one_row(rng: np.random.Generator, tmp_path: Path) -> None:
    save_figure(draw_check(_check((2, 2, 3), rng, n_rows=1)), tmp_path / "p.png")


def test_a_phantom_mode_is_in_the_subtitle_and_in_the_histogram(rng: np.random.Generator) -> None:
    factors, _, codes = phantom_mode(rng)
    domain = Domain(tuple(Variable(f"x{i}", ("0", "1")) for i in range(len(factors.shape))))
    check = FactorNetwork(domain, factors).check(Dataset(domain, codes.astype(np.uint8)))
    figure = draw_check(check, title="t")
    words = [text.get_text() for text in figure.axes[0].texts]
    assert any("a spurious mode has ≥ 0.99 of the model's probability: about 61 of 64" in text for text in words)
    low, high = figure.axes[2].get_xlim()
    assert low < 0
    assert high > 61
