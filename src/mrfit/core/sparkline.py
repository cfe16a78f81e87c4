"""Internal: a distribution as a row of small bars, for lines of text."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "._-=+*%#"


def sparkline(p: Sequence[float], *, most: float | None = None, encoding: str = "utf-8") -> str:
    """Return one bar for each probability, the full height for ``most``, by default the largest of them.

    Streams whose ``encoding`` has no blocks get ASCII characters of growing weight.
    """
    bars = BLOCKS if _carries(encoding) else _ASCII
    most = max(p, default=0.0) if most is None else most
    return "".join(bars[min(int(len(bars) * each / most), len(bars) - 1) if most > 0.0 else 0] for each in p)


def _carries(encoding: str) -> bool:
    try:
        BLOCKS.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
