"""Pages of pictures, in inches: axes, fitted text, and files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.formats.output_file import check_writable, write_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SUFFIXES = (".png", ".svg", ".pdf")
DPI = 150

# On paper, in inches.
WIDTH = 8.0  # of pages whose width does not depend on the content
MARGIN = 0.15  # left and right of all text
TITLE, SUBTITLE = 0.42, 0.22  # heights
_SCALE, _KEY = 0.55, 0.35  # heights below and above axes that fill a page

# Okabe and Ito (2008), distinct for colour-blind eyes too; their yellow is too pale for lines and left out.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")


class Page:
    """A figure covered by one set of axes without scales, in inches from the lower left corner.

    ``height`` is that of the picture; title and subtitle, if given, are added on top.
    """

    def __init__(self, width: float, height: float, title: str | None = None, subtitle: str | None = None) -> None:
        from matplotlib.figure import Figure

        head = TITLE * bool(title) + SUBTITLE * bool(subtitle) or 0.1
        self.width, self.ceiling, self.height = width, height, height + head
        self.figure = Figure(figsize=(self.width, self.height), dpi=DPI, facecolor="white")
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()
        self.axes.set(xlim=(0, self.width), ylim=(0, self.height), autoscale_on=False)
        length = self.width - 2 * MARGIN
        if title:
            wide = text_width(printable(title), 13)
            size = 13 * float(np.clip(length / max(wide, 1e-9), 9 / 13, 1.0))
            self.text(cut(title, length, size), MARGIN, self.height - 0.25, size=size)
        if subtitle:
            y = self.ceiling + 0.65 * SUBTITLE
            self.text(cut(subtitle, length, 9), MARGIN, y, size=9, color="0.3")

    def text(self, text: str, x: float, y: float, **style: Any) -> None:
        self.axes.text(x, y, text, parse_math=False, va="center", **style)

    def panel(self, left: float, floor: float, width: float, height: float) -> Axes:
        """Add axes with scales on a part of the page."""
        return plain(self._part(left, floor, width, height))

    def _part(self, left: float, floor: float, width: float, height: float) -> Axes:
        axes = self.figure.add_axes((0, 0, 1, 1), facecolor="none")
        self.move(axes, left, floor, width, height)
        return axes

    def move(self, axes: Axes, left: float, floor: float, width: float, height: float) -> None:
        """Move axes to another part of the page."""
        axes.set_position((left / self.width, floor / self.height, width / self.width, height / self.height))


class HostedPage(Page):
    """A page on a user's axes, as large as they are when it is drawn, in inches too.

    The title is that of the axes. Panels are inset axes, which move with them.
    """

    def __init__(self, axes: Axes, title: str | None = None) -> None:
        axes.set_axis_off()
        if title:
            axes.set_title(printable(title), parse_math=False)
        self.figure, self.axes, (self.width, self.height) = axes.figure.canvas.figure, axes, size_of(axes)
        self.ceiling = self.height
        # Equal: circles stay circles if the axes change afterwards.
        axes.set(xlim=(0, self.width), ylim=(0, self.height), autoscale_on=False, aspect="equal")

    def text(self, text: str, x: float, y: float, **style: Any) -> None:
        # Outside the layout: an engine that reserved space for the text would shrink the axes that contain it.
        super().text(text, x, y, in_layout=False, **style)

    def _part(self, left: float, floor: float, width: float, height: float) -> Axes:
        bounds = (left, floor, width, height)
        return self.axes.inset_axes(bounds, transform=self.axes.transData, facecolor="none", in_layout=False)


def new_axes(width: float, height: float) -> Axes:
    """Return axes that cover a new pyplot figure, which notebooks show."""
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), facecolor="white").add_axes((0, 0, 1, 1))


def new_panel(width: float, height: float) -> Axes:
    """Return axes with scales in a new pyplot figure, whose layout fits labels."""
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), facecolor="white", layout="constrained").add_subplot()


def plain(axes: Axes) -> Axes:
    """Remove the frame, and use small letters."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    return axes


