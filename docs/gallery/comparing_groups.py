"""Comparing groups

How do the networks of two groups differ?

Data: 600 generated patients in each of two clinics, five yes/no symptoms. Pain disturbs sleep in
clinic B only.

The first two networks share one layout and one scale. The third shows the differences: those with
an adjusted p of at most 0.05 are coloured, the others are grey.

Thumbnail: 0.34 0 1 0.92

Command: mrfit compare-groups patients.csv --by clinic --plot groups.png

See also: groups
"""

import numpy as np

import mrfit
from mrfit.analysis.groups.groups_record import GroupsSummary

random = np.random.default_rng(13)
clinic = np.repeat(["A", "B"], 600)


def yes(chance):
    return random.random(1200) < chance


table = {"clinic": clinic, "pain": yes(np.full(1200, 0.4)), "stress": yes(np.full(1200, 0.4))}
table["bad sleep"] = yes(np.where((clinic == "B") & table["pain"], 0.7, 0.3))
table["tired"] = yes(np.where(table["bad sleep"], 0.7, 0.2))
table["sad"] = yes(np.where(table["stress"], 0.5, 0.2))

found = mrfit.compare_groups(mrfit.Learner(penalty=mrfit.L2(1.0)), table, by="clinic")
summary = GroupsSummary.of(found)
print(f"all edges equal: p = {found.wald.whole.p:.2g} (Wald test)")
for edge in summary.edges[:3]:
    print(f"{edge.difference:+.2f}, adjusted p = {edge.adjusted:.2g}: {' - '.join(edge.variables)}")
summary.figure().savefig("groups.png")
