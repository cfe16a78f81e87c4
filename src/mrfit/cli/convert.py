"""`mrfit convert`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.files import STANDARD, check_files, send, summary_beside, writing
from mrfit.cli.options import common
from mrfit.cli.output import note, print_json, say

_WORDS = ("mrf", "uai", "lg", "mn", "fg")  # as in mrfit.formats.models, which --help need not load
_FORMAT = click.Choice(_WORDS, case_sensitive=False)


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--from", "source_format", type=_FORMAT, help="Format of IN; by default its suffix says it.")
@click.option("--to", "target_format", type=_FORMAT, help="Format of OUT; by default its suffix says it.")
@click.option("--no-names", is_flag=True, help="Leave out the comment with the names of variables and states.")
@writing
@common
def command(source: str, target: str, **options: Any) -> None:
    """Write the model in IN to OUT in another format, with the same distribution.

    Either may be - for a standard stream, and end in .gz.

    \b
    Formats, by suffix:
      .mrf   a learned model of mrfit; written with one parameter for each cell, and normalised
      .uai   UAI competitions: potentials
      .LG    the same with natural logarithms (toulbar2)
      .mn    Libra: weighted features, tables, trees
      .fg    libDAI: factor graph

    .uai, .LG and .fg have no names; ours stand in a comment, which mrfit reads back. .mn has not even comments.

    \b
    Examples:
      mrfit convert model.mrf model.uai
      mrfit convert model.mn.gz model.fg
      mrfit convert download.txt model.mrf --from uai
    """
    from mrfit.errors import InputError
    from mrfit.formats.models import format_of, network_bytes, read_network

    check_files({"IN": source}, {"OUT": target}, options)
    for option, path in (("source_format", source), ("target_format", target)):
        if path == STANDARD and options[option] is None:
            name = option.removesuffix("_format").replace("source", "from").replace("target", "to")
            raise InputError(
                f"A standard stream has no suffix; say its format by --{name}, one of {', '.join(_WORDS)}."
            )
    kinds = format_of(source, options["source_format"]), format_of(target, options["target_format"])
    network = read_network(source, format=kinds[0].word)
    content = network_bytes(network, kinds[1], target, names=not options["no_names"])
    send(target, content)
    hidden = network.n_hidden if kinds[1].word != "mn" else 0
    summary = {
        "from": kinds[0].word,
        "to": kinds[1].word,
        "variables": len(network.domain),
        "tables": len(network.tables.scopes),
        "cells": len(network.tables.values),
        "conjunctions": len(network.conjunctions),
        "hidden": hidden,
    }
    if options["as_json"]:
        print_json(summary)
    elif not options["quiet"]:
        with summary_beside(target):
            say(f"{summary['variables']:,} variables, {summary['tables']:,} tables, {summary['cells']:,} cells")
        if hidden:
            note(f"note: {hidden:,} hidden variables stand for conjunctions of many variables, after all others.")
