"""Tests that SIGUSR2 hands the service over to a new process without a refused connection, a lost request or a lost
change of a model, and that sockets of systemd are taken (LISTEN_FDS). UPGRADES sets the number of upgrades under load."""
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import tap
from access import Certificates
from harness import BINARY, MODELS, PATIENCE, REPORTS, ROOT, Server
from peers import Client
from postgres import await_state
from samples import pendulum
from stores import DatabaseCase

UPGRADES = int(os.environ.get("UPGRADES", "3"))
QUESTION = json.dumps({"q": [0.1]})
JSON = {"Content-Type": "application/json"}
# Starts the server with a listening socket as descriptor 3, as systemd does.
ACTIVATE = ("import os, sys; os.dup2(int(sys.argv[1]), 3); os.set_inheritable(3, True); os.environ.update(LISTEN_PID=str(os.getpid()), "
            "LISTEN_FDS='1', LISTEN_FDNAMES='torqued.socket'); os.execv(sys.argv[2], sys.argv[2:])")


def processes_of(server):
    """Returns the process numbers of all processes that have served, the newest last."""
    return [server.process.pid] + [int(n) for n in re.findall(r"process (\d+) has been started", server.log())]


def newest_of(server):
    """Returns the process number of the process that accepts connections."""
    return ([server.process.pid] + [int(n) for n in re.findall(r"process (\d+) accepts", server.log())])[-1]


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def stop_process(process):
    """Stops a process, and waits until each of its threads has stopped."""
    os.kill(process, signal.SIGSTOP)
    for thread in os.listdir(f"/proc/{process}/task"):
        while "\nState:\tT" not in open(f"/proc/{process}/task/{thread}/status").read():
            time.sleep(0.01)


def end_all(server):
    for process in processes_of(server):
        if is_running(process):
            os.kill(process, signal.SIGKILL)
    server.kill()


def mass_of(client, name="mine"):
    return client.get(f"/v1/models/{name}/document").json()["links"][0]["inertial"]["mass"]


def sockets_of(process):
    """Returns the names of the sockets that a process has open."""
    names = set()
    for fd in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(FileNotFoundError):  # the descriptor has been closed since it was listed
            names.add(os.readlink(f"/proc/{process}/fd/{fd}"))
    return {name for name in names if name.startswith("socket:")}


class Load(threading.Thread):
    """Sends requests without end, on kept connections or on new ones, and keeps answers whose status is not 200."""

    def __init__(self, server, kept):
        super().__init__()
        self.server, self.kept, self.stopped, self.answers, self.wrong = server, kept, False, 0, []
        self.start()

    def connect(self):
        if self.server.context:
            return http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=PATIENCE, context=self.server.context)
        return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)

    def ask(self, connection):
        connection.request("POST", "/v1/models/mine/bias", QUESTION, JSON)
        answer = connection.getresponse()
        answer.read()
        self.answers += 1
        if answer.status != 200:
            self.wrong.append(answer.status)
        return self.kept and not answer.will_close

    def run(self):
        while not self.stopped:
            connection = self.connect()
            try:
                while self.ask(connection) and not self.stopped:
                    pass
            except OSError as error:
                self.wrong.append(repr(error))
            except http.client.HTTPException as error:
                self.wrong.append(repr(error))
            connection.close()


class Changes(Load):
    """Puts models on kept connections, and checks with GET on a new connection that each change has been made."""

    def ask(self, connection):
        self.answers += 1
        connection.request("PUT", "/v1/models/changing", json.dumps(pendulum(self.answers)), JSON)
        answer = connection.getresponse()
        answer.read()
        if answer.status not in (200, 201):
            self.wrong.append(answer.status)
        look = self.server.client()
        mass = mass_of(look, "changing")
        look.close()
        if mass != self.answers:
            self.wrong.append(f"put {self.answers}, found {mass}")
        return not answer.will_close


