"""Most probable state (MAP)

What does the hidden half look like?

Data: scikit-learn's 1,797 handwritten digits of 8 x 8 pixels, black or white. The last eight are
not used for learning.

The first row of pictures shows digits. In the second, the lower half is hidden (grey). In the
third, `map` has filled it in with the most probable pixels given the upper half.

Command: mrfit query digits.mrf --evidence r0c3=on,r1c3=on --map

See also: queries
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import mrfit

pixels = (load_digits().data > 7).astype(int)
names = [f"r{row}c{column}" for row in range(8) for column in range(8)]
domain = mrfit.Domain.from_states(dict.fromkeys(names, ("off", "on")))
train, test = pixels[:-8], pixels[-8:]
model = mrfit.learn(
    mrfit.Dataset(domain, train.astype("uint8")), mrfit.Learned(max_degree=5), penalty=mrfit.L2(3.0)
).model

figure, axes = plt.subplots(3, 8, figsize=(8, 3.1), layout="constrained")
right = 0
for column, digit in zip(axes.T, test, strict=True):
    seen = {names[k]: int(digit[k]) for k in range(32)}
    best = model.map(evidence={name: domain[k].states[digit[k]] for k, name in enumerate(names[:32])})
    filled = np.array([best.states[name] == "on" for name in names])
    right += np.sum(filled[32:] == digit[32:])
    hidden = np.where(np.arange(64) < 32, digit, 0.4)
    for ax, image in zip(column, (digit, hidden, filled), strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
print(f"{right / 256:.0%} of the hidden pixels are right")
figure.savefig("map.png")
