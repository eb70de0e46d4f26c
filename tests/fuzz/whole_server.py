#!/usr/bin/python3
"""whole_server.py [--seconds S] [--seed N] PROGRAM SANITIZED - sends mutated requests of every operation to two servers, one
of them built with sanitizers, and looks for what must not be.

A finding is: a status that no client can cause, a problem without its members, a number that is not finite, an answer after
its deadline, memory that is not given back, answers of the two servers that differ, a report of a sanitizer, and a server
that ends. Each finding is written into build/mutated/ with its request; the exit status is 1 if there are any. Times are judged
by processor time, since the machine may be busy."""
import argparse
import http.client
import json
import math
import os
import random
import re
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e", "support"))
import harness
from mutations import Mutator, examples, files

FOLDER = os.path.join(ROOT, "build", "mutated")
DEADLINE = 1                      # s, Request-Timeout
LATE = 0.2 * DEADLINE + 0.3       # s of processor time after the deadline, for the request and its answer
STUCK = 60                        # s without an answer
STATUSES = {200, 201, 204, 400, 404, 405, 406, 409, 411, 412, 413, 415, 422, 503, 504, 507}
BY_CHANCE = {503, 504}            # statuses that depend on time and free memory, and may differ between the servers
ROUND = 500                       # number of requests between two checks of the servers' memory
GROWTH = 64 << 20                 # bytes by which a server may grow after its first rounds
NAMES = 6                         # number of different names of models that are put
SETTINGS = ("--workers", "1", "--log-sample", "1000000", "--memory", "256M", "--max-body", "64M", "--max-answer", "64M")


