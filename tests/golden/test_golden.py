"""The commands print today what they printed when they were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golden.commands import COMMANDS
from golden.record import RECORD, document_of, kept


@pytest.mark.parametrize("name", COMMANDS)
def test_prints_what_was_recorded(name: str, data_dir: Path) -> None:
    expected = json.loads(RECORD.read_text(encoding="utf-8"))[name]
    _check(kept(document_of(COMMANDS[name])), expected, name)


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
