"""The decorator of kernels, and what is known of their compilation in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

_config: Any = numba.config  # its settings are made at run time
_njit: Any = numba.njit  # it takes more options than its types say
_kernels: list[Any] = []
_on_compiling: list[Callable[[str | None], None]] = []


# For what Python does not call: code that unpacks its objects, and calls from C, would be compiled for nothing.
_CALLED_BY_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable], Any]:
    """`numba.njit`, with a cache of our own.

    A function whose name begins with an underscore is called by other kernels only, and is part of their machine code:
    it has none of its own.
    """

    def decorate(function: Callable) -> Any:
        if _config.DISABLE_JIT:  # which leaves a function of Python
            return _njit(**options)(function)
        if function.__name__.startswith("_"):
            return _njit(**options, **_CALLED_BY_KERNELS)(function)
        kernel = _njit(**options, no_cfunc_wrapper=True)(function)
        if cache:
            _enable_caching(kernel)
            _kernels.append(kernel)
        return kernel

    return decorate


def kernels() -> tuple[Any, ...]:
    """All kernels imported so far that Python may call."""
    return tuple(_kernels)


def n_compiled() -> int:
    """How many kernels, counted once for each signature, this process had to compile."""
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in _kernels)


def on_compiling(callback: Callable[[str | None], None]) -> None:
    """Have a function called before this process first compiles, with the reason why the package's code did not do."""
    _on_compiling[:] = [callback]


def _enable_caching(kernel: Any) -> None:
    try:
        from mrfit._kernels.machine_code.cache import KernelCache

        kernel._cache = KernelCache(kernel.py_func, _say)
    except (ImportError, AttributeError, TypeError):  # numba has changed where it promises nothing
        kernel.enable_caching()


def _say(reason: str | None) -> None:
    while _on_compiling:
        _on_compiling.pop()(reason)
