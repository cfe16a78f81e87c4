"""Number of tied groups

How many groups of parameters predict best?

Data: generated votes of a committee of twelve members, who all influence each other alike: 200 votes to
learn from and 2,000 to validate.

The score of held-out rows against the number of groups of tied parameters: lower is better. The
dotted line is the best L2 penalty. Two groups predict best, because the truth has two values: one
for all pairs of members, and one for single members.

Command: mrfit fit votes.csv --valid new.csv --penalty tied --groups 1,2,3,5,10 --plot-scores scores.png

See also: tying
"""

import numpy as np

import mrfit

random = np.random.default_rng(16)
votes = random.random((2200, 12)) < 0.5
for _ in range(30):  # Gibbs sweeps
    for k in range(12):
        others = votes.sum(axis=1) - votes[:, k]
        votes[:, k] = random.random(2200) < 1 / (1 + np.exp(1.6 - 0.3 * others))

train, valid = votes[:200], mrfit.UniqueRows.of(votes[200:])
tied = mrfit.SoftTied(groups=(1, 2, 3, 5, 10), strength=(1.0, 10.0, 100.0, 1000.0))
fitted = mrfit.learn(train, penalty=tied, valid=valid)
print(f"best: {fitted.best.n_groups} groups, centers {fitted.model.groups.centers.round(2)}")
print(fitted.gain)
mrfit.plot_scores(fitted, valid=valid).figure.savefig("groups.png")
