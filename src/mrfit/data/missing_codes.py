"""Codes of missing answers among the numbers of a scale: -99, 77, 88, 99 or 999 beside 1 to 5."""

from __future__ import annotations

from collections.abc import Collection

from mrfit.data.labels import is_number

_FEWEST = 2  # states of a scale
_FEWEST_OF_RUN = 3  # of a scale that tells what is far from it
_LONG = 3  # the largest number of a scale beside which a lone -1 is a code, as pandas writes it
_FAR = 10  # times the largest number of a scale without gaps
_FURTHER = 3  # a lone 7, 8 or 9 so far beyond a scale that begins at 0 is no count


def missing_codes(states: Collection[str]) -> tuple[str, ...]:
    """States that look like codes of missing answers, ascending; none where the others are no scale of whole numbers.

    A scale is a run of whole numbers, of which a few may not occur. What lies outside it is a code if it is negative,
    made of sevens, eights and nines as codes usually are, or ten times as large as the scale. -2 to 2 is a scale, and
    so is -2, -1, 1, 2; -1 alone beside 0 to 3 or more is a code.
    """
    if not all(map(is_number, states)) or not all(float(state).is_integer() for state in states):
        return ()
    named = {int(float(state)): state for state in states}
    scale = _scale([number for number in sorted(named) if number >= 0])
    negative = sorted(number for number in named if number < 0)
    inside = {number for number in negative if -number <= max(scale, default=0)}
    if inside != {-number for number in scale if number > 0}:  # not the same on both sides of zero
        is_run = 0 in scale and not (negative == [-1] and max(scale) >= _LONG)
        inside = {number for number in negative if set(range(number, 0)) <= named.keys()} if is_run else set()
    codes = [number for number in named if number not in scale and number not in inside]
    is_scale = len(scale) + len(inside) >= _FEWEST and _has_few_gaps(scale)
    return tuple(named[number] for number in sorted(codes)) if is_scale else ()


def _scale(numbers: list[int]) -> list[int]:
    """The numbers of a scale among some that are not negative: all but those at the end that look like codes."""
    scale = [number for number in numbers if not _looks_like_code(number)]
    for number in numbers:
        if number not in scale and (not scale or not _is_beyond(number, scale)):
            scale.append(number)
    return _without_far(sorted(scale))


def _without_far(scale: list[int]) -> list[int]:
    """All up to a number that is ten times as large as the run of numbers before it: 1000 or 55 beside 1 to 5."""
    for place, number in enumerate(scale):
        before = scale[:place]
        is_run = len(before) >= _FEWEST_OF_RUN and before[-1] - before[0] == len(before) - 1
        if is_run and number >= _FAR * before[-1]:
            return before
    return scale


def _looks_like_code(number: int) -> bool:
    """7, 8, 9, and of more digits 66, 77, 88, 99, 95 to 99, 777, 995 and so on."""
    digits = str(number)
    if len(digits) == 1:
        return digits in "789"
    repeated = len(set(digits)) == 1 and digits[0] in "6789"
    return repeated or (set(digits[:-1]) == {"9"} and digits[-1] in "56789")


def _is_beyond(number: int, scale: list[int]) -> bool:
    """Whether a number that looks like a code lies outside the scale."""
    last = max(scale)
    if number > 9:
        return number >= 2 * last
    without_gaps = last - min(scale) == len(scale) - 1
    return without_gaps and number > last + 1 and (min(scale) > 0 or number >= last + _FURTHER)


def _has_few_gaps(scale: list[int]) -> bool:
    return bool(scale) and max(scale) - min(scale) + 1 <= 1.5 * len(scale)
