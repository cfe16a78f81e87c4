"""The machine on which something was measured."""

from __future__ import annotations

import platform
from pathlib import Path


def processor() -> str:
    """Return the processor's name from the kernel; `platform.processor` is empty on most Linux machines."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
