"""Pictures of variables, on pages of their own and in axes that are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Wedge

from mrfit import MarkovNetwork
from mrfit.analysis.nodes.node_measures import NodeMeasures
from mrfit.analysis.nodes.node_plot import draw_centralities, draw_centrality, draw_node_network
from mrfit.core.errors import InputError
from mrfit.parameterizations.canonical import Canonical
from mrfit.plots.page import save_figure
from mrfit.structures.structure import Structure
from populations import domain_of


@pytest.fixture
def nodes(rng: np.random.Generator) -> NodeMeasures:
    parameters = Canonical(domain_of((2,) * 5), Structure.up_to_order(5, 2))
    model = MarkovNetwork(parameters, rng.normal(size=parameters.n_parameters))
    return model.nodes(model.sample(200))


def test_the_largest_is_on_top_with_its_range(nodes: NodeMeasures, tmp_path: Path) -> None:
    values = nodes.measures["strength"]
    axes = draw_centrality(nodes, ranges={"strength": (values - 0.5, values + np.inf)})
    assert axes.get_yticklabels()[-1].get_text() == nodes.names[int(values.argmax())]
    np.testing.assert_allclose(axes.lines[-1].get_xdata(), np.sort(values))
    assert np.isfinite(axes.get_xlim()).all()
    save_figure(axes.figure, tmp_path / "p.png")  # type: ignore[arg-type]


def test_measures_stand_side_by_side(nodes: NodeMeasures) -> None:
    figure = draw_centralities(nodes, ["strength", "expected_influence", "accuracy"], title="t", subtitle="s")
    assert [axes.get_xlabel() for axes in figure.axes[1:]] == ["node strength", "expected influence", "accuracy"]


def test_everything_is_drawn_into_axes_that_are_given(nodes: NodeMeasures) -> None:
    left, right = Figure(figsize=(8, 4)).subplots(1, 2)
    assert draw_centrality(nodes, "accuracy", ax=left) is left
    assert draw_node_network(nodes, ax=right) is right


def test_rings_are_filled_as_far_as_variables_are_predicted(nodes: NodeMeasures, tmp_path: Path) -> None:
    axes = draw_node_network(nodes, inclusion=np.linspace(0, 1, 10), title="t")
    assert nodes.predictability is not None
    known = nodes.predictability.normalised_accuracy
    turned = [patch.theta2 - patch.theta1 for patch in axes.patches if isinstance(patch, Wedge)]
    np.testing.assert_allclose(turned, 360 * known[known > 0])
    save_figure(axes.figure, tmp_path / "p.pdf")  # type: ignore[arg-type]


def test_what_cannot_be_drawn(nodes: NodeMeasures) -> None:
    with pytest.raises(InputError, match="no measure"):
        draw_centrality(nodes, "fame")
    model = MarkovNetwork(Canonical(domain_of((2, 2)), Structure.up_to_order(2, 2)), np.zeros(3))
    with pytest.raises(InputError, match="nothing to draw"):
        draw_node_network(model.nodes())
