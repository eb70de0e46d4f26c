"""A torqued server as a planner sees it: one kept connection, JSON in and out, and a count of what was asked."""
import http.client
import json
import time
import urllib.parse


class Refused(Exception):
    """The server's answer was a problem (RFC 9457); the text says which and where."""


class Service:
    """Asks the server at `url`. `requests`, `states` and `seconds` add up what it was asked and how long that took."""

    def __init__(self, url, timeout=60):
        parts = urllib.parse.urlsplit(url if "//" in url else "//" + url)
        if parts.scheme not in ("", "http") or not parts.hostname:
            raise ValueError(f"{url}: expected http://HOST:PORT")
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=timeout)
        self.requests = self.states = 0
        self.seconds = 0.0

    def model(self, name):
        """What the server publishes of a model: names, joints with their limits, bodies."""
        return self._send("GET", f"/v1/models/{urllib.parse.quote(name, safe='')}")

    def ask(self, model, operation, request):
        """The answer of an operation to a batch (`q`) or to a trajectory (`times`)."""
        self.states += len(request["times"] if "times" in request else request["q"])
        return self._send("POST", f"/v1/models/{urllib.parse.quote(model, safe='')}/{operation}", request)

    def _send(self, method, path, body=None):
        started = time.monotonic()
        data = None if body is None else json.dumps(body)
        answer, text = self._exchange(method, path, data)
        self.requests += 1
        self.seconds += time.monotonic() - started
        if answer.status != 200:
            raise Refused(f"{method} {path}: {answer.status} {_explain(text)}")
        return json.loads(text)

    def _exchange(self, method, path, data):
        """One request. All that planners send may be repeated, so a kept connection that was closed meanwhile is
        opened again."""
        headers = {} if data is None else {"Content-Type": "application/json"}
        for attempt in (1, 2):
            kept = self.connection.sock is not None
            try:
                self.connection.request(method, path, data, headers)
                answer = self.connection.getresponse()
                return answer, answer.read()
            except (ConnectionError, http.client.BadStatusLine):
                self.connection.close()
                if attempt == 2 or not kept:
                    raise


def _explain(text):
    try:
        problem = json.loads(text)
        return f"{problem['title']}: {problem['detail']} {problem.get('pointer', '')}".rstrip()
    except (ValueError, KeyError, TypeError):
        return text[:200].decode("utf-8", "replace")
