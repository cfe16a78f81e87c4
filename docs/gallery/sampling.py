"""Sampling

What do rows from the model look like?

Data: scikit-learn's 178 handwritten zeros of 8 x 8 pixels, black or white.

The upper two rows are data, the lower two are drawn from the model. Most of
the drawn pictures are zeros too, although the model knows pairs of pixels only.

Command: mrfit sample zeros.mrf --rows 20 -o drawn.csv

See also: sampling
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import mrfit

digits = load_digits()
zeros = (digits.data > 7)[digits.target == 0].astype("uint8")
domain = mrfit.Domain.from_states({f"r{row}c{column}": ("off", "on") for row in range(8) for column in range(8)})
model = mrfit.learn(mrfit.Dataset(domain, zeros), mrfit.Learned(max_degree=5), penalty=mrfit.L2(1.0)).model
drawn = model.sample(20, seed=0)
print(f"mean number of black pixels: data {zeros.sum(axis=1).mean():.1f}, drawn {drawn.codes.sum(axis=1).mean():.1f}")

figure, axes = plt.subplots(4, 10, figsize=(8, 3.4), layout="constrained")
for ax, image in zip(axes.flat, np.concatenate([zeros[:20], drawn.codes]), strict=True):
    ax.imshow(image.reshape(8, 8), cmap="gray_r")
    ax.set(xticks=[], yticks=[])
axes[0, 0].set_title("data", loc="left", size=9)
axes[2, 0].set_title("drawn from the model", loc="left", size=9)
figure.savefig("sampling.png")
