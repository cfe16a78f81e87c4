"""Comparing models

How do two models differ?

Data: scikit-learn's 569 breast tumours: seven mean measurements cut at their medians, and the
diagnosis.

A is fitted with all pairs, B is a Chow-Liu tree. The third network shows the difference B - A.
The script also
prints the difference of their held-out scores, with a paired standard error.

Thumbnail: 0 0 0.67 0.92

Command: mrfit compare a.mrf b.mrf --data tumours.csv --plot comparing.png

See also: comparing
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

import mrfit

tumours = load_breast_cancer()
table = {"benign": tumours.target == 1}
for name, values in zip(tumours.feature_names[:7], tumours.data.T[:7], strict=True):
    table[str(name).removeprefix("mean ")] = values > np.median(values)
train = {name: values[::2] for name, values in table.items()}
test = {name: values[1::2] for name, values in table.items()}

a = mrfit.learn(train, penalty=mrfit.L2(1.0)).model
b = mrfit.learn(train, mrfit.ChowLiuTree(), penalty=mrfit.L2(1.0)).model
comparison = mrfit.compare(a, b, test, metric="ll")
print(comparison.scores.describe())
comparison.figure().savefig("comparing.png")
