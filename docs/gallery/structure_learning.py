"""Structure learning

Which variables are directly associated?

Data: 1,000 generated rows of six yes/no symptoms.

An edge joins two symptoms that stay associated when you know all the others. Blue is positive,
dashed red is negative, and wider is stronger. Stress and fatigue are associated too, but only
through insomnia, so no edge joins them.

Thumbnail: 0 0 1 0.92

Command: mrfit structure symptoms.csv --select ebic --rule and -o edges.csv --plot network.png

See also: structure-learning
"""

import numpy as np

import mrfit

random = np.random.default_rng(1)


def yes(chance):
    return random.random(1000) < chance


table = {"stress": yes(np.full(1000, 0.4))}
table["insomnia"] = yes(np.where(table["stress"], 0.6, 0.2))
table["fatigue"] = yes(np.where(table["insomnia"], 0.7, 0.25))
table["exercise"] = yes(np.where(table["fatigue"], 0.2, 0.5))
table["irritable"] = yes(0.15 + 0.3 * table["stress"] + 0.3 * table["fatigue"])
table["headache"] = yes(np.where(table["insomnia"], 0.45, 0.15))

model = mrfit.learn(table, mrfit.Learned(select="ebic", rule="and"), penalty=mrfit.NoPenalty()).model
for (a, b), weight in zip(model.edges, model.edge_weights, strict=True):
    print(
        f"{model.domain.names[a]:9} - {model.domain.names[b]:9} edge weight {weight:+.2f}, odds x {np.exp(weight):.2f}"
    )
mrfit.plot_network(model).figure.savefig("network.png")
