"""Ways to spoil a file, for tables, text, JSON and model files."""

from __future__ import annotations

import gzip
import json
import pickle
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from model_files import npy, npy_header, write_parts

Rng = np.random.Generator
_LARGE = 100_000  # bytes: what is larger is not made larger still

Damage = Callable[[Rng, bytes], bytes]


def pick(rng: Rng, choices: Any) -> Any:
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


# --- bytes


def _cut(rng: Rng, content: bytes) -> bytes:
    return content[: int(rng.integers(len(content) + 1))]


def _flip(rng: Rng, content: bytes) -> bytes:
    spoiled = bytearray(content)
    for place in rng.integers(0, max(len(content), 1), int(rng.integers(1, 6))) if content else ():
        spoiled[place] ^= 1 << int(rng.integers(8))
    return bytes(spoiled)


def _insert(rng: Rng, content: bytes) -> bytes:
    places = {
        "nul": b"\0" * int(rng.integers(1, 4)),
        "noise": rng.bytes(int(rng.integers(1, 30))),
        "separators": pick(rng, [b",,,", b";", b"\t\t", b"|", b"\r", b"\n\n\n", b"\r\n"]),
        "quotes": pick(rng, [b'"', b'""', b'"a""b', b"'"]),
        "numbers": pick(rng, [b"nan", b"1e999", b"-0", b"0x10", b"007", b"1_000", b"9" * 400]),
        "escapes": b"\x1b[31m\xc2\x9bA\xe2\x80\xae",
        "huge": pick(rng, [b"x", b"\xc3\xa9", b"1"]) * int(rng.integers(1e4, 4e5)),
    }
    place = int(rng.integers(len(content) + 1))
    return content[:place] + pick(rng, places.values()) + content[place:]


def _repeat(rng: Rng, content: bytes) -> bytes:
    first, last = sorted(rng.integers(0, len(content) + 1, 2).tolist())
    return content[:last] + content[first:last] * int(rng.integers(1, 4)) + content[last:]


def _drop(rng: Rng, content: bytes) -> bytes:
    first, last = sorted(rng.integers(0, len(content) + 1, 2).tolist())
    return content[:first] + content[last:]


