"""Pictures of stability."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mrfit.errors import InputError
from mrfit.report.page import save_figure
from mrfit.report.stability import draw_case_drop, draw_edge_ranges
from mrfit.resampling.case_drop import CaseDrop
from mrfit.resampling.networks import Networks


def _networks(n: int, rng: np.random.Generator) -> Networks:
    n_pairs = n * (n - 1) // 2
    weights = rng.normal(size=(20, n_pairs)) * (rng.random((20, n_pairs)) < 0.7)
    return Networks(tuple(f"variable {k}" for k in range(n)), weights[0], weights[1:], {})


@pytest.mark.parametrize("n", [2, 5, 20])
def test_a_range_for_every_edge_up_to_sixty(n: int, rng: np.random.Generator, tmp_path: Path) -> None:
    edges = _networks(n, rng).edges()
    figure = draw_edge_ranges(edges, title="t", subtitle="s")
    (ranges,) = figure.axes[1].collections
    assert len(ranges.get_segments()) == min(len(edges), 60)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert any("more edges are not drawn" in text for text in said) is (len(edges) > 60)
    save_figure(figure, tmp_path / "p.pdf")


def test_infinite_ranges_end_at_the_frame(rng: np.random.Generator, tmp_path: Path) -> None:
    networks = _networks(3, rng)
    networks.weights[:3, 0] = np.inf
    figure = draw_edge_ranges(networks.edges())
    assert np.isfinite(figure.axes[1].get_xlim()).all()
    save_figure(figure, tmp_path / "p.png")


def test_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        draw_edge_ranges([])


def test_the_curve_has_the_line_and_the_coefficients(rng: np.random.Generator, tmp_path: Path) -> None:
    dropped = np.repeat([0.05, 0.4, 0.75], 5)
    values = {name: 1.0 - dropped * rng.random(15) for name in ("edges", "strength", "expected_influence")}
    figure = draw_case_drop(CaseDrop(dropped, values), title="t")
    assert any((np.asarray(line.get_ydata()) == 0.7).all() for line in figure.axes[1].lines)
    assert any(text.get_text().startswith("CS coefficients: edges ") for text in figure.axes[0].texts)
    save_figure(figure, tmp_path / "p.svg")
