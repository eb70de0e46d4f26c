"""Decide whether and when a call is sent again. Both clients use it."""
from __future__ import annotations

import math
import random
import time
from typing import Optional

from ..calls import Call, retry_after
from . import http1

TRANSIENT = (429, 502, 503)     # refused for now; nothing was computed
FIRST_PAUSE = 0.1               # s, before the first repetition where the server names no time; doubled each time


class Attempts:
    """Decides whether one call is sent again, until its deadline and at most `retries` times."""

    def __init__(self, call: Call, retries: int, timeout: float) -> None:
        self.call, self.left = call, retries
        self.deadline = time.monotonic() + timeout
        self._pause = FIRST_PAUSE

    def remaining(self) -> float:
        return self.deadline - time.monotonic()

    def after_loss(self, kept: bool) -> bool:
        """True to send the call again because its connection was lost, with or without the call having arrived. A connection
        that was `kept` may have ended long ago, which does not count as a try."""
        if kept and self.call.repeatable and self.remaining() > 0:
            return True
        return self._take() is not None

    def after_response(self, response: http1.Response) -> Optional[float]:
        """Seconds to wait before sending the call again; None if the response is final."""
        if response.status not in TRANSIENT:
            return None
        named = retry_after(response)
        pause = named if named is not None else self._pause * random.uniform(0.5, 1)
        if not math.isfinite(pause) or pause >= self.remaining():
            return None
        return pause if self._take() is not None else None

    def _take(self) -> Optional[int]:
        if not self.call.repeatable or not self.left or self.remaining() <= 0:
            return None
        self.left -= 1
        self._pause *= 2
        return self.left
