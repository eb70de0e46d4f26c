"""The client for asyncio: a server, and a model on it. The text differs from client.py by `await` only."""
from __future__ import annotations

import asyncio
import ssl
from collections import deque
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, Optional, Sequence, Type, TypeVar, Union

from . import calls
from .answers import A, answer_of
from .arrays import in_order
from .chunks import CHUNK, Chunks, Progress, Whole
from .contract.async_operations import AsyncOperations
from .contract.fields import ModelEntry, ModelFields, ProblemMeaning, Ready, Service
from .described import Described
from .errors import ConnectionFailed, Problem, TimedOut
from .http import address, http1
from .http.async_connection import Pool
from .http.retries import FIRST_PAUSE, Attempts

C = TypeVar("C", bound="AsyncClient")


class AsyncClient:
    """A server, as Client. At most `connections` calls are under way at once; further ones wait for their turn.

    A call that is cancelled closes its connection, and the server stops working on it.
    """

    def __init__(self, url: str = "http://127.0.0.1:8088", *, token: Optional[str] = None,
                 ssl_context: Optional[ssl.SSLContext] = None, timeout: float = 60.0, retries: int = 2,
                 connections: int = 8) -> None:
        self.url, self.timeout, self.retries = url, timeout, retries
        self._address = address.parse(url, ssl_context)
        self._common = address.common_fields(self._address, token)
        self._changes = calls.Changes()
        self._pool = Pool(self._address, connections)

    async def __aenter__(self: C) -> C:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    async def close(self) -> None:
        """Closes idle connections. The client remains usable."""
        self._pool.close()
        await asyncio.sleep(0)      # lets the event loop close the sockets

    # --- the service

    async def service(self) -> Service:
        """Version, operations and limits in force of the server."""
        return await self._ask(calls.get("/v1"))    # type: ignore[no-any-return]

    async def live(self) -> bool:
        """True if the process answers."""
        return await self._answers("/livez")

    async def ready(self) -> bool:
        """True if the server accepts work: its models are loaded, and it does not end."""
        return await self._answers("/readyz")

    async def readiness(self) -> Ready:
        """Faults that do not prevent service. Raises a Problem with `reasons` if the server is not ready."""
        return await self._ask(calls.probe("/readyz"))    # type: ignore[no-any-return]

    async def metrics(self) -> str:
        """The metrics of the process, in the text format of Prometheus."""
        return await self._ask(calls.get("/metrics", calls.TEXT))   # type: ignore[no-any-return]

    async def contract(self) -> dict[str, Any]:
        """The contract of the server in OpenAPI 3.1."""
        return await self._ask(calls.get("/openapi.json"))      # type: ignore[no-any-return]

    async def problem(self, code: str) -> ProblemMeaning:
        """The meaning of a problem's code, and the remedy."""
        return await self._ask(calls.get(calls.problem_path(code)))     # type: ignore[no-any-return]

    # --- models

    async def models(self) -> list[ModelEntry]:
        """All models, sorted by name."""
        return (await self._ask(calls.get("/v1/models")))["models"]     # type: ignore[no-any-return]

    async def model(self, name: str, *, pinned: bool = False) -> AsyncModel:
        """A model of the server. If it is pinned, evaluations are refused once another has taken its name."""
        return AsyncModel(self, await self._ask(calls.get(calls.model_path(name))), pinned)

    async def put(self, name: str, source: calls.Source, *, base: Optional[str] = None, mimic: Optional[str] = None,
                  equality: Optional[str] = None, inertia: Optional[str] = None, density: Optional[float] = None,
                  main: Optional[str] = None, model: Optional[str] = None, loops: Optional[str] = None, zero_limits: Optional[str] = None,
                  locked: Optional[calls.Locked] = None,
                  if_match: Optional[str] = None, if_absent: bool = False) -> AsyncModel:
        """Creates or replaces a model, as Client.put()."""
        body, media_type = calls.model_source(source)
        await self._ask(calls.change("PUT", name, if_match=if_match, if_absent=if_absent,
                                     query={"base": base, "mimic": mimic, "equality": equality, "main": main, "model": model, "loops": loops,
                                            "inertia": inertia, "density": None if density is None else repr(float(density)), "zero_limits": zero_limits,
                                            "locked": calls.locked_text(locked)},
                                     body=body, media_type=media_type))
        return await self.model(name)

    async def delete(self, name: str, *, if_match: Optional[str] = None) -> None:
        """Deletes a model. With `if_match` only that of this revision."""
        await self._ask(calls.change("DELETE", name, if_match=if_match, query={}))

    async def document(self, name: str) -> dict[str, Any]:
        """The canonical document of a model; putting it again gives the same revision."""
        return await self._ask(calls.get(calls.model_path(name, "document")))   # type: ignore[no-any-return]

    async def export(self, name: str, format: str) -> dict[str, Any]:
        """A model as the "text" of a file, "urdf", "mjcf" or "sdf", with a "report" of what the format does not hold."""
        return await self._ask(calls.get(calls.model_path(name, f"export/{format}")))   # type: ignore[no-any-return]

    # --- sending

    async def _answers(self, path: str) -> bool:
        try:
            await self._ask(calls.probe(path))
        except (Problem, ConnectionFailed, TimedOut):
            return False
        return True

    async def _ask(self, call: calls.Call) -> Any:
        return calls.value_of(await self.send(call))

    async def send(self, call: calls.Call, timeout: Optional[float] = None) -> http1.Response:
        """Sends a call, again where that is allowed and helps, and returns the response whatever its status."""
        attempts = Attempts(call, self.retries, self.timeout if timeout is None else timeout)
        self._changes.add_to(call)
        buffers = call.buffers(self._address.prefix, self._common)
        while True:
            response = await self._try(call, buffers, attempts)
            if response is None:
                continue
            pause = attempts.after_response(response)
            if pause is None:
                self._changes.note(response)
                return response
            await asyncio.sleep(pause)

    async def _try(self, call: calls.Call, buffers: Sequence[Any], attempts: Attempts) -> Optional[http1.Response]:
        """The response, or None if the connection was lost and the call is to be sent again."""
        try:
            connection = await self._pool.borrow(attempts.deadline)
        except ConnectionFailed:
            if attempts.after_loss(False):
                await asyncio.sleep(min(FIRST_PAUSE, max(attempts.remaining(), 0)))
                return None
            raise
        reusable = False
        try:
            response = await connection.exchange(call.method, buffers, attempts.deadline)
            reusable = response.reusable
        except TimeoutError as error:
            raise TimedOut(f"{call.method} {call.path}: no complete answer in time") from error
        except OSError as error:
            if attempts.after_loss(connection.kept):
                return None
            raise ConnectionFailed(f"{call.method} {call.path}: {error}") from error
        finally:
            self._pool.give_back(connection, reusable)
        return response


