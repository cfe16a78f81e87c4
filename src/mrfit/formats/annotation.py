"""Comment line with the variable names of a numeric file and the factor by which its values were divided.

    # mrfit {"shift": 812.5, "states": {"smoker": ["no", "yes"], "cough": ["no", "yes"]}}

Programs that support comments skip it. ``states`` lists every variable in order. ``shift`` is the natural logarithm of
the factor that restores the product of all tables; it is there only if the values did not fit into doubles.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import numpy as np

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, InputError
from mrfit.core.factors import Factors
from mrfit.formats.tokens import numbered_domain
from mrfit.model.factor_network import FactorNetwork

_LINE = re.compile(rb"^# mrfit (\{.*\})\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Annotation:
    """Content of the comment; empty by default."""

    domain: Domain | None = None
    shift: float = 0.0

    @classmethod
    def of(cls, content: bytes, name: str) -> Annotation:
        """Parse the comment of a file, if there is one."""
        match = _LINE.search(content)
        if match is None:
            return cls()
        try:
            fields = json.loads(match[1])
            domain = Domain.from_states(fields["states"]) if "states" in fields else None
            shift = float(fields.get("shift", 0.0))
        except (ValueError, TypeError, AttributeError, RecursionError, DataError) as error:
            line = content[: match.start()].count(b"\n") + 1
            raise InputError(
                f"{name!r}, line {line}: the comment '# mrfit ...' cannot be understood ({error}). Delete the line to "
                "read the file without names."
            ) from None
        if not np.isfinite(shift):
            raise InputError(f"{name!r} says that its values were shifted by {shift}; expected a finite number.")
        return cls(domain, shift)

    def line(self) -> bytes:
        """Return the comment, or nothing if it would be empty."""
        fields = {} if self.shift == 0 else {"shift": self.shift}
        states = {} if self.domain is None else {"states": self.domain.to_states()}
        return b"# mrfit " + json.dumps(fields | states).encode() + b"\n" if fields or states else b""

    def named(self, factors: Factors, name: str, plain: Domain) -> FactorNetwork:
        """Return the network of a file, with its own names or ``plain`` ones."""
        if self.domain is not None and self.domain.shape != factors.shape:
            raise InputError(
                f"The comment '# mrfit ...' of {name!r} names {len(self.domain)} variables, and the tables have "
                f"{len(factors.shape)} or other numbers of states. Delete the line to read the file without names."
            )
        if self.shift:
            values = np.append(factors.values, self.shift)
            factors = Factors(factors.shape, (*factors.scopes, ()), values)
        return FactorNetwork(self.domain or plain, factors)


def names_worth_telling(domain: Domain) -> Domain | None:
    """Return the domain, or None if a reader would assign the same names by itself."""
    return None if domain == numbered_domain(domain.shape, "model") else domain
