"""Interaction spectrum

Do interactions of three or more variables matter?

Data: 2,000 generated rows of five switches and a lamp, which is on if exactly one of two switches is on.

The mean size of the interactions of 1, 2, ... variables in spectral coordinates, on a logarithmic
scale. Order 3 stands out, because two switches and the lamp interact as a triple. A pairwise model
would miss it.

Command: mrfit spectrum lamp.csv --plot spectrum.png

See also: parameterizations
"""

import numpy as np

import mrfit

random = np.random.default_rng(6)
table = {f"switch {k}": random.random(2000) < 0.5 for k in range(1, 6)}
table["lamp"] = (table["switch 1"] ^ table["switch 2"]) ^ (random.random(2000) < 0.2)

found = mrfit.interaction_spectrum(mrfit.UniqueRows.of(table), folds=5)
for size in found.sizes:
    print(f"{size.n_scopes:2} sets of {size.order}: mean size {size.mean:.4f}")
mrfit.plot_spectrum(found).figure.savefig("spectrum.png")
