"""A server for one user on this machine: the page, and answers to its questions."""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

import numpy as np

from mrfit.analysis.model_comparison import Comparison
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.explorer.document import Document
from mrfit.explorer.hosts import Hosts
from mrfit.explorer.html_page import ASSETS, asset, served_page
from mrfit.explorer.query_api import Answer, Answering, Question
from mrfit.explorer.worst_rows import worst_rows
from mrfit.formats.graphs import structure_bytes
from mrfit.formats.tables import table_bytes, table_of
from mrfit.structures.structure import Structure

_COOKIE = "mrfit"
_MOST_BODY = 64 * 1024  # bytes
_MOST_DIGITS = 9  # of a number; Python refuses to parse those of thousands of digits
_MOST_HEADERS = 16 * 1024
_PATIENCE = 30.0  # seconds for a request to arrive
_AT_ONCE = 2  # engines: that of the latest question, and that of the one before until it stops
_MOST_ROWS = 10_000  # to draw or to list
_JSON = "application/json"
_PICTURES = {"svg": "image/svg+xml", "png": "image/png"}
_FORMS = {"csv": "text/csv; charset=utf-8", "graphml": "application/xml", "json": _JSON}

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Explorer(ThreadingHTTPServer):
    """A server of one document to clients with the token, which answers the latest question about each of its models.

    ``rows`` are data whose worst rows the page can request, ``compared`` is the comparison with another model, and
    ``other`` answers for that model if the document has both. ``hosts`` knows the accepted host names.
    """

    daemon_threads = True

    def __init__(
        self,
        document: Document,
        answering: Answering,
        *,
        rows: UniqueRows | None = None,
        compared: Comparison | None = None,
        other: Answering | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)
        self.token = secrets.token_urlsafe(32)
        self.hosts = Hosts(host, self.server_port)
        self.document, self.answering, self.rows, self.compared = document, answering, rows, compared
        self._drawing = threading.Lock()
        self._latest = _Latest(answering)
        self._latest_of_other = None if other is None else _Latest(other)

    @property
    def address(self) -> str:
        """The address of the page with the token, which only the user may see."""
        return f"http://{self.hosts.reachable}/open?token={self.token}"

    def is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())

    def answers(self, question: Question) -> Iterator[Answer]:
        latest = self._latest_of_other if question.other else self._latest
        if latest is None:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "There is no other model here.")
        return latest.answers(question)

    def worst_rows(self, n_rows: int) -> list[Any]:
        return [] if self.rows is None else worst_rows(self.answering.model, self.rows, n_rows)

    def exported(self, form: str) -> bytes:
        """Return all edges with their weights, as `mrfit structure` writes them."""
        model = self.answering.model
        structure = Structure.from_edges(len(model.domain), model.edges)
        return structure_bytes(form, structure, model.domain, model.weighted_edges)

    def drawn(self, form: str) -> bytes:
        """Draw the whole network, with variables at their initial positions on the page."""
        from mrfit.plots.network_plot import plot_network
        from mrfit.plots.page import figure_bytes

        content = self.document.content
        positions = np.array(content["layout"]) * (1.0, -1.0)  # on the page, y points downwards
        with self._drawing:  # matplotlib has settings that all threads share
            ax = plot_network(self.answering.model, layout=positions, title=str(content["title"]))
            figure = ax.get_figure(root=True)
            assert figure is not None  # the axes were made on a new one
            return figure_bytes(figure, f".{form}")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that have disconnected; handle anything else as the base class does."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Latest:
    """The latest question about one model; it stops the one before, between cliques or rounds of chains.

    It does not wait for that: kernels release the interpreter lock, so that two run in parallel.
    """

    def __init__(self, answering: Answering) -> None:
        self._answering, self._number = answering, 0
        self._counter, self._engines = threading.Lock(), threading.Semaphore(_AT_ONCE)

    def answers(self, question: Question) -> Iterator[Answer]:
        """Yield the answers to a question until it becomes void."""
        with self._counter:
            self._number += 1
            own = self._number
        with self._engines:
            yield from self._answering.answers(question, lambda: own != self._number)


