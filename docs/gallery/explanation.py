"""Explaining an answer

Which piece of evidence matters most?

Data: scikit-learn's 569 breast tumours, ten mean measurements cut at their medians, and the
diagnosis.

The model predicts that a tumour with these five measurements is benign. Each bar shows what one
piece of evidence adds to the log odds: `explain` removes one piece at a time and keeps the others.

Command: mrfit query tumours.mrf --evidence "concave points=false,texture=false" --ask benign --explain

See also: queries
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import mrfit

tumours = load_breast_cancer()
table = {"benign": tumours.target == 1}
for name, values in zip(tumours.feature_names[:10], tumours.data.T[:10], strict=True):
    table[str(name).removeprefix("mean ")] = values > np.median(values)
model = mrfit.learn(table, penalty=mrfit.L2(3.0)).model

evidence = {"radius": True, "texture": False, "smoothness": False, "concave points": False, "symmetry": True}
answer = model.explain("benign", evidence, state=True)
print(f"p(benign) is {answer.p_before:.2f} without evidence and {answer.p:.2f} with it")
for influence in answer.influences:
    print(f"{influence.log_odds:+.2f}  {influence.given}")

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
pieces = answer.influences[::-1]
colours = ["C0" if each.log_odds > 0 else "C3" for each in pieces]
axes.barh([each.given for each in pieces], [each.log_odds for each in pieces], color=colours)
axes.axvline(0, color="0.5", linewidth=0.8)
axes.set_xlabel("change of the log odds of benign")
figure.savefig("explanation.png")
