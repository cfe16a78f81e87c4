"""Choosing a learner

Which learner predicts best?

Data: scikit-learn's 1,797 handwritten digits of 8 x 8 pixels, black or white: 60 % to learn from,
20 % to select, 20 % to score.

Dots are mean pseudo-log-likelihoods of the held-out rows, in nats per row, with standard errors of
the difference from the best. Larger is better. The independent model is far behind.

Command: mrfit fit digits.csv --structure learned --max-degree 5,10 --penalty l2 --folds 5 -o digits.mrf

See also: tutorial-benchmark
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import mrfit

pixels = np.random.default_rng(0).permutation(load_digits().data > 7).astype("uint8")
domain = mrfit.Domain.from_states({f"r{row}c{column}": ("off", "on") for row in range(8) for column in range(8)})
train, valid, test = (mrfit.Dataset(domain, part) for part in np.split(pixels, [1078, 1437]))
strengths = (1.0, 3.0, 10.0)
learners = {
    "independent": mrfit.Learner(mrfit.NoInteractions()),
    "tree": mrfit.Learner(mrfit.ChowLiuTree(), mrfit.L2(strengths)),
    "five neighbours, l2": mrfit.Learner(mrfit.Learned(max_degree=5), mrfit.L2(strengths)),
    "all pairs, l2": mrfit.Learner(penalty=mrfit.L2(strengths)),
}
models = {name: learner.fit(train, valid=valid).model for name, learner in learners.items()}
rows = {name: model.pll_rows(test) for name, model in models.items()}
best = max(rows, key=lambda name: rows[name].mean())
errors = [(each - rows[best]).std() / np.sqrt(len(each)) for each in rows.values()]
for name, each in rows.items():
    print(f"{name:20} {models[name].n_parameters:5,} parameters, held-out pll {each.mean():.2f}")

figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
axes.errorbar([each.mean() for each in rows.values()], list(rows), xerr=errors, fmt="o", capsize=3)
axes.set_xlabel("held-out pseudo-log-likelihood, nats per row")
axes.margins(y=0.15)
figure.savefig("learners.png")
