"""The list of mutants stays applicable: each text stands once in its file."""

from __future__ import annotations

from pathlib import Path

import mrfit
from mutation.mutants import MUTANTS

SOURCE = Path(mrfit.__file__).parent


def test_every_mutant_can_be_made() -> None:
    texts = {mutant.path: (SOURCE / mutant.path).read_text(encoding="utf-8") for mutant in MUTANTS}
    assert [mutant for mutant in MUTANTS if texts[mutant.path].count(mutant.old) != 1] == []
