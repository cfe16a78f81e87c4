"""Compilations by numba in a process, counted by numba's own listeners rather than by ours."""

from __future__ import annotations

from typing import Any

from numba.core import event


class _Listener(event.Listener):
    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        self.names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: Any) -> None:
        pass


def names_of_compiled() -> list[str]:
    """A list that gets the name of every function that is compiled from now on."""
    listener = _Listener()
    event.register("numba:compile", listener)
    return listener.names
