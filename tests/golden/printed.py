"""What the commands print now and which kernels each compiled, as JSON: for a process that begins with none loaded."""

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
