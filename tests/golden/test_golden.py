"""The commands print today what they printed when they were recorded, and compile nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from golden.record import RECORD
from mrfit._kernels.machine_code.build import is_made
from mrfit._kernels.machine_code.load import DIRECTORY, levels_of_host

TESTS = Path(__file__).parents[1]


def test_commands_print_what_was_recorded_and_compile_nothing(data_dir: Path, tmp_path: Path) -> None:
    """Every penalty, objective, parameterization, bound and question over real data, in one new process.

    What is compiled is counted where `make` compiled these very sources: the code that wheels bring serves them all.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS)]),
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "golden.printed"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    for name, expected in json.loads(RECORD.read_text(encoding="utf-8")).items():
        _check(found["printed"][name], expected, name)
    here = levels_of_host()
    if here and is_made(DIRECTORY, [here[0].name]):
        assert found["compiled"] == []


def _check(found: Any, expected: Any, where: str) -> None:
    if isinstance(expected, dict):
        for key, value in expected.items():  # what was added since is no concern
            assert key in found, f"{where}: {key} is gone"
            _check(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for number, pair in enumerate(zip(found, expected, strict=True)):
            _check(*pair, f"{where}[{number}]")
    elif isinstance(expected, float):
        # Optima are found to a violation of 1e-6. Other instructions of another processor take other last bits and so
        # another way there: held-out scores of a path by OWL-QN were seen to move by 2e-6.
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5), where
    else:
        assert found == expected, where
