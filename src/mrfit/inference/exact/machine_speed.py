"""How fast this machine runs junction trees, measured once and kept."""

from __future__ import annotations

import json
import platform
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mrfit._typing import Scope
from mrfit._version import __version__
from mrfit.core.temporary_file import replacing
from mrfit.inference.exact.tree_passes import backward_pass, forward_pass
from mrfit.inference.exact.tree_plan import plan_tree

_SIDE = 12  # of a grid whose cliques have about a million cells
_RUNS = 3  # of which the fastest counts


@cache
def speed_factor() -> float:
    """Seconds of a run on this machine, for each that a forecast with the usual constants says.

    It takes a few hundredths of a second the first time; then it is read from the user's caches.
    """
    file, machine = _file(), _machine()
    kept = _kept(file)
    if kept.get("machine") == machine:
        return float(kept["slowness"])
    measured = _measured()
    _keep(file, {"machine": machine, "slowness": measured})
    return measured


def _measured() -> float:
    n, scopes = _SIDE * _SIDE, _grid(_SIDE)
    plan = plan_tree("", (2,) * n, scopes, max_cells=2**30, max_bytes=2**30, order=range(n))
    nodes = plan.nodes
    assert nodes is not None
    values = np.ones(nodes.table_start[-1])

    def seconds() -> float:
        scale = np.ones(len(nodes.table_start) - 1)
        begun = time.perf_counter()
        forward_pass(nodes, values, scale, 1, np.zeros(1))
        backward_pass(nodes, values, scale, 1)
        return time.perf_counter() - begun

    seconds()  # compiles
    return min(seconds() for _ in range(_RUNS)) / plan.forecast


def _grid(side: int) -> tuple[Scope, ...]:
    """Neighbours among points, row by row."""
    number = np.arange(side * side).reshape(side, side)
    right = zip(number[:, :-1].ravel().tolist(), number[:, 1:].ravel().tolist(), strict=True)
    down = zip(number[:-1].ravel().tolist(), number[1:].ravel().tolist(), strict=True)
    return (*right, *down)


def _file() -> Path:
    import pooch

    return Path(pooch.os_cache("mrfit")) / "speed.json"


def _machine() -> str:
    """What a measurement is good for."""
    return f"mrfit {__version__}, {platform.node()}, {platform.machine()} {platform.processor()}"


def _kept(file: Path) -> dict[str, Any]:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not there, or not ours: it is measured anew
        return {}
    return kept if isinstance(kept, dict) and isinstance(kept.get("slowness"), float) else {}


def _keep(file: Path, entry: dict[str, Any]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as written:
            written.write(json.dumps(entry).encode())
    except OSError:  # a home that cannot be written: it is measured in every process
        return
