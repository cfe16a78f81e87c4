"""Text on a picture with one page and panels, and whether it can be read."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text


def panels_of(figure: Figure) -> list[Axes]:
    return figure.axes[1:]


def _texts(figure: Figure) -> list[Text]:
    return [text for axes in figure.axes for text in axes.texts]


def words_on(figure: Figure) -> list[str]:
    return [text.get_text() for text in _texts(figure)]


def _printed(figure: Figure) -> list[Text]:
    ticks = [
        tick.label1
        for panel in panels_of(figure)
        for axis in (panel.xaxis, panel.yaxis)
        for tick in axis.get_major_ticks()
        if axis.get_view_interval()[0] <= tick.get_loc() <= axis.get_view_interval()[1]
    ]
    names = [label for panel in panels_of(figure) for label in (panel.xaxis.label, panel.yaxis.label)]
    return [text for text in (*_texts(figure), *ticks, *names) if text.get_text()]


def assert_readable(figure: Figure) -> None:
    """No text crosses the border or another text."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    texts = _printed(figure)
    boxes = np.array([text.get_window_extent(canvas.get_renderer()).get_points() for text in texts])
    assert boxes.min() >= 0
    assert (boxes <= figure.bbox.size).all()
    upper = np.minimum(boxes[:, None, 1], boxes[None, :, 1])
    lower = np.maximum(boxes[:, None, 0], boxes[None, :, 0])
    pairs = np.argwhere(np.triu((upper - lower > 1.0).all(axis=2), 1))
    assert not [(texts[a].get_text(), texts[b].get_text()) for a, b in pairs]
