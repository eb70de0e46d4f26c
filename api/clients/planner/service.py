"""Sends a planner's requests to a torqued server, and counts requests, states and seconds."""
import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "src"))    # unless it is installed
import torqued  # noqa: E402


class Service:
    """Asks the server at `url`. `requests`, `states` and `seconds` are the sums over all requests."""

    def __init__(self, url):
        self.client = torqued.Client(url)
        self.models = {}
        self.requests = self.states = 0
        self.seconds = 0.0

    def model(self, name):
        """The server's description of a model: names, joints with their limits, bodies."""
        started = time.monotonic()
        self.models[name] = self.client.model(name)
        self.requests += 1
        self.seconds += time.monotonic() - started
        return self.models[name].description

    def ask(self, model, operation, request):
        """The answer of an operation to a batch (`q`) or to a trajectory (`times`), in arrays."""
        started = time.monotonic()
        answer = getattr(self.models[model], operation)(**request)
        self.requests += 1
        self.states += len(request["times"] if "times" in request else request["q"])
        self.seconds += time.monotonic() - started
        return answer
