"""Parameter tying

How few different values do the parameters need?

Data: 2,000 generated rows of a ring of twelve yes/no cells; every cell follows its neighbours in
the same way.

Each dot is a parameter. A tied penalty pulls the parameters towards three learned centers, whose
values and group sizes are printed at the top. The twelve edges of the ring share one value, the other pairs
another one near zero, and the single variables a third.

Thumbnail: 0 0 1 0.44

Command: mrfit fit ring.csv --penalty tied --groups 3 --strength 30 -o ring.mrf

See also: tying
"""

import numpy as np

import mrfit

random = np.random.default_rng(16)
cells = random.random((2000, 12)) < 0.5
for _ in range(30):  # Gibbs sweeps
    for k in range(12):
        field = 1.0 * cells[:, k - 1] + 1.0 * cells[:, (k + 1) % 12] - 1.0
        cells[:, k] = random.random(2000) < 1 / (1 + np.exp(-field))

model = mrfit.learn(cells, penalty=mrfit.SoftTied(strength=30.0, groups=3)).model
print(f"{model.n_parameters} parameters near {model.n_groups} centers: {model.groups.centers.round(2)}")
mrfit.plot_parameters(model).figure.savefig("tying.png")
