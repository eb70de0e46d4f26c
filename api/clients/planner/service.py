"""A torqued server as a planner sees it: its models, and a count of what it was asked."""
import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "src"))    # unless it is installed
import torqued  # noqa: E402


class Service:
    """Asks the server at `url`. `requests`, `states` and `seconds` add up what it was asked and how long that took."""

    def __init__(self, url):
        self.client = torqued.Client(url)
        self.models = {}
        self.requests = self.states = 0
        self.seconds = 0.0

    def model(self, name):
        """What the server publishes of a model: names, joints with their limits, bodies."""
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
