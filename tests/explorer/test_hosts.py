"""Names under which the server may be called."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import numpy as np
import pytest

from mrfit.explorer.answering import Answering
from mrfit.explorer.document import Document
from mrfit.explorer.hosts import Hosts, is_loopback
from mrfit.explorer.server import Explorer
from mrfit.formats.learned import to_model
from mrfit.network import Network
from populations import domain_of, random_factors


@pytest.fixture(scope="module")
def exposed() -> Iterator[Explorer]:
    """A server that listens on all addresses of this machine."""
    factors = random_factors(np.random.default_rng(0), (2, 2), [(0, 1)])
    model = to_model(Network(domain_of(factors.shape), factors))
    with Explorer(Document.of(model, title="t"), Answering(model), host="0.0.0.0") as explorer:
        thread = threading.Thread(target=explorer.serve_forever, daemon=True)
        thread.start()
        yield explorer
        explorer.shutdown()
        thread.join()


def _opened(server: Explorer, host: str) -> int:
    """Open the printed address under another name, as a browser does that has resolved it to this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request("GET", f"/open?token={server.token}", headers={"Host": f"{host}:{server.server_port}"})
    status = connection.getresponse().status
    connection.close()
    return status


def test_an_exposed_server_answers_to_the_address_that_it_prints(exposed: Explorer) -> None:
    """Fetched from that address, as another machine would."""
    printed = urlsplit(exposed.address)
    assert printed.hostname not in ("0.0.0.0", None)
    connection = http.client.HTTPConnection(str(printed.hostname), printed.port, timeout=60)
    connection.request("GET", f"{printed.path}?{printed.query}")
    assert connection.getresponse().status == 303
    connection.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "192.0.2.7", socket.gethostname()])
def test_an_exposed_server_answers_to_addresses_and_own_names(exposed: Explorer, host: str) -> None:
    assert _opened(exposed, host) == 303


@pytest.mark.parametrize("host", ["evil.example", "0.0.0.0", "127.0.0.1.evil.example", "user@localhost"])
def test_an_exposed_server_refuses_names_of_others(exposed: Explorer, host: str) -> None:
    """A page at such a name could have made it lead to this machine."""
    assert _opened(exposed, host) == 400


def test_the_usual_port_need_not_be_named() -> None:
    """Browsers leave it out, and the printed address does."""
    hosts = Hosts("127.0.0.1", 80)
    assert hosts.reachable == "127.0.0.1"
    assert hosts.accept("127.0.0.1")
    assert hosts.accept("localhost:80")
    assert not hosts.accept("localhost:8080")
    assert not Hosts("127.0.0.1", 8080).accept("localhost")


@pytest.mark.parametrize("named", ["", ":80", "[::1", "localhost:x", "localhost:99999"])
def test_what_names_no_host_is_refused(named: str) -> None:
    assert not Hosts("127.0.0.1", 80).accept(named)


def test_addresses_of_the_longer_kind_stand_in_brackets() -> None:
    hosts = Hosts("::1", 8080)
    assert hosts.reachable == "[::1]:8080"
    assert hosts.accept("[::1]:8080")


@pytest.mark.parametrize("host", ["192.0.2.7", "box.example"])
def test_a_server_that_listens_at_one_address_answers_to_names_of_this_machine(host: str) -> None:
    """Its address, and the name under which others know it."""
    hosts = Hosts(host, 8080)
    for named in (host, "192.0.2.7", socket.gethostname()):
        assert hosts.accept(f"{named}:8080")
    assert not hosts.accept("evil.example:8080")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost", "::1"])
def test_a_server_of_this_machine_alone_answers_to_no_other_name(host: str) -> None:
    assert is_loopback(host)
    hosts = Hosts(host, 8080)
    assert not hosts.accept("192.0.2.7:8080")
    assert not hosts.accept(f"{socket.gethostname()}.local:8080")


def test_a_server_that_is_not_exposed_answers_to_this_machine_alone() -> None:
    assert not Hosts("127.0.0.1", 8080).accept("192.0.2.7:8080")
