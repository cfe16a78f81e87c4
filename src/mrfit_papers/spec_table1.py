"""Table 1 of Buchman et al. (2012): which parameterizations are complete, minimal, symmetric and unique."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mrfit_papers.claim import Cases, Claim
from mrfit_papers.document import Block, Cell, DocumentColumn, DocumentTable, Heading, Text
from mrfit_papers.experiment import Experiment, Results, Scope
from mrfit_papers.spec_properties import SpecProperties

BINARY = (3, 4, 5)
TERNARY = (3,)

Found = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A line of the paper's table, and its parameterizations."""

    words: str
    names: tuple[str, ...]
    formula: str
    count: Callable[[int, int], int]  # number of parameters of n variables with c states
    complete: str
    minimal: str
    values: str
    variables: str
    unique: str


LINES = (
    Line("Full", ("F",), "(c+1)^n", lambda n, c: (c + 1) ** n, "Yes", "No", "Yes", "Yes", "Yes"),
    Line("Ising", ("I",), "2^n", lambda n, c: 2**n, "No", "No", "No", "Yes", "Yes"),
    Line("Generalized Ising", ("GI",), "2^n c", lambda n, c: 2**n * c, "For c=2", "No", "No", "Yes", "Yes"),
    Line("Canonical", ("C",), "c^n", lambda n, c: c**n, "Yes", "Yes", "No", "No", "No"),
    Line("Canonical (C1/C2)", ("C1", "C2"), "c^n", lambda n, c: c**n, "Yes", "Yes", "No", "Yes", "Yes"),
    Line("Spectral (for c=2)", ("S",), "2^n", lambda n, c: 2**n, "Yes", "Yes", "Yes", "Yes", "Yes"),
)
PROPERTIES = ("complete", "minimal", "values", "variables", "unique")
TITLES = ("Complete", "Minimal", "Symm w.r.t. values", "Symm w.r.t. variables", "Uniquely defined")


class SpecTable1(Experiment):
    """Every entry, checked by ranks and exchanges, for three to five variables."""

    word = "spec-table1"
    title = "Sparse and spectral parameterizations, Table 1: properties of parameterizations"

    def units(self, scope: Scope) -> list[SpecProperties]:
        self.chosen(scope)
        binary = BINARY[:1] if scope.quick else BINARY
        names = [name for line in LINES for name in line.names]
        return [
            *(SpecProperties(name, n) for n in binary for name in names),
            *(SpecProperties(name, n, 3) for n in TERNARY for name in names),
        ]

    def report(self, results: Results, scope: Scope) -> list[Block]:
        found = Properties(results)
        return [
            Text(
                "The paper's entries, and ours by computation: the features of all joint states make a matrix. "
                "Complete: its rank is the number of states. Minimal: no column is a sum of others. Symmetric: "
                "flipping the values of a variable (exchanging two variables) permutes the columns, up to signs and "
                f"constants. Uniquely defined: the kind alone says which matrix it is. {found.sizes()}; completeness "
                "also with three states. Green: as in the paper."
            ),
            found.table(),
            Text(
                "Parameters of Ising and generalized Ising are those of the formula for c = 2; with more states "
                "single variables have c - 1 parameters of their own in Ising here, without which agreement says "
                "nothing of them. The formula of generalized Ising counts c constants for the empty set; so do we "
                "here. Two footnotes to the table: with n = 2 Ising is complete and minimal; and flipping all "
                "variables at once leaves Ising and generalized Ising as they are. The spectral line holds for c = 2; "
                "with orthonormal contrasts it stays complete and minimal for c = 3, as computed here."
            ),
            Heading("The numbers behind it"),
            Text(
                "`null`: dimension of the parameters that change nothing. `after a flip`: how many parameters a "
                "single one may become when the values of one variable are flipped, which is what the paper means by "
                "a sparse vector that becomes dense; only minimal and complete parameterizations have one answer. "
                "`matrices`: how many different ones the kind may mean."
            ),
            found.numbers(),
        ]

    def claims(self, results: Results) -> list[Claim]:
        return list(_claims(Properties(results)))


