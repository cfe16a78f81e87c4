"""Write a JSON Schema of what each command prints with `--json`: docs/schemas/COMMAND.json.

python tools/json_schemas.py

The commands below run on a small table. Several runs of one command show which of its keys are always there.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mrfit.cli.main import main

SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

# Names of the table. An object with such keys maps names to values, so that its keys are not part of the schema.
VARIABLES = ("tea", "milk", "mood", "site")
STATES = {"tea": ("no", "yes"), "milk": ("no", "yes"), "mood": ("1", "2", "3", "4", "5"), "site": ("north", "south")}
NAMES = {*VARIABLES, *(state for states in STATES.values() for state in states)}

# What a command needs before it, then runs of it. Every run gets `--json`.
PREPARED = (
    "fit table.csv --columns tea,milk,mood --penalty none --errors sandwich -o model.mrf",
    "fit table.csv --columns tea,milk,mood --ordered mood --strength 3 -o ordered.mrf",
    "fit table.csv --columns tea,milk,mood --penalty hard --groups 3 --strength 2 -o tied.mrf",
    "structure table.csv --columns tea,milk,mood -o edges.csv",
)
RUNS = {
    "advise": ("advise table.csv",),
    "annotate": ("annotate model.mrf table.csv -o annotated.mrf",),
    "check": ("check model.mrf table.csv", "check model.mrf table.csv --bootstrap 5"),
    "compare": ("compare model.mrf tied.mrf", "compare model.mrf tied.mrf --data table.csv"),
    "compare-groups": ("compare-groups table.csv --by site", "compare-groups table.csv --by site --permutations 5"),
    "convert": ("convert model.mrf model.uai",),
    "demo": ("demo --output demo.png",),
    "fit": (
        "fit table.csv --columns tea,milk,mood -o fitted.mrf",
        "fit table.csv --columns tea,milk,mood --penalty tied --groups 2,3 --folds 2",
        "fit table.csv --columns tea,milk,mood --structure learned --valid table.csv --test table.csv",
        "fit table.csv --columns tea,milk,mood --objective likelihood --penalty l1 --strength 5",
    ),
    "impute": ("impute model.mrf missing.csv -o filled.csv",),
    "infer": ("infer model.mrf --task MAR -o model.MAR", "infer model.mrf --task MAP -o model.MAP"),
    "logz": ("logz model.mrf", "logz model.mrf --engine ais"),
    "nodes": ("nodes model.mrf table.csv", "nodes ordered.mrf"),
    "plan": ("plan table.csv",),
    "power": ("power model.mrf --rows 50,100 --repetitions 2",),
    "query": (
        "query model.mrf",
        "query model.mrf --evidence tea=yes --ask milk",
        "query ordered.mrf --evidence tea=yes --engine gibbs",
        "query model.mrf --evidence tea=yes --map",
        "query model.mrf --evidence tea=yes,mood=5 --ask milk --explain",
    ),
    "report": ("report model.mrf -o report.html",),
    "sample": ("sample model.mrf --rows 5 -o sample.csv",),
    "score": ("score model.mrf table.csv", "score model.mrf table.csv --metric ll"),
    "show": ("show model.mrf", "show tied.mrf", "show ordered.mrf", "show model.mrf --errors"),
    "spectrum": ("spectrum table.csv --columns tea,milk,site",),
    "stability": (
        "stability table.csv --columns tea,milk,mood --resamples 5",
        "stability table.csv --columns tea,milk,mood --resamples 10 --kind drop",
        "stability table.csv --structure learned --resamples 10 --kind pairs --false-edges 2",
        "stability table.csv --structure learned --resamples 10 --kind stars",
    ),
    "structure": (
        "structure table.csv --columns tea,milk,mood",
        "structure table.csv --columns tea,milk --select ebic",
    ),
    "theory": ("theory tied.mrf",),
}


def write_tables(folder: Path) -> None:
    """Write a table of 400 rows whose variables depend on each other, and one with missing values."""
    rng = np.random.default_rng(1)
    tea, site = rng.integers(0, 2, (2, 400))
    milk = np.where(rng.random(400) < 0.7, tea, 1 - tea)
    mood = np.clip(1 + tea + rng.integers(0, 4, 400), 1, 5) - 1
    rows = [
        [STATES[name][code] for name, code in zip(VARIABLES, codes, strict=True)]
        for codes in zip(tea, milk, mood, site, strict=True)
    ]
    lines = [",".join(row) for row in rows]
    (folder / "table.csv").write_text("\n".join([",".join(VARIABLES), *lines]) + "\n", encoding="utf-8")
    (folder / "missing.csv").write_text("tea,milk,mood\nyes,,3\n,no,\n", encoding="utf-8")


def document_of(command: str) -> Any:
    """Return the JSON document that a command prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*shlex.split(command), "--json"])
    if code != 0:
        raise RuntimeError(f"mrfit {command} --json ended with {code}: {err.getvalue().strip()}")
    return json.loads(out.getvalue())


def schema_of(value: Any) -> dict[str, Any]:
    """Return the schema of one value."""
    if isinstance(value, dict):
        if value and NAMES.issuperset(value):
            return {"type": ["object"], "additionalProperties": merged([schema_of(each) for each in value.values()])}
        return {
            "type": ["object"],
            "properties": {key: schema_of(each) for key, each in value.items()},
            "required": sorted(value),
        }
    if isinstance(value, list):
        return {"type": ["array"], "items": merged([schema_of(each) for each in value])}
    if value is None:
        return {"type": ["null"]}
    if isinstance(value, bool):
        return {"type": ["boolean"]}
    return {"type": ["string" if isinstance(value, str) else "number"]}


def merged(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one schema that admits what any of them admits: types add up, only common keys are required."""
    found: dict[str, Any] = {"type": sorted({kind for schema in schemas for kind in schema.get("type", ())})}
    objects = [schema["properties"] for schema in schemas if "properties" in schema]
    if objects:
        keys = dict.fromkeys(key for each in objects for key in each)
        found["properties"] = {key: merged([each[key] for each in objects if key in each]) for key in keys}
        found["required"] = sorted(set.intersection(*(set(s["required"]) for s in schemas if "required" in s)))
    for word in ("additionalProperties", "items"):
        inner = [schema[word] for schema in schemas if schema.get(word)]
        if inner:
            found[word] = merged(inner)
    return found if found["type"] else {}


@contextlib.contextmanager
def prepared_folder() -> Iterator[Path]:
    """Go to a temporary folder with the tables and models that the runs need."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            write_tables(Path(folder))
            for command in PREPARED:
                document_of(command)
            yield Path(folder)
        finally:
            os.chdir(before)


def schema_of_command(name: str) -> dict[str, Any]:
    """Return the schema of what a command prints; call it inside `prepared_folder`."""
    schema = merged([schema_of(document_of(command)) for command in RUNS[name]])
    runs = " | ".join(f"mrfit {run} --json" for run in RUNS[name])
    return {"$schema": DIALECT, "title": f"mrfit {name} --json", "description": f"As printed by: {runs}", **schema}


if __name__ == "__main__":
    SCHEMAS.mkdir(exist_ok=True)
    with prepared_folder():
        for name in RUNS:
            text = json.dumps(schema_of_command(name), indent=1) + "\n"
            (SCHEMAS / f"{name}.json").write_text(text, encoding="utf-8")
