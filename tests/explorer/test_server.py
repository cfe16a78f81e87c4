"""Access to the server, and what it refuses."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import numpy as np
import pytest

from mrfit import learn
from mrfit.analysis.model_comparison import compare
from mrfit.explorer.document import Document
from mrfit.explorer.query_api import Answer, Answering, Question
from mrfit.explorer.server import Explorer
from mrfit.formats.mrf_network import to_model
from mrfit.model.factor_network import FactorNetwork
from populations import domain_of, random_factors, random_rows

QUESTION = json.dumps({"number": 1, "evidence": [[0, [1]]]})


@pytest.fixture(scope="module")
def server() -> Iterator[Explorer]:
    factors = random_factors(np.random.default_rng(0), (2, 2, 3), [(0, 1), (1, 2)])
    model = to_model(FactorNetwork(domain_of(factors.shape), factors))
    rows = random_rows(np.random.default_rng(1), factors.shape, 50)
    document = Document.of(model, title="t", rows=rows)
    with Explorer(document, Answering(model), rows=rows, compared=compare(model, learn(rows).model)) as explorer:
        thread = threading.Thread(target=explorer.serve_forever, daemon=True)
        thread.start()
        yield explorer
        explorer.shutdown()
        thread.join()


def _asked(
    server: Explorer, method: str, path: str, *, body: str | None = None, user: bool = True, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    cookie = {"Cookie": f"mrfit={server.token}"} if user else {}
    kind = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, body=body, headers={**cookie, **kind, **named})
    response = connection.getresponse()
    told = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    connection.close()
    return told


def test_the_token_becomes_a_cookie(server: Explorer) -> None:
    assert server.server_address[0] == "127.0.0.1"  # nobody else can even ask, unless that was said
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


def test_scores_worst_rows_and_edges_are_there_for_the_user(server: Explorer) -> None:
    scores = json.loads(_asked(server, "GET", "/api/scores")[2])
    assert [each["rows"] for each in scores] == [50]
    worst = json.loads(_asked(server, "GET", "/api/rows?worst=3")[2])
    assert len(worst) == 3
    assert worst[0]["score"] <= worst[1]["score"] <= scores[0]["value"]
    for form in ("csv", "graphml", "json"):
        status, _, content = _asked(server, "GET", f"/api/export/edges.{form}")
        assert (status, b"x1" in content) == (200, True)
    status, headers, picture = _asked(server, "GET", "/api/export/network.svg")
    assert (status, headers["content-type"]) == (200, "image/svg+xml")
    assert b"<svg" in picture
    assert _asked(server, "GET", "/api/export/network.png")[2].startswith(b"\x89PNG")


def test_the_other_model_is_there_for_the_user(server: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert server.compared is not None
    assert json.loads(_asked(server, "GET", "/api/compare")[2]) == json.loads(json.dumps(server.compared.to_dict()))
    monkeypatch.setattr(server, "compared", None)
    assert _asked(server, "GET", "/api/compare")[0] == 404


def test_a_question_may_be_of_the_other_model(server: Explorer) -> None:
    asked = json.dumps({"number": 1, "evidence": [], "other": True})
    assert _asked(server, "POST", "/api/query", body=asked)[0] == 400  # there is none to ask
    model = learn(random_rows(np.random.default_rng(1), (2, 2, 3), 50)).model
    with Explorer(server.document, server.answering, other=Answering(model)) as of_two:
        threading.Thread(target=of_two.serve_forever, daemon=True).start()
        told = json.loads(_asked(of_two, "POST", "/api/query", body=asked)[2])
        assert told["marginals"][2] == pytest.approx(list(model.marginals()["x2"].values()), abs=1e-12)
        of_two.shutdown()


def test_rows_are_drawn_given_what_is_known(server: Explorer) -> None:
    status, headers, content = _asked(server, "POST", "/api/sample?rows=20", body=QUESTION)
    assert status == 200
    assert headers["content-type"].startswith("text/csv")
    header, *rows = content.decode().splitlines()
    assert header == "x0,x1,x2"
    assert {row.split(",")[0] for row in rows} == {"s1"}
    assert len(rows) == 20


@pytest.mark.parametrize("query", ["", "?worst=0", "?worst=-1", "?worst=x", "?worst=10001", "?worst=" + "9" * 400])
def test_numbers_of_rows_have_limits(server: Explorer, query: str) -> None:
    assert _asked(server, "GET", f"/api/rows{query}")[0] == 400


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/model",
        "/api/compare",
        "/api/export/network.png",
        "/api/rows?worst=3",
        "/api/scores",
        "/assets/explorer.js",
        "/open?token=wrong",
        "/open",
    ],
)
def test_nobody_else_gets_anything(server: Explorer, path: str) -> None:
    assert _asked(server, "GET", path, user=False)[0] == 403
    assert _asked(server, "GET", path, user=False, Cookie="mrfit=guess")[0] == 403


@pytest.mark.parametrize("path", ["/api/query", "/api/sample?rows=2"])
def test_nobody_else_is_answered(server: Explorer, path: str) -> None:
    assert _asked(server, "POST", path, body=QUESTION, user=False)[0] == 403
    assert _asked(server, "POST", path, body=QUESTION, Origin="http://evil.example")[0] == 403


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
    assert _asked(server, "POST", "/api/query", body="", Content_Length="9" * 5000)[0] == 413
    assert _asked(server, "GET", "/", X_Long="x" * 20_000)[0] == 431


@pytest.mark.parametrize("target", ["http://[::1", "http://[x]/"])
def test_half_an_address_is_refused(server: Explorer, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Sent by hand: a client of Python's own would not let it out."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
        assert b" 400 " in connection.recv(1000).splitlines()[0]
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("body", ["", "[", "{}", "[" * 30_000, '{"number": 1, "evidence": [[7, [0]]]}'])
def test_nonsense_is_refused(server: Explorer, body: str) -> None:
    assert _asked(server, "POST", "/api/query", body=body)[0] == 400


def test_a_refusal_is_one_sentence(server: Explorer) -> None:
    """The answer says once, in a sentence, what was wrong with the evidence."""
    twice = _asked(server, "POST", "/api/query", body='{"number": 1, "evidence": [[1, [0]], [1, [1]]]}')
    assert twice[2] == b"Variable 1 has evidence twice; expected at most once."


def test_a_new_question_does_not_wait_for_the_one_before(server: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of the first is at work until the second has its answer."""
    answering, begun, done, order = server.answering, threading.Event(), threading.Event(), []

    def answers(question: Question, is_void: Callable[[], bool]) -> Iterator[Answer]:
        if question.number == 1:
            begun.set()
            assert done.wait(10)
        order.append((question.number, is_void()))
        return iter(())

    monkeypatch.setattr(answering, "answers", answers)
    first = threading.Thread(target=lambda: list(server.answers(Question(1, {}))))
    first.start()
    assert begun.wait(10)
    assert list(server.answers(Question(2, {}))) == []
    done.set()
    first.join()
    assert order == [(2, False), (1, True)]


def test_a_new_question_ends_the_exact_run_of_the_one_before(server: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second question comes while the first is between two cliques; the first then gives no answer."""
    monkeypatch.setattr("mrfit.inference.exact.tree_passes._PIECE", 1)
    second: list[Answer] = []
    is_void = threading.Event()

    def between(of_first: Callable[[], bool]) -> Callable[[], bool]:
        def looked() -> bool:
            if not is_void.is_set():
                is_void.set()
                second.extend(server.answers(Question(2, {})))
            return of_first()

        return looked

    answers = server.answering.answers
    monkeypatch.setattr(
        server.answering, "answers", lambda asked, void: answers(asked, between(void) if asked.number == 1 else void)
    )
    assert list(server.answers(Question(1, {}))) == []
    assert [(each["number"], each["exact"]) for each in second] == [(2, True)]


def test_a_question_that_is_void_is_not_begun(server: Explorer) -> None:
    assert list(server.answering.answers(Question(1, {}), lambda: True)) == []


def test_other_methods_are_refused(server: Explorer) -> None:
    assert _asked(server, "PUT", "/api/query", body=QUESTION)[0] == 501
