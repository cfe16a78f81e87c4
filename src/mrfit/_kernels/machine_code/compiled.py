"""The decorator of kernels, and the record of their compilation in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

_config: Any = numba.config  # set at run time
_njit: Any = numba.njit  # it takes more options than its type hints declare
_kernels: list[Any] = []
_on_compiling: list[Callable[[str | None], None]] = []


# Python does not call these kernels, so wrappers that unpack its objects, or for calls from C, are not compiled.
_CALLED_BY_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable], Any]:
    """Decorate a function like `numba.njit`, with the package's own cache.

    A function whose name begins with an underscore is called only by other kernels. It is part of their machine code
    and has none of its own.
    """

    def decorate(function: Callable) -> Any:
        if _config.DISABLE_JIT:  # returns the Python function
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
    """Return all kernels imported so far that Python may call."""
    return tuple(_kernels)


def n_compiled() -> int:
    """Count the kernels, once for each signature, that this process had to compile."""
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in _kernels)


def on_compiling(callback: Callable[[str | None], None]) -> None:
    """Register a function to call before this process first compiles, with the reason for compiling."""
    _on_compiling[:] = [callback]


def _enable_caching(kernel: Any) -> None:
    try:
        from mrfit._kernels.machine_code.cache import KernelCache

        kernel._cache = KernelCache(kernel.py_func, _say)
    except (ImportError, AttributeError, TypeError):  # numba changed a private interface
        kernel.enable_caching()


def _say(reason: str | None) -> None:
    while _on_compiling:
        _on_compiling.pop()(reason)
