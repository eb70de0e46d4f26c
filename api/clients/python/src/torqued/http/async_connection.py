"""Keep connections to a server under asyncio, over TCP, TLS or a Unix socket."""
from __future__ import annotations

import asyncio
import socket
import time
from collections import deque
from typing import Optional, Sequence

from .. import cbor
from ..errors import BadAnswer, ConnectionFailed, TimedOut
from . import http1
from .address import Address


class _Protocol(asyncio.BufferedProtocol):
    """One connection. The event loop receives into the memory in which the body of a response stays."""

    def __init__(self) -> None:
        self.scratch = bytearray(http1.LARGEST_HEAD)
        self.reader: Optional[http1.ResponseReader] = None
        self.answered: Optional[asyncio.Future[http1.Response]] = None
        self.drained: Optional[asyncio.Future[None]] = None
        self.lost = False       # ended, or sent what no request asked for

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.reader.space() if self.reader else memoryview(self.scratch)

    def buffer_updated(self, nbytes: int) -> None:
        if self.reader is None or self.reader.response is not None:
            self.lost = True
            return
        try:
            self.reader.received(nbytes)
        except BadAnswer as error:
            self.fail(error)
        else:
            self._complete()

    def eof_received(self) -> Optional[bool]:
        if self.reader is not None:
            self.reader.ended()
            self._complete()
        self.lost = True
        return False

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self.lost = True
        self.fail(ConnectionResetError(str(exc) if exc else "the connection ended before the answer was complete"))

    def pause_writing(self) -> None:
        self.drained = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        if self.drained and not self.drained.done():
            self.drained.set_result(None)

    def fail(self, error: Exception) -> None:
        """Ends what waits for the answer, or for the request to be sent."""
        if self.answered and not self.answered.done():
            self.answered.set_exception(error)
        self.resume_writing()

    def _complete(self) -> None:
        assert self.reader is not None and self.answered is not None
        if self.reader.response is not None and not self.answered.done():
            self.answered.set_result(self.reader.response)


class Connection:
    """A connection of one event loop. open() makes it."""

    def __init__(self, transport: asyncio.Transport, protocol: _Protocol) -> None:
        self.transport, self.protocol = transport, protocol
        self.kept = False       # True once the connection has served a call

    @classmethod
    async def open(cls, address: Address, deadline: float) -> Connection:
        loop = asyncio.get_running_loop()
        if address.path is not None:
            opening = loop.create_unix_connection(_Protocol, address.path)
        else:
            opening = loop.create_connection(_Protocol, address.host, address.port, ssl=address.context)
        try:
            transport, protocol = await asyncio.wait_for(opening, max(deadline - time.monotonic(), 0))
        except asyncio.TimeoutError as error:
            raise TimedOut(f"{address.path or address.authority} accepted no connection in time") from error
        except OSError as error:
            raise ConnectionFailed(f"{address.path or address.authority}: {error}") from error
        if address.path is None:
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(transport, protocol)

    def is_fresh(self) -> bool:
        return not self.protocol.lost and not self.transport.is_closing()

    async def exchange(self, method: str, buffers: Sequence[cbor.Buffer], deadline: float) -> http1.Response:
        """Sends a request and returns its response. Raises OSError if the connection is lost or the time is over."""
        loop, protocol = asyncio.get_running_loop(), self.protocol
        protocol.reader = http1.ResponseReader(method, protocol.scratch)
        answered: asyncio.Future[http1.Response] = loop.create_future()
        protocol.answered = answered
        timer = loop.call_later(max(deadline - time.monotonic(), 0), protocol.fail, TimeoutError("timed out"))
        try:
            for buffer in buffers:
                self.transport.write(buffer)
                if protocol.drained:
                    await protocol.drained
                    protocol.drained = None
                if answered.done():     # refused while it is being sent, lost, or too late
                    break
            return await answered
        finally:
            timer.cancel()
            answered.cancel()
            protocol.reader = protocol.answered = None

    def close(self) -> None:
        self.transport.abort()


class Pool:
    """At most `limit` connections, of the event loop that runs; those of a loop that has ended are forgotten."""

    def __init__(self, address: Address, limit: int) -> None:
        self.address, self.limit = address, limit
        self.loop: Optional[asyncio.AbstractEventLoop] = None
        self.idle: deque[Connection] = deque()
        self.free = asyncio.Semaphore(limit)

    async def borrow(self, deadline: float) -> Connection:
        """An idle connection that is still open, or a new one; waits while all are in use. give_back() or drop() it."""
        loop = asyncio.get_running_loop()
        if self.loop is not loop:
            self.loop, self.idle, self.free = loop, deque(), asyncio.Semaphore(self.limit)
        free = self.free
        try:
            await asyncio.wait_for(free.acquire(), max(deadline - time.monotonic(), 0))
        except asyncio.TimeoutError as error:
            raise TimedOut("all connections of the client were in use for too long") from error
        try:
            while self.idle:
                connection = self.idle.pop()
                if connection.is_fresh():
                    return connection
                connection.close()
            return await Connection.open(self.address, deadline)
        except BaseException:
            free.release()
            raise

    def give_back(self, connection: Connection, reusable: bool) -> None:
        if reusable and connection.is_fresh():
            connection.kept = True
            self.idle.append(connection)
        else:
            connection.close()
        self.free.release()

    def close(self) -> None:
        while self.idle:
            self.idle.pop().close()
