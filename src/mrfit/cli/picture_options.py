"""Options of pictures, shared by the commands that draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import stacked
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PICTURES = ".png, .svg or .pdf"

title_option = click.option(
    "--title", metavar="TEXT", help="Title of the picture; '' for none. By default the name of the data or model."
)

layout_options = stacked(
    click.option(
        "--layout",
        default="force",
        show_default=True,
        metavar="force|circle|FILE",
        help="Layout of the network: connected variables near each other (force), all on a circle, or the positions in "
        "a .csv (name,x,y) or .json FILE.",
    ),
    click.option(
        "--save-layout", metavar="FILE", help="Write the positions of variables to a .csv or .json file, for --layout."
    ),
)


def title_of(source: str, options: Mapping[str, Any]) -> str:
    """Return the --title, or a readable form of the source: a data set such as ``nltcs:train``, or a file."""
    if options["title"] is not None:
        return str(options["title"])
    name, colon, split = source.partition(":")
    if colon and split and not Path(source).exists() and not Path(source).suffix:
        return name if split == "data" else f"{name} ({split})"
    stem = Path(source).name.removesuffix(".gz")
    return Path(stem).stem or stem


def check_title(options: Mapping[str, Any], *plots: str) -> None:
    """A title needs a picture, which one of the options ``plots`` asks for, by default --plot."""
    plots = plots or ("--plot",)
    if options["title"] is not None and all(options[plot[2:].replace("-", "_")] is None for plot in plots):
        raise InputError(f"--title needs a picture; add {plots[0]} FILE.")


def check_layout(options: Mapping[str, Any]) -> None:
    """Complain about the options of a layout before the work is done."""
    from mrfit.plots.layout_file import check_layout_path

    if options["layout"] != "force" and options["plot"] is None and options["save_layout"] is None:
        raise InputError(f"--layout {options['layout']} needs a picture; add --plot FILE.")
    if options["save_layout"] is not None:
        check_layout_path(options["save_layout"])
    if options["layout"] not in ("force", "circle") and not Path(options["layout"]).exists():
        raise InputError(
            f"There is no layout {options['layout']!r}; choose force or circle, or name a file that exists."
        )


def given_layout(options: Mapping[str, Any], names: Sequence[str]) -> str | NDArray[np.float64]:
    """Return the layout that `network_figure` takes: a word, or the positions in a file."""
    from mrfit.plots.layout_file import read_layout

    word = options["layout"]
    return str(word) if word in ("force", "circle") else read_layout(word, names)
