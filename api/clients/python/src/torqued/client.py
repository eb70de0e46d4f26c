"""The blocking client: a server, and a model on it."""
from __future__ import annotations

import ssl
import time
from types import TracebackType
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Type, TypeVar, Union

from . import calls
from .answers import A, answer_of
from .arrays import in_order
from .chunks import CHUNK, Chunks, Progress, Whole
from .contract.fields import ModelEntry, ModelFields, ProblemMeaning, Ready, Service
from .contract.operations import Operations
from .described import Described
from .errors import ConnectionFailed, Problem, TimedOut
from .http import address, http1
from .http.connection import Pool
from .http.retries import FIRST_PAUSE, Attempts

C = TypeVar("C", bound="Client")


class Client:
    """A server. `url`: http://HOST:PORT, https://HOST:PORT or unix:PATH.

    `timeout` (s) bounds each call from its beginning to the end of its answer, its repetitions included. An evaluation is
    repeated up to `retries` times when its connection is lost or the server is busy; a change only if it is conditional.
    `token` is sent as a bearer token: use it with https://, or with a server on this machine. A client may be used by several
    threads; it keeps up to `connections` of them open.
    """

    def __init__(self, url: str = "http://127.0.0.1:8088", *, token: Optional[str] = None,
                 ssl_context: Optional[ssl.SSLContext] = None, timeout: float = 60.0, retries: int = 2,
                 connections: int = 8) -> None:
        self.url, self.timeout, self.retries = url, timeout, retries
        self._address = address.parse(url, ssl_context)
        self._common = address.common_fields(self._address, token)
        self._changes = calls.Changes()
        self._pool = Pool(self._address, connections)

    def __enter__(self: C) -> C:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def close(self) -> None:
        """Closes idle connections. The client remains usable."""
        self._pool.close()

    # --- the service

    def service(self) -> Service:
        """Version, operations and limits in force of the server."""
        return self._ask(calls.get("/v1"))      # type: ignore[no-any-return]

    def live(self) -> bool:
        """True if the process answers."""
        return self._answers("/livez")

    def ready(self) -> bool:
        """True if the server accepts work: its models are loaded, and it does not end."""
        return self._answers("/readyz")

    def readiness(self) -> Ready:
        """Faults that do not prevent service. Raises a Problem with `reasons` if the server is not ready."""
        return self._ask(calls.probe("/readyz"))  # type: ignore[no-any-return]

    def metrics(self) -> str:
        """The metrics of the process, in the text format of Prometheus."""
        return self._ask(calls.get("/metrics", calls.TEXT))   # type: ignore[no-any-return]

    def contract(self) -> dict[str, Any]:
        """The contract of the server in OpenAPI 3.1."""
        return self._ask(calls.get("/openapi.json"))    # type: ignore[no-any-return]

    def problem(self, code: str) -> ProblemMeaning:
        """The meaning of a problem's code, and the remedy."""
        return self._ask(calls.get(calls.problem_path(code)))   # type: ignore[no-any-return]

    # --- models

    def models(self) -> list[ModelEntry]:
        """All models, sorted by name."""
        return self._ask(calls.get("/v1/models"))["models"]     # type: ignore[no-any-return]

    def model(self, name: str, *, pinned: bool = False) -> Model:
        """A model of the server. If it is pinned, evaluations are refused once another has taken its name."""
        return Model(self, self._ask(calls.get(calls.model_path(name))), pinned)

    def put(self, name: str, source: calls.Source, *, base: Optional[str] = None, mimic: Optional[str] = None,
            equality: Optional[str] = None, inertia: Optional[str] = None, density: Optional[float] = None,
            main: Optional[str] = None, model: Optional[str] = None, loops: Optional[str] = None, zero_limits: Optional[str] = None,
            locked: Optional[calls.Locked] = None,
            if_match: Optional[str] = None, if_absent: bool = False) -> Model:
        """Creates or replaces a model from a document (a mapping), a text, bytes, or the path of a file.
        A robot of several files is a zip, tar or tar.gz archive, in which `main` is the path of the robot's file.

        `base`, `mimic`, `inertia`, `density` and `zero_limits` are for URDF, `equality` for MJCF, `base`, `mimic`, `loops`,
        `zero_limits` and `model` for SDF. `locked` holds joints for good: {"elbow": 1.57}, of a ball its quaternion.
        With `if_match` only the model of this revision is replaced, with `if_absent` none;
        a change that is refused for that is a Problem 412. `report` of the model says what looks suspicious, what was lost and what was assumed.
        """
        body, media_type = calls.model_source(source)
        self._ask(calls.change("PUT", name, if_match=if_match, if_absent=if_absent,
                               query={"base": base, "mimic": mimic, "equality": equality, "main": main, "model": model, "loops": loops,
                                            "inertia": inertia, "density": None if density is None else repr(float(density)), "zero_limits": zero_limits,
                                            "locked": calls.locked_text(locked)},
                               body=body, media_type=media_type))
        return self.model(name)

    def delete(self, name: str, *, if_match: Optional[str] = None) -> None:
        """Deletes a model. With `if_match` only that of this revision."""
        self._ask(calls.change("DELETE", name, if_match=if_match, query={}))

    def document(self, name: str) -> dict[str, Any]:
        """The canonical document of a model; putting it again gives the same revision."""
        return self._ask(calls.get(calls.model_path(name, "document")))     # type: ignore[no-any-return]

    def export(self, name: str, format: str) -> dict[str, Any]:
        """A model as the "text" of a file, "urdf", "mjcf" or "sdf", with a "report" of what the format does not hold."""
        return self._ask(calls.get(calls.model_path(name, f"export/{format}")))     # type: ignore[no-any-return]

    # --- sending

    def _answers(self, path: str) -> bool:
        try:
            self._ask(calls.probe(path))
        except (Problem, ConnectionFailed, TimedOut):
            return False
        return True

    def _ask(self, call: calls.Call) -> Any:
        return calls.value_of(self.send(call))

    def send(self, call: calls.Call, timeout: Optional[float] = None) -> http1.Response:
        """Sends a call, again where that is allowed and helps, and returns the response whatever its status."""
        attempts = Attempts(call, self.retries, self.timeout if timeout is None else timeout)
        self._changes.add_to(call)
        buffers = call.buffers(self._address.prefix, self._common)
        while True:
            response = self._try(call, buffers, attempts)
            if response is None:
                continue
            pause = attempts.after_response(response)
            if pause is None:
                self._changes.note(response)
                return response
            time.sleep(pause)

    def _try(self, call: calls.Call, buffers: Sequence[Any], attempts: Attempts) -> Optional[http1.Response]:
        """The response, or None if the connection was lost and the call is to be sent again."""
        try:
            connection = self._pool.borrow(attempts.deadline, certain=not call.repeatable)
        except ConnectionFailed:
            if attempts.after_loss(False):
                time.sleep(min(FIRST_PAUSE, max(attempts.remaining(), 0)))
                return None
            raise
        try:
            response = connection.exchange(call.method, buffers, attempts.deadline)
        except TimeoutError as error:
            connection.close()
            raise TimedOut(f"{call.method} {call.path}: no complete answer in time") from error
        except OSError as error:
            connection.close()
            if attempts.after_loss(connection.kept):
                return None
            raise ConnectionFailed(f"{call.method} {call.path}: {error}") from error
        except BaseException:
            connection.close()
            raise
        self._pool.give_back(connection) if response.reusable else connection.close()
        return response


