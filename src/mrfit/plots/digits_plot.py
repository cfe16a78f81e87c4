"""The figure of `mrfit demo`: digits, the network learned from their pixels, and its held-out score."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mrfit.model.markov_network import MarkovNetwork
from mrfit.plots.drawn_edges import EdgeStyle, draw_edges

SIDE = 8


def digits_figure(
    pixels: NDArray[np.uint8],
    model: MarkovNetwork,
    positions: NDArray[np.float64],
    scores: Mapping[str, float],
) -> bytes:
    """Return a PNG with three panels.

    ``pixels`` are (rows, 64) zeros and ones, ``positions`` the position of each variable on the 8 x 8 grid,
    ``scores`` the held-out pseudo-log-likelihood of each structure, best last.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.4), layout="constrained")
    images, network, bars = figure.subplots(1, 3, width_ratios=(1, 1, 1.05))

    sheet = np.pad(pixels[:16].reshape(16, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
    size = SIDE + 2
    sheet = sheet.reshape(4, 4, size, size).swapaxes(1, 2).reshape(4 * size, 4 * size)
    images.imshow(sheet, cmap="gray_r", interpolation="nearest")
    images.set_title("Data: handwritten digits,\n64 yes/no pixels")

    edges, weights = model.structure.edges, model.edge_weights
    clearance, style = np.full(SIDE**2, 0.16), EdgeStyle((0.7, 3.2), (0.4, 1.0))
    draw_edges(network, positions, edges, weights, most=80, clearance=clearance, style=style)
    network.scatter(*positions.T, s=14, color="0.25", zorder=3)
    network.set(xlim=(-0.6, SIDE - 0.4), ylim=(SIDE - 0.4, -0.6), aspect="equal")
    network.set_title("Learned: the 80 strongest interactions\n(blue: alike, dashed red: opposite)")

    names, values = list(scores), np.array(list(scores.values()))
    bars.barh(names, -values, color=["0.75"] * (len(names) - 1) + ["#2166ac"])
    for position, value in enumerate(values):
        bars.text(-value, position, f" {-value:.2f}", va="center")
    bars.set(xlim=(0, 1.18 * -values.min()), xlabel="negative pseudo-log-likelihood per row, nats")
    bars.set_title("Loss on held-out rows by structure\n(shorter is better)")
    bars.spines[["top", "right"]].set_visible(False)
    for axes in (images, network):
        axes.set_xticks([])
        axes.set_yticks([])

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120, metadata={"Software": None})
    return buffer.getvalue()
