#!/usr/bin/env python3
"""cluster.py - checks three servers behind HAProxy, with one PostgreSQL and its synchronous standby, over thousands of changes.

    changes     PUT, then POST with Model-Change through the balancer: the POST must find the model of the PUT
    everywhere  time from a PUT until every server has its model
    creations   of many PUT with If-None-Match: * at the same time, one creates the model
    servers     servers restarted one after the other, and killed, under PUT and evaluation
    database    PostgreSQL stopped, killed, restarted, hung, and failed over to its standby, under PUT and evaluation

After every round of the last two, all servers must have the same models, and none may be older than the last
acknowledged one. Prints figures while it runs, and exits with 1 at the first fault. The data are in memory, since
faults stop processes, not the machine."""
import argparse
import collections
import contextlib
import http.client
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e/support"))
from access import Certificates
from balancers import HAProxy, Load, Replica, await_true
from harness import BINARY
from postgres import Postgres, await_state
from samples import pendulum

CLIENTS = 4
MOST_SECONDS = 1  # s, from the acknowledgement of a change until all servers have it


class Fault(Exception):
    """Raised when the cluster violates a guarantee."""


class Balancer(HAProxy):
    """HAProxy, configured to name the server of each answer in a header."""

    def write(self, replicas):
        super().write(replicas)
        with open(os.path.join(self.folder, "haproxy.cfg"), "r+") as file:
            text = self.replace(file.read(), ("backend torqued\n", "backend torqued\n    http-response set-header Replica %s\n"))
            file.seek(0)
            file.write(text)


class Databases:
    """A primary and its synchronous standby at different addresses; a failover makes the standby the primary."""
    QUICK = {"wal_retrieve_retry_interval": "100ms", "synchronous_commit": "local", "fsync": "on"}

    def __init__(self, ended):
        self.primary = Postgres(cluster_name="torqued_0", **self.QUICK)
        ended.callback(self.primary.close)
        self.standby = Postgres(copy_of=self.primary, cluster_name="torqued_1", **self.QUICK)
        ended.callback(self.standby.close)
        # commits of the servers wait for the standby; commits by this program's SQL commands do not
        self.url = self.primary.url(self.standby, options="-csynchronous_commit%3Don")
        self.require_standby()

    def require_standby(self):
        """Makes the primary acknowledge a commit only once the standby has it."""
        streaming = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        await_state(lambda: self.primary.sql(streaming) == "1", "the standby follows")
        self.primary.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{self.standby.settings['cluster_name']}'")
        self.primary.sql("SELECT pg_reload_conf()")
        await_state(lambda: self.primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1",
                    "the standby is synchronous")

    def fail_over(self):
        """Kills the primary and promotes the standby, which then acknowledges commits without a standby of its own."""
        self.primary.kill()
        self.standby.sql("ALTER SYSTEM RESET synchronous_standby_names")
        self.standby.promote()
        self.standby.sql("SELECT pg_reload_conf()")
        self.primary, self.standby = self.standby, self.primary

    def renew_standby(self):
        """Makes the old primary a standby of the new one."""
        self.standby.copy(self.primary)
        self.standby.start()
        self.require_standby()


class Writer:
    """Puts one model repeatedly, heavier each time. `tried` is the last mass that was sent, `acknowledged` the last one
    whose PUT was answered with success."""

    def __init__(self, cluster, name):
        self.cluster, self.name, self.tried, self.acknowledged, self.count = cluster, name, 0, 0, 0
        self.refused, self.longest = collections.Counter(), 0.0

    def run(self, ended):
        connection, last = Connection(self.cluster.balancer), time.monotonic()
        while not ended.is_set():
            self.tried += 1
            status = connection.ask("PUT", f"/v1/models/{self.name}", pendulum(self.tried))[0]
            now = time.monotonic()
            if status in (200, 201):
                self.acknowledged, self.count = self.tried, self.count + 1
                self.longest, last = max(self.longest, now - last), now
            elif status in (0, 502, 503, 504):
                self.refused[status] += 1
                time.sleep(0.05)
            else:
                raise Fault(f"PUT of {self.name}: {status}")
        connection.close()


