"""What a user waits for before any work is done: imports, the command line, and the first compiled call.

    python benchmarks/first_use.py [--quick]

Every line is a new process, best of several; "cold" starts without a cache of compiled code, as after installation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

REPEATS = 1 if "--quick" in sys.argv else 7

FIT = """
import numpy, time
from mrfit import Dataset, Domain, Structure, UniqueRows, learn
codes = numpy.random.default_rng(0).integers(0, 2, (200, 6)).astype("uint8")
domain = Domain.from_states({f"v{i}": "01" for i in range(6)})
begun = time.perf_counter()
learn(UniqueRows.from_dataset(Dataset(domain, codes)), Structure.complete(6))
print(time.perf_counter() - begun)
"""


def wall(arguments: list[str], *, repeats: int = REPEATS) -> float:
    best = float("inf")
    for _ in range(repeats):
        begun = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        best = min(best, time.perf_counter() - begun)
    return best


def first_fit(cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    output = subprocess.run([sys.executable, "-c", FIT], check=True, capture_output=True, text=True, env=environment)
    return float(output.stdout)


def main() -> None:
    print("| what | seconds |\n|---|---:|")
    print(f"| python -c pass | {wall(['-c', 'pass']):.2f} |")
    print(f"| import mrfit | {wall(['-c', 'import mrfit']):.2f} |")
    print(f"| from mrfit import MarkovNetwork, learn | {wall(['-c', 'from mrfit import MarkovNetwork, learn']):.2f} |")
    print(f"| import sklearn.base (not ours) | {wall(['-c', 'import sklearn.base']):.2f} |")
    print(f"| from mrfit import MarkovNetworkLearner | {wall(['-c', 'from mrfit import MarkovNetworkLearner']):.2f} |")
    print(f"| mrfit --help | {wall(['-m', 'mrfit', '--help']):.2f} |")
    with tempfile.TemporaryDirectory() as cache:
        print(f"| first fit in a process, cold (compiles) | {first_fit(cache):.2f} |")
        warm = min(first_fit(cache) for _ in range(min(5, REPEATS)))
        print(f"| first fit in a process, warm (from cache) | {warm:.3f} |")


if __name__ == "__main__":
    main()
