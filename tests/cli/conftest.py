"""The command line, called in this process from an empty folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mrfit.cli.main import main


@dataclass(frozen=True)
class Ran:
    """Result of one call of the command line."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as one JSON document; anything else on it is an error."""
        return json.loads(self.out)

    @property
    def notes(self) -> list[str]:
        """Each note on standard error in one line, as long as it is."""
        return re.sub(r"\n  (?=\S)", " ", self.err).splitlines()

    @property
    def words(self) -> str:
        """Standard output in one line, for sentences that are wrapped."""
        return " ".join(self.out.split())


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """``shell("fit", "t.csv")`` runs ``mrfit fit t.csv`` in ``tmp_path``."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
