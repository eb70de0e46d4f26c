"""Evaluate large batches on several servers at once."""
from __future__ import annotations

import threading
from collections import deque
from types import TracebackType
from typing import Any, Callable, Generic, Optional, Sequence, Type, TypeVar, Union

from .answers import A
from .chunks import CHUNK, Chunks, Progress, Whole, is_too_large
from .client import Client, Model
from .contract.fields import ModelFields
from .errors import ConnectionFailed, DeadlinePassed, Error, Problem, TimedOut, in_whole_batch

R = TypeVar("R", bound="Replicas")
UNAVAILABLE = (429, 502, 503, 504)      # statuses of a server that cannot work now, or of its balancer


class Replicas:
    """Several servers that have the same models, or a balancer in front of them.

    `urls`: the servers, or the one of the balancer. Each gets up to `at_once` pieces of a batch at a time; behind a balancer that is
    the number of pieces in all. `options` are those of Client. A server that fails or stays busy gets no more pieces of the batch,
    and its pieces go to the others. A model that one of `clients` has put or deleted in a store that the servers share is seen so by the
    next requests of all of them.
    """

    def __init__(self, urls: Union[str, Sequence[str]], *, at_once: int = 2, **options: Any) -> None:
        self.clients = [Client(url, **options) for url in ([urls] if isinstance(urls, str) else urls)]
        for client in self.clients:
            client._changes = self.clients[0]._changes
        self.at_once = at_once
        if not self.clients or at_once < 1:
            raise ValueError("a batch needs at least one server and one piece at a time")

    def __enter__(self: R) -> R:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Closes idle connections."""
        for client in self.clients:
            client.close()

    def batch(self, model: str, operation: Callable[..., A], *, size: int = CHUNK, progress: Union[bool, Progress] = False,
              mixed_arithmetic: bool = False, **fields: Any) -> A:
        """Evaluates a batch in pieces of `size` rows, and returns one answer with the bits that a single server gives.

        `operation` is a method of Model, such as `torqued.Model.inverse_dynamics`. All pieces are of one revision of the model: a server
        that has another raises a Problem 412. Answers of different arithmetic classes raise MixedArithmetic, unless
        `mixed_arithmetic` is true.
        """
        with Chunks(operation, fields, size, progress) as plan:
            whole: Whole[A] = Whole(plan.total, mixed_arithmetic)
            run = _Run(plan, whole, len(self.clients) * self.at_once)
            threads = [threading.Thread(target=run.work, args=(client, model, operation), daemon=True)
                       for client in self.clients for _ in range(self.at_once)]
            try:
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            except BaseException as error:
                run.fail(error)
                raise
        if run.error is not None:
            raise run.error
        return whole.answer()


class _Run(Generic[A]):
    """The pieces of one batch, which threads take, evaluate, and put together."""

    def __init__(self, plan: Chunks, whole: Whole[A], workers: int) -> None:
        self.plan, self.whole, self.workers = plan, whole, workers
        self.waiting = deque(slice(first, min(first + plan.size, plan.total)) for first in range(0, plan.total, plan.size))
        self.under_way = 0
        self.description: Optional[ModelFields] = None  # description of the model from the first server that answers
        self.error: Optional[BaseException] = None
        self.changed = threading.Condition()

    def work(self, client: Client, name: str, operation: Callable[..., A]) -> None:
        """Evaluates pieces on one server until none is left, or the server fails."""
        try:
            model = self._model(client, name)
            while (rows := self._take()) is not None:
                self._evaluate(model, operation, rows)
        except (ConnectionFailed, TimedOut, Problem) as error:
            if _is_lasting(error):
                self.fail(error)
            else:
                self._lose_worker(error)
        except BaseException as error:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Ends the batch with this error, unless it has one already."""
        with self.changed:
            self.error = self.error or error
            self.changed.notify_all()

    def _model(self, client: Client, name: str) -> Model:
        """The model, pinned to the revision that all pieces have."""
        model = client.model(name)
        with self.changed:
            self.description = self.description or model.description
            return Model(client, self.description, pinned=True)

    def _take(self) -> Optional[slice]:
        """The next piece, or None at the end. A piece under way may still be given back."""
        with self.changed:
            while not self.waiting and self.under_way and not self.error:
                self.changed.wait()
            if self.error or not self.waiting:
                return None
            self.under_way += 1
            return self.waiting.popleft()

    def _evaluate(self, model: Model, operation: Callable[..., A], rows: slice) -> None:
        left: list[slice] = [rows]      # rows to be evaluated again
        try:
            answer = operation(model, **self.plan.request(rows))
            with self.changed:
                self.whole.add(rows, self.plan.accept(rows, answer))
            left = []
        except Problem as problem:
            if not is_too_large(problem, rows):
                raise in_whole_batch(problem, rows.start) from None
            middle = (rows.start + rows.stop) // 2
            left = [slice(rows.start, middle), slice(middle, rows.stop)]
        finally:
            with self.changed:
                self.under_way -= 1
                self.waiting.extendleft(reversed(left))
                self.changed.notify_all()

    def _lose_worker(self, error: Error) -> None:
        with self.changed:
            self.workers -= 1
            if self.workers == 0 and (self.waiting or self.under_way):
                self.error = self.error or error
                self.changed.notify_all()


def _is_lasting(error: Error) -> bool:
    """True if the request would fail on another server, too."""
    return isinstance(error, DeadlinePassed) or (isinstance(error, Problem) and error.status not in UNAVAILABLE)
