"""Text files of numbers and words as tokens with known positions, for the readers of all such formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.domain import Domain, Variable
from mrfit.core.errors import InputError, listed

Number = TypeVar("Number", int, float)

MOST_CELLS = 2**26  # of all tables of a file format that can omit cells: 512 MB
MOST_STATES = 2**22  # of all variables of a file: every state gets a name
_WORD = re.compile(rb"\S+")
_COMMENT = re.compile(rb"#[^\n\r]*")


class Tokens:
    """Words and numbers between blanks, taken from front to back; ``#`` begins a comment that ends with its line.

    Tokens are bytes. The position of a token is computed only for an error, so that reading costs no more than
    splitting and converting.
    """

    def __init__(self, content: bytes, name: str) -> None:
        self._content = _COMMENT.sub(lambda match: b" " * len(match[0]), content) if b"#" in content else content
        self._name = name
        self._all = self._content.split()
        self._has_underscores = b"_" in self._content
        self._next = 0

    @property
    def n_left(self) -> int:
        return len(self._all) - self._next

    def word(self, *allowed: str) -> str:
        """Return one of some words, which may be in upper or lower case."""
        (token,) = self._take(1, f"one of {listed(allowed)}")
        text = token.decode("ascii", "replace")
        for word in allowed:
            if text.upper() == word.upper():
                return word
        raise self.wrong(f"expected one of {listed(allowed)}")

    def integer(self, what: str, *, least: int = 0, most: int | None = None) -> int:
        """Return one whole number within bounds."""
        (number,) = self.integers(1, what, least=least, most=most)
        return number

    def integers(self, count: int, what: str, *, least: int = 0, most: int | None = None) -> list[int]:
        """Return several whole numbers within the same bounds."""
        first = self._next
        numbers = self._converted(int, self._take(count, what), what, where=range(first, first + count))
        if numbers and (min(numbers) < least or (most is not None and max(numbers) > most)):
            bounds = f"{spoken(least)} or more" if most is None else f"{spoken(least)} to {spoken(most)}"
            outside = (number < least or (most is not None and number > most) for number in numbers)
            raise self.wrong(f"expected {what}: {bounds}", at=first + list(outside).index(True))
        return numbers

    def numbers(self, count: int, what: str, *, least: float = -np.inf) -> Floats:
        """Return finite numbers, not below ``least``; minus infinity is allowed if there is no lower bound."""
        first = self._next
        where = range(first, first + count)
        values = np.array(self._converted(float, self._take(count, what), what, where=where), np.float64)
        self._check(values, where, what, least)
        return values

    def pairs(self, count: int, index: str, what: str, *, most: int) -> tuple[NDArray[np.int64], Floats]:
        """Return distinct indices, and a potential for each."""
        first = self._next
        taken = self._take(2 * count, f"{count:,} pairs of {index} and {what}")
        at = self._converted(int, taken[::2], index, where=range(first, self._next, 2))
        values = np.array(self._converted(float, taken[1::2], what, where=range(first + 1, self._next, 2)))
        seen: set[int] = set()
        for k, number in enumerate(at):
            if not 0 <= number <= most or number in seen:
                raise self.wrong(f"expected {index}: 0 to {most}, each once", at=first + 2 * k)
            seen.add(number)
        self._check(values, range(first + 1, self._next, 2), what, 0.0)
        return np.array(at, np.int64), values

    def tables(self, sizes: Sequence[int], what: str, *, least: float = -np.inf) -> Floats:
        """Return the numbers of all tables, each table preceded by its size, which must be the expected one.

        Nothing is converted before all sizes are found in their positions.
        """
        start, counts = self._next, []
        for number, size in enumerate(sizes):
            counts.append(self._next - start)
            if self._take(1, f"the number of values of table {number}") != [b"%d" % size]:
                raise self.wrong(f"table {number} has {spoken(size)} values, by the numbers of states of its variables")
            self._skip(size, f"{spoken(size)} values of table {number}")
        where = range(start, self._next)
        values = np.array(self._converted(float, self._all[start : self._next], what, where=where), np.float64)
        keep = np.ones(len(values), bool)
        keep[counts] = False
        self._check(values[keep], start + np.flatnonzero(keep), what, least)
        return values[keep]

    def finish(self) -> None:
        """Refuse any remaining tokens."""
        if self.n_left:
            self._next += 1
            raise self.wrong(f"expected the end; {self.n_left + 1:,} tokens are left over")

    def wrong(self, expected: str, *, at: int | None = None) -> InputError:
        """Return an error with the wrong token, by default the last one taken, and what was expected."""
        at = self._next - 1 if at is None else at
        match = _nth(_WORD.finditer(self._content), at)
        line_start = max(self._content.rfind(b"\n", 0, match.start()), self._content.rfind(b"\r", 0, match.start())) + 1
        line = len(re.findall(rb"\r\n|\n|\r", self._content[: match.start()])) + 1
        token = len(self._content[line_start : match.start()].split()) + 1
        text = match[0][:40].decode("utf-8", "backslashreplace")
        return InputError(
            f"{self._name!r}, line {line}, token {token}: {text!r} is wrong; {expected}. Correct the file."
        )

    def _take(self, count: int, what: str) -> list[bytes]:
        self._skip(count, what)
        return self._all[self._next - count : self._next]

    def _skip(self, count: int, what: str) -> None:
        if count > self.n_left:
            raise InputError(
                f"{self._name!r} ends after {len(self._all):,} tokens, where {what} should follow; it is cut short, or "
                "a number before is wrong. Get the file again or correct it."
            )
        self._next += count

    def _converted(
        self, kind: Callable[[bytes], Number], tokens: Sequence[bytes], what: str, *, where: Sequence[int]
    ) -> list[Number]:
        try:
            numbers = list(map(kind, tokens))
        except ValueError:
            numbers = []
        # Python accepts 1_000 as a number, but no other reader does.
        if len(numbers) == len(tokens) and not (self._has_underscores and any(b"_" in token for token in tokens)):
            return numbers
        wrong = next(k for k, token in enumerate(tokens) if not _is(kind, token))
        raise self.wrong(f"expected {what}, {'a whole number' if kind is int else 'a number'}", at=where[wrong])

    def _check(self, values: Floats, where: Sequence[int] | NDArray[np.int64], what: str, least: float) -> None:
        allowed = (values >= least) & (values < np.inf)
        if not allowed.all():
            bounds = "a finite number or -inf" if least == -np.inf else f"a finite number, {least:g} or more"
            raise self.wrong(f"expected {what}: {bounds}", at=int(where[int(np.argmin(allowed))]))


def _is(kind: Callable[[bytes], float], token: bytes) -> bool:
    try:
        kind(token)
    except ValueError:
        return False
    return b"_" not in token


def _nth(matches: Iterator[re.Match[bytes]], number: int) -> re.Match[bytes]:
    return next(match for k, match in enumerate(matches) if k == number)


def spoken(count: int) -> str:
    """Format a count for a message, however large."""
    return f"{count:,}" if count < 10**9 else f"{min(count, 10**300):.3g}"


def numbered_domain(shape: Sequence[int], name: str, labels: Sequence[int] | None = None) -> Domain:
    """Return variables ``v0``, ``v1``, ... with states ``0``, ``1``, ..., for files without names.

    A file that declares more states than a model can have is refused before any memory is allocated.
    """
    if not shape:
        raise InputError(f"{name!r} has no variables; at least one is needed.")
    if sum(shape) > MOST_STATES:
        raise InputError(
            f"The variables of {name!r} have {spoken(sum(shape))} states together; the limit is {MOST_STATES:,}. Check "
            "the numbers of states that it declares."
        )
    states = {c: tuple(map(str, range(c))) for c in set(shape)}
    numbers = range(len(shape)) if labels is None else labels
    return Domain(tuple(Variable(f"v{number}", states[c]) for number, c in zip(numbers, shape, strict=True)))
