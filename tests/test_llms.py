"""`llms.txt` lists every command, page and JSON schema as they are; the schemas are those of what commands print."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mrfit.cli.main import cli

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tools"))

import json_schemas  # noqa: E402
import llms  # noqa: E402

WITHOUT_DOCUMENT = {"data", "explore", "warm-up", "reproduce"}  # they serve, fetch, compile, or run for minutes


def test_it_is_current() -> None:
    """If not: `python tools/llms.py`."""
    assert (ROOT / "llms.txt").read_text(encoding="utf-8") == llms.text()


def test_its_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", llms.text())
    assert len(targets) > 60
    assert [target for target in targets if not (ROOT / target).is_file()] == []


def test_every_command_has_a_schema() -> None:
    names = set(cli.list_commands(click.Context(cli)))
    assert names - WITHOUT_DOCUMENT == set(json_schemas.RUNS)
    assert {path.stem for path in json_schemas.SCHEMAS.glob("*.json")} == set(json_schemas.RUNS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with json_schemas.prepared_folder() as folder:
        yield folder


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", json_schemas.RUNS)
def test_schemas_are_those_of_what_commands_print(command: str) -> None:
    """If not: look at what changed, since keys are promises, then `python tools/json_schemas.py`."""
    stored = json.loads((json_schemas.SCHEMAS / f"{command}.json").read_text(encoding="utf-8"))
    assert json_schemas.schema_of_command(command) == stored
