"""Internal: public names of a package, each imported on first use. The package's stub is the one list of them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

_EXPORT = re.compile(r"^from (\S+) import (\w+) as (\w+)$", re.MULTILINE)


def exports(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, from ``__init__.pyi`` beside its ``__init__.py``.

    Numba and scikit-learn take longer to import than most commands take to run, and some of these names stand in
    packages above.
    """
    with open(f"{file.removesuffix('.py')}.pyi", encoding="utf-8") as stub:  # noqa: PTH123 - pathlib takes 5 ms to import
        home = {public: (module, name) for module, name, public in _EXPORT.findall(stub.read())}
    names = sorted(home)

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name in home:
            module, defined = home[name]
            return getattr(importlib.import_module(module), defined)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__, lambda: names, names