class Properties:
    """Results by parameterization, number of variables and number of states."""

    def __init__(self, results: Results) -> None:
        self.by = {
            (unit.parameterization, unit.n, unit.c): found
            for unit, found in results.items()
            if isinstance(unit, SpecProperties)
        }

    def of(self, line: Line, c: int = 2) -> list[Found]:
        return [found for (name, _, states), found in self.by.items() if name in line.names and states == c]

    def lines(self) -> Iterator[Line]:
        return (line for line in LINES if self.of(line))

    def sizes(self) -> str:
        sizes = sorted({n for _, n, c in self.by if c == 2})
        return f"Variables with two states: n = {', '.join(map(str, sizes))}"

    def ours(self, line: Line, what: str) -> str:
        """Return the entry as the paper would write it."""
        found = self.of(line)
        if what == "unique":
            return _yes([each["meanings"] == 1 for each in found])
        entry = _yes([each[what] for each in found])
        more = [each["complete"] for each in self.of(line, 3)]
        return "For c=2" if what == "complete" and entry == "Yes" and more and not any(more) else entry

    def counts(self, line: Line) -> tuple[str, bool]:
        """Return the numbers of parameters of binary variables, and whether all agree with the formula."""
        counted = sorted(
            {(n, self.by[name, n, c]["parameters"]) for name, n, c in self.by if name in line.names and c == 2}
        )
        return ", ".join(f"{count:,}" for _, count in counted), all(count == line.count(n, 2) for n, count in counted)

    def table(self) -> DocumentTable:
        columns = [
            DocumentColumn("Parameterization", "left"),
            DocumentColumn("#Parameters, paper", "left"),
            DocumentColumn("#Parameters", "left"),
        ]
        for title in TITLES:
            columns += [DocumentColumn(f"{title}, paper", "left"), DocumentColumn(title, "left")]
        rows: list[list[Cell | str]] = []
        for line in self.lines():
            text, agrees = self.counts(line)
            row: list[Cell | str] = [line.words, line.formula, Cell(text, is_good=agrees)]
            for what in PROPERTIES:
                ours, paper = self.ours(line, what), getattr(line, what)
                row += [paper, Cell(ours, is_good=ours == paper)]
            rows.append(row)
        return DocumentTable(columns, rows)

    def numbers(self) -> DocumentTable:
        columns = [
            DocumentColumn("", "left"),
            *(DocumentColumn(title) for title in ("n", "c", "states", "parameters", "rank", "null")),
        ]
        columns += [DocumentColumn("after a flip"), DocumentColumn("matrices")]
        shown = ("states", "parameters", "rank", "null", "after_flip", "meanings")
        rows = [
            [name, str(n), str(c), *(_number(found.get(what)) for what in shown)]
            for (name, n, c), found in sorted(self.by.items(), key=lambda item: (item[0][2], item[0][1]))
        ]
        return DocumentTable(columns, rows)


def _yes(answers: Sequence[bool]) -> str:
    return "Yes" if all(answers) else "No" if not any(answers) else "For some n"


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _claims(found: Properties) -> Iterator[Claim]:
    lines = list(found.lines())
    if not lines:
        return
    agreed = [found.ours(line, what) == getattr(line, what) for line in lines for what in PROPERTIES]
    agreed += [found.counts(line)[1] for line in lines]
    ours = f"{sum(agreed)} of {len(agreed)} entries agree"
    why = "Ising with two variables is complete and minimal, which the table does not say"
    cases = Cases.of(agreed, len(LINES) * (len(PROPERTIES) + 1), "entries")
    yield Claim("SPEC", "Table 1", "the properties of six parameterizations", ours, cases, why)
    both = [line.words for line in lines if found.ours(line, "minimal") == found.ours(line, "values") == "Yes"]
    words = "the spectral parameterization is the only one that is minimal and symmetric with respect to values"
    cases = Cases.together(both == [LINES[-1].words], len(lines), len(LINES), "parameterizations")
    yield Claim("SPEC", "3.5", words, f"minimal and symmetric here: {', '.join(both) or 'none'}", cases)
