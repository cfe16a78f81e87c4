"""Ordered (Likert) items

How do I learn a network of five-point items?

Data: 600 generated answers to eight items, from 1 (never) to 5 (always), with two factors behind
them.

Each edge weight is a log odds ratio per step of the scale: it has a sign, and one parameter instead
of 16. Cross-validation chose the
l1 penalty. Strong edges join items of one factor: mood on one side, body on the other.

Thumbnail: 0 0 1 0.88

Command: mrfit fit items.csv --ordered all --penalty l1 --folds 5 -o items.mrf

See also: items
"""

import numpy as np

import mrfit

random = np.random.default_rng(3)
mood, body = random.normal(size=(2, 600))
body = 0.8 * body + 0.4 * mood
factors = {
    "sad": mood, "anxious": mood, "hopeless": mood, "cheerful": -mood,
    "tired": body, "in pain": body, "sleepless": body, "fit": -body,
}  # fmt: skip
items = {
    name: np.digitize(factor + random.normal(size=600), [-1.5, -0.5, 0.5, 1.5]) + 1 for name, factor in factors.items()
}

fitted = mrfit.learn(items, parameterization="ordered", penalty=mrfit.L1((3, 10, 30, 100)), folds=5)
model = fitted.model
print(model)
for name, value in model.strongest(5, order=2):
    print(f"{value:+.2f} per step, odds x {np.exp(value):.2f}: {name}")
mrfit.plot_network(model).figure.savefig("items.png")
