"""The speed of this machine on junction trees, measured once and cached."""

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

_SIDE = 12  # of a grid whose cliques have about a million cells in all
_RUNS = 3  # the fastest counts


@cache
def speed_factor() -> float:
    """Return the ratio of measured to forecast seconds of a run on this machine.

    The first measurement takes a few hundredths of a second. Later calls read it from the user's cache directory.
    """
    file, machine = _file(), _machine()
    cached = _cached(file)
    if cached.get("machine") == machine:
        return float(cached["slowness"])
    measured = _measured()
    _write_cache(file, {"machine": machine, "slowness": measured})
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

    seconds()  # compiles the kernels
    return min(seconds() for _ in range(_RUNS)) / plan.forecast


def _grid(side: int) -> tuple[Scope, ...]:
    """Return the edges of a square grid, row by row."""
    number = np.arange(side * side).reshape(side, side)
    right = zip(number[:, :-1].ravel().tolist(), number[:, 1:].ravel().tolist(), strict=True)
    down = zip(number[:-1].ravel().tolist(), number[1:].ravel().tolist(), strict=True)
    return (*right, *down)


def _file() -> Path:
    import pooch

    return Path(pooch.os_cache("mrfit")) / "speed.json"


def _machine() -> str:
    """Describe the machine and version to which a measurement applies."""
    return f"mrfit {__version__}, {platform.node()}, {platform.machine()} {platform.processor()}"


def _cached(file: Path) -> dict[str, Any]:
    try:
        cached = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # missing, or not our file: measure again
        return {}
    return cached if isinstance(cached, dict) and isinstance(cached.get("slowness"), float) else {}


def _write_cache(file: Path, entry: dict[str, Any]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as written:
            written.write(json.dumps(entry).encode())
    except OSError:  # the directory cannot be written: every process measures again
        return