class AsyncModel(Described, AsyncOperations):
    """A model on a server: its description, and one awaited method for each operation."""

    def __init__(self, client: AsyncClient, description: ModelFields, pinned: bool = False) -> None:
        super().__init__(description, pinned)
        self.client = client

    async def document(self) -> dict[str, Any]:
        """The canonical document."""
        return await self.client.document(self.name)

    async def delete(self) -> None:
        """Deletes the model, unless another has taken its name."""
        await self.client.delete(self.name, if_match=self.revision)

    async def _evaluate(self, operation: str, kind: Type[A], request: Mapping[str, Any], timeout: Optional[float]) -> A:
        fields, named = in_order(self, request)
        call = calls.evaluation(self.name, operation, fields, self.revision if self.pinned or named else None, timeout)
        response = await self.client.send(call, timeout)
        return answer_of(kind, calls.value_of(response), response)

    async def chunks(self, operation: Callable[..., Awaitable[A]], *, size: int = CHUNK, ahead: int = 2,
                     progress: Union[bool, Progress] = False, **fields: Any) -> AsyncIterator[tuple[slice, A]]:
        """Evaluates a large batch piece by piece, as Model.chunks(), with up to `ahead` pieces under way at once."""
        waiting: deque[tuple[slice, asyncio.Future[A]]] = deque()
        with Chunks(operation, fields, size, progress) as plan:
            try:
                while plan.start < plan.total:
                    wanted = ahead if plan.start else 1     # the first piece shows which size the server takes
                    while len(waiting) < wanted and (rows := plan.rows(len(waiting))).start < plan.total:
                        waiting.append((rows, asyncio.ensure_future(plan.operation(**plan.request(rows)))))
                    rows, task = waiting.popleft()
                    try:
                        answer = await task
                    except Problem as problem:
                        plan.refused(rows, problem)
                        _cancel(waiting)
                    else:
                        yield rows, plan.accept(rows, answer)
            finally:
                _cancel(waiting)

    async def batch(self, operation: Callable[..., Awaitable[A]], *, size: int = CHUNK, ahead: int = 2,
                    progress: Union[bool, Progress] = False, mixed_arithmetic: bool = False, **fields: Any) -> A:
        """Evaluates a large batch piece by piece, as chunks() does, and returns one answer for all rows, as Model.batch()."""
        whole: Whole[A] = Whole(Chunks(operation, fields, size, False).total, mixed_arithmetic)
        async for rows, answer in self.chunks(operation, size=size, ahead=ahead, progress=progress, **fields):
            whole.add(rows, answer)
        return whole.answer()


def _cancel(waiting: deque[tuple[slice, asyncio.Future[A]]]) -> None:
    while waiting:
        waiting.pop()[1].cancel()
