"""Communities and predictability

Which variables belong together?

Data: 1,500 generated answers to twelve yes/no items with three factors behind them.

Colours are communities, found by the Louvain method. The ring of a variable shows how well the
others predict it, from nothing to a full circle. The three communities are the three factors.

Thumbnail: 0 0.05 1 0.92

Command: mrfit nodes items.mrf items.csv --plot-network network.png

See also: nodes
"""

import numpy as np

import mrfit
from mrfit.analysis.nodes.node_plot import draw_node_network

random = np.random.default_rng(12)
scales = {
    "mood": ["sad", "guilty", "hopeless", "tearful"],
    "fear": ["nervous", "panics", "avoids", "trembles"],
    "sleep": ["wakes early", "tired", "naps", "nightmares"],
}
common = random.normal(size=1500)
items = {}
for names in scales.values():
    factor = 0.5 * common + random.normal(size=1500)
    items |= {name: 1.5 * factor + random.normal(size=1500) > 0.7 for name in names}

model = mrfit.learn(items, mrfit.Learned(select="ebic", rule="and"), penalty=mrfit.L2(1.0)).model
nodes = model.nodes(items)
for number in range(nodes.community.max() + 1):
    members = [name for name, own in zip(nodes.names, nodes.community, strict=True) if own == number]
    print(f"community {number + 1}: {', '.join(members)}")
draw_node_network(nodes).figure.savefig("communities.png")
