"""What the commands print now and which kernels each compiled, as JSON: for a process that begins with none loaded."""

from __future__ import annotations

import json
import sys
from typing import Any

from numba.core import event

from golden.commands import COMMANDS
from golden.record import document_of, kept


class Compilations(event.Listener):
    """Not by our own counting: numba tells a listener whenever its compiler begins."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        self.names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: Any) -> None:
        pass


if __name__ == "__main__":
    compilations = Compilations()
    event.register("numba:compile", compilations)
    printed = {name: kept(document_of(command)) for name, command in COMMANDS.items()}
    json.dump({"printed": printed, "compiled": compilations.names}, sys.stdout)
