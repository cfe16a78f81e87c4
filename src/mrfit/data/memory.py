"""Limits on the memory that reading takes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from mrfit.core.errors import DataError, InputError
from mrfit.core.rounding import format_size

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SHARE = 0.8  # usable share of the free memory: other programs and learning need the rest

# The limit of a container, its memory in use, and the field with the part of it that is reclaimable file cache: control
# groups of version 2, and of version 1.
_GROUPS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)


def n_bytes_of_size(size: float | str) -> float:
    """Parse ``8GB``, ``500 MB`` or a number into bytes."""
    match = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?)b?", str(size).strip().lower())
    try:
        n_bytes = float(match[1]) * _UNITS[match[2]] if match else 0.0
    except ValueError:
        n_bytes = 0.0
    if n_bytes <= 0.0:
        raise InputError(f"memory={str(size)!r} is not a size; write it like 8GB or 500MB.")
    return n_bytes


def free_memory(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> float:
    """Return the free bytes of this machine, or of the container this runs in; infinite if unknown."""
    return min(_of_machine(proc), *(_of_container(groups, *names) for names in _GROUPS))


def _of_machine(proc: Path) -> float:
    try:
        lines = dict(line.split(":") for line in (proc / "meminfo").read_text().splitlines())
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, ValueError, KeyError):  # not Linux, or an old kernel
        return _installed()


def _installed() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def _of_container(groups: Path, limit: str, used: str, idle: str) -> float:
    try:
        most, taken = (groups / limit).read_text().strip(), int((groups / used).read_text())
        told = dict(line.split() for line in (groups / used).with_name("memory.stat").read_text().splitlines())
        return float("inf") if most == "max" else float(int(most) - taken + int(told[idle]))
    except (OSError, ValueError, KeyError):  # no such control group
        return float("inf")


class MemoryLimit:
    """The memory that reading may take: the user's limit, or most of what is free when reading begins."""

    def __init__(self, memory: float | str | None = None) -> None:
        self.n_bytes = _SHARE * free_memory() if memory is None else n_bytes_of_size(memory)

    def check(self, needed: float, share_read: float | None = None) -> None:
        """Fail if the rows so far need more memory; ``share_read`` is the fraction of the bytes read so far."""
        if needed <= self.n_bytes:
            return
        forecast, so_far = needed, ""
        if share_read is not None and 0.0 < share_read < 1.0:
            forecast, so_far = (
                needed / share_read,
                f" ({format_size(needed)} after {100 * share_read:.0f} % of its bytes)",
            )
        raise DataError(
            f"Its rows need about {format_size(forecast)} of memory{so_far}; {format_size(self.n_bytes)} may be used. "
            "Leave columns out, for instance exclude=[...]; fit it in parts, which holds no rows (mrfit fit "
            "--in-parts; PartitionedTable.of in Python); or allow more, for instance memory='16GB'."
        )
