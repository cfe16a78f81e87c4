"""Pictures on axes of the user: drawn there and nowhere else, and returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import mrfit
from mrfit.core.errors import InputError
from mrfit.structures.structure import Structure


@cache
def rows() -> mrfit.UniqueRows:
    """b says the opposite of a; c, with three states, goes with a; $d$ with nothing."""
    draw = np.random.default_rng(0)
    a = draw.integers(0, 2, 400)
    b, c = (1 - a) ^ (draw.random(400) < 0.2), a + (draw.random(400) < 0.3)
    return mrfit.UniqueRows.from_dataset(
        mrfit.Dataset.from_table({"a": a, "b": b, "c": c, "$d$": draw.integers(0, 2, 400)})
    )


@cache
def fitted(**options: Any) -> mrfit.FitResult:
    return mrfit.learn(rows(), **options)


def _model() -> mrfit.MarkovNetwork:
    return fitted(penalty=mrfit.L1((30.0, 60.0)), folds=2).model


def _with_all_pairs(model: mrfit.MarkovNetwork) -> mrfit.MarkovNetwork:
    """Return the same distribution with all pairs; added pairs have zeros."""
    every = model.parameters.on(Structure.complete(len(model.domain)))
    return replace(model, parameters=every, w=every.spread(model.parameters, model.w))


def _tied() -> mrfit.FitResult:
    return fitted(penalty=mrfit.SoftTied(groups=(1, 2), strength=(1.0,)), folds=2)


@cache
def _spectrum() -> Any:
    return mrfit.interaction_spectrum(rows(), folds=2, strengths=(20.0,))


Plot = Callable[..., Axes]
PLOTS: dict[str, Plot] = {
    "network": lambda ax=None, **how: mrfit.plot_network(_model(), ax, **how),
    "circle": lambda ax=None, **how: mrfit.plot_network(_model(), ax, layout="circle", **how),
    "marginals": lambda ax=None, **how: mrfit.plot_marginals(_model().marginals(), ax, **how),
    "before and after": lambda ax=None, **how: mrfit.plot_marginals(
        _model().marginals(evidence={"a": 1}), ax, before=_model().marginals(), **how
    ),
    "parameters": lambda ax=None, **how: mrfit.plot_parameters(_model(), ax, **how),
    "tied parameters": lambda ax=None, **how: mrfit.plot_parameters(_tied().model, ax, **how),
    "scores": lambda ax=None, **how: mrfit.plot_scores(fitted(penalty=mrfit.L1((30.0, 60.0)), folds=2), ax, **how),
    "tied scores": lambda ax=None, **how: mrfit.plot_scores(_tied(), ax, **how),
    "spectrum": lambda ax=None, **how: mrfit.plot_spectrum(_spectrum(), ax, **how),
}


@pytest.fixture(autouse=True)
def _no_figure_stays_open() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.mark.parametrize(("name", "layout"), [*((name, None) for name in PLOTS), ("network", "constrained")])
def test_they_are_drawn_on_the_axes_given(name: str, layout: Any) -> None:
    figure = Figure(figsize=(11, 4), layout=layout)
    other, mine = figure.subplots(1, 2)
    assert PLOTS[name](mine, title="$a title") is mine
    FigureCanvasAgg(figure).draw()
    assert mine.get_title() == "$a title"
    assert figure.axes == [other, mine]
    assert not other.has_data()
    assert mine.has_data()
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("name", PLOTS)
def test_without_axes_they_make_a_figure_that_notebooks_show(name: str) -> None:
    axes = PLOTS[name]()
    assert pyplot.get_fignums() == [axes.figure.number]
    axes.figure.canvas.draw()


@pytest.mark.parametrize("name", ["network", "before and after", "tied parameters"])
def test_words_stay_on_the_axes(name: str) -> None:
    """Six inches are enough for a few variables."""
    figure = Figure(figsize=(6, 4))
    axes = PLOTS[name](figure.add_axes((0, 0, 1, 1)))
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = np.array([text.get_window_extent(renderer).get_points() for text in axes.texts if text.get_text()])
    assert len(boxes) > 5
    assert boxes.min() > -1
    assert (boxes < figure.bbox.size + 1).all()


def test_only_edges_that_are_not_zero_are_drawn_with_the_sign_they_have() -> None:
    """One parameter has a sign; several have none and are dotted. A file may hold pairs whose parameters are zero."""
    model = _with_all_pairs(_model())
    assert np.count_nonzero(model.edge_weights) < len(model.edge_weights) == 6
    signs = dict(zip(map(tuple, model.structure.edges.tolist()), model.edge_signs.tolist(), strict=True))
    assert signs[0, 1] == -1
    assert signs[0, 2] == 0
    axes = mrfit.plot_network(model, Figure().subplots())
    (lines,) = (item for item in axes.collections if isinstance(item, LineCollection))
    assert len(lines.get_paths()) == np.count_nonzero(model.edge_weights)
    assert "1 variable without an edge:" in {text.get_text() for text in axes.texts}


def test_of_more_variables_than_fit_those_that_moved_most_are_drawn() -> None:
    figure = Figure(figsize=(6, 1.2))
    axes = mrfit.plot_marginals(
        _model().marginals(evidence={"a": 1}), figure.add_axes((0, 0, 1, 1)), before=_model().marginals()
    )
    words = {text.get_text() for text in axes.texts}
    assert "b = 1" in words
    assert "$d$ = 1" not in words


def test_scores_need_rows_that_were_held_out() -> None:
    with pytest.raises(InputError, match="no held-out scores to draw"):
        mrfit.plot_scores(fitted(), Figure().subplots())


def test_scores_of_validation_rows_have_errors_where_the_rows_are_given() -> None:
    learned = mrfit.Learner(penalty=mrfit.L1((30.0, 60.0))).fit(rows(), valid=rows())
    without = mrfit.plot_scores(learned, Figure().subplots())
    assert len(without.containers) == 0
    with_errors = mrfit.plot_scores(learned, Figure().subplots(), valid=rows())
    assert len(with_errors.containers) == 1  # the best is what the other is compared with
