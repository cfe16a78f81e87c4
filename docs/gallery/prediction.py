"""Predicting one variable

How well does a network predict one column?

Data: scikit-learn's 569 breast tumours, thirty measurements cut at their medians, and the
diagnosis. Half of the rows are held out.

Histograms of the predicted probability that a held-out tumour is benign, by its true diagnosis. A
good classifier keeps the two apart. One network predicts any column from any others, so the
diagnosis needs no model of its own.

See also: from-scikit-learn
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import mrfit

tumours = load_breast_cancer()
high = tumours.data > np.median(tumours.data, axis=0)
table = dict(zip(map(str, tumours.feature_names), high.T, strict=True)) | {"benign": tumours.target == 1}
train = {name: values[::2] for name, values in table.items()}
test = {name: values[1::2] for name, values in table.items()}

model = mrfit.learn(train, mrfit.Learned(max_degree=5), penalty=mrfit.L2(3.0)).model
p, benign = model.predict_proba("benign", test)[:, 1], test["benign"]
print(f"{np.mean((p > 0.5) == benign):.1%} of {len(p)} held-out tumours are classified correctly")

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
bins = np.linspace(0, 1, 21)
axes.hist(p[benign], bins, alpha=0.6, label="benign")
axes.hist(p[~benign], bins, alpha=0.6, label="malignant")
axes.set(xlabel="predicted probability of benign", ylabel="held-out tumours")
axes.legend(frameon=False)
figure.savefig("prediction.png")
