"""Missing data

What if a third of the answers are missing?

Data: 1,000 generated rows of six yes/no variables; a third of the cells are removed at random.

Each dot compares an estimated edge weight with that of the complete table. Listwise deletion keeps
only the few complete rows and scatters widely. EM uses the observed values of every row and stays
close to the line.

Command: mrfit fit survey.csv --missing em --penalty none -o survey.mrf

See also: missing
"""

import matplotlib.pyplot as plt
import numpy as np

import mrfit

random = np.random.default_rng(5)
factor = random.normal(size=(1000, 1))
table = (factor + random.normal(size=(1000, 6)) > 0).astype(object)
with_gaps = np.where(random.random(table.shape) < 1 / 3, None, table)
complete_rows = table[(with_gaps != None).all(axis=1)]  # noqa: E711

learner = mrfit.Learner(penalty=mrfit.L2(1.0))
whole = learner.fit(table).model.edge_weights
deletion = learner.fit(complete_rows).model.edge_weights
em = mrfit.fit_incomplete(learner, mrfit.Dataset.from_table(with_gaps, missing="keep")).fitted.model.edge_weights
print(f"complete rows: {len(complete_rows)} of {len(table)}")
for name, weights in (("listwise deletion", deletion), ("EM", em)):
    print(f"{name:17} mean error of an edge weight {abs(weights - whole).mean():.2f}")

figure, axes = plt.subplots(figsize=(5, 4.2), layout="constrained")
axes.axline((0.5, 0.5), slope=1, color="0.6", linewidth=0.8)
axes.plot(whole, deletion, "s", color="C1", markerfacecolor="none", label="listwise deletion")
axes.plot(whole, em, "o", color="C0", label="EM")
axes.set(xlabel="edge weight, complete table", ylabel="edge weight, table with gaps")
axes.legend(frameon=False)
figure.savefig("missing.png")
