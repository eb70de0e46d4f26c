"""Adds up wall time by labels."""
import time
from contextlib import contextmanager


class Clock:
    """`with clock("label"):` adds its time to seconds[label]; the time of an inner block is not part of the outer one."""

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
        """Adds seconds that the caller measured."""
        self.seconds[label] = self.seconds.get(label, 0.0) + seconds

    def move(self, source, target, seconds):
        """Moves a part of one label to another one."""
        self.add(source, -seconds)
        self.add(target, seconds)

    def total(self):
        """Seconds since the clock was made."""
        return time.perf_counter() - self._started
