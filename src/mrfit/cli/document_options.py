"""Options that `mrfit report` and `mrfit explore` share: a model and data that become a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.evidence_options import evidence_of
from mrfit.cli.model_options import from_option, load_scored_model, model_argument
from mrfit.cli.options import names, parameters_of, read_rows, reading_with, stacked
from mrfit.cli.picture_options import title_of

if TYPE_CHECKING:
    from mrfit.analysis.nodes.observed_numbers import Stability
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.explorer.document import Document
    from mrfit.model.markov_network import MarkovNetwork

reading_observed = reading_with("observed", help="observed: count the observed values.")
stability_option = click.option(
    "--stability",
    metavar="CSV",
    help="Edge table written by mrfit stability -o: edges that few bootstrap samples include are drawn faintly.",
)

explored_options = stacked(
    model_argument,
    click.argument("data", required=False),
    click.option("--title", metavar="TEXT", help="Title of the page; by default the name of MODEL."),
    stability_option,
    click.option(
        "--evidence",
        "--given",
        multiple=True,
        metavar="NAME=STATE[,...]",
        help="State of each covariate of MODEL, if it has covariates; the page shows the network given these. "
        "Repeatable.",
    ),
    from_option,
    reading_observed,
)
explored_sections = {"Model and data": {"model_format", "evidence"} | parameters_of(reading_observed)}


@dataclass(frozen=True)
class Explored:
    """A model in a file, with what was given to be said of it."""

    model: MarkovNetwork
    title: str
    rows: UniqueRows | None
    stability: Stability | None
    seed: int

    @classmethod
    def of(cls, model_file: str, data: str | None, options: Mapping[str, Any]) -> Explored:
        """Read the model and the data; a model with covariates is taken at the states that the options name."""
        from mrfit.analysis.stability.stability_file import read_stability
        from mrfit.explorer.at_covariates import covariate_states, model_at, rows_at

        model = load_scored_model(model_file, options)
        rows = None if data is None else read_rows(data, options, domain=model.domain)
        known = covariate_states(model, evidence_of(model.domain, options["evidence"]))
        if known:
            model, rows = model_at(model, known), rows and rows_at(rows, known)
        resamples = None if options["stability"] is None else read_stability(options["stability"], model.domain)
        title = ", ".join([title_of(model_file, options), *names(options["evidence"], "--evidence")])
        return cls(model, title, rows, resamples, options["seed"])

    def document(self) -> Document:
        from mrfit.explorer.document import Document

        return Document.of(self.model, title=self.title, rows=self.rows, stability=self.stability, seed=self.seed)
