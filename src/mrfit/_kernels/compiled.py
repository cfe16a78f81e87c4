"""The decorator of kernels, and what is known of their compilation in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

_config: Any = numba.config  # its settings are made at run time
_kernels: list[Any] = []
_on_compiling: list[Callable[[str | None], None]] = []


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable], Any]:
    """`numba.njit`, with a cache of our own."""

    def decorate(function: Callable) -> Any:
        kernel: Any = numba.njit(**options)(function)
        if cache and not _config.DISABLE_JIT:  # which leaves a function of Python
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
        from mrfit._kernels.kernel_cache import KernelCache

        kernel._cache = KernelCache(kernel.py_func, _say)
    except (ImportError, AttributeError, TypeError):  # numba has changed where it promises nothing
        kernel.enable_caching()


def _say(reason: str | None) -> None:
    while _on_compiling:
        _on_compiling.pop()(reason)
