"""The live model of the front page: a report of a simulated survey, made when the site is built.

The directive ``live-report`` frames it, below one sentence that `docs/site/front.js` rewrites while the visitor clicks.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sleep_survey import AGES, ANSWERS, N_ROWS, sleep_survey, write_survey

import mrfit
from mrfit.cli.main import main

PAGE = "live-model.html"
TITLE = "Sleep survey (simulated)"
# What visitors may suppose by one click; the first is set when the page opens.
CASES: list[dict[str, str]] = [
    {"coffee": "yes", "stress": "yes"},
    {"shift_work": "yes"},
    {"age": "60_or_over"},
    {"exercise": "no", "tired": "yes"},
]
NO_MISFIT = "no misfit found"

FIGURE = """<figure class="live">
<p class="sentence" aria-live="polite">Click any bar to say what you know about a person.</p>
<p class="cases">Suppose they {cases}</p>
<iframe data-src="{page}" data-fragment="{fragment}" title="A live model of a survey of sleep"></iframe>
<noscript><p>The model answers in your browser and needs JavaScript. A picture of a part is below.</p></noscript>
<figcaption>
A file that <code>mrfit report</code> wrote. It needs no server. The {rows:,} answers are simulated.
</figcaption>
<script type="application/json" class="wording">{wording}</script>
</figure>
"""


@cache
def sleep_model() -> mrfit.MarkovNetwork:
    """Return the model of the survey: its pairs selected by EBIC, its parameters by maximum likelihood."""
    answers = sleep_survey()
    learned = mrfit.Learned(select="ebic")
    model = mrfit.learn(answers, learned, objective="likelihood", penalty=mrfit.NoPenalty()).model
    verdict = model.check(answers).verdict
    if not verdict.startswith(NO_MISFIT):
        raise RuntimeError(f"The model of the front page does not fit: {verdict}.")
    return model


def wording() -> dict[str, dict[str, dict[str, str]]]:
    """Return what each state says of people: after "People who" and after "are likely"."""
    words = {
        name: {
            "yes": {"who": verb, "likely": f"to {verb}"},
            "no": {"who": f"do not {verb}", "likely": f"not to {verb}"},
        }
        for name, (verb, _) in ANSWERS.items()
    }
    ages = {state: f"be {state.replace('_', ' ')}" for state in AGES}
    words["age"] = {state: {"who": f"are {text[3:]}", "likely": f"to {text}"} for state, text in ages.items()}
    return words


def fragment(model: mrfit.MarkovNetwork, evidence: dict[str, str]) -> str:
    """Return the part of an address that sets evidence on the page of a model."""
    domain = model.domain
    pairs = [(domain.index(name), domain[domain.index(name)].codes[state]) for name, state in evidence.items()]
    return "given=" + ",".join(f"{variable}:{state}" for variable, state in pairs)


def write_report(path: Path) -> None:
    """Write the page with the command that every user has."""
    with TemporaryDirectory() as folder:
        model, answers = Path(folder, "sleep.mrf"), Path(folder, "sleep.csv")
        sleep_model().save(model)
        write_survey(answers)
        if main(["report", str(model), str(answers), "-o", str(path), "--title", TITLE, "--quiet"]):
            raise RuntimeError("mrfit report failed; its message is above.")


def _button(case: dict[str, str]) -> str:
    words = " and ".join(wording()[name][state]["who"] for name, state in case.items())
    return f'<button data-fragment="{fragment(sleep_model(), case)}">{words}</button>'


class LiveReport(Directive):
    """The frame with its sentence."""

    def run(self) -> list[nodes.Node]:
        """Return the figure as HTML."""
        text = FIGURE.format(
            page=PAGE,
            fragment=fragment(sleep_model(), CASES[0]),
            cases=" ".join(_button(case) for case in CASES),
            rows=N_ROWS,
            wording=json.dumps(wording()),
        )
        return [nodes.raw("", text, format="html")]


def add_files(app: Any, page: str, *_: object) -> None:
    """Give the front page its style and its script."""
    if page == app.config.root_doc:
        app.add_css_file("front.css")
        app.add_js_file("front.js", loading_method="defer")


def write_page(app: Any, error: Exception | None) -> None:
    """Put the page beside the front page."""
    if error is None and app.builder.format == "html":
        write_report(Path(app.outdir, PAGE))


def setup(app: Any) -> dict[str, bool]:
    """Add the directive and the page."""
    app.add_directive("live-report", LiveReport)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
