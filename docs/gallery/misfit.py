"""Misfit of an independent model

What does a model that does not fit look like?

Data: 2,000 generated committees of seven votes, where the members prefer a clear majority.

The independent model has the right share of "yes" for every member, so all orange dots lie on the
line. It misses every pair (blue), and the distribution of the number of votes: real committees
agree, the model's votes are split.

Thumbnail: 0.52 0.12 1 1

Command: mrfit check votes.mrf votes.csv --plot check.png

See also: checking
"""

import numpy as np

import mrfit
from mrfit.analysis.goodness.check_plot import draw_check

random = np.random.default_rng(0)
members = ["Ann", "Ben", "Cem", "Dee", "Eva", "Fay", "Gus"]
mood = random.choice([0.15, 0.85], size=(2000, 1), p=[0.4, 0.6])
votes = dict(zip(members, (random.random((2000, 7)) < mood).T, strict=True))

model = mrfit.learn(votes, mrfit.NoInteractions(), penalty=mrfit.NoPenalty()).model
check = model.check(votes)
print(check.verdict)
draw_check(check).savefig("check.png")
