"""`mrfit logz`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.evidence_options import evidence_files, evidence_of, evidence_option
from mrfit.cli.model_options import (
    check_log_z,
    effort_options,
    engine_option,
    from_option,
    how_of,
    is_silent,
    log_z_text,
    model_argument,
    note_plan,
    note_remarks,
    read_model,
)
from mrfit.cli.options import check_one_stream, common
from mrfit.cli.output import note_compiling, print_json, say
from mrfit.cli.sections import SectionedCommand


@click.command("logz", cls=SectionedCommand, guide=("Inference engines", "inference.md"))
@model_argument
@evidence_option
@engine_option
@effort_options
@from_option
@common
def command(model_file: str, **options: Any) -> None:
    """Compute the log partition function log Z of a model.

    MODEL is a .mrf, .uai, .LG, .mn or .fg file, also .gz, or - for standard input.

    \b
    Examples:
      mrfit logz model.mrf
      mrfit logz model.mrf --evidence smoker=yes
      mrfit logz grid.uai.gz --evidence grid.uai.evid --json
    \f
    log Z is the natural logarithm of the sum, over all joint states, of the product of the tables of MODEL. With
    --evidence, the sum is over the joint states that agree with it. The difference from log Z without evidence is the
    log probability of the evidence.
    """
    check_one_stream(model_file, *evidence_files(options["evidence"]))
    note_compiling(quiet=is_silent(options))
    network = read_model(model_file, options)
    evidence = evidence_of(network.domain, options["evidence"])
    note_plan(network.plan(evidence=evidence, **how_of(options)), network.display_names, options)
    answer = network.log_z(evidence=evidence, **how_of(options))
    check_log_z(answer)
    note_remarks(answer.remarks, options)
    if options["as_json"]:
        print_json(answer.to_dict())
    else:
        say(f"log Z {log_z_text(answer) if answer.error != 0.0 else f'{answer.log_z:.10g}'}", bold=True)
        if not answer.exact:
            better = "" if answer.error is None else ": more --samples make the error smaller"
            say(f"approximate ({answer.engine}){better}")
