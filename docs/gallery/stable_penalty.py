"""Stability paths (StARS)

How strong must an l1 penalty be?

Data: 800 generated rows of a chain of ten yes/no links: each depends on the one before, the later the
less.

Each line is a pair of variables: the share of subsamples that include it, from a strong penalty to a
weak one. True edges rise first. The dashed line is the weakest penalty at which the network is
stable. Blue pairs are in most subsamples there, and have their names on the right.

Thumbnail: 0 0.08 0.735 1

Command: mrfit stability chain.csv --kind stars --plot stars.png

See also: stability
"""

import numpy as np

import mrfit
from mrfit.analysis.stability.stability_plot import draw_stability_paths

random = np.random.default_rng(2)
chain = [random.random(800) < 0.5]
for k in range(9):
    chain.append(random.random(800) < np.where(chain[-1], 0.9 - 0.03 * k, 0.1 + 0.03 * k))
table = {f"link {k}": column for k, column in enumerate(chain)}

found = mrfit.stars(mrfit.L1Path(), table, resamples=50)
print(f"stable penalty strength {found.stars.strengths[found.stars.chosen]:.3g}")
draw_stability_paths(found.stars, list(table)).figure.savefig("stars.png")