class Connection:
    """A client that keeps one connection through the balancer."""

    def __init__(self, balancer):
        self.connection, self.repeated = balancer.connection(), 0

    def insist(self, expected, method, path, body=None, **headers):
        """Returns headers and body of an answer with the status `expected`; asks again while HAProxy has no server that
        answers."""
        while True:
            status, answer_headers, answer = self.ask(method, path, body, **headers)
            if status != 503 or "Replica" in answer_headers:
                break
            self.repeated += 1
            time.sleep(0.1)
        if status != expected:
            raise Fault(f"{method} {path}: status {status} in place of {expected}, from {answer_headers.get('Replica')}: {answer[:300]!r}")
        return answer_headers, answer

    def ask(self, method, path, body=None, **headers):
        """Returns status, headers and body; status 0 if the connection was lost."""
        headers = {"Host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = self.connection.getresponse()
            return response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            return 0, {}, b""

    def close(self):
        self.connection.close()


class TimedLoad(Load):
    """Evaluates without pause and records the longest time of an answer."""
    longest = 0.0

    def _ask(self, connection):
        began = time.monotonic()
        try:
            return super()._ask(connection)
        finally:
            self.longest = max(self.longest, time.monotonic() - began)


class Cluster:
    def __init__(self, ended):
        folder = ended.enter_context(tempfile.TemporaryDirectory(prefix="torqued-cluster-"))
        certificates = Certificates(folder)
        self.databases = Databases(ended)
        subprocess.run([BINARY, "store", "migrate", "--store", self.databases.url], check=True)
        self.replicas = []
        for _ in range(3):
            self.replicas.append(Replica(certificates, "{address}:8443+proxy", "--health-listen", "{address}:8087",
                                         "--drain-delay", "4", "--workers", "1", "--loops", "1",
                                         "--log-sample", "1000000", "--store", self.databases.url))
            ended.callback(lambda replica=self.replicas[-1]: replica.server.kill())
        self.balancer = Balancer(folder, certificates, [replica.address for replica in self.replicas])
        ended.callback(self.balancer.stop)
        self.balancer.await_listening()
        self.await_up()
        self.writers = [Writer(self, f"writer{i}") for i in range(CLIENTS)]

    def await_up(self):
        await_true(lambda: all(self.balancer.is_up(number) for number in (1, 2, 3)), "HAProxy uses all servers")

    def masses(self, name):
        """Returns the set of the model's masses on the servers; None stands for a server without it."""
        answers = [replica.server.client().get(f"/v1/models/{name}/document") for replica in self.replicas]
        return {answer.json()["links"][0]["inertial"]["mass"] if answer.status == 200 else None for answer in answers}

    def check(self, what):
        """Checks that all servers agree and none has an older model than the acknowledged one. Returns the seconds
        until they do."""
        began = time.monotonic()
        for writer in self.writers:
            await_true(lambda: len(self.masses(writer.name)) == 1, f"{what}: the servers agree about {writer.name}")
            mass = self.masses(writer.name).pop()
            if mass is None or not writer.acknowledged <= mass <= writer.tried:
                raise Fault(f"{what}: {writer.name} has mass {mass}; acknowledged {writer.acknowledged}, tried {writer.tried}")
        return time.monotonic() - began


@contextlib.contextmanager
def beside(work, number):
    """Runs work(0), work(1), ... in threads while the body runs. Waits for their ends, and raises an exception of one
    of them."""
    errors = []

    def run(index):
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]


def in_threads(work, number):
    with beside(work, number):
        pass


def milliseconds(seconds):
    """Formats median, 99th percentile and maximum of some times."""
    ordered = sorted(seconds)
    return (f"median {1e3 * statistics.median(ordered):.1f} ms, 99 % within {1e3 * ordered[math.ceil(0.99 * len(ordered)) - 1]:.1f} ms, "
            f"longest {1e3 * ordered[-1]:.1f} ms")


