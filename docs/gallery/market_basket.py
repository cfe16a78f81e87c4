"""Market baskets

Which products are bought together?

Data: 2,000 generated baskets of 12 products, made from four shopping lists.

A positive edge means that one product makes the other more likely in the same basket, whatever else
is in it. A negative edge means that the two replace each other: people cook pasta or rice.

Thumbnail: 0 0 1 0.92

Command: mrfit structure baskets.csv --max-degree 4 -o edges.csv --plot network.png

See also: scale
"""

import numpy as np

import mrfit

random = np.random.default_rng(4)
meals = {
    "breakfast": ["bread", "butter", "jam", "coffee"],
    "pasta": ["pasta", "tomatoes", "cheese", "wine"],
    "curry": ["rice", "lentils", "tomatoes", "yoghurt"],
    "snack": ["crisps", "wine", "cheese", "bread"],
}
products = sorted({product for meal in meals.values() for product in meal})
plans = random.random((2000, len(meals))) < [0.5, 0.3, 0.25, 0.2]
plans[:, 2] &= ~plans[:, 1]  # nobody cooks two dinners
wanted = plans @ np.array([[product in meal for product in products] for meal in meals.values()])
baskets = dict(zip(products, (random.random(wanted.shape) < 0.05 + 0.6 * wanted).T, strict=True))

model = mrfit.learn(baskets, mrfit.Learned(select="ebic", rule="and"), penalty=mrfit.L2(1.0)).model
for name, value in model.strongest(5, order=2):
    print(f"odds x {np.exp(value):5.2f}  {name.replace('=true', '')}")
mrfit.plot_network(model).figure.savefig("baskets.png")