def _encode(rng: Rng, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace") + pick(rng, ["", "é", "日本", "\ufeff"])
    return text.encode(pick(rng, ["utf-16", "utf-16-le", "utf-8-sig", "latin-1", "cp1252", "utf-7"]), "replace")


def _line_ends(rng: Rng, content: bytes) -> bytes:
    return content.replace(b"\n", pick(rng, [b"\r", b"\r\n", b"\n\n", b"\n\r", b""]))


def _separators(rng: Rng, content: bytes) -> bytes:
    return content.replace(b",", pick(rng, [b";", b"\t", b"|", b" ", b",,", b", "]))


def _widen(rng: Rng, content: bytes) -> bytes:
    """Repeat the columns again and again, under other names or the same."""
    n_copies, lines = int(rng.integers(2, 400)), content.split(b"\n")
    head = b",".join(b"%s_%d" % (lines[0].split(b",")[0], k) for k in range(n_copies * (lines[0].count(b",") + 1)))
    return b"\n".join([head if rng.random() < 0.8 else lines[0], *(b",".join([line] * n_copies) for line in lines[1:])])


def _shorten(rng: Rng, content: bytes) -> bytes:
    return b"\n".join(content.split(b"\n")[: int(rng.integers(0, 4))])


def _nothing(rng: Rng, content: bytes) -> bytes:
    return content


ANY: list[Damage] = [_cut, _flip, _insert, _insert, _repeat, _drop]
TEXT: list[Damage] = [*ANY, _encode, _line_ends, _separators, _shorten, _nothing]
TABLE: list[Damage] = [*TEXT, _widen]


def spoiled(rng: Rng, content: bytes, ways: list[Damage]) -> bytes:
    for _ in range(int(rng.integers(1, 4))):
        if len(content) < _LARGE:
            content = pick(rng, ways)(rng, content)
    return content


def spoiled_gzip(rng: Rng, content: bytes) -> bytes:
    if rng.random() < 0.5:
        return gzip.compress(spoiled(rng, content, TABLE), mtime=0)
    return spoiled(rng, gzip.compress(content, mtime=0), ANY)


# --- JSON

_JUNK: list[Any] = [
    None, True, -1, 0, 3, 2**70, 1e308, "", "x", "\x1b[2J", "\ud800", "9" * 5000, [], {}, [None], {"a": 1}, ["a", "a"],
]  # fmt: skip


def spoiled_document(rng: Rng, document: Any) -> Any:
    """Return the document with one of its values replaced, dropped or doubled."""
    if isinstance(document, dict) and document and rng.random() < 0.85:
        key = pick(rng, document)
        if rng.random() < 0.15:
            return {name: value for name, value in document.items() if name != key}
        if rng.random() < 0.1:
            return {**document, pick(rng, ["", "x", "\x1b", "scopes_1"]): document[key]}
        return {**document, key: spoiled_document(rng, document[key])}
    if isinstance(document, list) and document and rng.random() < 0.7:
        place = int(rng.integers(len(document)))
        return [*document[:place], spoiled_document(rng, document[place]), *document[place + int(rng.integers(2)) :]]
    return pick(rng, _JUNK)


def spoiled_json(rng: Rng, content: bytes) -> bytes:
    if rng.random() < 0.1:
        return pick(rng, [b"[", b'{"a":']) * 100_000
    if rng.random() < 0.3:
        return spoiled(rng, content, TEXT)
    text = json.dumps(spoiled_document(rng, json.loads(content)))
    return text.replace("null", pick(rng, ["null", "NaN", "Infinity"])).encode()


# --- models


def spoiled_array(rng: Rng, content: bytes) -> bytes:
    header, array = content[:128], np.frombuffer(content[128:], np.uint8)
    ways: list[Callable[[], bytes]] = [
        lambda: npy_header(pick(rng, [(10**12,), (2**62, 2**62), (0, 10**18), (), (3, 10**9)])) + content[128:],
        lambda: npy_header((10**12,), pick(rng, ["|S0", "<f2", "<c16", "|V8", "<U1000000", "<M8[s]"])),
        lambda: npy(np.array([print, 1], object)),
        lambda: npy(rng.standard_normal(pick(rng, [(0,), (1,), (3,), (50,), (2, 2), (1, 1, 1)]))),
        lambda: npy(rng.integers(-3, 9, (int(rng.integers(0, 5)), int(rng.integers(0, 5))))),
        lambda: npy(
            np.array([[int(rng.integers(0, 4)), int(rng.integers(0, 5))]], pick(rng, ["i4", "u1", "i8", "f4"]))
        ),
        lambda: npy(np.full(int(rng.integers(1, 12)), pick(rng, [np.nan, np.inf, 1e308, -1e308, 1e-320]))),
        lambda: npy(np.asfortranarray(rng.standard_normal((3, 4)))),
        lambda: header + array[rng.permutation(len(array))].tobytes(),
        lambda: header + b"\xff" * len(array),
        lambda: pickle.dumps([1, 2]),
        lambda: spoiled(rng, content, ANY),
    ]
    return pick(rng, ways)()


def write_spoiled_model(rng: Rng, path: Path, content: bytes, parts: dict[str, bytes]) -> None:
    if rng.random() < 0.25:
        path.write_bytes(spoiled(rng, content, ANY))
        return
    parts = dict(parts)
    for name in rng.permutation(list(parts))[: int(rng.integers(1, 3))].tolist():
        parts[name] = (spoiled_json if name == "model.json" else spoiled_array)(rng, parts[name])
    if rng.random() < 0.15:
        parts.pop(pick(rng, parts))
    if rng.random() < 0.2:
        strange = [
            "../../evil.npy",
            "/tmp/evil.npy",
            "scopes_.npy",
            "scopes_-1.npy",
            "scopes_40.npy",
            "w",
            "x" * 300,
            "sha256",
        ]
        parts[pick(rng, strange)] = pick(rng, [npy([[1]]), npy(np.zeros((0, 40), np.int32)), b"", npy_header((10**9,))])
    if rng.random() < 0.1:
        parts["w.npy"] = npy(np.zeros(10**7))
    wrong = "0" * 64 if rng.random() < 0.05 else None
    compression = zipfile.ZIP_DEFLATED if "w.npy" in parts and len(parts["w.npy"]) > 10**7 else zipfile.ZIP_STORED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that stands twice
        write_parts(path, parts, checksum=wrong, compression=compression)
