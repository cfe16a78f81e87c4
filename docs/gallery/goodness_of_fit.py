"""Goodness of fit

Does the model fit?

Data: scikit-learn's 569 breast tumours, ten mean measurements cut at their medians, and the
diagnosis.

Left, each dot is the probability of a state or of a pair of states: in the data across, in the
model upwards. Dots in the grey band differ no more than sampling error explains. Right, the number
of variables that are "true": bars are the data, the line is the model.

Thumbnail: 0 0.12 0.47 1

Command: mrfit check tumours.mrf tumours.csv --plot check.png

See also: checking
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

import mrfit
from mrfit.analysis.goodness.check_plot import draw_check

tumours = load_breast_cancer()
table = {"benign": tumours.target == 1}
for name, values in zip(tumours.feature_names[:10], tumours.data.T[:10], strict=True):
    table[str(name).removeprefix("mean ")] = values > np.median(values)

model = mrfit.learn(table, objective="likelihood", penalty=mrfit.L2(1.0)).model
check = model.check(table)
print(check.verdict)
draw_check(check).savefig("check.png")
