"""Measure the shape of the code: lines, packages, edges between them, names that exist twice.

python tools/house.py            # a table
python tools/house.py --json     # the same for programs
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

SOURCE = Path(__file__).parents[1] / "src"


def files_of(package: str) -> dict[str, Path]:
    """Return the files of a package by module name."""
    root = SOURCE / package
    return {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(root.rglob("*.py"))
    }


def top(module: str) -> str:
    """Return the package or loose module of `mrfit` that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def imported(tree: ast.AST) -> set[str]:
    """Return the modules of mrfit that a file imports, inside functions too, and for types only too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("mrfit.")}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "mrfit":
            found |= {node.module} if node.module != "mrfit" else {f"mrfit.{alias.name}" for alias in node.names}
    return found


def measured() -> dict[str, object]:
    """Measure `mrfit`, and the lines of `mrfit_papers` beside it."""
    files = files_of("mrfit")
    trees = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in files.items()}
    folders = {top(module) for module, path in files.items() if path.parent != SOURCE / "mrfit"}
    edges = {(top(module), top(other)) for module, tree in trees.items() for other in imported(tree)}
    edges = {(one, other) for one, other in edges if one != other and one in folders and other in folders}
    classes, modules = defaultdict(set), defaultdict(set)
    lengths = []
    for module, tree in trees.items():
        modules[module.rpartition(".")[2]].add(module)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(module)
            elif isinstance(node, ast.FunctionDef):
                lengths.append((node.end_lineno or node.lineno) - node.lineno + 1)
    out, into = Counter(one for one, _ in edges), Counter(other for _, other in edges)
    lines = Counter()
    for module, path in files.items():
        lines[top(module)] += len(path.read_text(encoding="utf-8").splitlines())
    papers = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files_of("mrfit_papers").values())
    return {
        "lines": sum(lines.values()),
        "lines of mrfit_papers": papers,
        "files": len(files),
        "files under 40 lines": sum(
            len(path.read_text(encoding="utf-8").splitlines()) < 40 and path.name != "__init__.py"
            for path in files.values()
        ),
        "functions": len(lengths),
        "lines of a function, median": median(lengths),
        "functions over 60 lines": sum(length > 60 for length in lengths),
        "packages": len(folders),
        "loose modules": sorted({top(module) for module in files} - folders - {"__init__"}),
        "edges between packages": len(edges),
        "fan-out": dict(out.most_common(5)),
        "fan-in": dict(into.most_common(5)),
        "class names twice": sorted(name for name, homes in classes.items() if len(homes) > 1),
        "module names twice": sorted(name for name, homes in modules.items() if len(homes) > 1),
        "lines by package": dict(lines.most_common()),
    }


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    facts = measured()
    if parser.parse_args().json:
        print(json.dumps(facts, indent=2))
        return
    for name, value in facts.items():
        print(f"{name:28} {', '.join(map(str, value)) if isinstance(value, list) else value}")


if __name__ == "__main__":
    main()
