"""`mrfit convert`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import check_files, send, summary_beside, writing
from mrfit.cli.options import STANDARD, PartChoice, common
from mrfit.cli.output import note, print_json, say
from mrfit.cli.sections import SectionedCommand
from mrfit.core.errors import InputError
from mrfit.registry import FORMATS

if TYPE_CHECKING:
    from mrfit.formats.model_format import ModelFormat

_FORMAT = PartChoice(FORMATS, case_sensitive=False)


@click.command("convert", cls=SectionedCommand, guide=("File formats", "formats.md"))
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--from", "source_format", type=_FORMAT, help="Format of IN; by default taken from its suffix.")
@click.option("--to", "target_format", type=_FORMAT, help="Format of OUT; by default taken from its suffix.")
@click.option("--no-names", is_flag=True, help="Omit the comment with the names of variables and states.")
@writing
@common
def command(source: str, target: str, **options: Any) -> None:
    """Convert a model to another file format, with the same distribution.

    IN and OUT are files, also .gz, or - for standard input and output.

    \b
    Formats, by suffix:
      .mrf   a model of mrfit, with a parameter for each cell, normalised
      .uai   UAI competitions: potentials
      .LG    UAI with natural logarithms (toulbar2)
      .mn    Libra: weighted features, tables, trees
      .fg    libDAI: factor graph

    \b
    Examples:
      mrfit convert model.mrf model.uai
      mrfit convert model.mn.gz model.fg
      mrfit convert download.txt model.mrf --from uai
    \f
    .uai, .LG and .fg have no names; mrfit writes them into a comment, which it reads back. .mn has no comments either.
    """
    from mrfit.formats.models import network_bytes, read_network

    check_files({"IN": source}, {"OUT": target}, options)
    before = _format("--from", source, options["source_format"])
    after = _format("--to", target, options["target_format"])
    network = read_network(source, format=before.word)
    send(target, network_bytes(network, after, target, names=not options["no_names"]))
    summary = {
        "from": before.word,
        "to": after.word,
        "variables": len(network.domain),
        "tables": len(network.tables.scopes),
        "cells": len(network.tables.values),
        "conjunctions": len(network.conjunctions),
        "hidden": 0 if after.holds_conjunctions else network.n_hidden,
    }
    if options["as_json"]:
        print_json(summary)
    elif not options["quiet"]:
        _print(summary, target)


def _format(option: str, path: str, word: str | None) -> ModelFormat:
    from mrfit.formats.models import format_of

    if path == STANDARD and word is None:
        raise InputError(f"A standard stream has no suffix; say its format by {option}, one of {', '.join(FORMATS)}.")
    return format_of(path, word)


def _print(summary: Mapping[str, Any], target: str) -> None:
    with summary_beside(target):
        say("{variables:,} variables, {tables:,} tables, {cells:,} cells".format(**summary))
    if summary["hidden"]:
        note("note: {hidden:,} hidden variables, the last ones, represent conjunctions.".format(**summary))
