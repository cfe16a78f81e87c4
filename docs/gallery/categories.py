"""Categorical variables

How are categories associated?

Data: scikit-learn's 150 iris flowers, each measurement cut into three classes of equal size.

Categories have no order, so an edge has no sign: it is grey and dotted, and its weight is the norm
of a centered table of log odds ratios. The strongest edge joins petal length and petal width.

Thumbnail: 0 0 1 0.9

Command: mrfit fit iris.csv --penalty l2 --strength 1 -o iris.mrf

See also: conventions
"""

import numpy as np
from sklearn.datasets import load_iris

import mrfit

iris = load_iris()
table = {"species": iris.target_names[iris.target]}
for name, values in zip(("sepal length", "sepal width", "petal length", "petal width"), iris.data.T, strict=True):
    table[name] = np.array(["short", "middle", "long"])[np.digitize(values, np.quantile(values, [1 / 3, 2 / 3]))]

model = mrfit.learn(table, penalty=mrfit.L2(1.0)).model
for petal in ("short", "middle", "long"):
    chances = model.conditional("species", {"petal length": petal})
    print(f"petals {petal:6}:", ", ".join(f"{species} {p:.2f}" for species, p in chances.items()))
mrfit.plot_network(model, layout="circle").figure.savefig("iris.png")
