"""A simulated survey of sleep, drawn with a seed from a known network: the example of the front page and the README.

``python docs/extensions/sleep_survey.py survey.csv`` writes it. Nobody answered it.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEED = 8
N_ROWS = 2000

# What a "yes" says of a person, as a verb, and its log odds if all other answers are "no" and the age is the first.
ANSWERS = {
    "shift_work": ("work shifts", -2.0),
    "exercise": ("exercise", 0.5),
    "stress": ("feel stressed", -2.0),
    "coffee": ("drink coffee late", -1.3),
    "phone": ("use a phone in bed", 0.7),
    "snoring": ("snore", -1.9),
    "insomnia": ("sleep badly", -3.0),
    "tired": ("feel tired", -2.3),
    "headaches": ("have headaches", -2.1),
    "low_mood": ("feel low", -2.2),
}
AGES = {"18_to_29": 0.0, "30_to_59": 0.6, "60_or_over": 0.7}  # log odds against the first

# Log odds ratios of all pairs that interact; all others are independent, given the rest.
INTERACTIONS = {
    ("age=60_or_over", "shift_work=yes"): -1.4,
    ("age=60_or_over", "exercise=yes"): -0.7,
    ("age=30_to_59", "phone=yes"): -0.8,
    ("age=60_or_over", "phone=yes"): -2.2,
    ("age=30_to_59", "snoring=yes"): 0.7,
    ("age=60_or_over", "snoring=yes"): 1.3,
    ("shift_work=yes", "coffee=yes"): 1.1,
    ("shift_work=yes", "stress=yes"): 0.8,
    ("shift_work=yes", "tired=yes"): 0.8,
    ("exercise=yes", "stress=yes"): -0.7,
    ("exercise=yes", "low_mood=yes"): -0.7,
    ("stress=yes", "insomnia=yes"): 1.3,
    ("stress=yes", "headaches=yes"): 1.0,
    ("stress=yes", "low_mood=yes"): 1.1,
    ("coffee=yes", "insomnia=yes"): 1.2,
    ("phone=yes", "insomnia=yes"): 0.8,
    ("snoring=yes", "insomnia=yes"): 0.8,
    ("insomnia=yes", "tired=yes"): 1.9,
    ("tired=yes", "headaches=yes"): 0.9,
    ("tired=yes", "low_mood=yes"): 1.2,
}


def sleep_survey(n_rows: int = N_ROWS, seed: int = SEED) -> dict[str, NDArray[np.str_]]:
    """Return the answers of simulated people: their age group, and yes or no to each question."""
    states = {"age": np.array(list(AGES)), **dict.fromkeys(ANSWERS, np.array(["no", "yes"]))}
    shape = [len(each) for each in states.values()]
    joint = {name: states[name][codes.ravel()] for name, codes in zip(states, np.indices(shape), strict=True)}
    log_p = np.sum([log_odds * (joint["age"] == age) for age, log_odds in AGES.items()], axis=0)
    for name, (_, log_odds) in ANSWERS.items():
        log_p += log_odds * (joint[name] == "yes")
    for pair, log_odds_ratio in INTERACTIONS.items():
        (a, s), (b, t) = (end.split("=") for end in pair)
        log_p += log_odds_ratio * ((joint[a] == s) & (joint[b] == t))
    p = np.exp(log_p)
    drawn = np.random.default_rng(seed).choice(p.size, n_rows, p=p / p.sum())
    return {name: column[drawn] for name, column in joint.items()}


def write_survey(path: Path) -> None:
    """Write the answers as CSV."""
    answers = sleep_survey()
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(answers)
        lines.writerows(zip(*answers.values(), strict=True))


if __name__ == "__main__":
    write_survey(Path(sys.argv[1]))
