"""`mrfit demo`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from mrfit._renamed import with_former_keys
from mrfit.cli.files import check_files, writing
from mrfit.cli.options import common
from mrfit.cli.output import heading, note_compiling, print_json, print_table, remark, say
from mrfit.cli.sections import SectionedCommand
from mrfit.core.rounding import significant, strength_text
from mrfit.core.text_table import columns

_STRENGTHS = (0.3, 1.0, 3.0, 10.0)


@click.command("demo", cls=SectionedCommand, guide=("Installation and quickstart", "start.md"))
@click.option(
    "-o",
    "--output",
    default="mrfit-demo",
    show_default=True,
    metavar="STEM",
    help="Write the picture to STEM.png and the model to STEM.mrf.",
)
@writing
@common
def command(output: str, **options: Any) -> None:
    """Learn a network of the pixels of handwritten digits, score it and draw it.

    \b
    Examples:
      mrfit demo
      mrfit demo -o digits --json

    The data are the 1,797 digits of scikit-learn, 8 x 8 pixels, in black and white. There is nothing to download. mrfit
    learns three structures on 60 % of the rows, chooses the penalty strength on 20 % and scores the models on the last
    20 %.
    """
    import numpy as np
    from sklearn.datasets import load_digits

    from mrfit.core.domain import Domain
    from mrfit.core.threads import resolve_jobs
    from mrfit.data.dataset import Dataset
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.formats.output_file import write_output
    from mrfit.learning import Learner
    from mrfit.learning.penalty_specs import L2
    from mrfit.plots.digits_plot import SIDE, digits_figure
    from mrfit.structures.simple import ChowLiuTree, CompleteGraph, NoInteractions

    note_compiling(quiet=options["quiet"] or options["as_json"])
    picture, model_file = Path(f"{output}.png"), Path(f"{output}.mrf")
    check_files({}, {"STEM.png": str(picture), "STEM.mrf": str(model_file)}, options)
    begun = time.perf_counter()
    pixels = (load_digits().data > 7).astype(np.uint8)
    pixels = pixels[np.random.default_rng(options["seed"]).permutation(len(pixels))]
    domain = Domain.from_states({f"r{k // SIDE}c{k % SIDE}": ("off", "on") for k in range(SIDE * SIDE)})
    cuts = [int(0.6 * len(pixels)), int(0.8 * len(pixels))]
    train, valid, test = (UniqueRows.from_dataset(Dataset(domain, part)) for part in np.split(pixels, cuts))
    jobs = resolve_jobs(options["jobs"])
    best = {
        structure.word: Learner(structure, L2(_STRENGTHS)).fit(train, valid, jobs=jobs).best
        for structure in (NoInteractions(), ChowLiuTree(), CompleteGraph())
    }
    scores = {word: fit.model.pll(test) for word, fit in best.items()}
    model = best["complete"].model
    positions = np.array([(k % SIDE, k // SIDE) for k in range(SIDE * SIDE)], float)
    write_output(picture, digits_figure(pixels, model, positions, scores))
    model.save(model_file)
    seconds = time.perf_counter() - begun
    if options["as_json"]:
        document = {
            "rows": {"train": train.n_rows, "valid": valid.n_rows, "test": test.n_rows},
            "n_variables": len(domain),
            "test_pll": scores,
            "penalty_strength": {word: fit.strength for word, fit in best.items()},
            "max_gradient": {word: fit.solution.violation for word, fit in best.items()},
            "picture": str(picture),
            "model": str(model_file),
            "seconds": seconds,
        }
        print_json(with_former_keys(document, penalty_strength="strength", max_gradient="violation"))
    elif not options["quiet"]:
        word = max(scores, key=lambda word: scores[word])
        say(f"the structure {word!r} predicts new digits best: test pll {scores[word]:.4f} nats a row", bold=True)
        remark(
            f"{len(pixels):,} digits of {len(domain)} yes/no pixels: learned on {train.n_rows:,}, lambda chosen on "
            f"{valid.n_rows:,}, scored on {test.n_rows:,}"
        )
        rows = [
            [word, f"{fit.model.n_parameters:,}", strength_text(fit.strength), f"{scores[word]:.4f}"]
            for word, fit in best.items()
        ]
        print_table([["structure", "parameters", "lambda", "test pll"], *rows], n_words=1)
        heading("strongest interactions")
        lines = [[significant(value, sign="+"), name] for name, value in model.strongest(5, order=2)]
        say(*(f"  {line}" for line in columns(lines, n_names=1)))
        say(
            f"wrote {picture} and {model_file} in {seconds:.1f} s; look at the model with",
            f"    mrfit show {model_file}",
        )
