"""A real browser for tests of the page, where there is one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from benchmarks.chromium import FLAGS, chromium_path, missing

_REQUIRED = "MRFIT_BROWSER"  # set where tests of the page must not be skipped


def skip_or_fail(reason: str) -> NoReturn:
    """Skips a test for what this machine lacks; fails where it was promised."""
    if os.environ.get(_REQUIRED):
        pytest.fail(reason)
    pytest.skip(reason)


def axe_script(web: Path) -> str:
    """Script that checks accessibility (axe), if node has installed it."""
    axe = web / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        skip_or_fail("tests of accessibility need axe-core: run `npm ci` in web/")
    return axe.read_text(encoding="utf-8")


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium with a profile of its own; skips the test, with the reason, where there is none."""
    if reason := missing():
        skip_or_fail(reason)
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as profile, sync_playwright() as play:
        context = play.chromium.launch_persistent_context(
            profile, executable_path=chromium_path(), args=[*FLAGS], accept_downloads=True
        )
        yield context
        context.close()


class Tab:
    """One page, with all that it logged and asked the network for."""

    def __init__(self, context: Any, *, width: int = 1280, height: int = 800, dark: bool = False) -> None:
        self.page = context.new_page()
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self._hear(message))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def open(self, address: str) -> Tab:
        self.page.goto(address)
        self.page.wait_for_selector("h1")
        return self

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def wait(self, script: str, *, seconds: float = 20.0) -> Any:
        """Wait until a script returns something true; the page's policy forbids `wait_for_function`."""
        for _ in range(int(20 * seconds)):
            found = self.page.evaluate(script)
            if found:
                return found
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{script} did not come true in {seconds} s; problems: {self.problems}")

    def settle(self) -> None:
        """Wait until the answer to the last question has arrived and is drawn."""
        self.wait("!document.querySelector('.engine').classList.contains('busy')")
        self.page.evaluate("new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))")

    def saved(self, entry: str, folder: Path) -> Path:
        """A file that the page saves."""
        self.page.click(".menu > summary")
        with self.page.expect_download() as download:
            self.page.click(f".items button:text-is('{entry}')")
        target = folder / str(download.value.suggested_filename)
        download.value.save_as(target)
        return target
