"""Spurious modes

Does the model put probability where there are no data?

Data: kdd, 180,092 rows of 64 yes/no variables, nearly all "no".

A pseudo-likelihood fit can have a spurious mode: each conditional distribution fits, and still
most of the probability is on rows that resemble no row of the data. Here the data (bars) have almost
only zeros, the model (line) almost only ones. `check` finds it and says how to fit again.

Needs: kdd:train

Thumbnail: 0.52 0.12 1 1

Command: mrfit check kdd.mrf kdd:train --plot check.png

See also: checking
"""

import mrfit
from mrfit.analysis.goodness.check_plot import draw_check

rows = mrfit.UniqueRows.from_file("kdd:train")
model = mrfit.learn(rows, mrfit.Learned(max_degree=5), penalty=mrfit.L2(1.0)).model
check = model.check(rows)
print(check.verdict)
draw_check(check).savefig("check.png")
