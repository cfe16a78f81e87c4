"""Pictures of stability."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from mrfit.analysis.stability.case_dropping import CaseDrop
from mrfit.analysis.stability.resampled_networks import Networks
from mrfit.analysis.stability.stability_plot import draw_case_drop, draw_edge_ranges, draw_stability_paths
from mrfit.analysis.stability.stars import Stars
from mrfit.core.errors import InputError
from mrfit.plots.drawn_edges import NEGATIVE, POSITIVE
from mrfit.plots.page import save_figure


def save(axes: Axes, path: Path) -> None:
    save_figure(axes.figure, path)  # type: ignore[arg-type]


def _networks(n: int, rng: np.random.Generator) -> Networks:
    n_pairs = n * (n - 1) // 2
    weights = rng.normal(size=(20, n_pairs)) * (rng.random((20, n_pairs)) < 0.7)
    return Networks(tuple(f"variable {k}" for k in range(n)), weights[0], weights[1:], {})


@pytest.mark.parametrize("n", [2, 5, 20])
def test_a_range_for_every_edge_up_to_sixty(n: int, rng: np.random.Generator, tmp_path: Path) -> None:
    edges = _networks(n, rng).edges()
    axes = draw_edge_ranges(edges, title="t", subtitle="s")
    ranges, means = axes.collections
    assert isinstance(ranges, LineCollection)
    at = np.asarray(means.get_offsets())[:, 0]
    colours = [to_hex(colour) for colour in means.get_facecolors()]
    assert colours == [POSITIVE if mean > 0 else NEGATIVE for mean in at]
    assert len(ranges.get_segments()) == min(len(edges), 60)
    said = [text.get_text() for text in axes.figure.axes[0].texts]
    assert any("more edges are not drawn" in text for text in said) is (len(edges) > 60)
    save(axes, tmp_path / "p.pdf")


def test_infinite_ranges_end_at_the_frame(rng: np.random.Generator, tmp_path: Path) -> None:
    networks = _networks(3, rng)
    networks.weights[:3, 0] = np.inf
    axes = draw_edge_ranges(networks.edges())
    assert np.isfinite(axes.get_xlim()).all()
    save(axes, tmp_path / "p.png")


def test_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        draw_edge_ranges([])


def test_the_curve_has_the_line_and_the_coefficients(rng: np.random.Generator, tmp_path: Path) -> None:
    dropped = np.repeat([0.05, 0.4, 0.75], 5)
    values = {name: 1.0 - dropped * rng.random(15) for name in ("edges", "strength", "expected_influence")}
    axes = draw_case_drop(CaseDrop(dropped, values), title="t")
    assert any((np.asarray(line.get_ydata()) == 0.7).all() for line in axes.lines)
    assert any(text.get_text().startswith("CS coefficients: edges ") for text in axes.figure.axes[0].texts)
    save(axes, tmp_path / "p.svg")


def test_paths_are_named_where_they_are_stable(tmp_path: Path) -> None:
    inclusion = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.05], [1.0, 0.5, 0.5]])
    stars = Stars(np.array([8.0, 4.0, 2.0, 1.0]), inclusion)
    axes = draw_stability_paths(stars, ["a", "b", "c"], title="t")
    assert [text.get_text() for text in axes.texts] == ["a – b"]
    assert any((np.asarray(line.get_xdata()) == 2.0).all() for line in axes.lines)
    save(axes, tmp_path / "p.png")


def test_axes_that_are_given_are_used(rng: np.random.Generator) -> None:
    left, right = Figure(figsize=(9, 4)).subplots(1, 2)
    assert draw_edge_ranges(_networks(4, rng).edges(), ax=left) is left
    assert draw_stability_paths(Stars(np.array([2.0, 1.0]), np.array([[0.0], [1.0]])), ["a", "b"], ax=right) is right
