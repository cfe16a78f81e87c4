"""The picture of `tying_recovery`: the share of tables in which all groups are found, and the theorem's bounds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Record
from mrfit.tying.recovery import METHODS

# Three of Okabe and Ito's colours and Tol's purple, told apart by all.
COLORS = dict(zip(METHODS, ("#D55E00", "#0072B2", "#009E73", "#AA4499"), strict=True))


def draw(records: list[Record], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.6), layout="constrained")
    kinds = list(dict.fromkeys(record["parameters"] for record in records))
    panels = figure.subplots(1, len(kinds), sharex=True, sharey=True, squeeze=False)[0]
    for axes, kind in zip(panels, kinds, strict=True):
        own = [record for record in records if record["parameters"] == kind]
        theory = {record["method"]: record for record in own if "method" in record}
        draw_curves(axes, [record for record in own if "rows" in record])
        draw_bounds(axes, theory)
        spread = "ω = {omega:.2g}, α = {alpha:.2g}, $C_{{min}}$ = {c_min:.2g}".format(**theory["soft tying"])
        axes.set_title(f"Parameters {kind}\n{spread}", fontsize=11, loc="left")
        axes.set(xscale="log", xlabel="rows", xlim=(1, 5e12), ylim=(-0.02, 1.03))
        axes.grid(axis="y", color="0.92")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("probability that all groups are found")
    figure.savefig(path, dpi=130)


def draw_curves(axes: Any, lines: list[Record]) -> None:
    """Curves that lie on each other are drawn in narrowing widths, to be seen below the next."""
    n_rows = [line["rows"] for line in lines]
    shown: dict[tuple[float, ...], list[str]] = {}
    for method in METHODS:
        shown.setdefault(tuple(line[method] for line in lines), []).append(method)
    for share, methods in shown.items():
        for above, method in zip(range(len(methods) - 1, -1, -1), methods, strict=True):
            axes.plot(n_rows, share, color=COLORS[method], marker="o", markersize=3.5, linewidth=1.5 + 2 * above)
    # The first curve to rise has its name on the left, where nothing else is; the others on the right.
    for place, share in enumerate(sorted(shown, key=sum, reverse=True)):
        height = 0.62 - 0.2 * place if place else 0.5
        x = float(np.exp(np.interp(height, share, np.log(n_rows))))
        name_curve(axes, shown[share], (x / 1.5, height) if place == 0 else (3e4, height), (x, height))


def name_curve(axes: Any, methods: list[str], at: tuple[float, float], curve_at: tuple[float, float]) -> None:
    """Names below each other, each in its own colour, and a stroke to the curve."""
    left = at[0] < curve_at[0]
    if not left:
        axes.plot((curve_at[0] * 1.15, at[0] / 1.3), (curve_at[1], at[1]), color="0.6", linewidth=0.8)
    for place, method in enumerate(methods):
        height = at[1] + 0.055 * ((len(methods) - 1) / 2 - place)
        axes.text(at[0], height, method, color=COLORS[method], ha="right" if left else "left", va="center")


def draw_bounds(axes: Any, theory: dict[str, Record]) -> None:
    for method in ("hard tying", "soft tying"):
        n_rows = theory[method]["theorem"]
        axes.axvline(n_rows, color=COLORS[method], linestyle="--", linewidth=1.2)
        exponent = math.floor(math.log10(n_rows))
        label = rf"Theorem 1, {method}: ${n_rows / 10**exponent:.0f} \times 10^{{{exponent}}}$ rows"
        style = {"rotation": 90, "ha": "right", "va": "center", "fontsize": 9}
        axes.text(n_rows * 0.75, 0.5, label, color=COLORS[method], **style)
