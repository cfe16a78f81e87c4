"""Output of the commands as JSON, with the kernels each compiled; run in a process that has none loaded."""

from __future__ import annotations

import json
import sys

from compilations import names_of_compiled
from golden.commands import COMMANDS
from golden.record import document_of, kept

if __name__ == "__main__":
    compiled = names_of_compiled()
    printed = {name: kept(document_of(command)) for name, command in COMMANDS.items()}
    json.dump({"printed": printed, "compiled": compiled}, sys.stdout)
