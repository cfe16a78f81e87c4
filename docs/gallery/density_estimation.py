"""Density estimation

How well does a network describe a real table?

Data: nltcs, 21,574 elderly people with 16 disabilities: 16,181 rows to learn from, 2,157 to select,
3,236 to score.

Dots are exact log-likelihoods of held-out rows, per row in nats: further right is better. Pairs
explain most of what the disabilities have in common; triples add a little.

Needs: nltcs:train

Command: mrfit fit nltcs:train --valid nltcs:valid --test nltcs:test --objective likelihood -o nltcs.mrf

See also: likelihood
"""

import matplotlib.pyplot as plt

import mrfit

train, valid, test = (mrfit.UniqueRows.from_file(f"nltcs:{split}") for split in ("train", "valid", "test"))
structures = {
    "independent": mrfit.NoInteractions(),
    "tree": mrfit.ChowLiuTree(),
    "all pairs": mrfit.CompleteGraph(),
    "all triples": mrfit.AllInteractions(3),
}
scores = {}
for name, structure in structures.items():
    model = mrfit.learn(train, structure, penalty=mrfit.L2((1.0, 10.0)), valid=valid).model
    scores[name] = model.ll(test)
    print(f"{name:12} {model.n_parameters:4} parameters, held-out log-likelihood {scores[name]:.3f}")

figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
axes.plot(list(scores.values()), list(scores), "o")
axes.set_xlabel("held-out log-likelihood, nats per row")
axes.margins(y=0.15)
figure.savefig("density.png")
