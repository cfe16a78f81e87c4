"""Residuals of pairs and triples

Where does the model misfit?

Data: 3,000 generated rows of a room: the heating depends on window and season, and the lamp is on if
exactly one of two switches is on.

The model is a tree. Below the diagonal are standardised residuals of the pairs that it was not fitted
to, above it the worst triple of each pair. The tree misses one pair (heating and open window) and one
triple (the lamp and its two switches). Residuals beyond about 3 are more than sampling error.

Thumbnail: 0 0.08 0.76 1

Command: mrfit check lamp.mrf lamp.csv --plot-residuals residuals.png

See also: checking
"""

import numpy as np

import mrfit
from mrfit.analysis.goodness.residual_plot import draw_residuals

random = np.random.default_rng(6)
switch, other_switch, winter = random.random((3, 3000)) < 0.5
window = random.random(3000) < np.where(winter, 0.35, 0.65)
room = {"winter": winter, "open window": window, "switch": switch, "other switch": other_switch}
room["heating"] = random.random(3000) < 0.1 + 0.6 * winter - 0.08 * window
room["lamp"] = (switch ^ other_switch) ^ (random.random(3000) < 0.2)

model = mrfit.learn(room, mrfit.ChowLiuTree(), penalty=mrfit.NoPenalty()).model
goodness = model.goodness(room)
print("tree:       ", goodness.describe())
triples = mrfit.learn(room, mrfit.AllInteractions(3), objective="likelihood", penalty=mrfit.NoPenalty()).model
print("all triples:", triples.goodness(room).describe())
draw_residuals(goodness).figure.savefig("residuals.png")
