"""Bootstrap stability

Which edges are stable?

Data: 400 generated rows of six yes/no symptoms.

The whole analysis, structure learning included, is repeated on 200 bootstrap samples. Dots are the
bootstrap means of the edge weights, with 95 % percentile intervals. Bars at the right show how
often an edge is included. Do not interpret edges that half of the samples lack.

Thumbnail: 0 0.12 1 1

Command: mrfit stability symptoms.csv --structure learned --select ebic --rule and --resamples 200 --plot stability.png

See also: stability
"""

import numpy as np

import mrfit
from mrfit.analysis.stability.stability_plot import draw_edge_ranges

random = np.random.default_rng(1)


def yes(chance):
    return random.random(400) < chance


table = {"stress": yes(np.full(400, 0.4))}
table["insomnia"] = yes(np.where(table["stress"], 0.6, 0.2))
table["fatigue"] = yes(np.where(table["insomnia"], 0.6, 0.3))
table["exercise"] = yes(np.where(table["fatigue"], 0.35, 0.5))
table["irritable"] = yes(0.15 + 0.2 * table["stress"] + 0.2 * table["fatigue"])
table["headache"] = yes(np.where(table["insomnia"], 0.3, 0.2))

learner = mrfit.Learner(mrfit.Learned(select="ebic", rule="and"), penalty=mrfit.NoPenalty())
found = mrfit.bootstrap_edges(learner, table, resamples=200)
for edge in sorted(found.edges, key=lambda edge: -edge.inclusion)[:5]:
    interval = f"{edge.low:+.2f} to {edge.high:+.2f}"
    print(f"{edge.inclusion:4.0%} included, mean {edge.mean:+.2f}, {interval}: {edge.source} - {edge.target}")
draw_edge_ranges(found.edges, unit=found.unit).figure.savefig("stability.png")
