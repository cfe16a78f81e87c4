"""Who may ask the server, and what it refuses."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import numpy as np
import pytest

from mrfit.explorer.answering import Answering
from mrfit.explorer.document import Document
from mrfit.explorer.server import Explorer
from mrfit.formats.learned import to_model
from mrfit.network import Network
from populations import domain_of, random_factors

QUESTION = json.dumps({"number": 1, "evidence": [[0, [1]]]})


@pytest.fixture(scope="module")
def server() -> Iterator[Explorer]:
    factors = random_factors(np.random.default_rng(0), (2, 2, 3), [(0, 1), (1, 2)])
    model = to_model(Network(domain_of(factors.shape), factors))
    with Explorer(Document.of(model, title="t"), Answering(model)) as explorer:
        thread = threading.Thread(target=explorer.serve_forever, daemon=True)
        thread.start()
        yield explorer
        explorer.shutdown()
        thread.join()


def _asked(
    server: Explorer, method: str, path: str, *, body: str | None = None, user: bool = True, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    cookie = {"Cookie": f"mrfit={server.token}"} if user else {}
    kind = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, body=body, headers={**cookie, **kind, **named})
    response = connection.getresponse()
    told = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    connection.close()
    return told


def test_the_token_becomes_a_cookie(server: Explorer) -> None:
    address = urlsplit(server.address)
    status, headers, _ = _asked(server, "GET", f"{address.path}?{address.query}", user=False)
    assert status == 303
    assert headers["location"] == "/"
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=Strict" in headers["set-cookie"]


def test_the_user_gets_page_assets_and_answers(server: Explorer) -> None:
    status, headers, page = _asked(server, "GET", "/")
    assert status == 200
    assert b'data-answerer="server"' in page
    assert server.token.encode() not in page
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    for name in ("explorer.js", "explorer.css"):
        assert _asked(server, "GET", f"/assets/{name}")[0] == 200
    status, _, lines = _asked(server, "POST", "/api/query", body=QUESTION)
    assert status == 200
    answer = json.loads(lines.splitlines()[-1])
    assert answer["exact"]
    assert answer["marginals"][0] == [0.0, 1.0]
    assert json.loads(_asked(server, "GET", "/api/model")[2])["schema"] == 1


@pytest.mark.parametrize("path", ["/", "/api/model", "/assets/explorer.js", "/open?token=wrong", "/open"])
def test_nobody_else_gets_anything(server: Explorer, path: str) -> None:
    assert _asked(server, "GET", path, user=False)[0] == 403
    assert _asked(server, "GET", path, user=False, Cookie="mrfit=guess")[0] == 403


def test_nobody_else_is_answered(server: Explorer) -> None:
    assert _asked(server, "POST", "/api/query", body=QUESTION, user=False)[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", ""])
def test_foreign_names_of_this_machine_are_refused(server: Explorer, host: str) -> None:
    assert _asked(server, "GET", "/", Host=host)[0] == 400


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}]
)
def test_other_pages_cannot_ask(server: Explorer, headers: dict[str, str]) -> None:
    assert _asked(server, "POST", "/api/query", body=QUESTION, **headers)[0] == 403


def test_forms_cannot_ask(server: Explorer) -> None:
    assert _asked(server, "POST", "/api/query", body=QUESTION, Content_Type="text/plain")[0] == 415


@pytest.mark.parametrize(
    "path", ["/assets/../document.py", "/assets/%2e%2e/server.py", "/assets/", "/etc/passwd", "//etc/passwd", "/api"]
)
def test_there_is_nothing_beside_the_page(server: Explorer, path: str) -> None:
    assert _asked(server, "GET", path)[0] == 404


def test_bodies_and_headers_have_limits(server: Explorer) -> None:
    assert _asked(server, "POST", "/api/query", body="[" * 70_000)[0] == 413
    assert _asked(server, "POST", "/api/query", body="", Content_Length="x")[0] == 411
    assert _asked(server, "GET", "/", X_Long="x" * 20_000)[0] == 431


@pytest.mark.parametrize("body", ["", "[", "{}", "[" * 30_000, '{"number": 1, "evidence": [[7, [0]]]}'])
def test_nonsense_is_refused(server: Explorer, body: str) -> None:
    assert _asked(server, "POST", "/api/query", body=body)[0] == 400


def test_other_methods_are_refused(server: Explorer) -> None:
    assert _asked(server, "PUT", "/api/query", body=QUESTION)[0] == 501
