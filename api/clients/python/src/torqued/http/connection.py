"""Keep connections to a server, and send calls over them one at a time each."""
from __future__ import annotations

import os
import socket
import ssl
import time
from collections import deque
from typing import Sequence

from .. import cbor
from ..errors import ConnectionFailed, TimedOut
from . import http1
from .address import Address

MOST_BUFFERS = 512      # in one sendmsg; Linux takes 1024
SMALL = 8192            # bytes of a request that are sooner copied than sent in parts


class Connection:
    """One connection, opened at once. `deadline` is a time of time.monotonic()."""

    def __init__(self, address: Address, deadline: float) -> None:
        self.address = address
        self.scratch = bytearray(http1.LARGEST_HEAD)
        self.kept = False       # True once the connection has served a call
        try:
            self.socket = self._open(deadline)
        except TimeoutError as error:
            raise TimedOut(f"{address.path or address.authority} accepted no connection in time") from error
        except OSError as error:
            raise ConnectionFailed(f"{address.path or address.authority}: {error}") from error

    def _open(self, deadline: float) -> socket.socket:
        address, left = self.address, _left(deadline)
        if address.path is not None:
            opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                opened.settimeout(left)
                opened.connect(address.path)
            except BaseException:
                opened.close()
                raise
            return opened
        opened = socket.create_connection((address.host, address.port), left)
        try:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address.context:
                return address.context.wrap_socket(opened, server_hostname=address.host)
        except BaseException:
            opened.close()
            raise
        return opened

    def is_fresh(self) -> bool:
        """True if the server has neither closed the idle connection nor sent anything."""
        try:
            self.socket.settimeout(0)
            if isinstance(self.socket, ssl.SSLSocket):
                return self.socket.recv(1) == b"never"      # the end, or a byte that no request asked for
            return self.socket.recv(1, socket.MSG_PEEK) == b"never"
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            return False

    def exchange(self, method: str, buffers: Sequence[cbor.Buffer], deadline: float) -> http1.Response:
        """Sends a request and returns its response. Raises OSError if the connection is lost or the time is over."""
        reader = http1.ResponseReader(method, self.scratch)
        try:
            self._send(buffers, deadline)
        except (BrokenPipeError, ConnectionResetError):
            pass        # the server may have refused the request while it was being sent: read what it says
        while reader.response is None:
            self.socket.settimeout(_left(deadline))
            count = self.socket.recv_into(reader.space())
            if count:
                reader.received(count)
            else:
                reader.ended()
                if reader.response is None:
                    raise ConnectionResetError("the connection ended before the answer was complete")
        return reader.response

    def _send(self, buffers: Sequence[cbor.Buffer], deadline: float) -> None:
        if isinstance(self.socket, ssl.SSLSocket):
            for buffer in buffers:
                self.socket.settimeout(_left(deadline))
                self.socket.sendall(buffer)
            return
        if sum(map(len, buffers)) < SMALL:
            buffers = [b"".join(buffers)]
        waiting = [memoryview(buffer) for buffer in buffers]
        while waiting:
            self.socket.settimeout(_left(deadline))
            count = self.socket.sendmsg(waiting[:MOST_BUFFERS])
            while waiting and count >= len(waiting[0]):
                count -= len(waiting.pop(0))
            if waiting:
                waiting[0] = waiting[0][count:]

    def close(self) -> None:
        self.socket.close()


class Pool:
    """The idle connections of a client. Any number of threads may borrow from it; each call has a connection alone."""

    def __init__(self, address: Address, most_idle: int) -> None:
        self.address = address
        self.idle: deque[Connection] = deque(maxlen=most_idle)
        self.process = os.getpid()

    def borrow(self, deadline: float, certain: bool) -> Connection:
        """An idle connection, or a new one. If it must be `certain` that it is open, idle ones are tested first."""
        if os.getpid() != self.process:     # a fork shares the sockets of its parent and must not use them
            self.idle, self.process = deque(maxlen=self.idle.maxlen), os.getpid()
        while True:
            try:
                connection = self.idle.pop()
            except IndexError:
                return Connection(self.address, deadline)
            if not certain or connection.is_fresh():
                return connection
            connection.close()

    def give_back(self, connection: Connection) -> None:
        connection.kept = True
        if len(self.idle) == self.idle.maxlen:
            connection.close()
        else:
            self.idle.append(connection)

    def close(self) -> None:
        while self.idle:
            self.idle.pop().close()


def _left(deadline: float) -> float:
    """Seconds until the deadline, for settimeout."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left
