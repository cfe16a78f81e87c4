"""Standard errors and confidence intervals

How precise is each edge weight?

Data: 500 generated rows of five yes/no habits; the true edge weights are known.

Bars are 95 % confidence intervals of a fit without a penalty, from sandwich standard errors.
Crosses are the true values. In the long run, about one interval in
twenty misses its cross.

Command: mrfit fit habits.csv --penalty none --errors sandwich -o habits.mrf

See also: uncertainty
"""

import matplotlib.pyplot as plt
import numpy as np

import mrfit

names = ["sport", "fruit", "sleep", "alcohol", "tobacco"]
weights = {("sport", "fruit"): 1.2, ("sport", "sleep"): 0.8, ("alcohol", "tobacco"): 1.5, ("sport", "tobacco"): -1.0}
states = np.array(np.meshgrid(*[[0, 1]] * 5, indexing="ij")).reshape(5, -1)
energy = sum(w * states[names.index(a)] * states[names.index(b)] for (a, b), w in weights.items()) - 0.4 * states.sum(
    axis=0
)
p = np.exp(energy) / np.exp(energy).sum()
rows = states[:, np.random.default_rng(8).choice(32, 500, p=p)]

model = mrfit.learn(dict(zip(names, rows, strict=True)), penalty=mrfit.NoPenalty(), errors="sandwich").model
n_pairs = model.n_edges
estimates, (low, high) = model.w[-n_pairs:], model.intervals()[-n_pairs:].T
labels = [f"{names[a]} – {names[b]}" for a, b in model.edges]
truth = [weights.get((names[a], names[b]), 0.0) for a, b in model.edges]
print(f"{np.mean((low <= truth) & (truth <= high)):.0%} of the intervals contain the true value")
for test in model.wald_tests()[:3]:
    print(f"Wald test of {' - '.join(test.variables)}: p = {test.p:.2g}")

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.errorbar(
    estimates, labels, xerr=[estimates - low, high - estimates], fmt="o", capsize=3, label="estimate, 95 % interval"
)
axes.plot(truth, labels, "x", color="C1", markersize=8, markeredgewidth=2, label="truth")
axes.axvline(0, color="0.6", linewidth=0.8)
axes.set_xlabel("edge weight (log odds ratio)")
axes.legend(loc="upper left", bbox_to_anchor=(0, 1.13), ncols=2, frameon=False)
figure.savefig("intervals.png")
