"""`mrfit warm-up`."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from mrfit.cli.options import common
from mrfit.cli.output import print_json, say
from mrfit.cli.progress import counting_progress
from mrfit.cli.sections import SectionedCommand
from mrfit.core.temporary_file import scratch_folder

# Between them they call every kernel with every type of arguments that commands call it with. Two processes begin at
# the two ends, and each should find what it needs of the other's already compiled: at one end the walks of structure
# learning, at the other the junction tree, each a chain of kernels about as long as half of all; between them, what
# needs neither.
_EXACT = "--objective likelihood --order 3 --strength 1"
_COMMANDS = (
    "structure two.csv --max-degree 2",
    "structure more.csv --max-degree 2",
    "structure two.csv --select ebic",
    "structure more.csv --select ebic",
    "stability two.csv --structure learned --select ebic --resamples 2",
    "structure two.csv --valid two.csv --select valid",
    "structure more.csv --max-degree 2 --bound path",
    "structure two.csv --max-degree 2 --bound joint",
    "structure more.csv --max-degree 2 --bound joint",
    f"fit two.csv {_EXACT} --penalty hierarchical",
    f"fit two.csv {_EXACT} --parameterization spectral --penalty l1",
    f"fit more.csv {_EXACT} --parameterization canonical --penalty l2",
    f"fit two.csv {_EXACT} --penalty group",
    f"fit two.csv {_EXACT} --penalty l1 --search hierarchical",
    f"fit two.csv {_EXACT} --parameterization full --penalty l1",
    "spectrum two.csv --estimator flat-l1 --folds 2 --max-order 2",
    "fit two.csv --valid two.csv --penalty tied --groups 2,3 --strength 1,10",
    "fit two.csv --structure tree --penalty none --errors sandwich",
    "fit two.csv --structure tree --objective likelihood --engine tree",
    "fit two.csv --structure grown --objective likelihood --engine chains --strength 1",
    "fit two.csv --structure grown --cells 1e4 --objective likelihood --engine tree --strength 1",
    "fit more.csv --structure tree --objective likelihood --engine chains --strength 1",
    "fit two.csv --penalty l1 --strength 1",
    "fit more.csv --penalty group --strength 1",
    "fit more.csv --penalty hierarchical --order 3 --strength 1",
    "fit two.csv --penalty hard --groups 2 --strength 1 -o tied.mrf && theory tied.mrf",
    "fit more.csv --penalty hard --groups 2 --strength 1 -o tied.mrf && theory tied.mrf",
    "fit two.csv --penalty ltr --groups 2 --strength 1",
    "fit two.csv --structure tree --strength 1 -o asked.mrf && query asked.mrf --engine bp && "
    "infer asked.mrf --task MAP --engine max-product -o asked.map && query asked.mrf --engine trw && "
    "query asked.mrf --engine mean-field && query asked.mrf --engine gibbs && query asked.mrf --engine ais && "
    "check asked.mrf two.csv --engine ais",
    "fit more.csv --structure tree --strength 1 -o asked.mrf && query asked.mrf --engine gibbs && "
    "query asked.mrf --engine ais && query asked.mrf --engine mean-field && query asked.mrf --engine bp && "
    "query asked.mrf --engine enumeration && check asked.mrf more.csv --engine ais",
    "fit more.csv --solver lbfgs --strength 1 -o more.mrf && score more.mrf more.csv",
    "query far.uai --engine tree --map",
    "fit more.csv --structure tree --strength 1 -o asked.mrf && query asked.mrf --engine tree && "
    "sample asked.mrf -n 10 -o rows.csv && impute asked.mrf holes.csv -o full.csv && "
    "impute asked.mrf holes.csv --how draw -o drawn.csv && check asked.mrf more.csv --engine tree && "
    "report asked.mrf more.csv -o asked.html",
    "fit two.csv --valid two.csv --penalty l2 --strength 1,10 -o two.mrf && score two.mrf two.csv && "
    "score two.mrf two.csv --metric ll",
    "fit two.csv --structure tree --strength 1 -o asked.mrf && query asked.mrf --evidence a=1 --ask b,c --ask d --map "
    "&& report asked.mrf two.csv -o asked.html",
)
# Cells so far apart that their products are no numbers: such models are run in logarithms.
_FAR_APART = "MARKOV\n2\n2 2\n2\n2 0 1\n2 0 1\n4\n1 1e-300 1e-300 1e-300\n4\n1e-300 1 1 1\n"
_TRANSFORMS = ("walsh_hadamard", "subset_sums", "inverse_subset_sums", "superset_sums", "inverse_superset_sums")


@click.command("warm-up", cls=SectionedCommand, guide=("Installation and quickstart", "start.md"))
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    hidden=True,
    help="Record what is compiled, for wheels: see _kernels/machine_code.",
)
@click.option("--backwards", is_flag=True, hidden=True, help="Begin at the other end, as the second process does.")
@common
def command(record: Path | None, backwards: bool, **options: Any) -> None:
    """Compile in advance what commands would compile at their first use.

    A package installed from a wheel for your versions of Python and numba has nothing to compile. In a checkout, or
    with other versions or another processor, this takes about a minute on two processors, once. mrfit stores the code
    beside the package or in your cache directory.

    \b
    Examples:
      mrfit warm-up
    """
    from mrfit._kernels.machine_code.build import record_signatures
    from mrfit._kernels.machine_code.compiled import n_compiled
    from mrfit.core.threads import resolve_jobs

    begun, before = time.perf_counter(), n_compiled()
    quiet = options["quiet"] or options["as_json"]
    other = _begin_at_the_other_end() if resolve_jobs(options["jobs"]) > 1 else None
    tasks = _tasks()
    with _rare_collections(), counting_progress("compiling", len(tasks), quiet=quiet) as callback:
        for _ in _done(tasks[::-1] if backwards else tasks):
            if callback is not None:
                callback(1)
    if record is not None:
        record_signatures(record)
    n_kernels = n_compiled() - before + (0 if other is None else _n_compiled_by(other))
    seconds = time.perf_counter() - begun
    if options["as_json"]:
        print_json({"n_compiled": n_kernels, "seconds": seconds})
    elif not options["quiet"]:
        say(f"compiled {n_kernels:,} kernels in {seconds:.0f} s" if n_kernels else "nothing to compile")


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    """A compiler makes very many objects and drops few: looking for what it dropped takes a tenth of all the time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _begin_at_the_other_end() -> subprocess.Popen[str]:
    """A second process; what it has compiled by the time it meets this one need only be loaded."""
    command = [sys.executable, "-P", "-m", "mrfit", "warm-up", "--backwards", "--json", "--jobs", "1"]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def _n_compiled_by(other: subprocess.Popen[str]) -> int:
    """Number of kernels that the process compiled; 0 if it failed, since this process then compiled all of them."""
    printed, _ = other.communicate()
    return int(json.loads(printed)["n_compiled"]) if other.returncode == 0 else 0


