"""Penalty strength

How strong should the penalty be?

Data: 300 generated rows of ten yes/no items with two factors behind them.

Each dot is the score of one penalty strength in five-fold cross-validation; lower is better, and
the ring marks the best. Bars are standard errors of the difference from the best. A weak penalty
over-fits, a strong one shrinks the edges too much.

Command: mrfit fit items.csv --penalty l1 --folds 5 --plot-scores scores.png -o items.mrf

See also: tutorial-benchmark
"""

import numpy as np

import mrfit

random = np.random.default_rng(15)
factors = np.repeat(random.normal(size=(2, 300)), 5, axis=0)
items = (factors + random.normal(size=(10, 300)) > 0).T

fitted = mrfit.learn(items, penalty=mrfit.L1((0.3, 1, 3, 10, 30, 100)), folds=5)
print(f"best strength {fitted.best.strength:g}: {fitted.model.n_edges} of 45 pairs have an edge")
mrfit.plot_scores(fitted).figure.savefig("scores.png")
