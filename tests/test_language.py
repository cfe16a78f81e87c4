"""The code is written in plain English: docstrings open with a noun or an imperative, and every name is used once."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import mrfit
from mrfit.cli.main import _COMMANDS

SOURCE = Path(mrfit.__file__).parent
FILES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}

# Packages and modules whose docstrings and names are still to be rewritten. Remove an entry once it is done.
TO_DO = ("analysis/", "cli/", "learning/")
CLASSES_TO_DO: set[str] = set()

# Prepositions, question words ("Whether" is the usual opening for a truth value), pronouns and bare participles.
FRAGMENT = re.compile(
    r"(Internal: )?(About|After|Against|Among|As|At|Before|Behind|Beside|Between|Beyond|By|For|From|In|Inside|Into|Of"
    r"|On|Onto|Out|Over|Through|To|Under|Until|With|Within|Without|How|What|When|Where|Which|Who|Whom|Whose|Why|It"
    r"|That|The same|These|They|This|Those|Asked|Found|Given|Held|Kept|Made|Met|Said|Taken|Told)[\s,]"
)
WORD = re.compile(r"(?<![a-z])rooms?(?![a-z])", re.IGNORECASE)
ARRAY_ALIAS = re.compile(r"^\w+(: TypeAlias)? = [^(\n]*\bNDArray\[", re.MULTILINE)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

TEXTS = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()}
DONE = {name: text for name, text in TEXTS.items() if not name.startswith(TO_DO)}


def openings(text: str) -> list[str]:
    """Return the first line of every docstring."""
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, DOCUMENTED))
    return [doc.partition("\n")[0] for node in nodes if (doc := ast.get_docstring(node))]


def test_no_docstring_opens_as_a_fragment() -> None:
    fragments = {name: list(filter(FRAGMENT.match, openings(text))) for name, text in DONE.items()}
    assert {name: found for name, found in fragments.items() if found} == {}


def test_packages_are_called_packages() -> None:
    assert {name: found for name, text in DONE.items() if (found := WORD.findall(text))} == {}


def test_array_types_are_defined_in_one_module() -> None:
    assert [name for name, text in TEXTS.items() if ARRAY_ALIAS.search(text)] == ["_typing.py"]


def test_every_class_has_a_name_of_its_own() -> None:
    nodes = (node for text in TEXTS.values() for node in ast.walk(ast.parse(text)))
    count = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert {name for name, n in count.items() if n > 1} <= CLASSES_TO_DO


def test_every_module_has_a_name_of_its_own() -> None:
    """Commands bear the names that users type, which may be those of the modules that they call."""
    commands = {f"{module.removeprefix('mrfit.').replace('.', '/')}.py" for module, _ in _COMMANDS.values()}
    count = Counter(path.stem for name, path in FILES.items() if name not in commands)
    assert {name for name, n in count.items() if n > 1} <= {"__init__", "__main__", "_typing"}


@pytest.mark.parametrize(
    "opening",
    ["Of what is drawn.", "As the user wants it.", "Told where to go.", "Which rows.", "Internal: How rows are cut."],
)
def test_fragments_are_recognised(opening: str) -> None:
    assert FRAGMENT.match(opening)


@pytest.mark.parametrize(
    "opening", ["Return the rows.", "Offset of a row.", "Whether rows are left.", "In-memory tables."]
)
def test_nouns_and_imperatives_pass(opening: str) -> None:
    assert not FRAGMENT.match(opening)