def _tasks() -> list[Callable[[], None]]:
    """Return tasks on tables of a few rows that together call every kernel."""
    return [
        *(partial(_run_commands, text) for text in _COMMANDS),
        *(partial(_transform, name) for name in _TRANSFORMS),
        _share_cliques,
        _learn_from_lists,
        _pass_by_residual,
        _search_states,
    ]


def _done(tasks: list[Callable[[], None]]) -> Iterator[None]:
    """Run them in a folder of its own that has these tables, with a stop after each."""
    with scratch_folder() as folder, contextlib.chdir(folder):
        _write_table(Path("two.csv"), n_states=2)
        _write_table(Path("more.csv"), n_states=3)
        Path("holes.csv").write_text("a,b,c\n0,?,?\n1,?,?\n?,2,?\n", encoding="utf-8")
        Path("far.uai").write_text(_FAR_APART, encoding="utf-8")
        for task in tasks:
            task()
            yield


def _run_commands(texts: str) -> None:
    """Each after the one before it, as in a shell; what they say of their few rows is no news to anybody."""
    from mrfit.cli.main import cli

    for text in texts.split(" && "):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            cli.main(args=[*text.split(), "--quiet", "--jobs", "1"], prog_name="mrfit", standalone_mode=False)


def _transform(name: str) -> None:
    """A vector of the length from which on transforms are done in pieces, which no small table has."""
    import numpy as np

    from mrfit._kernels.arithmetic.fast_transforms import BLOCK_BITS
    from mrfit.core import transforms

    getattr(transforms, name)(np.zeros(2 << BLOCK_BITS))


def _share_cliques() -> None:
    """Two cliques that are worth a second thread, with enough in common to be cut in two."""
    from mrfit.core.factors import Factors
    from mrfit.inference.exact.junction_tree import JunctionTree

    pairs = sorted({pair for clique in (range(20), range(8, 28)) for pair in combinations(clique, 2)})
    factors, engine = (
        Factors.from_tables((2,) * 28, [(pair, [0.0, 0.0, 0.0, 0.1]) for pair in pairs]),
        JunctionTree(jobs=2),
    )
    engine.run(engine.plan(factors), factors).marginal((0, 1))


def _learn_from_lists() -> None:
    """Lists stay lists where there are very many items, which no small file has."""
    from scipy import sparse

    from mrfit.data.sparse_rows import SparseRows
    from mrfit.learning.learner import Learner
    from mrfit.structures.simple import Learned

    rows = SparseRows.of_matrix(sparse.csr_array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0]] * 9))
    Learner(structure=Learned(bound="path", max_degree=1)).fit(rows)
    Learned(select="ebic").learn(rows)


def _pass_by_residual() -> None:
    """The order of messages that no command takes by itself."""
    from mrfit.core.factors import Factors
    from mrfit.inference.messages.belief_propagation import BeliefPropagation

    factors, engine = Factors.from_tables((2, 2), [((0, 1), [0.0, 0.0, 0.0, 0.1])]), BeliefPropagation("residual")
    engine.run(engine.plan(factors), factors)


def _write_table(path: Path, *, n_states: int) -> None:
    """Write five columns that are weakly associated, so that no fit is hard and no network empty."""
    draw = random.Random(0)
    lines = ["a,b,c,d,e"]
    for _ in range(100):
        common_state = draw.randrange(n_states)
        states = (common_state if draw.random() < 0.5 else draw.randrange(n_states) for _ in range(5))
        lines.append(",".join(map(str, states)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _search_states() -> None:
    """Search for the best state without a junction tree.

    Small models have one, so the commands never come here. Three variables that disagree in pairs leave a gap to the
    bound, which makes the search branch.
    """
    import numpy as np

    from mrfit.core.factors import Factors
    from mrfit.inference.map.state_search import StateSearch

    pairs = [((i, j), [0.0, 1.0, 1.0, 0.0]) for i, j in combinations(range(3), 2)]
    StateSearch(hits=1).best(Factors.from_tables((2, 2, 2), pairs), np.zeros((1, 3), np.int64))
