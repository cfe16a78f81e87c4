"""Names under which the server may be called, and the one to print."""

from __future__ import annotations

import socket
from functools import cached_property
from ipaddress import ip_address
from urllib.parse import urlsplit

_ANYWHERE = ("0.0.0.0", "::", "")  # listen on all addresses of this machine; nobody can call these
_DEFAULT_PORT = 80  # which browsers leave out
_ELSEWHERE = "192.0.2.1"  # reserved for documentation (RFC 5737): nothing is sent to it


class Hosts:
    """Hosts at which a server that listens at ``host`` and ``port`` can be reached.

    A request must name one of them: a page elsewhere could make a name of its own lead to this machine, and a browser
    would then send it what belongs to this server. An address in numbers cannot be made to lead elsewhere, so a server
    that others can reach accepts any of them beside this machine's names.
    """

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host.lower(), port
        self._is_exposed = not is_loopback(self.host)

    @property
    def reachable(self) -> str:
        """The host and port to print: another machine can use it where the server listens on all addresses."""
        host = _own_address() if self.host in _ANYWHERE else self.host
        written = f"[{host}]" if ":" in host else host
        return written if self.port == _DEFAULT_PORT else f"{written}:{self.port}"

    def accept(self, named: str) -> bool:
        """Whether the Host header of a request names this server."""
        try:
            parts = urlsplit(f"//{named}")
            host, port = parts.hostname, parts.port
        except ValueError:  # half an address in brackets, a port that is not a number
            return False
        if host is None or (port or _DEFAULT_PORT) != self.port or parts.netloc != parts.netloc.rpartition("@")[2]:
            return False
        return host in self._names or (self._is_exposed and _is_address(host))

    @cached_property
    def _names(self) -> set[str]:
        names = {self.host, "127.0.0.1", "localhost"}
        if self._is_exposed:
            own = socket.gethostname().lower()
            names |= {own, f"{own}.local", socket.getfqdn().lower()}
        return names - set(_ANYWHERE)


def _own_address() -> str:
    """Return the address under which others in the network reach this machine; its name where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ELSEWHERE, _DEFAULT_PORT))  # of a datagram socket: looks up the route and sends nothing
        except OSError:
            return socket.gethostname().lower()
        address: str = probe.getsockname()[0]
        return address


def is_loopback(host: str) -> bool:
    """Whether a host is this machine and no other machine can call it."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        return not ip_address(host).is_unspecified
    except ValueError:
        return False
