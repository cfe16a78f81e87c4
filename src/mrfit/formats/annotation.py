"""What files of numbers cannot say, in one comment line: names, and the factor by which their values were divided.

    # mrfit {"shift": 812.5, "states": {"smoker": ["no", "yes"], "cough": ["no", "yes"]}}

Programs that know comments skip it. ``states`` has every variable in order; ``shift`` is the natural logarithm of what
the product of all tables must be multiplied by, and is there only where values would not have fitted into doubles.
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
    """What the comment says; nothing by default."""

    domain: Domain | None = None
    shift: float = 0.0

    @classmethod
    def of(cls, content: bytes, name: str) -> Annotation:
        """The comment in a file, if there is one."""
        match = _LINE.search(content)
        if match is None:
            return cls()
        try:
            told = json.loads(match[1])
            domain = Domain.from_states(told["states"]) if "states" in told else None
            shift = float(told.get("shift", 0.0))
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
        """The comment, or nothing where there is nothing to say."""
        told = {} if self.shift == 0 else {"shift": self.shift}
        states = {} if self.domain is None else {"states": self.domain.to_states()}
        return b"# mrfit " + json.dumps(told | states).encode() + b"\n" if told or states else b""

    def named(self, factors: Factors, name: str, plain: Domain) -> FactorNetwork:
        """The network of a file: its own names, or plain ones."""
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
    """The domain, but None where a reader would give the same names by itself."""
    return None if domain == numbered_domain(domain.shape, "model") else domain
