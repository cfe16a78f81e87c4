"""The picture with its parts labelled, `docs/anatomy.svg`: ``python docs/extensions/anatomy.py`` writes it.

Its numbers are those of a model of six columns of the simulated survey. It is light or dark as the reader's screen is.
"""

from __future__ import annotations

from html import escape
from math import exp
from pathlib import Path

from sleep_survey import sleep_survey

import mrfit

PICTURE = Path(__file__).parents[1] / "anatomy.svg"
PLACES = {
    "coffee": (86, 112),
    "insomnia": (222, 190),
    "tired": (392, 128),
    "stress": (200, 326),
    "headaches": (362, 300),
    "exercise": (66, 384),
}
NAMES = {"insomnia": (12, 28), "stress": (10, 28), "exercise": (-46, 32)}  # offset of the name, from its place
BESIDE = (17, -9)
EVIDENCE = {"coffee": "yes"}
ASKED = ("headaches", "tired", "insomnia")
BARS, BAR_WIDTH = (478, 56), 220  # top left corner, and the width of 100 %
PIXELS = 3.6  # width of an edge of weight 1

STYLE = """
svg { font: 15px system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
.ground { fill: #ffffff; stroke: #d8dbe0; }
text { fill: #15181d; }
.label { fill: #8a4205; font-style: italic; }
.leader { stroke: #8a4205; fill: none; }
.positive { stroke: #2166ac; }
.negative { stroke: #b2182b; stroke-dasharray: 7 5; }
.node { fill: #dfe7f2; stroke: #15181d; }
.known { fill: #15181d; stroke: #15181d; }
.track { fill: #e8ebef; }
.bar { fill: #6b7a94; }
.mark { fill: #15181d; }
@media (prefers-color-scheme: dark) {
  .ground { fill: #1a1e24; stroke: #343a45; }
  text { fill: #f1f3f6; }
  .label { fill: #ffb64a; }
  .leader { stroke: #ffb64a; }
  .positive { stroke: #6aaeee; }
  .negative { stroke: #ff8a75; }
  .node { fill: #2d3a4d; stroke: #f1f3f6; }
  .known { fill: #f1f3f6; stroke: #f1f3f6; }
  .track { fill: #2d333d; }
  .bar { fill: #8fa3c4; }
  .mark { fill: #f1f3f6; }
}
"""


def anatomy() -> str:
    """Return the picture."""
    answers = {name: column for name, column in sleep_survey().items() if name in PLACES}
    model = mrfit.learn(answers, mrfit.Learned(select="ebic"), objective="likelihood", penalty=mrfit.NoPenalty()).model
    weights = {
        frozenset((model.domain.names[a], model.domain.names[b])): weight
        for (a, b), weight in zip(model.edges, model.edge_weights, strict=True)
    }
    strongest = weights[frozenset(("insomnia", "tired"))]
    parts = [
        *(_edge(*sorted(pair), weight) for pair, weight in weights.items()),
        *(_node(name) for name in PLACES),
        *_bars(model),
        _label(16, 34, "evidence: what you know", "M 86 42 V 98"),
        _label(236, 56, f"edge weight {strongest:+.2f}:", "M 300 82 V 154"),
        _label(236, 74, f"the odds are multiplied by {exp(strongest):.1f}"),
        _label(16, 236, "positive edge;", "M 148 249 Q 176 264 206 254"),
        _label(16, 254, "wider is stronger"),
        _label(150, 412, "negative edge: dashed", "M 146 407 Q 122 394 128 362"),
        _label(330, 384, "variable", "M 356 370 Q 362 340 362 316"),
        _label(500, 258, "before", "M 524 244 Q 546 232 546 212"),
        _label(590, 258, "after", "M 606 244 Q 600 226 588 208"),
        _label(478, 330, "No edge joins coffee and tired:"),
        _label(478, 350, "coffee adds nothing once"),
        _label(478, 370, "insomnia is known."),
    ]
    description = "A network of six variables, with a piece of evidence and the probabilities that it changes."
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 430" role="img">\n'
        f"<title>{description}</title>\n<style>{STYLE}</style>\n"
        '<rect class="ground" x="0.5" y="0.5" width="719" height="429" rx="10"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _edge(one: str, other: str, weight: float) -> str:
    (x, y), (u, v) = PLACES[one], PLACES[other]
    sign = "positive" if weight > 0 else "negative"
    return f'<line class="{sign}" x1="{x}" y1="{y}" x2="{u}" y2="{v}" stroke-width="{PIXELS * abs(weight):.1f}"/>'


def _node(name: str) -> str:
    (x, y), (dx, dy) = PLACES[name], NAMES.get(name, BESIDE)
    shape = f'<circle class="node" cx="{x}" cy="{y}" r="11"/>'
    if name in EVIDENCE:
        shape = f'<rect class="known" x="{x - 10}" y="{y - 10}" width="20" height="20"/>'
        name = f"{name} = {EVIDENCE[name]}"
    return f'{shape}<text x="{x + dx}" y="{y + dy}">{escape(name)}</text>'


def _bars(model: mrfit.MarkovNetwork) -> list[str]:
    x, y = BARS
    found = []
    for row, name in enumerate(ASKED):
        top = y + 62 * row
        before, after = (model.conditional(name, given)["yes"] for given in ({}, EVIDENCE))
        found += [
            f'<text x="{x}" y="{top}">{escape(name)} = yes</text>',
            f'<text x="{x + BAR_WIDTH}" y="{top}" text-anchor="end">{100 * before:.0f} → {100 * after:.0f} %</text>',
            f'<rect class="track" x="{x}" y="{top + 10}" width="{BAR_WIDTH}" height="14" rx="3"/>',
            f'<rect class="bar" x="{x}" y="{top + 10}" width="{BAR_WIDTH * after:.0f}" height="14" rx="3"/>',
            f'<rect class="mark" x="{x + BAR_WIDTH * before:.0f}" y="{top + 6}" width="3" height="22"/>',
        ]
    return found


def _label(x: int, y: int, words: str, leader: str | None = None) -> str:
    line = f'<path class="leader" d="{leader}"/>' if leader else ""
    return f'{line}<text class="label" x="{x}" y="{y}">{escape(words)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(anatomy(), encoding="utf-8")