class Case(unittest.TestCase):
    def serve(self, *arguments, **keywords):
        server = Server("--drain", "2", "--log-level", "info", *arguments, **keywords)
        self.addCleanup(end_all, server)
        self.assertEqual(server.client().put("/v1/models/mine", pendulum(1)).status, 201)
        return server

    def hand_over(self, server):
        """Returns the process number of the new process, once the old one has logged that the new one accepts connections."""
        before = server.log().count('"event":"handed-over"')
        os.kill(newest_of(server), signal.SIGUSR2)
        await_state(lambda: server.log().count('"event":"handed-over"') > before, "it is handed over: " + server.log()[-2000:])
        return newest_of(server)

    def stop(self, server):
        """Ends all processes by SIGTERM, as systemd does, and checks that all have ended well."""
        for process in processes_of(server):
            if is_running(process):
                os.kill(process, signal.SIGTERM)
        for process in processes_of(server):
            await_state(lambda: not is_running(process), f"process {process} ends")
        self.assertEqual(server.wait(), 0)
        self.assertIsNone(REPORTS.search(server.log()))
        self.assertNotIn('"event":"abandoned"', server.log())
        self.assertEqual(server.log().count('"event":"stopped"'), len(re.findall('"event":"starting"', server.log())))


class Upgrades(Case):
    def upgrade_under_load(self, *arguments, **keywords):
        server = self.serve(*arguments, **keywords)
        load = [Load(server, True), Load(server, True), Load(server, False), Load(server, False)]
        load += [Changes(server, True)]
        try:
            for _ in range(UPGRADES):
                time.sleep(0.1)
                self.hand_over(server)
            for process in processes_of(server)[:-1]:
                await_state(lambda: not is_running(process), "the old process ends")
        finally:
            for thread in load:
                thread.stopped = True
            for thread in load:
                thread.join()
        for thread in load:
            self.assertEqual(thread.wrong, [])
            self.assertGreater(thread.answers, 0)
        return server, load

    def test_no_request_and_no_change_is_lost(self):
        for loops in ("1", "3"):
            server, load = self.upgrade_under_load("--loops", loops)
            self.assertEqual(mass_of(server.client(), "changing"), load[-1].answers)
            self.stop(server)

    def test_encrypted_requests_are_not_lost(self):
        certificates = Certificates(self.enterContext(tempfile.TemporaryDirectory()))
        server, _ = self.upgrade_under_load(*certificates.arguments(), context=certificates.context())
        self.stop(server)

    def test_a_kept_connection_is_served_until_its_next_answer(self):
        server = self.serve("--drain", "60")
        idle, pipelining = server.client(), server.socket()
        self.assertEqual(idle.get("/v1/models/mine").status, 200)
        self.hand_over(server)
        time.sleep(0.5)
        self.assertEqual(idle.get("/readyz").status, 200)
        for connection in (idle, server.client()):
            answer = connection.get("/v1/models/mine")
            self.assertEqual(answer.status, 200)
        pipelining.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3)
        text = pipelining.rest()
        self.assertEqual(text.count(b"HTTP/1.1 200 OK"), 3, text)
        self.assertEqual(text.lower().count(b"connection: close"), 1, text)
        self.stop(server)

    def test_changes_are_seen_by_both_processes(self):
        server = self.serve("--drain", "60")
        old = [server.client() for _ in range(4)]
        for client in old:
            client.get("/livez")
        server.client().put("/v1/models/gone", pendulum(1))
        self.hand_over(server)
        new = server.client()
        self.assertEqual(old[0].put("/v1/models/mine", pendulum(2)).status, 200)
        self.assertEqual(mass_of(new), 2)
        self.assertEqual(new.put("/v1/models/mine", pendulum(3)).status, 200)
        self.assertEqual(mass_of(old[1]), 3)
        self.assertEqual(new.delete("/v1/models/gone").status, 204)
        self.assertEqual(old[2].get("/v1/models/gone").status, 404)
        tag = new.get("/v1/models/mine").headers["ETag"]
        self.assertEqual(new.put("/v1/models/mine", pendulum(4), If_Match=tag).status, 200)
        self.assertEqual(old[3].put("/v1/models/mine", pendulum(5), If_Match=tag).status, 412)
        self.assertEqual(mass_of(new), 4)
        self.stop(server)

    def test_a_change_waits_for_the_other_process(self):
        """The new process is stopped, so that it cannot read the changed model: the old one does not acknowledge the change
        before it goes on."""
        server = self.serve("--drain", "60")
        old = server.client()
        old.get("/livez")
        process = self.hand_over(server)
        stop_process(process)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(old.put("/v1/models/mine", pendulum(2)).status))
        thread.start()
        time.sleep(0.5)
        self.assertEqual(answers, [])
        os.kill(process, signal.SIGCONT)
        thread.join()
        self.assertEqual((answers, mass_of(server.client())), ([200], 2))
        self.stop(server)

    def test_unix_sockets_stay(self):
        path = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "socket")
        server = self.serve("--listen", f"127.0.0.1:0,unix:{path}")
        self.hand_over(server)
        await_state(lambda: not is_running(server.process.pid), "the old process ends")
        with socket.socket(socket.AF_UNIX) as local:
            local.connect(path)
            local.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertIn(b"200 OK", local.recv(1000))
        self.stop(server)
        self.assertFalse(os.path.exists(path))

    def test_requests_in_flight_are_finished(self):
        """During a hand-over the old process lets a request use its whole time limit, although --drain is shorter."""
        server = self.serve("--drain", "0.5")
        slow = server.client()
        answers = []
        thread = threading.Thread(target=lambda: answers.append(slow.post("/v1/models/panda/simulate", {
            "q": [0.1] * 7, "duration": 40, "samples": 2, "tolerance": 1e-11}, Request_Timeout="20")))
        thread.start()
        time.sleep(0.3)
        self.hand_over(server)
        thread.join()
        self.assertIn(answers[0].status, (200, 413, 422, 504), answers)
        self.stop(server)

    def test_a_program_that_does_not_start(self):
        """If the new process cannot start, the old one continues to answer, changes of models included, and can hand over later."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        program, broken = os.path.join(folder, "torqued"), os.path.join(folder, "broken")
        shutil.copy(BINARY, program)
        with open(broken, "w") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(broken, 0o755)
        server = Server("--log-level", "info", "--drain", "2", "--models", os.path.join(ROOT, "models"),
                        command=(sys.executable, "-c", "import os, sys; os.execv(sys.argv[1], [sys.argv[1]] + sys.argv[3:])", program))
        self.addCleanup(end_all, server)
        shutil.copy(program, program + ".good")
        os.rename(broken, program)
        for attempt in range(1, 3):
            os.kill(server.process.pid, signal.SIGUSR2)
            await_state(lambda: server.log().count('"event":"not-handed-over"') == attempt, "the log says so")
            self.assertIn(server.client().put("/v1/models/mine", pendulum(attempt)).status, (200, 201))
        os.rename(program + ".good", program)
        self.hand_over(server)
        self.assertEqual(mass_of(server.client()), 2)
        self.stop(server)

    def test_systemd_is_told(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
            notified.bind(os.path.join(folder, "notify"))
            notified.settimeout(PATIENCE)
            server = self.serve(environment={"NOTIFY_SOCKET": os.path.join(folder, "notify"), "WATCHDOG_PID": "1", "WATCHDOG_USEC": "60000000"})
            self.assertEqual(notified.recv(100), b"READY=1")
            process = self.hand_over(server)
            told = {notified.recv(100), notified.recv(100)}
            self.assertEqual(told, {b"MAINPID=%d" % process, b"READY=1"})
            with open(f"/proc/{process}/environ", "rb") as file:
                environment = file.read()
            self.assertNotIn(b"WATCHDOG_PID", environment)
            self.assertIn(b"LISTEN_PID=%d\0" % process, environment)
            self.stop(server)

    def test_no_descriptor_is_inherited_by_accident(self):
        server = self.serve("--drain", "60")
        clients = [server.client() for _ in range(5)]
        for client in clients:
            client.get("/livez")
        process = self.hand_over(server)
        await_state(lambda: "torqued_connections 1\n" in server.client().get("/metrics").text, "the new process has no old connection")
        await_state(lambda: not sockets_of(process) & sockets_of(server.process.pid), "the old process has closed its listening socket")
        self.stop(server)


class Database(Case, DatabaseCase):
    def setUp(self):
        DatabaseCase.setUp(self)

    def test_no_request_and_no_change_is_lost(self):
        server, load = Upgrades.upgrade_under_load(self, "--store", self.store)
        self.assertEqual(mass_of(server.client(), "changing"), load[-1].answers)
        self.stop(server)


class Activation(Case):
    def start(self, listening, *arguments):
        self.log = self.enterContext(tempfile.TemporaryFile())
        process = subprocess.Popen([sys.executable, "-c", ACTIVATE, str(listening.fileno()), BINARY, *arguments, "--store", self.store, *MODELS],
                                   pass_fds=[listening.fileno()], stderr=self.log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def setUp(self):
        self.store = self.enterContext(tempfile.TemporaryDirectory())
        self.socket = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        self.port = self.socket.getsockname()[1]

    def test_a_restart_refuses_no_connection(self):
        """With a socket of systemd, connections that clients open after one process has ended and before the next accepts wait in the queue of
        the socket."""
        address = f"127.0.0.1:{self.port}"
        for loops in ("1", "2"):
            early = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(5)]
            for connection in early:
                connection.sendall(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            process = self.start(self.socket, "--listen", address, "--loops", loops)
            for connection in early:
                connection.settimeout(PATIENCE)
                self.assertIn(b"200 OK", connection.recv(100), "the models are loaded first")
                connection.close()
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0)

    def test_sockets_that_do_not_fit(self):
        bound = self.enterContext(socket.socket())
        bound.bind(("127.0.0.1", 0))
        for listening, said in ((self.socket, f"the socket 127.0.0.1:{self.port} that is passed on (torqued.socket) is in no address of --listen"),
                                (bound, "descriptor 3 (torqued.socket), which is no listening stream socket")):
            process = self.start(listening, "--listen", "[::1]:0")
            self.assertEqual(process.wait(PATIENCE), 1)
            self.log.seek(0)
            self.assertIn(said, self.log.read().decode())

    def test_the_socket_of_systemd_stays_with_it(self):
        """A process that took the socket from systemd hands it over as one that systemd keeps: when the service ends, connections stay in the
        socket's queue."""
        process = self.start(self.socket, "--listen", f"127.0.0.1:{self.port}", "--drain", "1", "--log-level", "info")
        client = Client(self.port, PATIENCE)
        self.assertEqual(client.get("/livez").status, 200)
        client.close()
        process.send_signal(signal.SIGUSR2)
        self.assertEqual(process.wait(PATIENCE), 0)
        self.log.seek(0)
        newest = int(re.search(rb"process (\d+) accepts", self.log.read()).group(1))
        self.assertEqual(Client(self.port, PATIENCE).get("/livez").status, 200)
        os.kill(newest, signal.SIGTERM)
        await_state(lambda: not is_running(newest), "the new process ends")
        waiting = socket.create_connection(("127.0.0.1", self.port))
        waiting.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        self.start(self.socket, "--listen", f"127.0.0.1:{self.port}")
        waiting.settimeout(PATIENCE)
        self.assertIn(b"200 OK", waiting.recv(100))
        waiting.close()


if __name__ == "__main__":
    tap.main()
