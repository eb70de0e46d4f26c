"""Adds up wall time by what it was spent on."""
import time
from contextlib import contextmanager


class Clock:
    """`with clock("label"):` adds to seconds[label]; what an inner block takes is not part of the outer one."""

    def __init__(self):
        self.seconds, self._inner = {}, [0.0]
        self._started = time.perf_counter()

    @contextmanager
    def __call__(self, label):
        started = time.perf_counter()
        self._inner.append(0.0)
        try:
            yield
        finally:
            took = time.perf_counter() - started
            self.add(label, took - self._inner.pop())
            self._inner[-1] += took

    def add(self, label, seconds):
        """Seconds that were measured otherwise."""
        self.seconds[label] = self.seconds.get(label, 0.0) + seconds

    def move(self, source, target, seconds):
        """Accounts for a part of a label as another one."""
        self.add(source, -seconds)
        self.add(target, seconds)

    def total(self):
        """Seconds since the clock was made."""
        return time.perf_counter() - self._started
