"""`mrfit warm-up`."""

from __future__ import annotations

import contextlib
import io
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click

from mrfit.cli.options import common
from mrfit.cli.output import counting_progress, print_json, say

# Between them they call every kernel with every type of arguments that commands call it with.
_EXACT = "--objective likelihood --order 3 --strength 1"
_COMMANDS = (
    "fit two.csv --valid two.csv --penalty l2 --strength 1,10 -o two.mrf",
    "score two.mrf two.csv",
    "score two.mrf two.csv --metric ll",
    "fit more.csv --solver lbfgs --strength 1 -o more.mrf",
    "score more.mrf more.csv",
    "structure two.csv --max-degree 2",
    "structure more.csv --max-degree 2",
    "structure two.csv --select ebic",
    "structure more.csv --select ebic",
    "structure two.csv --valid two.csv --select valid",
    "structure more.csv --max-degree 2 --bound path",
    "fit two.csv --structure tree --penalty none",
    "fit two.csv --penalty l1 --strength 1",
    "fit more.csv --penalty group --strength 1",
    "fit more.csv --penalty hierarchical --order 3 --strength 1",
    "fit two.csv --valid two.csv --penalty tied --groups 2,3 --strength 1,10",
    "fit two.csv --penalty hard --groups 2 --strength 1 -o tied.mrf",
    "theory tied.mrf",
    "fit more.csv --penalty hard --groups 2 --strength 1 -o tied.mrf",
    "theory tied.mrf",
    "fit two.csv --penalty ltr --groups 2 --strength 1",
    f"fit two.csv {_EXACT} --parameterization spectral --penalty l1",
    f"fit more.csv {_EXACT} --parameterization canonical --penalty l2",
    f"fit two.csv {_EXACT} --penalty hierarchical",
    f"fit two.csv {_EXACT} --penalty group",
    f"fit two.csv {_EXACT} --penalty l1 --search hierarchical",
    f"fit two.csv {_EXACT} --parameterization full --penalty l1",
    "query two.mrf --given a=1 --ask b,c --ask d --map",
    "query more.mrf --engine tree",
    "query more.mrf --engine enumeration",
    "sample more.mrf -n 10 -o rows.csv",
    "impute more.mrf holes.csv -o full.csv",
    "impute more.mrf holes.csv --how draw -o full.csv",
    "query far.uai --engine tree --map",
    "spectrum two.csv --estimator flat-l1 --folds 2 --max-order 2",
)
# Cells so far apart that their products are no numbers: such models are run in logarithms.
_FAR_APART = "MARKOV\n2\n2 2\n2\n2 0 1\n2 0 1\n4\n1 1e-300 1e-300 1e-300\n4\n1e-300 1 1 1\n"
_TRANSFORMS = ("walsh_hadamard", "subset_sums", "inverse_subset_sums", "superset_sums", "inverse_superset_sums")


@click.command("warm-up")
@click.option(
    "--record", type=click.Path(path_type=Path), hidden=True, help="For building wheels: see _kernels/shipping.py."
)
@common
def command(record: Path | None, **options: Any) -> None:
    """Compile for this machine what commands would compile when they are first used.

    A package installed from a wheel of the right versions has nothing to compile. In a checkout, or with another numba
    or processor, it takes one to two minutes, once; the code is kept beside the package or among your caches.
    """
    from mrfit._kernels.compiled import n_compiled
    from mrfit._kernels.shipping import record_signatures

    begun, before = time.perf_counter(), n_compiled()
    quiet = options["quiet"] or options["as_json"]
    with counting_progress("compiling", len(_COMMANDS) + len(_TRANSFORMS), quiet=quiet) as callback:
        for _ in chain(_run_commands(), _run_transforms()):
            if callback is not None:
                callback(1)
    if record is not None:
        record_signatures(record)
    seconds, n_kernels = time.perf_counter() - begun, n_compiled() - before
    if options["as_json"]:
        print_json({"n_compiled": n_kernels, "seconds": seconds})
    elif not options["quiet"]:
        say(f"compiled {n_kernels:,} kernels in {seconds:.0f} s" if n_kernels else "nothing to compile")


def _run_commands() -> Iterator[str]:
    """Run the commands on tables of a few rows, in a folder of their own; gives each when it is done."""
    from mrfit.cli.main import cli

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _write_table(Path("two.csv"), n_states=2)
        _write_table(Path("more.csv"), n_states=3)
        Path("holes.csv").write_text("a,b,c\n0,?,?\n1,?,?\n?,2,?\n", encoding="utf-8")
        Path("far.uai").write_text(_FAR_APART, encoding="utf-8")
        for text in _COMMANDS:
            with contextlib.redirect_stdout(io.StringIO()):
                cli.main(args=[*text.split(), "--quiet", "--jobs", "1"], prog_name="mrfit", standalone_mode=False)
            yield text


def _run_transforms() -> Iterator[str]:
    """Transform vectors of the length from which on they are done in pieces, which no small table has."""
    import numpy as np

    from mrfit import transforms
    from mrfit._kernels.butterflies import BLOCK_BITS

    for name in _TRANSFORMS:
        getattr(transforms, name)(np.zeros(2 << BLOCK_BITS))
        yield name


def _write_table(path: Path, *, n_states: int) -> None:
    """Five columns that hang together loosely; no fit is hard, and none is empty."""
    draw = random.Random(0)
    lines = ["a,b,c,d,e"]
    for _ in range(100):
        common_state = draw.randrange(n_states)
        states = (common_state if draw.random() < 0.5 else draw.randrange(n_states) for _ in range(5))
        lines.append(",".join(map(str, states)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
