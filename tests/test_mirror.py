"""Tests stand where the code stands: a folder for every package of `src/mrfit`, and `papers` for `src/mrfit_papers`."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "mrfit"
PAPERS = {"papers"}  # of `src/mrfit_papers`

# Folders that are about no single package.
ACROSS = {"agreement", "contracts", "fuzz", "golden", "invariances", "mutation", "plugins", "reference"}


def _folders(root: Path, kind: str) -> set[str]:
    """Folders below that hold files of a kind, by their path from ``root``."""
    return {str(path.parent.relative_to(root)) for path in root.rglob(kind)} - {"."}


def test_every_package_has_tests_of_its_own() -> None:
    """A package inside another may be tested in the folder of that one."""
    tested = _folders(TESTS, "test_*.py")
    untested = (_folders(SOURCE, "__init__.py") | PAPERS) - tested
    assert {folder for folder in untested if not _is_tested_with_its_parent(folder, tested)} == set()


def _is_tested_with_its_parent(folder: str, tested: set[str]) -> bool:
    parent = str(Path(folder).parent)
    return parent != "." and (parent in tested or _is_tested_with_its_parent(parent, tested))


def test_every_folder_of_tests_is_a_package_or_across_packages() -> None:
    assert _folders(TESTS, "*.py") - _folders(SOURCE, "__init__.py") == ACROSS | PAPERS
