"""`mrfit infer`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.evidence_options import from_file
from mrfit.cli.files import check_files, send, writing
from mrfit.cli.model_options import (
    check_log_z,
    effort_options,
    from_option,
    how_of,
    is_silent,
    model_argument,
    note_plan,
    note_remarks,
    read_model,
)
from mrfit.cli.options import STANDARD, check_one_stream, common, parameters_of, part_choice
from mrfit.cli.output import note_compiling, print_json, say
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError
from mrfit.registry import ENGINES

if TYPE_CHECKING:
    from mrfit.model.factor_network import FactorNetwork


_FOR_MAP = ("toulbar2", "search")  # ways to most probable states that are no engines of anything else


_SECTIONS = {
    MAIN: ("task", "output", "engine", "sample", "log_base", "precision", "samples", "model_format", "as_json"),
    "Output": parameters_of(writing) | parameters_of(common),
}
_GUIDE = ("File formats", "formats.md")


@click.command("infer", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@model_argument
@click.argument("evidence", metavar="[EVID]", required=False)
@click.option(
    "--task",
    type=click.Choice(["PR", "MAR", "MAP"], case_sensitive=False),
    required=True,
    metavar="PR|MAR|MAP",
    help="PR: log partition function. MAR: marginal probabilities of all variables. MAP: most probable joint state.",
)
@click.option(
    "--log-base",
    default="10",
    show_default=True,
    metavar="10|e|NUMBER",
    help="Base of the logarithm of PR: 10 as in the competitions, or e as in merlin.",
)
@click.option("--sample", type=click.IntRange(min=1), help="Number of the sample of EVID to use, counted from 1.")
@click.option("-o", "--output", metavar="FILE", help="Write the answer to FILE instead of standard output.")
@part_choice(
    "--engine",
    ENGINES,
    "auto",
    *_FOR_MAP,
    help="Inference engine. auto takes the fastest exact one that fits in memory, otherwise ais, and reports it. One "
    "of auto, {parts}; for MAP also toulbar2 and search (local search).",
    short="Inference engine. auto takes the fastest exact one that fits in memory, otherwise ais, and reports it.",
)
@effort_options
@from_option
@writing
@common
def command(model_file: str, evidence: str | None, **options: Any) -> None:
    """Solve a task of the UAI competitions: PR, MAR or MAP.

    Variables and states are numbers, and the answer includes observed variables. EVID is a .evid file; without it there
    is no evidence.

    \b
    Examples:
      mrfit infer grid.uai grid.uai.evid --task MAR > grid.uai.MAR
      mrfit infer grid.uai.gz --task PR -o grid.uai.PR
      mrfit infer model.mrf --task MAP --json
    \f
    EVID holds one sample on one line, one observation per line after their number (2008), or several samples (2010).
    MODEL is a .uai, .LG, .mn, .fg or .mrf file, also .gz, or - for standard input.
    """
    files = {"MODEL": model_file, "EVID": evidence}
    check_one_stream(model_file, evidence)
    check_files(files, {"-o": options["output"]}, options)
    base, task = _base(options["log_base"]), options["task"].upper()
    if options["sample"] is not None and evidence is None:
        raise InputError("--sample chooses from a file of evidence, and none is named; add EVID, or leave it out.")
    note_compiling(quiet=is_silent(options))
    network = read_model(model_file, options)
    known = {} if evidence is None else from_file(network.domain, evidence, options["sample"])
    content, document = _answered(network, task, known, base, options)
    if options["output"] is not None or not options["as_json"]:
        send(options["output"] or STANDARD, content)
    if options["as_json"]:
        print_json({"task": task, **document})
    elif options["output"] not in (None, STANDARD) and not options["quiet"]:
        say(f"wrote {options['output']}")


def _answered(
    network: FactorNetwork, task: str, evidence: dict[str, Any], base: float, options: dict[str, Any]
) -> tuple[bytes, dict[str, Any]]:
    """The content of a file of results, and the same for JSON."""
    from mrfit.formats.uai_results import map_bytes, mar_bytes, pr_bytes

    how, domain = how_of(options), network.domain
    if task == "MAP":
        best = network.map(evidence=evidence, engine=options["engine"], seed=options["seed"])
        note_remarks(best.remarks, options)
        states = [variable.codes[best.states[variable.name]] for variable in domain]
        return map_bytes(states), best.to_dict() | {"states": states}
    note_plan(network.plan(evidence=evidence, **how), network.display_names, options)
    if task == "PR":
        answer = network.log_z(evidence=evidence, **how)
        check_log_z(answer)
        note_remarks(answer.remarks, options)
        _note_error("log Z", answer.error, options)
        return pr_bytes(answer.log_z, base=base, error=answer.error), answer.to_dict() | {"log_base": base}
    found = network.marginals(domain.names, evidence=evidence, **how)
    note_remarks(found.remarks, options)
    _note_error("a probability", found.largest_error, options)
    tables = [list(found[name].values()) for name in domain.names]
    errors = [list(found[name].error.values()) for name in domain.names]
    known = None if found.largest_error is None else errors
    return mar_bytes(tables, known), found.to_dict() | {"marginals": tables, "errors": errors}  # type: ignore[arg-type]


def _note_error(of: str, error: float | None, options: dict[str, Any]) -> None:
    """Say how far a number may be off: files of results cannot hold it."""
    if error is None:
        note_remarks([f"The error of {of} is unknown."], options)
    elif error > 0.0:
        note_remarks(
            [f"The {'standard' if of == 'log Z' else 'largest standard'} error of {of} is {error:.1g}."], options
        )


def _base(text: str) -> float:
    if text == "e":
        return math.e
    try:
        base = float(text)
    except ValueError:
        base = math.nan
    if not (0 < base < math.inf and base != 1):
        raise InputError(f"--log-base {text!r} is no base of logarithms; write 10, e or 2.")
    return base