def changes(cluster, options):
    """Sends PUT, then POST with Model-Change; every tenth pair creates its model."""
    lock, times, moved, repeated, began = threading.Lock(), [], [], [], time.monotonic()

    def pairs(index):
        connection, path = Connection(cluster.balancer), f"/v1/models/pair{index}"
        for i in range(options.pairs // CLIENTS):
            if i % 10 == 9:
                connection.insist(204, "DELETE", path)
            start = time.monotonic()
            put, body = connection.insist(200 if i % 10 != 9 and i else 201, "PUT", path, pendulum(1 + i % 1000))
            post, _ = connection.insist(200, "POST", path + "/bias", {"q": [0.1]}, Model_Change=put["Model-Change"])
            if post["Model-Revision"] != json.loads(body)["revision"]:
                raise Fault(f"POST after PUT of {path} has the revision {post['Model-Revision']}, and PUT answered {body[:300]!r}")
            with lock:
                times.append(time.monotonic() - start)
                moved.append(post["Replica"] != put["Replica"])
                if len(times) % 1000 == 0:
                    print(f"    {len(times)} pairs, {time.monotonic() - began:.0f} s", flush=True)
        connection.close()
        repeated.append(connection.repeated)

    in_threads(pairs, CLIENTS)
    print(f"changes: {len(times)} times PUT, then POST, {sum(moved)} of them at another server: none missing, none old, {sum(repeated)} "
          f"repeated for want of a server; PUT and POST together {milliseconds(times)}", flush=True)


def everywhere(cluster, options):
    connection, times = Connection(cluster.balancer), []
    clients = [replica.server.client() for replica in cluster.replicas]
    for i in range(options.everywhere):
        _, body = connection.insist(200 if i else 201, "PUT", "/v1/models/everywhere", pendulum(1 + i))
        began, revision = time.monotonic(), json.loads(body)["revision"]
        for client in clients:
            while client.get("/v1/models/everywhere").headers["Model-Revision"] != revision:
                if time.monotonic() - began > MOST_SECONDS:
                    raise Fault(f"a server has no change after {MOST_SECONDS} s")
        times.append(time.monotonic() - began)
    print(f"everywhere: {len(times)} PUT; all three servers have the model {milliseconds(times)} after the acknowledgement", flush=True)


def creations(cluster, options):
    for i in range(options.creations):
        statuses, begin = [], threading.Barrier(6)

        def create(_):
            connection = Connection(cluster.balancer)
            begin.wait()
            statuses.append(connection.ask("PUT", f"/v1/models/new{i}", pendulum(), If_None_Match="*")[0])

        in_threads(create, 6)
        if sorted(statuses) != [201] + [412] * 5:
            raise Fault(f"creations at the same time answer {statuses}")
        Connection(cluster.balancer).insist(204, "DELETE", f"/v1/models/new{i}")
    print(f"creations: {options.creations} times six PUT with If-None-Match: * at the same time: one 201 and five 412 each", flush=True)


def under_load(cluster, what, fault):
    """Runs one round: changes and evaluations with the fault during them, more changes, and the check that all servers agree. Returns the
    check's result."""
    ended = threading.Event()
    with beside(lambda index: cluster.writers[index].run(ended), CLIENTS):
        # PR_SET_PDEATHSIG ends PostgreSQL with the thread that started it, so the fault runs on this thread.
        try:
            await_more(cluster, what)
            fault()
            await_more(cluster, what)
        finally:
            ended.set()
    return cluster.check(what)


def await_more(cluster, what):
    goals = [writer.count + 3 for writer in cluster.writers]
    await_true(lambda: all(writer.count >= goal for writer, goal in zip(cluster.writers, goals)), f"{what}: changes are acknowledged")


def rounds(cluster, name, number, faults):
    """Runs rounds with one fault after another under PUT and evaluation. `faults` are (name, action, action after the check)."""
    load, began, agreed, kinds = TimedLoad(cluster.balancer, clients=2), time.monotonic(), [], collections.defaultdict(list)
    repeated = cluster.balancer.figure("haproxy_backend_retry_warnings_total", proxy="torqued")
    before, refused = sum(w.count for w in cluster.writers), sum(sum(w.refused.values()) for w in cluster.writers)
    try:
        for i in range(number):
            what, fault, afterwards = faults[i % len(faults)]
            for writer in cluster.writers:
                writer.longest = 0
            agreed.append(under_load(cluster, f"round {i + 1}, {what}", fault))
            kinds[what].append(max(writer.longest for writer in cluster.writers))
            afterwards()
            if load.failures:
                raise Fault(f"round {i + 1}, {what}: an evaluation failed: {load.failures[0]}")
            if (i + 1) % 10 == 0:
                print(f"    {i + 1} rounds, {time.monotonic() - began:.0f} s, {load.answered} evaluations", flush=True)
    finally:
        load.stop()
    if load.failures:
        raise Fault(f"an evaluation failed: {load.failures[0]}")
    repeated = cluster.balancer.figure("haproxy_backend_retry_warnings_total", proxy="torqued") - repeated
    print(f"{name}: {number} rounds, {sum(w.count for w in cluster.writers) - before} changes acknowledged and none lost, "
          f"{sum(sum(w.refused.values()) for w in cluster.writers) - refused} refused; the servers agreed {milliseconds(agreed)} after the "
          f"last change; {load.answered} evaluations, none failed, {repeated:.0f} repeated by HAProxy, {load.repeated} by the client, the "
          f"longest {1e3 * load.longest:.0f} ms")
    for what, longest in kinds.items():
        print(f"    {what}: {len(longest)} rounds; a client was without an acknowledged change for {milliseconds(longest)}", flush=True)


def servers(cluster, options):
    turn = [0]

    def next_replica():
        turn[0] += 1
        return cluster.replicas[turn[0] % 3]

    def kill():
        replica = next_replica()
        replica.server.kill()
        await_more(cluster, "with two servers")
        replica.start()

    rounds(cluster, "servers", options.servers, [
        *[("restarted", lambda: next_replica().restart(), cluster.await_up)] * 3, *[("killed", kill, cluster.await_up)] * 3])


def database(cluster, options):
    databases = cluster.databases

    def away(end, seconds):
        def fault():
            end(databases.primary)
            time.sleep(seconds)
            databases.primary.start()
        return fault

    def hang():
        databases.primary.pause()
        time.sleep(1)
        databases.primary.pause(False)

    def nothing():
        pass

    rounds(cluster, "database", options.rounds, [
        ("stopped for 1 s", away(Postgres.stop, 1), nothing), ("killed", away(Postgres.kill, 0), nothing),
        ("restarted", away(Postgres.stop, 0), nothing), ("hung for 1 s", hang, nothing),
        ("failed over to the standby", databases.fail_over, databases.renew_standby)])


PARTS = {part.__name__: part for part in (changes, everywhere, creations, servers, database)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=10_000, help="of PUT and POST")
    parser.add_argument("--everywhere", type=int, default=500, metavar="N", help="PUT whose arrival is measured")
    parser.add_argument("--creations", type=int, default=100, metavar="N", help="of a model by many at the same time")
    parser.add_argument("--servers", type=int, default=24, metavar="N", help="rounds with servers that end")
    parser.add_argument("--rounds", type=int, default=200, help="with a database that ends")
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends all programs that were started
    with contextlib.ExitStack() as ended:
        cluster = Cluster(ended)
        try:
            for part in options.parts or PARTS:
                PARTS[part](cluster, options)
        except (Fault, AssertionError) as fault:
            sys.exit(f"cluster: {fault}")


if __name__ == "__main__":
    main()