class Model(Described, Operations):
    """A model on a server: its description, and one method for each operation."""

    def __init__(self, client: Client, description: ModelFields, pinned: bool = False) -> None:
        super().__init__(description, pinned)
        self.client = client

    def document(self) -> dict[str, Any]:
        """The canonical document."""
        return self.client.document(self.name)

    def delete(self) -> None:
        """Deletes the model, unless another has taken its name."""
        self.client.delete(self.name, if_match=self.revision)

    def _evaluate(self, operation: str, kind: Type[A], request: Mapping[str, Any], timeout: Optional[float]) -> A:
        fields, named = in_order(self, request)
        call = calls.evaluation(self.name, operation, fields, self.revision if self.pinned or named else None, timeout)
        response = self.client.send(call, timeout)
        return answer_of(kind, calls.value_of(response), response)

    def chunks(self, operation: Callable[..., A], *, size: int = CHUNK, progress: Union[bool, Progress] = False,
               **fields: Any) -> Iterator[tuple[slice, A]]:
        """Evaluates a large batch piece by piece: yields the rows of each piece and its answer.

        `operation` is a method of this model, such as `model.inverse_dynamics`, and `fields` its arguments. At most `size`
        rows are sent at once, fewer if the server has a lower limit. All pieces are of the revision of the model that the first one
        has: if the model is replaced meanwhile, the next piece raises a Problem 412.
        """
        with Chunks(operation, fields, size, progress) as plan:
            while plan.start < plan.total:
                rows = plan.rows()
                try:
                    answer = plan.operation(**plan.request(rows))
                except Problem as problem:
                    plan.refused(rows, problem)
                else:
                    yield rows, plan.accept(rows, answer)

    def batch(self, operation: Callable[..., A], *, size: int = CHUNK, progress: Union[bool, Progress] = False,
              mixed_arithmetic: bool = False, **fields: Any) -> A:
        """Evaluates a large batch piece by piece, as chunks() does, and returns one answer for all rows.

        Behind a balancer, servers of different arithmetic classes raise MixedArithmetic, unless `mixed_arithmetic` is true.
        """
        whole: Whole[A] = Whole(Chunks(operation, fields, size, False).total, mixed_arithmetic)
        for rows, answer in self.chunks(operation, size=size, progress=progress, **fields):
            whole.add(rows, answer)
        return whole.answer()
