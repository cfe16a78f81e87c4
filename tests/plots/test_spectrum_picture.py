"""Pictures of spectra."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mrfit.analysis.spectrum.spectrum_plot import OrderLoss, SpectrumCurve, draw_spectra, draw_spectrum
from mrfit.plots.page import save_figure
from readable import assert_readable

CURVE = SpectrumCurve("flat-l1, 8", [0.2, 0.05, 0.0], [1.0, 0.5, 0.0])


def test_zeros_stand_below_a_log_scale() -> None:
    """Zeros are open circles at a labelled tick; the line ends before them."""
    sizes, densities = draw_spectrum(CURVE).axes[1:]
    np.testing.assert_array_equal(sizes.lines[0].get_ydata(), [0.2, 0.05, np.nan])
    np.testing.assert_array_equal(densities.lines[0].get_ydata(), [100.0, 50.0, 0.0])
    assert sizes.get_yscale() == "log"
    assert sizes.get_xlim() == densities.get_xlim() == (0.5, 3.5)
    assert sizes.get_title(loc="left") == "flat-l1, 8"
    marks = sizes.lines[1]
    assert marks.get_markerfacecolor() == "white"
    assert marks.get_linestyle() == "None"
    np.testing.assert_array_equal(marks.get_xdata(), [3])
    (place,) = marks.get_ydata()
    assert sizes.get_ylim()[0] < place < 0.05
    labels = dict(zip(sizes.get_yticks(), (label.get_text() for label in sizes.get_yticklabels()), strict=True))
    assert labels[place] == "0"
    assert len(labels) > 1


@pytest.mark.parametrize("means", [[0.2, 0.19], [1.0, 1e-12], [0.3, 0.0], [0.0, 0.0], [1e-3, 0.0, 1e-9]])
def test_awkward_sizes_are_readable(means: list[float]) -> None:
    """No zero mark without a zero; ticks that do not collide."""
    figure = draw_spectrum(SpectrumCurve("flat-l1, strength 22.6", means, [0.5] * len(means)), title="a", subtitle="b")
    assert_readable(figure)
    assert len(figure.axes[1].lines) == (3 if 0.0 in means else 1)


def test_losses_have_a_panel_of_their_own_with_their_errors() -> None:
    """Errors of differences stand on the differences, not on scores; the best has a ring and no bar."""
    losses = [OrderLoss("1", 0.2, 0.1), OrderLoss("2", 0.0, 0.0), OrderLoss("all", 0.01, 0.002)]
    figure = draw_spectrum(CURVE, losses, title="a table")
    axes = figure.axes[3]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "all"]
    ((line, _, (bars,)),) = axes.containers
    np.testing.assert_array_equal(line.get_ydata(), [0.2, 0.0, 0.01])
    np.testing.assert_allclose([np.ptp(bar[:, 1]) for bar in bars.get_segments()], [0.2, 0.0, 0.004])
    (ring,) = (line for line in axes.lines if line.get_markerfacecolor() == "none")
    np.testing.assert_array_equal(ring.get_xydata(), [(1, 0)])
    assert "loss against the best, nats a row" in axes.get_ylabel()
    assert "standard error" in axes.get_ylabel()
    assert [text.get_text() for text in axes.texts] == ["0.2\n± 0.1", "best", "0.01\n± 0.002"]
    assert_readable(figure)


def test_several_tables_have_a_colour_each_and_a_style_for_each_estimator(tmp_path: Path) -> None:
    figure = draw_spectra({"one": [CURVE, CURVE], "other": [CURVE]})
    sizes, densities = figure.axes[1:]
    lines = [line for line in sizes.lines if len(line.get_xdata()) == 3]
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-"]
    assert lines[0].get_color() == lines[1].get_color() != lines[2].get_color()
    assert [text.get_text() for text in densities.get_legend().get_texts()] == ["one", "other"]
    save_figure(figure, tmp_path / "spectra.svg")
    assert (tmp_path / "spectra.svg").read_bytes().startswith(b"<?xml")


def test_densities_are_left_out_if_no_parameter_is_zero() -> None:
    """Pseudo-counts give such densities: a line at 100 % says nothing."""
    dense = SpectrumCurve("pseudo-counts, 1", [0.2, 0.05, 0.01], [1.0, 1.0, 1.0])
    assert len(draw_spectrum(dense).axes) == 2
    losses = [OrderLoss("1", 0.2, 0.1), OrderLoss("2", 0.0, 0.0), OrderLoss("all", 0.01, 0.002)]
    figure = draw_spectrum(dense, losses)
    assert len(figure.axes) == 3
    assert figure.axes[2].get_xlabel() == "variables in the largest sets"
