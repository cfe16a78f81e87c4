"""Case-dropping stability

Can I interpret centrality?

Data: 500 generated rows of eight yes/no items with two factors behind them.

Rows are dropped at random and the network is refitted. Lines show how well edge weights and
centralities still correlate with those of all rows. The CS coefficient is the largest share of rows
that you can drop while correlations stay above 0.7 (dashed) in 95 % of the subsets. Values above
0.5 are considered stable.

Thumbnail: 0 0.17 1 1

Command: mrfit stability items.csv --penalty l2 --kind drop --plot drop.png

See also: stability
"""

import numpy as np

import mrfit
from mrfit.analysis.stability.stability_plot import draw_case_drop

random = np.random.default_rng(7)
factors = np.repeat(random.normal(size=(2, 500)), 4, axis=0)
loadings = np.array([0.4, 0.8, 1.2, 1.6] * 2)[:, None]
items = {f"item {k + 1}": row for k, row in enumerate(loadings * factors + random.normal(size=(8, 500)) > 0)}

found = mrfit.case_dropping(mrfit.Learner(penalty=mrfit.L2(1.0)), items, resamples=100)
for name, coefficient in found.coefficients.items():
    print(f"CS coefficient {coefficient:.2f}: {name.replace('_', ' ')}")
draw_case_drop(found.case_drop).figure.savefig("drop.png")
