"""Tests stand where the code stands: a folder for every room of `src/mrfit`, and `papers` for `src/mrfit_papers`."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "mrfit"
PAPERS = {"papers"}  # of `src/mrfit_papers`

# Folders that are about no single room.
ACROSS = {"agreement", "contracts", "fuzz", "golden", "invariances", "mutation", "plugins", "reference"}


def _folders(root: Path, kind: str) -> set[str]:
    """Folders below that hold files of a kind, by their path from ``root``."""
    return {str(path.parent.relative_to(root)) for path in root.rglob(kind)} - {"."}


def test_every_room_has_tests_of_its_own() -> None:
    assert (_folders(SOURCE, "__init__.py") | PAPERS) - _folders(TESTS, "test_*.py") == set()


def test_every_folder_of_tests_is_a_room_or_across_rooms() -> None:
    assert _folders(TESTS, "*.py") - _folders(SOURCE, "__init__.py") == ACROSS | PAPERS
