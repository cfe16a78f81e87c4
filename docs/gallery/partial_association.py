"""Partial association

Why is an association not an edge?

Data: 3,000 generated days with five yes/no notes.

Open circles are the log odds ratios of two columns alone; filled ones are the edge weights, which
control for the other columns. Ice cream and sunburn are associated because hot days bring both.
Their edge weight is near zero.

See also: markov-networks
"""

import matplotlib.pyplot as plt
import numpy as np

import mrfit

random = np.random.default_rng(0)


def yes(chance):
    return random.random(3000) < chance


days = {"hot": yes(np.full(3000, 0.5))}
days["ice cream"] = yes(np.where(days["hot"], 0.7, 0.2))
days["swimming"] = yes(np.where(days["hot"], 0.6, 0.1))
days["sunburn"] = yes(np.where(days["swimming"], 0.5, 0.1))
days["umbrella"] = yes(np.where(days["hot"], 0.05, 0.3))

direct = mrfit.learn(days, penalty=mrfit.NoPenalty()).model
names = direct.domain.names
pairs = [f"{names[a]} – {names[b]}" for a, b in direct.edges]
crude = [mrfit.learn({names[k]: days[names[k]] for k in pair}, penalty=mrfit.NoPenalty()).model.edge_weights[0]
         for pair in direct.edges]  # fmt: skip
for pair, alone, weight in zip(pairs, crude, direct.edge_weights, strict=True):
    print(f"{pair:20} alone {alone:+.2f}, controlling for the others {weight:+.2f}")

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.hlines(pairs, crude, direct.edge_weights, color="0.7")
axes.plot(crude, pairs, "o", color="C0", markerfacecolor="none", label="two columns alone")
axes.plot(direct.edge_weights, pairs, "o", color="C0", label="controlling for the others")
axes.axvline(0, color="0.5", linewidth=0.8)
axes.set_xlabel("log odds ratio")
axes.legend(loc="upper left", bbox_to_anchor=(0, 1.13), ncols=2, frameon=False)
figure.savefig("partial.png")
