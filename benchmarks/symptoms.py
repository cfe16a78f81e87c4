"""A generated survey of 60 yes/no symptoms in ten groups: `python -m benchmarks.symptoms TABLE.csv`.

Symptoms of a group are directly associated, and a few links join neighbouring groups, as sleep and mood. The truth has
pairs only, so a network of pairs that is learned from the table can pass `mrfit check`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from mrfit import Dataset, Domain
from mrfit.formats.tables import table_bytes, table_of

GROUPS = {
    "mood": "sad hopeless tearful guilty empty irritable",
    "sleep": "insomnia nightmares wakes_early naps tired restless",
    "worry": "worries tense panics avoids_people fears_illness checks_doors",
    "body": "headache back_pain stomach_ache dizzy palpitations sweating",
    "eating": "no_appetite overeats skips_meals nausea thirsty loses_weight",
    "attention": "forgetful distracted slow_thinking loses_things late disorganised",
    "social": "lonely withdrawn quarrels distrusts shy misses_work",
    "habits": "smokes drinks gambles no_exercise late_nights much_coffee",
    "breath": "cough wheezes short_of_breath sneezes sore_throat hay_fever",
    "joints": "stiff_in_morning knee_pain swollen_hands weak_grip limps hip_pain",
}
BRIDGES = (
    ("sad", "insomnia"), ("tired", "distracted"), ("empty", "lonely"), ("worries", "insomnia"),
    ("panics", "palpitations"),
    ("hopeless", "withdrawn"), ("tense", "headache"), ("nausea", "dizzy"), ("no_appetite", "sad"), ("smokes", "cough"),
    ("late_nights", "naps"), ("drinks", "quarrels"), ("short_of_breath", "sweating"), ("back_pain", "hip_pain"),
    ("misses_work", "late"), ("no_exercise", "stiff_in_morning"), ("avoids_people", "shy"), ("restless", "much_coffee"),
)  # fmt: skip
CONTRASTS = (
    ("no_appetite", "overeats"), ("overeats", "loses_weight"), ("late_nights", "wakes_early"), ("shy", "quarrels"),
    ("restless", "slow_thinking"),
)  # fmt: skip
N_ROWS = 4_000
_SWEEPS = 200
_RARENESS = 0.7  # each symptom is rarer than one half by about this much, in log odds


def symptoms() -> Dataset:
    """Return the table, drawn by Gibbs sampling; the same every time."""
    random = np.random.default_rng(1)
    groups = [words.split() for words in GROUPS.values()]
    names = [name for group in groups for name in group]
    weights = np.zeros((len(names), len(names)))
    for k, group in enumerate(groups):
        for i in range(len(group)):
            for step in (1, 2):  # a ring of six with its short diagonals
                a, b = (6 * k + (i + shift) % 6 for shift in (0, step))
                weights[a, b] = weights[b, a] = random.choice([0.0, 0.7, 1.0, 1.3])
    for one, other in BRIDGES:
        a, b = names.index(one), names.index(other)
        weights[a, b] = weights[b, a] = random.uniform(0.8, 1.2)
    for one, other in CONTRASTS:
        a, b = names.index(one), names.index(other)
        weights[a, b] = weights[b, a] = random.uniform(-1.4, -1.0)
    base = -_RARENESS - weights.sum(axis=1) / 2
    rows = random.random((N_ROWS, len(names))) < 0.3
    for _ in range(_SWEEPS):
        for i in range(len(names)):
            log_odds = base[i] + rows @ weights[i]
            rows[:, i] = random.random(N_ROWS) < 1.0 / (1.0 + np.exp(-log_odds))
    return Dataset(Domain.from_states(dict.fromkeys(names, ("no", "yes"))), rows.astype(np.uint8))


def main(path: str) -> None:
    Path(path).write_bytes(table_bytes(table_of(symptoms()), path))


if __name__ == "__main__":
    main(*sys.argv[1:])
