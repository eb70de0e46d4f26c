"""Read the URL of a server: HTTP, HTTP over TLS, or a Unix socket."""
from __future__ import annotations

import ipaddress
import re
import ssl
import urllib.parse
import warnings
from dataclasses import dataclass
from typing import Optional

from ..contract.version import VERSION

TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")     # RFC 6750, section 2.1


@dataclass(frozen=True)
class Address:
    """Where a server listens. `path` is that of a Unix socket; else `host` and `port` are given."""

    host: str
    port: int
    path: Optional[str]
    prefix: str                     # before every path of the API, for a server behind a proxy
    context: Optional[ssl.SSLContext]

    @property
    def authority(self) -> str:
        """The field Host of every request."""
        if self.path is not None:
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.context else 80) else f"{host}:{self.port}"


def parse(url: str, context: Optional[ssl.SSLContext] = None) -> Address:
    """The address of `http://HOST:PORT`, `https://HOST:PORT`, `HOST:PORT` or `unix:PATH`."""
    if url.startswith("unix:"):
        path = url[5:]
        path = path[2:] if path.startswith("//") else path
        if not path or context:
            raise ValueError(f"{url}: expected unix:PATH" + (", which has no TLS" if context else ""))
        return Address("localhost", 0, path, "", None)
    parts = urllib.parse.urlsplit(url if "//" in url else "//" + url, scheme="http")
    try:
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{url}: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url}: expected http://HOST:PORT, https://HOST:PORT or unix:PATH")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("a URL of a server has no user, password, query or fragment; a token is the argument `token`")
    if parts.scheme == "http" and context:
        raise ValueError(f"{url}: an ssl_context needs https://")
    if parts.scheme == "https" and context is None:
        context = ssl.create_default_context()
    return Address(parts.hostname, port or (443 if context else 80), None, parts.path.rstrip("/"), context)


def common_fields(address: Address, token: Optional[str]) -> dict[str, str]:
    """The fields that every request to the server has. Warns of a token that others on the network could read."""
    fields = {"Host": address.authority, "User-Agent": f"torqued-python/{VERSION}"}
    if token is None:
        return fields
    if not TOKEN.fullmatch(token):
        raise ValueError("a token has letters, digits and - . _ ~ + / only, then = at its end (RFC 6750)")
    if address.context is None and address.path is None and not _is_loopback(address.host):
        warnings.warn(f"the token is sent to {address.host} without TLS; use https://", stacklevel=3)
    return {**fields, "Authorization": f"Bearer {token}"}


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
