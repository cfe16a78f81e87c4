"""Centrality

Which variables are central?

Data: 1,000 generated rows of eight yes/no symptoms around worry and sleep.

Node strength is the sum of the sizes of a variable's edge weights. Expected influence keeps their
signs. Lines are 95 % percentile intervals of 30 bootstrap samples: where they overlap, do not rank
the variables.

Thumbnail: 0 0 0.53 1

Command: mrfit nodes symptoms.mrf symptoms.csv --resamples 30 --plot nodes.png

See also: nodes
"""

import numpy as np

import mrfit
from mrfit.analysis.nodes.node_plot import draw_centralities

random = np.random.default_rng(11)


def yes(chance):
    return random.random(1000) < chance


table = {"worry": yes(np.full(1000, 0.4))}
table["insomnia"] = yes(np.where(table["worry"], 0.6, 0.2))
for name in ("tension", "restless", "irritable"):
    table[name] = yes(np.where(table["worry"], 0.55, 0.2))
for name in ("fatigue", "headache"):
    table[name] = yes(np.where(table["insomnia"], 0.6, 0.25))
table["relaxed"] = yes(np.where(table["worry"], 0.2, 0.6))

model = mrfit.learn(table, mrfit.Learned(select="ebic", rule="and"), penalty=mrfit.L2(1.0)).model
found = mrfit.node_stability(model, table, resamples=30)
print(found)
draw_centralities(model.nodes(table), ["strength", "expected_influence"], ranges=found.ranges).savefig("nodes.png")
