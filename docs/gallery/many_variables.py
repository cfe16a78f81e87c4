"""Networks of many variables

How are the pixels of an image associated?

Data: scikit-learn's 1,797 handwritten digits of 8 x 8 pixels, black or white.

Every pixel is a variable, drawn at its place in the image. More than half of
the edges join pixels that touch, although nothing told the learner which pixels are neighbours.
Pixels that are nearly always white are left out.

Thumbnail: 0 0.2 1 0.85

Command: mrfit structure digits.csv --max-degree 4 -o edges.csv --plot network.png

See also: structure-learning
"""

import numpy as np
from sklearn.datasets import load_digits

import mrfit

pixels = load_digits().data > 7
names = [f"r{row}c{column}" for row in range(8) for column in range(8)]
varied = [k for k in range(64) if pixels[:, k].sum() > 20]
table = {names[k]: pixels[:, k] for k in varied}

learner = mrfit.Learned(max_degree=4)
model = mrfit.learn(table, learner, penalty=mrfit.L2(1.0)).model
edges = model.edges
places = np.array([(k % 8, -(k // 8)) for k in varied], float)
lengths = np.abs(places[edges[:, 0]] - places[edges[:, 1]]).max(axis=1)
print(f"{len(varied)} pixels, {len(edges)} edges; {np.mean(lengths == 1):.0%} of them join pixels that touch")
mrfit.plot_network(model, layout=places).figure.savefig("digits.png")
