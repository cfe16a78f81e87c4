"""Internal: formatted numbers, rounded to the precision of their standard errors."""

from __future__ import annotations

from math import floor, isfinite, log10

_DIGITS = 4  # decimals of exact numbers
_UNKNOWN = 2  # decimals of numbers whose error is unknown


def with_error(value: float, error: float | None, *, digits: int = _DIGITS, sign: str = "") -> str:
    """Return ``0.42 +- 0.03``: the number, rounded where its standard error begins.

    Parameters
    ----------
    value, error
        An error of 0 means exact: the number has ``digits`` decimals. None or infinity means unknown: it has two.
    digits
        The most decimals that are shown.
    sign
        ``+`` writes the sign of positive numbers too.
    """
    if error is None or not isfinite(error):
        return f"{value:{sign}.{min(_UNKNOWN, digits)}f}"
    if error <= 0.0 or not isfinite(value):
        return f"{value:{sign}.{digits}f}"
    known = known_decimals(error)
    decimals = min(max(known, 0), digits)
    spread = f"{error:.0e}" if known > digits else f"{round(error, known):.{decimals}f}"
    return f"{round(value, known) + 0.0:{sign}.{decimals}f} +- {spread}"  # + 0.0: never minus zero


def rounded(value: float, error: float | None = 0.0) -> str:
    """Return the number of `with_error` alone, for columns without errors."""
    return with_error(value, error).split(" ")[0]


def probability(p: float, error: float | None = 0.0) -> str:
    """Return a probability as `with_error` does, but no zero for what is not impossible."""
    text = with_error(p, error)
    if p <= 0.0 or float(text.split()[0]) > 0.0 or (error and known_decimals(error) <= _DIGITS):
        return text
    return f"{p:.0e} +- {error:.0e}" if error else f"{p:.0e}"


def format_size(n_bytes: float) -> str:
    """Return a size with the unit in which it is between 1 and 1,000: ``8 B``, ``2.1 GB``."""
    for name in ("B", "kB", "MB", "GB"):
        if n_bytes < 999.5:
            return f"{n_bytes:.3g} {name}"
        n_bytes /= 1000
    return f"{n_bytes:,.3g} TB" if n_bytes < 999.5 else f"{n_bytes:,.0f} TB" if n_bytes < 1e6 else f"{n_bytes:.2g} TB"


def format_count(count: float) -> str:
    """Return a count as a whole number, or with two digits from a million on: ``12,345``, ``1.2e+16``."""
    return f"{count:,.0f}" if count < 1e6 else f"{count:.2g}"


def significant(value: float, *, digits: int = 3, sign: str = "") -> str:
    """Return an estimate with three significant digits, in fixed notation: ``2.86``, ``0.0323``, ``2900``.

    This is the rule for what commands print: estimates (edge weights, parameters, centralities, penalty strengths) have
    three significant digits and at most four decimals; scores in nats, which people compare, have four decimals; and
    numbers with an error are rounded by it (`with_error`). JSON and files keep all digits.
    """
    if value == 0.0:
        return "0"
    if not isfinite(value):
        return f"{value:{sign}}"
    leading = floor(log10(float(f"{abs(value):.{digits - 1}e}")) + 1e-9)
    decimals = min(max(digits - 1 - leading, 0), _DIGITS)
    return f"{round(value, digits - 1 - leading) + 0.0:{sign}.{decimals}f}"


def short_probability(p: float) -> str:
    """Return an exact probability with three significant digits; none that is possible is 0, and none that is not sure
    is 1.
    """
    if 0.0 < p < 5e-5:
        return f"{p:.0e}"
    if 0.9995 <= p < 1.0:
        return f"{p:.{_DIGITS}f}" if p < 0.99995 else ">0.9999"
    return f"{p:.{_DIGITS}f}" if 0.0 < p < 0.09995 else f"{p:.3f}"


def strength_text(value: float) -> str:
    """Return a penalty strength with three significant digits and no trailing zeros: ``2900``, ``90.5``, ``0.01``."""
    text = significant(value)
    if value and abs(value) < 1e-3:
        return f"{value:.3g}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def in_file(value: float, error: float | None = 0.0) -> str:
    """Return a number for a file without errors, with one digit more than the standard error justifies.

    All digits stay where it is exact or its error is unknown. A number that is not zero never becomes zero.
    """
    if not error or not isfinite(error) or not isfinite(value):
        return repr(float(value))
    decimals = known_decimals(error) + 1
    rounded = round(value, decimals)
    return f"{value:.1e}" if value and not rounded else f"{rounded:.{max(decimals, 0)}f}"


def known_decimals(error: float) -> int:
    """Return the decimals down to the first digit of an error, or the second if the first is 1; negative for tens."""
    rounded = float(f"{error:.0e}")
    leading = floor(log10(rounded) + 1e-9)
    return -leading + (round(rounded / 10.0**leading) == 1)
