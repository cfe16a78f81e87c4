"""Puts machine code into wheels: all kernels that commands call, for each level of x86-64 processors.

Off unless HATCH_BUILD_HOOK_ENABLE_CUSTOM=true (`make wheel` sets it). MRFIT_LEVELS may name some levels, with commas
between them, to compile for them only; what `make` has compiled for them in this checkout is taken as it is. The code
fits the versions of Python, numba and llvmlite that it was compiled with; with others the package compiles when it is
used.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SHIP = """
import sys, pathlib
from mrfit._kernels.machine_code.load import DIRECTORY
from mrfit._kernels.machine_code.build import is_made, ship
target, *levels = sys.argv[1:]
if is_made(DIRECTORY, levels):
    print(DIRECTORY)
elif ship(pathlib.Path(target), levels):
    print(target)
"""


class CompiledKernels(BuildHookInterface):
    """Has the package of this checkout compile itself, in a process of its own."""

    def dependencies(self) -> list[str]:
        """Commands are run: the build needs what they need."""
        return list(self.metadata.core.dependencies)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and have the files put into the wheel."""
        if self.target_name != "wheel" or version == "editable":
            return
        target = Path(self.root, "build", "compiled")
        shutil.rmtree(target, ignore_errors=True)
        path = os.pathsep.join(filter(None, [str(Path(self.root, "src")), os.environ.get("PYTHONPATH")]))
        levels = filter(None, os.environ.get("MRFIT_LEVELS", "").split(","))
        command = [sys.executable, "-c", _SHIP, str(target), *levels]
        ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=True, stdout=subprocess.PIPE)
        compiled = ran.stdout.decode().strip()
        if not compiled:
            self.app.display_warning("no machine code for this processor; the wheel will compile when it is used")
            return
        build_data["force_include"][compiled] = "mrfit/_kernels/_compiled"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
