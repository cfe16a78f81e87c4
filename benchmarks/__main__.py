"""Everything that is measured, behind one door.

    python -m benchmarks                                      what there is
    python -m benchmarks kmeans1d spectra                     measure, and print tables
    python -m benchmarks pseudo-likelihood --only set nltcs dna --only degree 5
    python -m benchmarks tying-grid --with set nltcs          another value of a field of all cases
    python -m benchmarks --quick                              all, on small cases: do they still run?
    python -m benchmarks all --write-docs                     all, stored and into the docs (hours)
    python -m benchmarks docs                                 tables in the docs from stored results

Sets are found by MRFIT_DATA, or `mrfit data get`. Rivals that are not installed are left out, and named.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.benchmark import Benchmark, Case, chosen
from benchmarks.catalogue import catalogue
from benchmarks.results import Result
from benchmarks.runner import measured
from mrfit.core.errors import InputError

DOCS, ALL = "docs", "all"


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    benchmarks = catalogue()
    try:
        return obey(options, benchmarks)
    except (ValueError, InputError) as error:
        print(f"python -m benchmarks: {error}", file=sys.stderr)
        return 2


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of benchmarks; {ALL!r}; or {DOCS!r}")
    parser.add_argument("--quick", action="store_true", help="small cases, two benchmarks at a time")
    parser.add_argument(
        "--only", nargs="+", action="append", default=[], metavar=("FIELD", "VALUE"), help="filter cases"
    )
    parser.add_argument(
        "--with", nargs=2, action="append", default=[], dest="instead", metavar=("FIELD", "VALUE"), help="change cases"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the result of one benchmark that has a picture")
    parser.add_argument(
        "--write-docs", action="store_true", help="store the results and rewrite the tables of the docs"
    )
    return parser.parse_args(arguments)


def obey(options: argparse.Namespace, benchmarks: Mapping[str, Benchmark]) -> int:
    if options.names == [DOCS]:
        for path in pages.write_all(benchmarks):
            print(f"{path} rewritten")
        return 0
    if not options.names and not options.quick:
        print_list(benchmarks)
        return 0
    named = wanted(options.names or [ALL], benchmarks)
    check(options, named)
    results = []
    for result in measured(named, planned(options, named), quick=options.quick):
        results.append(result)
        show(result, benchmarks[result.benchmark])
        if options.write_docs:  # at once: who stops an hour later keeps this
            result.save()
    keep(options, results, benchmarks)
    return 0


def print_list(benchmarks: Mapping[str, Benchmark]) -> None:
    for name, benchmark in benchmarks.items():
        print(f"{name:<24}{benchmark.summary}")


def wanted(names: Sequence[str], benchmarks: Mapping[str, Benchmark]) -> list[Benchmark]:
    for name in names:
        if name not in {ALL, *benchmarks}:
            raise ValueError(f"There is no benchmark {name!r}. There are: {', '.join(benchmarks)}.")
    return [benchmark for name, benchmark in benchmarks.items() if name in names or ALL in names]


def check(options: argparse.Namespace, named: Sequence[Benchmark]) -> None:
    """Refuse what cannot be done before anything is measured."""
    if options.write_docs and (options.quick or options.only or options.instead):
        raise ValueError("--write-docs takes whole results. Leave out --quick, --only and --with, or use --json FILE.")
    if options.plot and (len(named) != 1 or named[0].plot is None):
        pictures = ", ".join(name for name, benchmark in catalogue().items() if benchmark.plot)
        raise ValueError(f"--plot draws one benchmark that has a picture. Name one of: {pictures}.")
    for path in filter(None, (options.json, options.plot)):
        if not path.parent.is_dir():
            raise ValueError(f"{path} cannot be written: there is no directory {path.parent}. Make it first.")
    if any(len(given) < 2 for given in options.only):
        raise ValueError("--only takes a field and the values to keep, as in: --only set nltcs dna")


def planned(options: argparse.Namespace, named: Sequence[Benchmark]) -> list[list[Case]]:
    only = {field: [value_of(word) for word in words] for field, *words in options.only}
    instead = {field: value_of(word) for field, word in options.instead}
    return [chosen(b.quick if options.quick else b.cases, only, instead) for b in named]


def value_of(word: str) -> Any:
    """A number, a list, true or false as in JSON; else the word itself."""
    try:
        return json.loads(word)
    except json.JSONDecodeError:
        return word


def show(result: Result, benchmark: Benchmark) -> None:
    print(f"\n## {result.benchmark}: {benchmark.summary} ({result.measured['seconds']} s)\n")
    if result.measured["absent"]:
        print(f"Not installed, so without a column: {', '.join(result.measured['absent'])}.\n")
    print(benchmark.markdown(result.records), flush=True)


def keep(options: argparse.Namespace, results: list[Result], benchmarks: Mapping[str, Benchmark]) -> None:
    if options.json:
        options.json.write_text("[" + ",\n".join(result.to_json() for result in results) + "]\n", encoding="utf-8")
    if options.plot:
        draw = benchmarks[results[0].benchmark].plot
        assert draw is not None
        draw(results[0].records, options.plot)
    if options.write_docs:
        pages.write_all(benchmarks)


if __name__ == "__main__":
    sys.exit(main())
