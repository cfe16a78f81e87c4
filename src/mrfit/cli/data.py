"""`mrfit data`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.full_help import FullHelpGroup
from mrfit.cli.options import common
from mrfit.cli.output import print_json, say
from mrfit.cli.sections import SectionedCommand

_directory = click.option(
    "--data", "data_dir", metavar="DIR", help="Directory of the data sets; by default that of MRFIT_DATA, or a cache."
)


@click.group("data", cls=FullHelpGroup, guide=("Conventions", "conventions.md"))
def command() -> None:
    """List, download and locate named data sets.

    There are 20 benchmarks of density estimation, and tables of the log-linear literature. Use a set in the place of a
    file as NAME:SPLIT, such as nltcs:train.

    \b
    Examples:
      mrfit data list
      mrfit data get nltcs
      mrfit fit nltcs:train --valid nltcs:valid --strength 1,10 -o nltcs.mrf
    """


@command.command("list", cls=SectionedCommand)
@_directory
@common
def list_(data_dir: str | None, **options: Any) -> None:
    """List all data sets with their sizes."""
    from mrfit.data.named_datasets import catalogue, directory

    place = directory(data_dir)
    entries = [
        {
            "name": entry.name,
            "n_variables": entry.n_variables,
            "splits": {file.split: file.rows for file in entry.files},
            "present": all((place / file.path).is_file() for file in entry.files),
            "description": entry.description,
        }
        for entry in catalogue()
    ]
    if options["as_json"]:
        print_json({"directory": str(place), "sets": entries})
        return
    for entry in entries:
        splits = ", ".join(f"{split} {rows:,}" for split, rows in entry["splits"].items())  # type: ignore[attr-defined]
        here = "here" if entry["present"] else "-"
        say(f"{entry['name']:<13}{entry['n_variables']:>5} variables  {here:<5} {splits}")


@command.command("get", cls=SectionedCommand)
@click.argument("names", nargs=-1, required=True)
@_directory
@common
def get(names: tuple[str, ...], data_dir: str | None, **options: Any) -> None:
    """Download data sets, verify them and print their paths."""
    from mrfit.data.named_datasets import fetch, verify

    found = {}
    for name in names:
        fetch(name, data_dir)
        found[name] = [str(path) for path in verify(name, data_dir)]
    _print_paths(found, **options)


@command.command("path", cls=SectionedCommand)
@click.argument("name", metavar="NAME[:SPLIT]")
@_directory
@common
def path(name: str, data_dir: str | None, **options: Any) -> None:
    """Print the paths of the files of a data set."""
    from mrfit.data.named_datasets import find, named_set

    name, _, split = name.partition(":")
    splits = (split,) if split else named_set(name).splits
    _print_paths({name: [str(find(name, each, data_dir)) for each in splits]}, **options)


def _print_paths(found: dict[str, list[str]], *, as_json: bool, quiet: bool, **_: Any) -> None:
    if as_json:
        print_json({"paths": found})
    elif not quiet:
        say(*(path for paths in found.values() for path in paths))
