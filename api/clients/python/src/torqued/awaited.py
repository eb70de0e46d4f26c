"""Make a method for asyncio from a method of Operations."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Coroutine

from .answers import A

if TYPE_CHECKING:       # Python 3.9 has no ParamSpec; type checkers know it without an installed typing_extensions
    from typing_extensions import Concatenate, ParamSpec

    from .contract.async_operations import AsyncOperations
    from .contract.operations import Operations

    P = ParamSpec("P")


def awaited(method: Callable[Concatenate[Operations, P], A]) -> Callable[Concatenate[AsyncOperations, P], Coroutine[Any, Any, A]]:
    """Returns `method` with its parameters and documentation, to be awaited.

    A method of Operations returns what self._evaluate returns: an answer, or of AsyncOperations an awaitable.
    """
    @functools.wraps(method)
    async def call(self: Any, /, *given: P.args, **named: P.kwargs) -> A:
        return await method(self, *given, **named)      # type: ignore[attr-defined,no-any-return]
    return call
