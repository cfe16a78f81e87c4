"""Sample size and power

How many rows do I need?

Data: tables of 100 to 1,600 rows, drawn from a model of eight yes/no variables with seven true
edges.

Sensitivity is the share of true edges that structure learning finds, specificity the share of
absent edges that it leaves out. The dashed line is a sensitivity of 0.8. Here it takes fewer than
200 rows, because the edges are strong.

Command: mrfit power pilot.mrf --rows 100,200,400,800,1600 --repetitions 40 --plot power.png

See also: power
"""

import matplotlib.pyplot as plt
import numpy as np

import mrfit

random = np.random.default_rng(2)
chain = [random.random(5000) < 0.5]
for _ in range(7):
    chain.append(random.random(5000) < np.where(chain[-1], 0.65, 0.35))
pilot = mrfit.learn(np.array(chain).T, mrfit.ChowLiuTree(), penalty=mrfit.NoPenalty()).model

learner = mrfit.Learner(mrfit.Learned(select="ebic", rule="and"), penalty=mrfit.NoPenalty())
study = mrfit.sample_size(pilot, learner, rows=(100, 200, 400, 800, 1600), repetitions=40)
for point in study.points:
    print(f"{point.n_rows:5,} rows: sensitivity {point.sensitivity.mean:.2f}, specificity {point.specificity.mean:.2f}")
print(f"a sensitivity of 0.8 takes about {study.rows_for(0.8):,.0f} rows")

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for measure in ("sensitivity", "specificity"):
    found = [getattr(point, measure) for point in study.points]
    axes.errorbar(
        [p.n_rows for p in study.points], [f.mean for f in found], [f.error for f in found], fmt="o-", label=measure
    )
axes.axhline(0.8, color="0.5", linestyle="--", linewidth=0.8)
axes.set(xscale="log", xlabel="rows", ylabel="mean over 40 tables", ylim=(0, 1.03))
axes.legend(frameon=False)
figure.savefig("power.png")
