"""`mrfit fit --missing em`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mrfit.cli.files import send, summary_beside
from mrfit.cli.fit_text import print_fit
from mrfit.cli.output import note, note_compiling, print_json, remark, say

if TYPE_CHECKING:
    from mrfit.analysis.missing_record import MissingSummary
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning import Learner

_MOST = 8  # columns and patterns that are printed


def fit_by_em(data: str, learner: Learner, rows: UniqueRows, options: dict[str, Any], *, jobs: int) -> None:
    """Learn from incomplete rows; say what is missing where, and how the fit went."""
    from mrfit.analysis.missing_record import MissingSummary
    from mrfit.formats.mrf import to_bytes
    from mrfit.learning.em import fit_incomplete

    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    errors = None if options["errors"] == "none" else options["errors"]
    found = fit_incomplete(learner, rows, errors=errors, jobs=jobs)
    if options["output"] is not None:
        send(options["output"], to_bytes(found.fitted.model))
    fitted, missing = found.fitted, MissingSummary.of(rows)
    if options["as_json"]:
        em = {"rounds": found.rounds, "converged": found.converged}
        print_json({**fitted.to_dict(), "missing": missing.to_dict(), "em": em, "output": options["output"]})
    elif not options["quiet"]:
        with summary_beside(options["output"]):
            print_fit(data, fitted, options["output"], verbose=options["verbose"])
            remark(f"fitted by EM in {found.rounds} rounds; the scores above are of the last M-step, on completed rows")
            print_missing(missing)
    if not found.converged:
        note(f"warning: EM did not converge in {found.rounds:,} rounds.")
    for text in () if fitted.model.errors is None else fitted.model.errors.remarks:
        note(f"warning: {text}")


def print_missing(missing: MissingSummary) -> None:
    """Print how many values are missing in each column, and which columns lack values together."""
    say(f"{missing.n_incomplete:,.0f} of {missing.n_rows:,.0f} rows are incomplete; missing in each column:")
    for name, n in missing.columns[:_MOST]:
        say(f"  {n:8,.0f} {n / missing.n_rows:6.1%}  {name}")
    say("rows by what is missing in them:")
    for names, n in missing.patterns[:_MOST]:
        say(f"  {n:8,.0f} {n / missing.n_rows:6.1%}  {', '.join(names) or 'nothing'}")
    if len(missing.patterns) > _MOST:
        say(f"  ... and {len(missing.patterns) - _MOST:,} more patterns")
