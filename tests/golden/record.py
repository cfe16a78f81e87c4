"""Running commands and keeping of their JSON what another run on another machine must give again."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

from golden.commands import COMMANDS
from mrfit.cli.main import main

RECORD = Path(__file__).with_name("record.json")

# How much work it took, which may change while the answer does not, and how many values differ, by last bits.
_WORK = {"seconds", "passes", "iterations", "evaluations", "products", "tying_iterations", "violation", "duality_gap"}
_WORK |= {"n_distinct", "data_passes", "max_gradient"}
# Full coordinates are redundant: several parameters may be the zero one, and last bits decide which.
_UNDECIDED = {"exact full": {"n_nonzero", "n_nonzero_scopes", "nonzero_by_order", "n_edges", "n_parameters"}}
_MACHINE = {"versions"}  # of the programs a model was learned with
_MOST_ENTRIES = 40  # of a list: the strongest edges, the first points of a path


def recorded(names: Iterable[str] = COMMANDS) -> dict[str, Any]:
    return {name: kept(document_of(COMMANDS[name]), _UNDECIDED.get(name, set())) for name in names}


def document_of(command: str) -> Any:
    """Run the steps of a command in an empty folder with ``--json --jobs 1``; return what the last prints."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for step in command.split(" then "):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = main([*step.split(), "--json", "--jobs", "1"])
            if code != 0:
                raise RuntimeError(f"mrfit {step} ended with {code}")
    return json.loads(printed.getvalue())


def kept(entry: Any, undecided: Set[str] = frozenset()) -> Any:
    """Answers without the work they took and what is not decided, numbers to twelve digits."""
    if isinstance(entry, dict):
        return {key: kept(value, undecided) for key, value in entry.items() if key not in _WORK | _MACHINE | undecided}
    if isinstance(entry, list):
        return [kept(value, undecided) for value in entry[:_MOST_ENTRIES]]
    return float(f"{entry:.12g}") if isinstance(entry, float) else entry
