"""A chromium of the system, driven by playwright."""

from __future__ import annotations

import shutil

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium_path() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def missing() -> str | None:
    """Name what is not installed; None if nothing is missing."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the page needs playwright to be driven: pip install playwright"
    return None if chromium_path() else "the page needs chromium on the path"
