"""Records of measurements, with when, where and how they were made: one JSON file a benchmark, one line a record."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.table import Record

FOLDER = Path(__file__).with_name("results")


@dataclass(frozen=True)
class Result:
    """The records of one benchmark; ``measured`` says by which command, when and on what."""

    benchmark: str
    measured: dict[str, Any]
    records: list[Record]

    def to_json(self) -> str:
        records = ",\n  ".join(json.dumps(record, ensure_ascii=False) for record in self.records)
        head = f'"benchmark": {json.dumps(self.benchmark)},\n "measured": {json.dumps(self.measured)}'
        return f'{{{head},\n "records": [\n  {records}\n ]}}'

    def save(self) -> None:
        FOLDER.mkdir(exist_ok=True)
        path_of(self.benchmark).write_text(self.to_json() + "\n", encoding="utf-8")


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.json"


def stored(name: str) -> Result:
    return Result(**json.loads(path_of(name).read_text(encoding="utf-8")))


def circumstances(command: str, absent: list[str]) -> dict[str, Any]:
    """Return the circumstances of a measurement made now."""
    versions = {"python": platform.python_version()} | {name: version(name) for name in ("numpy", "numba", "scipy")}
    return {
        "command": command,
        "date": date.today().isoformat(),
        "processor": processor(),
        "versions": versions,
        "absent": absent,
    }


def processor() -> str:
    """Name of the processor as the kernel reports it; `platform.processor` is empty on most Linux machines."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
