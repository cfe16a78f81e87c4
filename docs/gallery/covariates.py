"""Covariates

How do I control for age?

Data: 1,500 generated patients with five yes/no conditions and an age group.

Left, a network without age: deafness, grey hair and arthritis go together. Right, the network given
age (`covariates=`): age explains these associations, so only its own effects are left (dotted, they
have no sign). Smoking and cough stay associated.

Thumbnail: 0 0 1 0.74

Command: mrfit fit patients.csv --covariates age --structure learned -o patients.mrf

See also: items
"""

import matplotlib.pyplot as plt
import numpy as np

import mrfit

random = np.random.default_rng(2)
age = random.integers(0, 3, 1500)


def yes(chance):
    return random.random(1500) < chance


patients = {name: yes(np.array([0.05, 0.3, 0.7])[age]) for name in ("deaf", "grey hair", "arthritis")}
patients["smokes"] = yes(np.full(1500, 0.3))
patients["cough"] = yes(np.where(patients["smokes"], 0.5, 0.1))
with_age = patients | {"age": np.array(["young", "middle", "old"])[age]}

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2))
for ax, title, table, covariates in (
    (axes[0], "without age", patients, ()),
    (axes[1], "given age", with_age, ("age",)),
):
    model = mrfit.learn(table, mrfit.Learned(price=6.0), penalty=mrfit.NoPenalty(), covariates=covariates).model
    mrfit.plot_network(model, ax, layout="circle", title=title)
    print(f"{title}: {model.n_edges} edges")
figure.savefig("covariates.png")