def size_of(axes: Axes) -> tuple[float, float]:
    """Return width and height in inches, after a layout engine has run."""
    figure = axes.figure.canvas.figure
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
    return axes.bbox.width / figure.dpi, axes.bbox.height / figure.dpi


def own_axes(
    height: float, *, left: float, right: float = 0.25, title: str | None = None, subtitle: str | None = None
) -> Axes:
    """Return axes of a given height on a page of their own, with space for a scale below and for a key above them."""
    page = Page(WIDTH, _SCALE + height + _KEY, title, subtitle)
    return page.panel(left, _SCALE, WIDTH - left - right, height)


def draw_key(axes: Axes) -> None:
    """Draw a key of all labelled elements, in a line above the axes."""
    handles, _ = axes.get_legend_handles_labels()
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=max(len(handles), 1), frameon=False, fontsize=8.5,
        borderaxespad=0.2, handletextpad=0.5, columnspacing=1.4,
    )  # fmt: skip


def name_lines(axes: Axes, names: Sequence[str], width: float) -> None:
    """Label one line of the axes for each name, from below, at 0.5, 1.5 and so on; long names are cut to a width."""
    axes.set(ylim=(0, len(names)), yticks=np.arange(len(names)) + 0.5)
    axes.set_yticklabels([cut(name, width, 8) for name in names], size=8, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def apart(wanted: Floats, lengths: Floats, low: float, high: float) -> Floats:
    """Return centres of disjoint intervals of these lengths between low and high, nearest to and in the order wanted.

    With the lengths of the intervals before subtracted, "in order and disjoint" becomes "ascending": isotonic
    regression, whose bounded solution is the free one, clipped.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(wanted, kind="stable")
    before = np.cumsum(lengths[order]) - lengths[order] / 2
    free = isotonic_regression(np.asarray(wanted, np.float64)[order] - before).x
    centres = np.empty(len(wanted))
    centres[order] = np.clip(free, low, max(low, high - float(lengths.sum()))) + before
    return centres


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure to a .png, .svg or .pdf file, whole or not at all; equal figures give equal files."""
    check_figure_path(path)
    write_output(path, figure_bytes(figure, Path(path).suffix.lower()))


def figure_bytes(figure: Figure, suffix: str) -> bytes:
    """Return the content of a figure's file, as .png, .svg or .pdf."""
    import matplotlib

    # Dates and random identifiers would make every file different.
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[suffix]
    # PDF files embed fonts as TrueType: journals require it, and programs can edit and search the text.
    settings: Any = {"svg.hashsalt": "mrfit", "savefig.bbox": None, "pdf.fonttype": 42}
    buffer = io.BytesIO()
    with matplotlib.rc_context(settings), _quiet_about_glyphs():
        figure.savefig(buffer, format=suffix[1:], dpi=DPI, metadata=metadata)
    return buffer.getvalue()


def check_figure_path(path: str | Path) -> None:
    """Refuse a path to which `save_figure` could not write, before the work and not after it."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(
            f"The name {Path(path).name!r} does not name a type of picture; let it end in .png, .svg or .pdf."
        )
    check_writable(path)


# --- text


def printable(text: str) -> str:
    """Return one line of printable characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


@lru_cache(maxsize=10_000)  # names are measured many times
def text_width(text: str, size: float) -> float:
    """Return the width of a text in inches, without drawing."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with _quiet_about_glyphs():
        points, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(points) / 72


@contextmanager
def _quiet_about_glyphs() -> Iterator[None]:
    """Silence warnings on letters that the font lacks, which are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(?s).*Glyph .* missing from")
        yield


def cut(text: str, width: float, size: float) -> str:
    """Cut a text to ``width`` inches."""
    text = printable(text)
    if text_width(text, size) <= width:
        return text
    n_fit = int(np.searchsorted([text_width(text[:n] + "…", size) for n in range(len(text))], width, side="right"))
    return text[: max(n_fit - 1, 0)].rstrip() + "…"


def count(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def decimal(value: float, digits: int, *, sign: str = "-") -> str:
    """Format a number with a true minus; and with a plus, if ``sign`` is one."""
    return f"{value:{sign}.{digits}g}".replace("-", "\N{MINUS SIGN}")
