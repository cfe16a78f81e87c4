"""Evidence and conditional probabilities

How do I condition on evidence?

Data: 2,000 generated visits to a doctor with six yes/no findings.

Wide grey bars are the probabilities without evidence, narrow blue bars those given a cough and no
fever. The cough makes a cold and smoking more likely; the missing fever makes flu less likely.

Thumbnail: 0 0 1 1

Command: mrfit query visits.mrf --evidence cough=true,fever=false --plot query.png

See also: queries
"""

import numpy as np

import mrfit

random = np.random.default_rng(3)


def yes(chance):
    return random.random(2000) < chance


visits = {"flu": yes(np.full(2000, 0.15)), "cold": yes(np.full(2000, 0.3)), "smoker": yes(np.full(2000, 0.25))}
visits["fever"] = yes(0.03 + 0.8 * visits["flu"] + 0.1 * visits["cold"])
visits["cough"] = yes(0.05 + 0.5 * visits["flu"] + 0.25 * visits["cold"] + 0.15 * visits["smoker"])
visits["sneezing"] = yes(np.where(visits["cold"], 0.7, 0.1))

model = mrfit.learn(visits, objective="likelihood", penalty=mrfit.L2(1.0)).model
before, after = model.marginals(), model.marginals(evidence={"cough": "true", "fever": "false"})
for name, chances in after.marginals.items():
    print(f"{name:9} {before[name]['true']:.2f} -> {chances['true']:.2f}")
mrfit.plot_marginals(after, before=before).figure.savefig("evidence.png")
