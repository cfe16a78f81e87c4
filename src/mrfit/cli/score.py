"""`mrfit score`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.model_options import from_option, model_argument, note_plan, note_remarks, read_any_model
from mrfit.cli.options import (
    check_one_stream,
    choice,
    common,
    layout_of,
    parameters_of,
    reading_of,
    reading_with,
    tell_notes,
)
from mrfit.cli.output import note, note_compiling, print_json, say, wrapped
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.registry import ENGINES

if TYPE_CHECKING:
    from mrfit.model.factor_network import FactorNetwork
    from mrfit.model.markov_network import MarkovNetwork

_reading = reading_with("observed", help="observed: score the observed values of a row.")

_SECTIONS = {
    MAIN: ("metric", "per_row", "missing", "unknown", "weight", "model_format", "as_json"),
    "Data": parameters_of(_reading),
    "Output": parameters_of(common),
}
_GUIDE = ("Conventions", "conventions.md")


@click.command("score", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@model_argument
@click.argument("data")
@choice(
    "--metric",
    "pll",
    "ll",
    help="Pseudo-log-likelihood or log-likelihood. The log-likelihood is exact if there are few joint states or a "
    "junction tree fits in memory. Otherwise it is estimated by annealing, with a standard error.",
)
@click.option("--per-row", is_flag=True, help="Print the score of every row, one per line, without dropped rows.")
@from_option
@_reading
@common
def command(model_file: str, data: str, **options: Any) -> None:
    """Compute the mean log-likelihood or pseudo-log-likelihood of a table, per row, in nats.

    Larger is better. mrfit matches columns and states by name and ignores columns that MODEL does not know.

    \b
    Examples:
      mrfit score model.mrf test.csv
      mrfit score model.mrf test.csv --metric ll
      mrfit score model.mrf test.csv --per-row > scores.txt
    \f
    MODEL is a .mrf, .uai, .LG, .mn or .fg file, also .gz, or - for standard input. A row that MODEL makes impossible
    scores minus infinity, null in JSON. With --missing observed, the score of an incomplete row is the log-probability
    of its observed values, or the sum over its observed values of the log-probability of each given the others.

    \b
    More examples:
      mrfit score other.mn test.data                a model of Libra
    """
    import numpy as np
    from numpy.typing import NDArray

    from mrfit.analysis.score_record import ScoreSummary
    from mrfit.core.threads import resolve_jobs
    from mrfit.data.batch import checked_sample_weight
    from mrfit.data.encoding import Encoder
    from mrfit.data.item_lists import is_item_list, read_sparse
    from mrfit.data.readers import named_in_errors, read_batches

    check_one_stream(model_file, data)
    note_compiling(quiet=options["quiet"] or options["as_json"])
    jobs = resolve_jobs(options["jobs"])
    model = read_any_model(model_file, options)
    metric = options["metric"]
    log_z, error = _log_z(model, options) if metric == "ll" else (None, 0.0)
    how = reading_of(options, domain=model.domain)
    coder = Encoder(how)

    def scored(codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        return model.scores_of_codes(metric, np.ascontiguousarray(codes), log_z=log_z, jobs=jobs)

    if is_item_list(data, options["format"]):
        rows = read_sparse(data, how, **layout_of(options))
        score, weight = rows.scored(scored), rows.sample_weight
    else:
        with named_in_errors(data):
            batches = map(coder.encode, read_batches(data, select=how.chosen, **layout_of(options)))
            parts = [(scored(codes), weight) for codes, weight in batches]
            coder.finish()
            score, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
            weight = checked_sample_weight(weight, len(score))
    tell_notes(coder.notes, quiet=options["quiet"])
    impossible = int(np.isneginf(score).sum())
    if impossible and not options["quiet"]:
        note(f"{impossible:,} of {len(score):,} rows are impossible under the model: their score is minus infinity.")
    summary = ScoreSummary.of(metric, score, weight, dropped=coder.dropped_rows, log_z_error=error)
    if options["as_json"]:
        print_json(
            summary.to_dict() | {"exact": not error} | ({"per_row": score.tolist()} if options["per_row"] else {})
        )
    elif options["per_row"]:
        say(*(f"{value:.10g}" for value in score))
    else:
        dropped = f" ({summary.dropped:,} dropped)" if summary.dropped else ""
        say(*wrapped(f"mean {metric} {summary.describe()}, {summary.rows:,} rows{dropped}"))


def _log_z(model: MarkovNetwork | FactorNetwork, options: dict[str, Any]) -> tuple[float | None, float]:
    """log Z where it is to be estimated, else None; and its standard error, also where the model brings an estimate."""
    from mrfit.inference.exact.joint_states import plan_joint_states
    from mrfit.model.markov_network import MarkovNetwork

    if isinstance(model, MarkovNetwork) and model.known_log_z is not None:
        return None, model.known_log_z_error
    if model.covariates:
        return None, 0.0
    plan = model.plan(seed=options["seed"])
    by_transforms = isinstance(model, MarkovNetwork) and not model.has_impossible_states
    if ENGINES[plan.engine].is_exact or (by_transforms and plan_joint_states(model.domain.shape).fits):
        return None, 0.0  # or refused, with the figures, when rows are scored
    note_plan(plan, model.display_names, options)
    answer = model.log_z(seed=options["seed"])
    note_remarks(answer.remarks, options)
    if options["per_row"] and answer.error:
        note_remarks([f"The standard error of log Z, and of all scores together, is {answer.error:.1g}."], options)
    return answer.log_z, float(answer.error or 0.0)
