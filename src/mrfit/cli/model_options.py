"""Options of the commands that ask a model, and how they get it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import load_model
from mrfit.cli.options import STANDARD, PartChoice, part_choice, stacked
from mrfit.cli.output import as_options, note
from mrfit.core.errors import InputError
from mrfit.core.rounding import with_error
from mrfit.registry import ENGINES, FORMATS

if TYPE_CHECKING:
    from mrfit.inference.plan import Plan
    from mrfit.model.factor_network import FactorNetwork
    from mrfit.model.markov_network import MarkovNetwork
    from mrfit.model.queries.answer import LogZ

_LONG = 2.0  # seconds: longer forecasts are printed

from_option = click.option(
    "--from",
    "model_format",
    type=PartChoice(FORMATS, case_sensitive=False),
    help="Format of MODEL; by default taken from its suffix, or mrf for standard input.",
)

engine_option = part_choice(
    "--engine",
    ENGINES,
    "auto",
    help="Inference engine. auto takes the fastest exact one that fits in memory, otherwise ais, and reports it. One "
    "of auto, {parts}.",
    short="Inference engine. auto takes the fastest exact one that fits in memory, otherwise ais, and reports it.",
)


effort_options = stacked(
    click.option(
        "--samples",
        type=click.IntRange(min=4),
        metavar="N",
        help="Number of chains of an approximate answer, at least 4. Four times as many chains halve its standard "
        "errors.",
    ),
    click.option(
        "--precision",
        type=click.FloatRange(min=0.0, min_open=True),
        metavar="E",
        help="Sample until all standard errors of probabilities are at most E. Exact answers need neither --samples "
        "nor --precision.",
    ),
)


def how_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a question: the engine, its seed and its effort."""
    return {name: options[name] for name in ("engine", "seed", "samples", "precision")}


def read_model(text: str, options: Mapping[str, Any]) -> FactorNetwork:
    """The model in a file, or on standard input."""
    from mrfit.formats.models import read_network

    word = options["model_format"]
    return read_network(text, format="mrf" if text == STANDARD and word is None else word)


def read_any_model(text: str, options: Mapping[str, Any]) -> MarkovNetwork | FactorNetwork:
    """Read a model in any format, with its parameters if the format (.mrf) stores them."""
    return load_model(text) if _format(text, options) == "mrf" else read_model(text, options)


def read_asked_model(text: str, options: Mapping[str, Any]) -> MarkovNetwork | FactorNetwork:
    """Read a model with its parameters, if the file has them; refuse a file whose name does not tell its format."""
    suffix = Path(text.lower().removesuffix(".gz")).suffix.removeprefix(".")
    is_known = options["model_format"] is not None or text == STANDARD or suffix in FORMATS
    return read_any_model(text, options) if is_known else read_model(text, options)


def _format(text: str, options: Mapping[str, Any]) -> str:
    """A name that does not say one is ours."""
    if options["model_format"] is not None:
        return str(options["model_format"])
    suffix = Path(text.lower().removesuffix(".gz")).suffix.removeprefix(".")
    return suffix if suffix in FORMATS else "mrf"


def load_scored_model(text: str, options: Mapping[str, Any]) -> MarkovNetwork:
    """A model that scores rows, of whatever format."""
    word = _format(text, options)
    if word == "mrf":
        return load_model(text)
    from mrfit.formats.models import read_network
    from mrfit.formats.mrf_network import to_model

    return to_model(read_network(text, format=word))


def note_plan(plan: Plan, names: Sequence[str], options: Mapping[str, Any]) -> None:
    """Say how long it may take, and with --verbose what computes and why; refuse a plan that does not fit."""
    plan.check(names)
    if is_silent(options):
        return
    if options["verbose"]:
        note(f"note: engine {plan.engine}: {plan.why}")
        note(f"note: {plan.figures(names)}")
    if plan.forecast >= _LONG:
        note(f"note: this takes about {plan.forecast:.0f} s")


def ordered_of(model: FactorNetwork | MarkovNetwork) -> dict[str, list[float]]:
    """Scores of the ordered variables with more than two states: these as numbers, or else 1, 2, ..."""
    ordered = getattr(model, "ordered_scores", {})
    return {name: _scores_of(model.domain[model.domain.index(name)].states) for name in ordered}


def _scores_of(states: Sequence[str]) -> list[float]:
    try:
        scores = [float(state) for state in states]
    except ValueError:
        return [float(k) for k in range(1, len(states) + 1)]
    return scores if all(isfinite(score) for score in scores) else [float(k) for k in range(1, len(states) + 1)]


def note_remarks(remarks: Sequence[str], options: Mapping[str, Any]) -> None:
    """Print how far an approximation can be trusted."""
    for text in () if is_silent(options) else remarks:
        note(f"note: {as_options(text)}")


def check_log_z(answer: LogZ) -> None:
    """Refuse an answer without log Z: of chains that only know marginals, or messages that did not converge."""
    if not isfinite(answer.log_z):
        raise InputError(f"The engine {answer.engine!r} found no log Z; choose another one by --engine.")


def log_z_text(answer: LogZ) -> str:
    """log Z with the digits that its error leaves known."""
    text = with_error(answer.log_z, answer.error)
    return text if answer.error is not None else f"{text}, error unknown"


def is_silent(options: Mapping[str, Any]) -> bool:
    """Whether notes are unwanted: nobody asked for them, or they stand in the JSON document."""
    return bool(options["quiet"] or options["as_json"])


model_argument: Callable[[Any], Any] = click.argument("model_file", metavar="MODEL")
