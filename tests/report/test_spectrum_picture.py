"""Pictures of spectra."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mrfit.report.page import save_figure
from mrfit.report.spectrum import OrderScore, SpectrumCurve, draw_spectra, draw_spectrum

CURVE = SpectrumCurve("flat-l1, 8", [0.2, 0.05, 0.0], [1.0, 0.5, 0.0])


def test_zeros_are_left_out_of_a_log_scale() -> None:
    sizes, densities = draw_spectrum(CURVE).axes[1:]
    np.testing.assert_array_equal(sizes.lines[0].get_ydata(), [0.2, 0.05, np.nan])
    np.testing.assert_array_equal(densities.lines[0].get_ydata(), [100.0, 50.0, 0.0])
    assert sizes.get_yscale() == "log"
    assert sizes.get_xlim() == densities.get_xlim() == (0.5, 3.5)
    assert sizes.get_legend().get_texts()[0].get_text() == "flat-l1, 8"


def test_scores_have_a_panel_of_their_own() -> None:
    figure = draw_spectrum(CURVE, [OrderScore("1", 3.2, 0.1), OrderScore("all", 3.0, 0.0)], title="a table")
    assert [label.get_text() for label in figure.axes[3].get_xticklabels()] == ["1", "all"]
    np.testing.assert_array_equal(figure.axes[3].lines[0].get_ydata(), [3.2, 3.0])


def test_several_tables_have_a_colour_each_and_a_style_for_each_estimator(tmp_path: Path) -> None:
    figure = draw_spectra({"one": [CURVE, CURVE], "other": [CURVE]})
    sizes, densities = figure.axes[1:]
    assert [line.get_linestyle() for line in sizes.lines] == ["-", "--", "-"]
    assert sizes.lines[0].get_color() == sizes.lines[1].get_color() != sizes.lines[2].get_color()
    assert [text.get_text() for text in densities.get_legend().get_texts()] == ["one", "other"]
    save_figure(figure, tmp_path / "spectra.svg")
    assert (tmp_path / "spectra.svg").read_bytes().startswith(b"<?xml")
