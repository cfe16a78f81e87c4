"""Mutual information

Which question should I ask next?

Data: 2,000 generated answers to five yes/no questions and a diagnosis.

Bars show how much each open question would tell you about the diagnosis, in nats: before any answer,
and once you know that the patient sleeps badly. Tiredness adds little after that, because it
follows from the sleep.

See also: queries
"""

import matplotlib.pyplot as plt
import numpy as np

import mrfit

random = np.random.default_rng(9)


def yes(chance):
    return random.random(2000) < chance


answers = {"depressed": yes(np.full(2000, 0.3))}
answers["bad sleep"] = yes(np.where(answers["depressed"], 0.7, 0.25))
answers["tired"] = yes(np.where(answers["bad sleep"], 0.8, 0.2))
answers["sad"] = yes(np.where(answers["depressed"], 0.6, 0.15))
answers["no appetite"] = yes(np.where(answers["depressed"], 0.5, 0.2))
answers["in pain"] = yes(np.where(answers["tired"], 0.4, 0.2))

model = mrfit.learn(answers, objective="likelihood", penalty=mrfit.L2(1.0)).model
questions = ["sad", "no appetite", "tired", "in pain"]
before = [model.mutual_information(["depressed"], [each]) for each in questions]
after = [model.mutual_information(["depressed"], [each], evidence={"bad sleep": True}) for each in questions]
for question, a, b in zip(questions, before, after, strict=True):
    print(f"{question:12} {a:.3f} nats, {b:.3f} once bad sleep is known")

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
places = np.arange(len(questions))
axes.barh(places - 0.2, before, 0.4, color="0.75", label="before any answer")
axes.barh(places + 0.2, after, 0.4, color="C0", label="given bad sleep")
axes.set_yticks(places, questions)
axes.invert_yaxis()
axes.set_xlabel("mutual information with the diagnosis, nats")
axes.legend(frameon=False)
figure.savefig("questions.png")
