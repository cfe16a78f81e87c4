"""Output of `mrfit fit`: the result of a fit as text, and held-out scores as a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from mrfit.cli.output import note, print_table, remark, say, verdict, wrapped
from mrfit.core.rounding import rounded, strength_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mrfit.analysis.goodness.check import Check
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning import CandidateFit, FitResult, TyingGain
    from mrfit.model.markov_network import MarkovNetwork
    from mrfit.model.parameter_estimates import ErrorsSummary

_ON = {
    "test": "on the test rows",
    "valid": "on the validation set, which chose both of them",
    "folds": "in cross-validation, which chose both of them",
}
_CELLS = {None: "cells", "enumeration": "joint states", "tree": "cells of the cliques of a junction tree"}
_CHAINS = (
    "Learned by chains: log Z of the model, estimated again after the fit, has a standard error of {:.2g} nats. Fits "
    "with other seeds differ by about {:.2g} nats a row."
)
_MOST_LISTED, _BEST_LISTED = 20, 10  # fits of a grid that are all printed; of a larger one
_MOST_HELD = 10  # names of parameters at a bound


def print_fit(
    data: str, fitted: FitResult, output: str | None, *, check: Check | None = None, verbose: bool = False
) -> None:
    """Print the model that was learned and its score, whether it fits the data, and the grid of fits behind it."""
    model, rows, considered = fitted.model, fitted.rows, fitted.structure.structure
    say(*wrapped(_headline(fitted)), bold=True)
    if check is not None:
        print_verdict(check)
    dropped = f" ({rows.dropped:,} dropped)" if rows.dropped else ""
    distinct = "" if rows.n_distinct_rows is None else f", {rows.n_distinct_rows:,} distinct"
    say(f"{data}: {rows.n_rows:,} rows{dropped}{distinct}, {rows.n_variables} variables")
    n_edges, n_parameters = len(considered.edges), fitted.n_candidate_parameters
    if model.n_parameters < n_parameters:
        edges = f"{model.n_edges:,} of {n_edges:,} edges"
        parameters = f"{model.n_parameters:,} of {n_parameters:,} parameters"
        say(f"not zero: {edges}, {parameters}, {model.n_scopes:,} of {considered.n_scopes:,} scopes")
    if verbose and fitted.engine != "chains":
        say(f"computed over {fitted.n_cells:,} {_CELLS[fitted.engine]}")
    for text in fitted.structure.remarks:
        remark(text)
    _print_grid(fitted, verbose=verbose)
    _print_worth(fitted)
    say(f"wrote {output}" if output else "no model written; name a file with -o MODEL.mrf to keep it")


def _headline(fitted: FitResult) -> str:
    """Say what was learned, and its score on the validation rows, or on the training rows if there are none."""
    best, model = fitted.best, fitted.model
    n = model.n_edges
    text = f"learned {n:,} edge{'' if n == 1 else 's'}, {model.n_parameters:,} parameters"
    if len(fitted.fits) > 1:
        groups = f", {best.model.n_groups} groups" if best.model.groups is not None else ""
        text += f", lambda {strength_text(best.strength)}{groups}"
    score = f"train {best.measure} {rounded(best.train, best.log_z_error)}"
    if best.held_out is not None:
        score = f"validation {best.judge} {held_out_text(best)}"
    return f"{text}; {score}"


def print_verdict(check: Check) -> None:
    """Print whether a model fits, in the colour of the verdict."""
    level = "sound" if check.is_known and not check.misfits else "doubtful" if check.is_alike else "wrong"
    verdict(check.verdict, level if check.is_known or check.phantom_mode is not None else "doubtful")


def _print_worth(fitted: FitResult) -> None:
    """Print what is known of the best fit: how far to trust the grid, its scores, certificate and parameters."""
    best, end, score_error, estimates = fitted.best, fitted.end_of_grid, fitted.score_error, fitted.estimates
    if end is not None:
        beyond = "weaker" if end == "weakest" else "stronger"
        remark(f"the best penalty strength, {best.strength:g}, is the {end} tried; try {beyond} ones too")
    if score_error is not None:
        remark(_CHAINS.format(fitted.model.known_log_z_error, score_error))
    if fitted.test is not None:
        say(f"test {best.measure} {fitted.test.describe()}")
    if fitted.gain is not None:
        _print_gain(fitted.gain)
    if best.solution.gap is not None:
        say(f"{fitted.guarantee}, within {max(best.solution.gap, 0.0):.1e} nats a row (duality gap)")
    if unbounded := fitted.model.unbounded:
        remark(unbounded_in_words(unbounded))
    if estimates is not None:
        print_criteria(estimates)


def unbounded_in_words(limits: Mapping[str, str]) -> str:
    """Name the parameters without a finite estimate."""
    several = "parameters are" if len(limits) > 1 else "parameter is"
    shown = ", ".join(f"{name} ({limit})" for name, limit in list(limits.items())[:_MOST_HELD])
    more = f", ... ({len(limits):,} in all)" if len(limits) > _MOST_HELD else ""
    return f"{len(limits):,} {several} unbounded, without a penalty and never contradicted by the data: {shown}{more}"


def note_unbounded(model: MarkovNetwork, name: str) -> None:
    """Have it said where edge weights that a command counts are those at which a solver stopped."""
    if model.unbounded:
        note(f"warning: {name}: {unbounded_in_words(model.unbounded)}. Their weights are where the solver stopped.")


def print_criteria(summary: ErrorsSummary) -> None:
    """Print the effective number of parameters, and the information criteria."""
    errors, n = summary.errors, len(summary.estimates)
    without = f", {summary.n_without:,} of them without a finite optimum" if summary.n_without else ""
    criteria = "" if math.isnan(errors.claic) else f"; CLAIC {errors.claic:.2f}, CLBIC {errors.clbic:.2f}"
    in_effect = f"{errors.effective_parameters:.1f} in effect"
    remark(f"{errors.kind} errors of {n:,} parameters{without}, {in_effect}{criteria}")


def _print_gain(gain: TyingGain) -> None:
    """Print the gain. Only test rows give a verdict: the best of ninety fits looks good on rows that chose it."""
    verdict_on = {True: ": a gain", False: ": no gain", None: "; --test FILE tells what is left of it on other rows"}
    remark(
        f"against the best L2 fit (penalty strength {strength_text(gain.l2.strength)}) {_ON[gain.rows]}: "
        f"{gain.mean:+.4f} +- {gain.standard_error:.4f}{verdict_on[gain.is_real]}"
    )


def held_out_text(fit: CandidateFit) -> str:
    """Return the held-out score with the digits that are known of it; nothing where there are no such rows."""
    return "" if fit.held_out is None else rounded(fit.held_out, fit.held_out_log_z_error)


def _by_order(by_order: Mapping[int, int]) -> str:
    """Return how many parameters of single variables, pairs, triples, ... are not zero: "16+105+257"."""
    counts = [str(by_order.get(order, 0)) for order in range(1, max(by_order, default=0) + 1)]
    return "+".join(counts[:6]) + ("+..." if len(counts) > 6 else "")


def _print_grid(fitted: FitResult, *, verbose: bool) -> None:
    """Print one line for each fit; of a large grid the best ten."""
    fits = fitted.fits
    shown = list(fits)
    if len(shown) > _MOST_LISTED:
        shown = sorted(shown, key=lambda fit: math.inf if fit.held_out is None else -fit.held_out)[:_BEST_LISTED]
    print_table(_grid_rows(fitted, shown, verbose=verbose), n_words=0, indent="  ")
    if any(fit.model.groups is not None and not fit.model.is_hard_tied for fit in shown):
        remark("soft tying: parameters of a group are drawn together, so more values than groups are distinct")
    for fit in shown:
        if fit.solution.status.is_at_limit:
            say(f"  penalty strength {strength_text(fit.strength)} did not converge", fg="yellow")
    if len(shown) < len(fits):
        say(f"  ... and {len(fits) - len(shown)} more fits, none better; --json has them all")


def _grid_rows(fitted: FitResult, shown: Sequence[CandidateFit], *, verbose: bool) -> list[list[str]]:
    """The heading and a row for each fit: columns stand there where they have something to say."""
    fits, best = fitted.fits, fitted.best
    tied, held_out = best.model.groups is not None, any(fit.held_out is not None for fit in fits)
    equal = any(fit.model.is_hard_tied for fit in fits)  # else tied parameters have values of their own
    by_order = not tied and max(len(fit.nonzero_by_order) for fit in fits) > 2
    columns: list[tuple[str, bool, Callable[[CandidateFit], str]]] = [
        ("groups", tied, lambda fit: f"{fit.model.n_groups}"),
        ("lambda", True, lambda fit: strength_text(fit.strength)),
        (f"train {best.measure}", True, lambda fit: rounded(fit.train, fit.log_z_error)),
        (f"validation {best.judge}", held_out, held_out_text),
        ("distinct", equal, lambda fit: f"{fit.n_distinct:,}"),
        ("not zero", not tied, lambda fit: f"{fit.n_nonzero:,}"),
        ("by order", by_order, lambda fit: _by_order(fit.nonzero_by_order)),
        ("max. gradient", verbose or not by_order, lambda fit: f"{fit.solution.violation:.1e}"),
        ("iterations", True, lambda fit: f"{fit.solution.iterations:,}"),
        ("data passes", verbose, lambda fit: f"{fit.passes:,}"),
        ("seconds", verbose, lambda fit: f"{fit.seconds:.2f}"),
        ("", len(fits) > 1, lambda fit: "best" if fit is best else ""),
    ]
    asked = [(head, cell) for head, is_shown, cell in columns if is_shown]
    return [[head for head, _ in asked], *([cell(fit) for _, cell in asked] for fit in shown)]


def draw_scores(by_degree: dict[int, FitResult], valid: UniqueRows | None, path: Path, title: str) -> None:
    """The best score of every number of groups, and that of L2, for every degree bound."""
    from mrfit.analysis.score_curves import MEASURES, score_curves
    from mrfit.plots.page import save_figure
    from mrfit.plots.scores_plot import draw_scores

    best = next(iter(by_degree.values())).best
    measure = MEASURES[best.measure]
    where = f"{len(best.fold_scores)}-fold cross-validation" if valid is None else f"{valid.n_rows:,} validation rows"
    labels = {"tied" if len(by_degree) == 1 else f"d = {degree}": each for degree, each in by_degree.items()}
    curves = score_curves(labels, valid)
    save_figure(draw_scores(curves, measure=measure, title=title, subtitle=f"scores of {where}"), path)