class Peer:
    """One of the two servers, and the connection to it."""

    def __init__(self, program):
        harness.BINARY = os.path.abspath(program)
        os.environ.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1:strict_string_checks=1:quarantine_size_mb=32")
        os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
        self.server = harness.Server("--models", os.path.join(ROOT, "models"), *SETTINGS)
        self.connect()

    def connect(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=STUCK)

    def send(self, method, path, body, headers):
        try:
            self.connection.request(method, path, body, headers)
        except OSError:  # the server refused the request before all of the body was sent, or has closed the idle connection
            self.connect()
            self.connection.request(method, path, body, headers)

    def answer(self):
        response = self.connection.getresponse()
        return response.status, response.headers.get_content_type(), response.read()

    def exchange(self, *request):
        """Sends a request and waits for the answer, once more if the kept connection was closed."""
        try:
            self.send(*request)
            return self.answer()
        except (http.client.BadStatusLine, ConnectionError):
            self.connect()
            self.send(*request)
            return self.answer()

    def processor(self):
        with open(f"/proc/{self.server.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def claimed(self):
        """Returns the bytes that requests in flight have claimed: 0 as soon as none is left, else the value after 5 s. Work of a client
        that has disconnected ends a little later."""
        for _ in range(50):
            page = self.exchange("GET", "/metrics", None, {})[2].decode()
            if (found := float(re.search(r"^torqued_memory_bytes (\S+)$", page, re.M)[1])) == 0:
                break
            time.sleep(0.1)
        return found


def not_finite(text):
    raise ValueError(f"{text} in an answer")


def number(text):
    if not math.isfinite(value := float(text)):
        not_finite(text)
    return value


def read(body):
    return json.loads(body, parse_constant=not_finite, parse_float=number)


class Search:
    def __init__(self, plain, sanitized, seed):
        self.programs = plain, sanitized
        self.start()
        self.random, self.findings, self.statuses, self.operations, self.sent = random.Random(seed), {}, {}, set(), 0
        contract = json.loads(self.plain.exchange("GET", "/openapi.json", None, {})[2])
        requests = examples(contract)
        self.posted = {path.rpartition("/")[2] for path, item in contract["paths"].items() if "post" in item}
        self.mutator = Mutator(self.random, requests + files(ROOT))

    def start(self):
        self.plain, self.sanitized = map(Peer, self.programs)

    def ended(self):
        return any(peer.server.process.poll() is not None for peer in (self.plain, self.sanitized))

    def find(self, kind, request, *answers):
        """Keeps the first request of each kind of finding and path."""
        method, path, body, headers = request
        key = (kind, re.sub(r"models/[^/]+", "models/M", path))
        if key not in self.findings:
            self.findings[key] = 0
            os.makedirs(FOLDER, exist_ok=True)
            name = os.path.join(FOLDER, f"{len(self.findings):03}")
            with open(name + ".body", "wb") as file:
                file.write(body or b"")
            with open(name + ".txt", "w") as file:
                print(kind, method, path, headers, *answers, sep="\n", file=file)
            print(f"finding {len(self.findings)}: {kind}: {method} {path}, {name}.body", flush=True)
        self.findings[key] += 1

    def ask(self, *request):
        """Sends one request to both servers and checks the answers. Returns the answer of the server without sanitizers."""
        before = self.plain.processor()
        try:
            self.sanitized.send(*request)
            began = time.monotonic()
            plain = self.plain.exchange(*request)
            took = time.monotonic() - began
            try:
                sanitized = self.sanitized.answer()
            except (http.client.BadStatusLine, ConnectionError):
                sanitized = self.sanitized.exchange(*request)
        except (OSError, http.client.HTTPException) as error:
            self.find(f"no answer ({type(error).__name__})", request, *(peer.server.log()[-8000:] for peer in (self.plain, self.sanitized)))
            self.plain.connect()
            self.sanitized.connect()
            self.by_chance = True
            return 0, "", b""
        spent = self.plain.processor() - before
        if took > DEADLINE + LATE and spent > DEADLINE + LATE:
            self.find("late", request, f"{took:.2f} s, {spent:.2f} s of processor time", plain)
        for answer in (plain, sanitized):
            self.check(request, *answer)
        self.by_chance = bool({plain[0], sanitized[0]} & BY_CHANCE) or b"deadline" in plain[2] + sanitized[2]
        if plain != sanitized and not self.by_chance:
            self.find("answers differ", request, plain, sanitized)
        self.sent += 1
        self.statuses[plain[0]] = self.statuses.get(plain[0], 0) + 1
        return plain

    def check(self, request, status, media, body):
        if status not in STATUSES:
            self.find(f"status {status}", request, body)
        try:
            if status >= 400:
                problem = read(body)
                if media != "application/problem+json" or problem["status"] != status or not (problem["code"] and problem["detail"]):
                    self.find("a problem without its members", request, body)
            elif media == "application/json":
                read(body)
        except (ValueError, KeyError) as error:
            self.find(f"unreadable answer: {error}", request, body)

    def put(self, body, media):
        """Puts a mutated model, reads it back, and sends it a request."""
        name = f"/v1/models/m{self.random.randrange(NAMES)}"
        headers = {"Content-Type": media, "Request-Timeout": str(DEADLINE)}
        status, _, _ = self.ask("PUT", name, body, headers)
        if self.by_chance:  # after a 503 or 504 one server may have the model and the other not
            for peer in (self.plain, self.sanitized):
                peer.exchange("DELETE", name, None, {})
            return
        if status not in (200, 201):
            return
        described = self.ask("GET", name, None, {})
        for part in ("document", "export/" + self.random.choice(("urdf", "mjcf", "sdf"))):
            self.ask("GET", f"{name}/{part}", None, {"Request-Timeout": str(DEADLINE)})
        if described[0] != 200:
            return
        model = read(described[2])
        fields = {"q": model["home"] if "home" in model else [0.1] * model["nq"], "qd": [0.1] * model["nv"], "tau": [0.2] * model["nv"]}
        for operation, used in (("forward-dynamics", ("q", "qd", "tau")), ("bias", ("q", "qd")), ("mass-matrix", ("q",))):
            self.ask("POST", f"{name}/{operation}", json.dumps({key: fields[key] for key in used}).encode(),
                     {"Content-Type": "application/json", "Request-Timeout": str(DEADLINE)})

    def step(self):
        if self.random.random() < 0.02:
            return self.ask("GET", self.random.choice(("/v1/models", "/v1/models/m0", "/v1/models/m1/document", "/document")), None, {})
        request, body, media = self.mutator.draw()
        if request.method == "PUT":
            return self.put(body, media)
        headers = {"Content-Type": media, "Request-Timeout": str(DEADLINE)}
        if self.random.random() < 0.1:
            headers["Accept"] = "application/cbor"
        path = request.path
        if self.random.random() < 0.1:
            path = re.sub("models/[^/]+", f"models/m{self.random.randrange(NAMES)}", path)
        self.operations.add(path.rpartition("/")[2])
        return self.ask("POST", path, body, headers)

    def run(self, seconds):
        end, sizes = time.monotonic() + seconds, []
        while time.monotonic() < end:
            for _ in range(ROUND):
                self.step()
                if time.monotonic() > end or self.ended():
                    break
            if self.ended():  # both servers are started again, with equal models
                self.stop()
                self.start()
                continue
            for name, peer in (("plain", self.plain), ("sanitized", self.sanitized)):
                if left := peer.claimed():
                    self.find(f"the {name} server keeps memory of requests", ("", "", b"", {}), left)
            sizes.append(self.plain.resident())
        early = max(sizes[:max(1, len(sizes) // 2)], default=0)
        print(f"{self.sent} requests of {len(self.operations)} operations; resident {early >> 20} MiB in the first half, "
              f"{max(sizes, default=0) >> 20} MiB at most; statuses {dict(sorted(self.statuses.items()))}")
        if max(sizes, default=0) > early + GROWTH:
            self.find("memory grows", ("", "", b"", {}), sizes)
        if seconds >= 60 and self.posted - self.operations:
            self.find(f"operations without a request: {self.posted - self.operations}", ("", "", b"", {}))

    def stop(self):
        for name, peer in (("plain", self.plain), ("sanitized", self.sanitized)):
            if wrong := peer.server.stop():
                self.find(f"the end of the {name} server", ("", "", b"", {}), wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("plain")
    parser.add_argument("sanitized")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    search = Search(options.plain, options.sanitized, options.seed)
    try:
        search.run(options.seconds)
    finally:
        search.stop()
    for (kind, path), count in search.findings.items():
        print(f"{count} times: {kind}: {path}")
    return 1 if search.findings else 0


if __name__ == "__main__":
    sys.exit(main())
