"""Requests of an identification to a torqued server: a model with its limits, and a count of requests."""
import os
import sys
import time

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "src"))    # unless it is installed
import torqued  # noqa: E402


class Service:
    """Asks the server at `url`. `requests`, `states` and `seconds` count requests, states and waiting time."""

    def __init__(self, url):
        self.client = torqued.Client(url)
        self.requests = self.states = 0
        self.seconds = 0.0

    def ask(self, operation, **request):
        """The answer of an operation of a model to a batch of states."""
        started = time.monotonic()
        answer = operation(**request)
        self.requests += 1
        self.states += len(request["q"])
        self.seconds += time.monotonic() - started
        return answer

    def account(self, started):
        """A line about what was asked since the program started."""
        return (f"{self.requests} requests, {self.states} states evaluated, {time.monotonic() - started:.1f} s, "
                f"of which {self.seconds:.1f} s waiting for the server")


class Limits:
    """Limits of a model whose joints have one coordinate each: middle and half range of positions, velocity and
    effort, nv entries each. An unlimited joint may turn once; unlimited efforts are infinite. `velocity` stands in where the
    model has no limit of the velocity."""

    def __init__(self, model, velocity=None):
        joints = {joint["name"]: joint.get("limits", {}) for joint in model.description["joints"]}
        if model.nq != model.nv or not all(name in joints for name in model.velocity_names):
            raise ValueError(f"{model.name}: expected a model whose coordinates are those of its joints, one each")
        mine = [joints[name] for name in model.velocity_names]
        low, high = np.array([limits.get("position", (-np.pi, np.pi)) for limits in mine], float).T
        self.middle, self.half = (low + high) / 2, (high - low) / 2
        speeds = [limits.get("velocity", velocity) for limits in mine]
        if None in speeds:
            raise ValueError(f"{model.name}: {model.velocity_names[speeds.index(None)]} has no limit of its velocity: "
                             "give one with --velocity")
        self.velocity = np.array(speeds, float)
        self.effort = np.array([limits.get("effort", np.inf) for limits in mine], float)

    def loads(self, states, tau):
        """Positions, velocities and efforts in parts of their limits: three arrays, instants x nv."""
        return (states["q"] - self.middle) / self.half, states["qd"] / self.velocity, tau / self.effort