class _RefusedError(Exception):
    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class _Handler(BaseHTTPRequestHandler):
    server: Explorer
    timeout = _PATIENCE
    server_version, sys_version = "mrfit", ""

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing: the library leaves logging to its users."""

    def do_GET(self) -> None:
        self._guarded(self._get)

    def do_POST(self) -> None:
        self._guarded(self._post)

    def _guarded(self, answer: Any) -> None:
        try:
            self._check_headers()
            answer()
        except _RefusedError as refused:
            self._send(refused.status, refused.why.encode(), "text/plain; charset=utf-8")

    # -- authorization -------------------------------------------------------------------------------------------------

    def _check_headers(self) -> None:
        if sum(len(name) + len(value) for name, value in self.headers.items()) > _MOST_HEADERS:
            raise _RefusedError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too large.")
        named = self.headers.get_all("Host", [])
        if len(named) != 1 or not self.server.hosts.accept(named[0]):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "Open the address that mrfit explore printed.")

    def _check_user(self) -> None:
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(_COOKIE)
        except CookieError:
            cookie = None
        if cookie is None or not self.server.is_token(cookie.value):
            raise _RefusedError(HTTPStatus.FORBIDDEN, "Open the address that mrfit explore printed.")

    def _check_origin(self) -> None:
        """Accept questions from the page itself only, not from another page that is open."""
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site")
        is_own = origin in (None, f"http://{self.headers['Host']}")
        if not is_own or site not in (None, "same-origin"):
            raise _RefusedError(HTTPStatus.FORBIDDEN, "Questions from other pages are not answered.")
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A question is JSON.")

    def _target(self) -> SplitResult:
        try:
            return urlsplit(self.path)
        except ValueError as error:  # such as an unclosed bracket
            raise _RefusedError(HTTPStatus.BAD_REQUEST, f"The request target is not an address: {error}.") from error

    # -- answers -------------------------------------------------------------------------------------------------------

    def _get(self) -> None:
        address = self._target()
        if address.path == "/open":
            self._open(parse_qs(address.query).get("token", [""])[0])
            return
        self._check_user()
        self._send(HTTPStatus.OK, *self._content(address.path, parse_qs(address.query)))

    def _content(self, path: str, query: dict[str, list[str]]) -> tuple[bytes, str]:
        """Return the content of a path, and its type: a fixed list, and no files."""
        server = self.server
        contents: dict[str, tuple[Callable[[], bytes], str]] = {
            "/": (lambda: served_page(server.document), "text/html; charset=utf-8"),
            "/api/model": (lambda: server.document.to_json().encode(), _JSON),
            "/api/scores": (lambda: json.dumps(server.document.content["scores"]).encode(), _JSON),
            "/api/rows": (lambda: json.dumps(server.worst_rows(_number(query, "worst"))).encode(), _JSON),
        }
        if server.compared is not None:
            contents["/api/compare"] = (partial(_comparison, server.compared), _JSON)
        contents |= {f"/assets/{name}": (partial(_asset, name), kind) for name, kind in ASSETS.items()}
        contents |= {
            f"/api/export/edges.{form}": (partial(server.exported, form), kind) for form, kind in _FORMS.items()
        }
        contents |= {
            f"/api/export/network.{form}": (partial(server.drawn, form), kind) for form, kind in _PICTURES.items()
        }
        if path not in contents:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "There is nothing here.")
        content, kind = contents[path]
        return content(), kind

    def _open(self, token: str) -> None:
        """Turn the token into a cookie, so that no address contains it that could be copied or seen."""
        if not self.server.is_token(token):
            raise _RefusedError(HTTPStatus.FORBIDDEN, "Open the address that mrfit explore printed.")
        cookie = f"{_COOKIE}={self.server.token}; HttpOnly; SameSite=Strict; Path=/"
        self._send(HTTPStatus.SEE_OTHER, b"", "text/plain", {"Location": "/", "Set-Cookie": cookie})

    def _post(self) -> None:
        self._check_user()
        self._check_origin()
        path = self._target()
        if path.path not in ("/api/query", "/api/sample"):
            raise _RefusedError(HTTPStatus.NOT_FOUND, "There is nothing here.")
        question = self._question()
        if path.path == "/api/sample":
            self._send(HTTPStatus.OK, self._sampled(question, _number(parse_qs(path.query), "rows")), _FORMS["csv"])
            return
        answers = self.server.answers(question)
        self._begin(HTTPStatus.OK, "application/x-ndjson", {})
        for answer in answers:
            self.wfile.write(json.dumps(answer).encode() + b"\n")
            self.wfile.flush()

    def _sampled(self, question: Question, n_rows: int) -> bytes:
        try:
            return table_bytes(table_of(self.server.answering.sampled(question, n_rows)), "rows.csv")
        except InputError as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, str(error)) from error

    def _question(self) -> Question:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "A question needs a Content-Length.")
        if len(length) > _MOST_DIGITS or int(length) > _MOST_BODY:
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The question is too long.")
        try:
            asked = json.loads(self.rfile.read(int(length)))
            return Question.of(asked, self.server.answering.model.domain.shape)
        except InputError as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, str(error)) from error
        except (ValueError, RecursionError) as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, f"This is not a valid question: {error}") from error

    def _begin(self, status: HTTPStatus, kind: str, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (_HEADERS | {"Content-Type": kind, "Connection": "close"} | more).items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, status: HTTPStatus, content: bytes, kind: str, more: dict[str, str] | None = None) -> None:
        self._begin(status, kind, {"Content-Length": str(len(content))} | (more or {}))
        self.wfile.write(content)


def _comparison(compared: Comparison) -> bytes:
    """Return the comparison as JSON, with null for numbers that are not finite."""
    document = json.loads(json.dumps(compared.to_dict()), parse_constant=lambda _: None)
    return json.dumps(document, allow_nan=False).encode()


def _asset(name: str) -> bytes:
    return asset(name).encode()


def _number(query: dict[str, list[str]], name: str) -> int:
    """Return a number of rows from the query of an address."""
    text = query.get(name, [""])[0]
    if not text.isdecimal() or len(text) > _MOST_DIGITS or not 1 <= int(text) <= _MOST_ROWS:
        raise _RefusedError(HTTPStatus.BAD_REQUEST, f"{name} is a number from 1 to {_MOST_ROWS:,}.")
    return int(text)
