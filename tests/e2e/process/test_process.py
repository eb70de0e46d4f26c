"""Tests the server as a process: settings and start, log, and end under load."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import tap
from harness import BINARY, MODELS, PATIENCE, Server, ServerCase
from samples import ASK, HEAVY, PUMA, QN, chain, slider


class Stopping(unittest.TestCase):
    def test_a_hangup_does_not_stop(self):
        """SIGHUP reloads, even if nohup made the process ignore it; SIGTERM stops."""
        for command in ((), ("sh", "-c", 'trap "" HUP; exec "$@"', "sh")):
            server = Server(command=command)
            server.process.send_signal(signal.SIGHUP)
            server.await_log('"event":"reloaded"')
            self.assertEqual(server.client().get("/livez").status, 200)
            self.assertNotIn("draining", server.log())
            self.assertIsNone(server.stop())

    def test_sigterm_under_load_loses_no_accepted_request(self):
        """Sixteen clients send requests without pause while the server receives SIGTERM. A request counts as lost if
        its answer was cut off, or if the server's log has its id and the client has no answer."""
        server = Server()
        bodies = [json.dumps({"q": [QN] * 5000}).encode(), json.dumps(PUMA).encode()]
        answered, unanswered, wrong = set(), set(), []

        def work(index):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            for number in range(1_000_000):
                name = f"client-{index}-{number}"
                try:
                    connection.request("POST", ASK, bodies[index % 4 != 0], {"Request-Id": name})
                    answer = connection.getresponse()
                except OSError:  # the server refused or closed before the first byte of an answer
                    unanswered.add(name)
                    return
                try:
                    answer.read()
                except http.client.HTTPException as error:
                    wrong.append((name, repr(error)))
                    return
                answered.add(name)
                if answer.status not in (200, 503):
                    wrong.append((name, answer.status))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        time.sleep(1.5)
        server.terminate()
        for thread in threads:
            thread.join()
        self.assertEqual(server.wait(), 0, server.log()[-3000:])
        log = server.log()
        server.kill()
        self.assertEqual(wrong, [])
        self.assertEqual(len({name.split("-")[1] for name in answered}), 16, "every client was served")
        logged = set(re.findall(r"client-[0-9]+-[0-9]+", log))
        self.assertTrue(answered & logged, "the log does not name requests")
        self.assertEqual(unanswered & logged, set())

    def test_requests_on_the_workers_are_finished(self):
        """Heavy requests that the server has accepted before SIGTERM are answered completely."""
        server = Server("--workers", "1", "--queue", "60")
        client = server.client()
        client.put("/v1/models/long", chain(100))
        expected = client.post("/v1/models/long/evaluate", HEAVY).body
        client.close()
        request = (f"POST /v1/models/long/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(HEAVY)}\r\n\r\n"
                   + HEAVY).encode()
        sockets = [server.socket(120) for _ in range(40)]
        for raw in sockets:
            raw.send(request)
        sockets[0].sock.recv(1, socket.MSG_PEEK)  # waits for the first answer, when the evaluation of the last request has not started
        server.terminate()
        answers = [raw.answer() for raw in sockets]
        self.assertEqual([answer for answer in answers if answer.status != 200], [])
        self.assertEqual({answer.body for answer in answers}, {expected})
        self.assertEqual(answers[-1].headers.get("Connection", "").lower(), "close")
        self.assertEqual(server.wait(), 0, server.log()[-3000:])
        server.kill()

    def test_requests_the_server_has_not_looked_at_yet(self):
        """Requests reach a stopped process, on kept connections and on unaccepted ones, before SIGTERM: they are
        answered."""
        server = Server()
        kept = [server.client() for _ in range(10)]
        for client in kept:
            client.get("/livez")
        server.process.send_signal(signal.SIGSTOP)
        fresh = [server.client() for _ in range(60)]
        for client in kept + fresh:
            client.connection.request("POST", ASK, json.dumps(PUMA))
        server.terminate()
        server.process.send_signal(signal.SIGCONT)
        for client in kept + fresh:
            self.assertEqual(client.connection.getresponse().status, 200)
            client.close()
        self.assertEqual(server.wait(), 0)
        server.kill()

    def test_draining_is_visible(self):
        """While the server finishes its requests, /readyz on a kept connection answers 503."""
        server = Server("--workers", "1", "--queue", "60")
        kept = server.client()
        kept.get("/livez")
        raw = server.socket(120)
        body = json.dumps({"q": [QN] * 100_000}).encode()
        raw.send(b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.2)
        server.terminate()
        time.sleep(0.05)
        try:
            answer = kept.get("/readyz")
            self.assertEqual(answer.status, 503)
            self.assertIn("draining", answer.json()["reasons"][0])
        except OSError:
            pass  # the server may instead close the idle connection
        self.assertEqual(raw.answer().status, 200)
        self.assertEqual(server.wait(), 0)
        server.kill()

    def test_draining_is_bounded(self):
        """A request that never arrives completely and an answer that the client does not read do not delay the end of the server."""
        body = json.dumps({"q": [QN] * 60_000, "outputs": ["tau", "joint_wrenches"]}).encode()
        whole = b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        for request, begun in ((whole[:-1], False), (whole, True)):
            server = Server("--drain", "1")
            raw = server.socket()
            raw.send(request)
            if begun:
                raw.sock.recv(1)
            start = time.monotonic()
            server.terminate()
            self.assertEqual(server.wait(), 0)
            self.assertLess(time.monotonic() - start, 1 + PATIENCE / 4)
            raw.close()
            server.kill()

    def test_long_work_is_dropped(self):
        """At the end of the drain, or at a second signal, a request that would take a minute is ended within seconds."""
        request = json.dumps({"q": [0.1] * 30, "duration": 900, "step": 1e-4, "samples": 2}).encode()
        for drain, signals in (("0.5", 1), ("60", 2)):
            server = Server("--drain", drain, "--queue", "86400", "--timeout", "600")
            server.client().put("/v1/models/long", chain(30))
            raw = server.socket()
            raw.send(b"POST /v1/models/long/simulate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(request) + request)
            time.sleep(0.5)
            start = time.monotonic()
            for _ in range(signals):
                server.terminate()
                time.sleep(0.2)
            self.assertEqual(server.wait(), 0)
            self.assertLess(time.monotonic() - start, 1 + PATIENCE / 4)
            self.assertIn("abandoned", server.log())
            with self.assertRaises(ConnectionError):
                raw.answer()
            raw.close()
            server.kill()

    def test_both_signals_end_an_idle_server_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = Server()
            server.process.send_signal(number)
            self.assertEqual(server.wait(), 0)
            server.kill()


class Starting(unittest.TestCase):
    def run_briefly(self, *arguments, environment=None):
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TORQUED_")}
        return subprocess.run([BINARY, *MODELS, *arguments], capture_output=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, env={**inherited, **(environment or {})})

    def test_a_taken_port(self):
        server = Server()
        done = self.run_briefly("--listen", f"127.0.0.1:{server.port}")
        said = (done.stdout + done.stderr).decode()
        self.assertEqual(done.returncode, 1, said)
        self.assertIn(str(server.port), said)
        self.assertIn("--listen", said)
        self.assertIsNone(server.stop())

    def test_help_and_version(self):
        done = self.run_briefly("serve", "--help")
        self.assertEqual(done.returncode, 0)
        for text in (b"--listen", b"TORQUED_", b"127.0.0.1:8088", b"--models"):
            self.assertIn(text, done.stdout)
        done = self.run_briefly("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode(), r"torqued.*[0-9]+\.[0-9]+")

    def test_bad_settings(self):
        for arguments, environment, named in (
                (("--no-such-flag",), {}, "--no-such-flag"), (("--workers", "many"), {}, "--workers"),
                (("--workers", "-1"), {}, "--workers"), (("--listen", "127.0.0.1"), {}, "--listen"),
                (("--listen", "127.0.0.1:99999"), {}, "--listen"), (("--workers",), {}, "--workers"),
                (("--max-body", "12Q"), {}, "--max-body"), ((), {"TORQUED_WORKERS": "x"}, "TORQUED_WORKERS"),
                (("--target", "mmx"), {}, "mmx"), (("stray",), {}, "stray")):
            done = self.run_briefly(*(("--listen", "127.0.0.1:0") if "--listen" not in arguments else ()), *arguments,
                                    environment=environment)
            said = (done.stdout + done.stderr).decode()
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertGreater(done.returncode, 0, said)
            self.assertIn(named, said)

    def test_environment_and_precedence(self):
        server = Server("--max-rows", "7", environment={"TORQUED_MAX_ROWS": "5", "TORQUED_MAX_BODY": "123456"})
        limits = json.dumps(server.client().get("/v1").json()["limits"])
        self.assertIn("123456", limits)
        self.assertIn("7", limits)
        client = server.client()
        self.assertEqual(client.post(ASK, {"q": [QN] * 7}).status, 200)
        self.assertEqual(client.post(ASK, {"q": [QN] * 8}).status, 413)
        client.close()
        self.assertIsNone(server.stop())

    def test_models_from_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "mine.json"), "w") as file:
                json.dump(slider(4), file)
            os.mkfifo(os.path.join(folder, "pipe.json"))  # a FIFO without a writer: the server must not wait for one
            os.mkdir(os.path.join(folder, "room.json"))
            with open(os.path.join(folder, "still.json"), "w") as file:
                json.dump({"links": []}, file)
            server = Server("--models", folder)
            client = server.client()
            reasons = client.get("/readyz").json()["reasons"]
            self.assertEqual([os.path.basename(r.split(":")[0]) for r in reasons], ["pipe.json", "room.json", "still.json"])
            for told, text in zip(reasons, ("it is not a regular file", "it is not a regular file", "a fixed base")):
                self.assertIn(text, told)
            self.assertEqual([m["name"] for m in client.get("/v1/models").json()["models"]], ["mine"])
            answer = client.post("/v1/models/mine/inverse-dynamics", {"q": [0], "qdd": [1]})
            self.assertEqual(answer.json(), {"tau": [4]})
            client.close()
            self.assertIsNone(server.stop())

    def test_ipv6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("no IPv6 here")
        probe = socket.create_server(("::1", 0), family=socket.AF_INET6)
        port = probe.getsockname()[1]
        probe.close()
        server = Server.__new__(Server)
        store = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-e2e-"))
        server.process = subprocess.Popen([BINARY, *MODELS, "--listen", f"[::1]:{port}", "--store", store],
                                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)
        try:
            give_up = time.monotonic() + PATIENCE
            while True:
                try:
                    connection = http.client.HTTPConnection("::1", port, timeout=PATIENCE)
                    connection.request("GET", "/livez")
                    self.assertEqual(connection.getresponse().status, 200)
                    connection.close()
                    break
                except ConnectionRefusedError:
                    self.assertLess(time.monotonic(), give_up)
                    time.sleep(0.05)
        finally:
            server.process.terminate()
            self.assertEqual(server.process.wait(PATIENCE), 0)


class Variables(unittest.TestCase):
    def start(self, **variables):
        done = subprocess.run([BINARY, "serve", "--listen", "nowhere"], capture_output=True, text=True, timeout=PATIENCE,
                              env={name: value for name, value in os.environ.items() if not name.startswith("TORQUED_")} | variables)
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def test_one_that_is_no_setting_stops_the_start(self):
        """A misspelled variable would have no effect; the server names it and the setting that is spelled most similarly."""
        for name, meant in (("MAX_ROW", "MAX_ROWS"), ("MAX_RWOS", "MAX_ROWS"), ("TOKEN_FIEL", "TOKEN_FILE"), ("LISTENS", "LISTEN"),
                            ("CLIENT_WORKS", "CLIENT_WORK"), ("log_level", "LOG_LEVEL"), ("", None), ("QUITE_ELSE", None)):
            with self.subTest(name):
                said = self.start(**{f"TORQUED_{name}": "5"})
                self.assertIn(f"the environment has TORQUED_{name}, which is no setting of torqued", said)
                self.assertEqual(re.findall(r"did you mean (\S+)\?", said), [f"TORQUED_{meant}"] if meant else [])

    def test_variables_of_clients_and_of_kubernetes_are_no_mistake(self):
        """Commands and clients have variables of their own. Kubernetes makes some for a Service named torqued."""
        for name, value in (("URL", "http://localhost"), ("TOKEN", "x"), ("BIN", BINARY), ("SERVICE_HOST", "10.0.0.1"),
                            ("SERVICE_PORT_HTTPS", "443"), ("PORT", "tcp://10.0.0.1:443"), ("PORT_443_TCP", "tcp://10.0.0.1:443"),
                            ("PORT_443_TCP_ADDR", "10.0.0.1"), ("METRICS_SERVICE_HOST", "10.0.0.2")):
            with self.subTest(name):
                self.assertIn("--listen is", self.start(**{f"TORQUED_{name}": value}))
        self.assertIn("TORQUED_PORT, which is no setting", self.start(TORQUED_PORT="8089"))


class Threads(unittest.TestCase):
    def threads(self, cores, *arguments):
        """Returns how many event loops and workers a server has on this many cores."""
        server = Server(*arguments, command=("taskset", "-c", ",".join(map(str, cores))))
        try:
            names = []
            for task in os.listdir(f"/proc/{server.process.pid}/task"):
                with open(f"/proc/{server.process.pid}/task/{task}/comm") as name:
                    names.append(name.read().strip())
            return names.count("torqued-loop"), names.count("torqued-worker")
        finally:
            self.assertIsNone(server.stop())

    def test_none_is_given_twice(self):
        """The server runs one event loop for every four cores, workers on the others, and at least one of each."""
        cores = sorted(os.sched_getaffinity(0))
        self.assertEqual(self.threads(cores[:1]), (1, 1))
        if len(cores) > 1:
            self.assertEqual(self.threads(cores[:2]), (1, 1))
        if len(cores) > 2:
            self.assertEqual(self.threads(cores[:3]), (1, 2))
        self.assertEqual(self.threads(cores, "--loops", "2", "--workers", "3"), (2, 3))


class LogReader(unittest.TestCase):
    def test_a_reader_that_goes_away(self):
        """The reader of the log's pipe exits: the server goes on without a log."""
        read, write = os.pipe()
        with tempfile.TemporaryDirectory(prefix="torqued-e2e-") as folder:
            process = subprocess.Popen([BINARY, *MODELS, "--listen", "127.0.0.1:0", "--store", folder],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=write)
            os.close(write)
            log = os.fdopen(read)
            port = next(int(found.group(1)) for found in (re.search(r"127\.0\.0\.1:([1-9][0-9]*)", line) for line in log) if found)
            log.close()
            try:
                for _ in range(3):
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
                    connection.request("GET", "/livez")
                    self.assertEqual(connection.getresponse().status, 200)
                    connection.close()
                    time.sleep(0.1)  # the log's thread writes some milliseconds later
                self.assertIsNone(process.poll())
            finally:
                process.terminate()
                self.assertEqual(process.wait(PATIENCE), 0)


class Log(ServerCase):
    def test_one_json_line_an_event(self):
        self.client.get("/v1/models/puma560", Request_Id="find-me-in-the-log")
        self.server.await_log("find-me-in-the-log")
        for event in self.server.events():
            self.assertIsInstance(event, dict)

    def test_a_request_s_line(self):
        body = json.dumps(PUMA)
        answer = self.client.post(ASK, body, Request_Id="the-line")
        self.client.request("HEAD", "/v1/models/puma560", headers={"Request-Id": "the-head"})
        self.server.await_log("the-head")
        lines = {event.get("id"): event for event in self.server.events()}
        line = lines["the-line"]
        self.assertEqual((line["level"], line["event"], line["method"], line["target"], line["status"]),
                         ("info", "request", "POST", ASK, 200))
        self.assertEqual((line["in"], line["out"]), (len(body), len(answer.body)))
        self.assertTrue(0 < line["ms"] < 1e3 * PATIENCE)
        self.assertRegex(line["time"], r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{3}Z$")
        self.assertNotIn("ended", line)
        self.assertEqual((lines["the-head"]["method"], lines["the-head"]["in"], lines["the-head"]["out"]), ("HEAD", 0, 0))

    def test_what_was_wrong_with_a_request(self):
        """The log line of a refused request has the problem's code; the line of a successful request has none."""
        ask = "/v1/models/two_link/mass-matrix"
        self.client.post(ask, {"q": [1e9, 0]}, Request_Id="too-far")
        self.client.post(ask, {"q": [0, 0]}, Request_Id="good")
        self.client.get("/v1/models/nobody", Request_Id="nobody")
        self.server.await_log('"nobody"')
        lines = {event.get("id"): event for event in self.server.events()}
        self.assertEqual((lines["too-far"]["status"], lines["too-far"]["problem"]), (422, "angle-too-large"))
        self.assertEqual((lines["nobody"]["status"], lines["nobody"]["problem"]), (404, "no-such-model"))
        self.assertNotIn("problem", lines["good"])


class LogSample(unittest.TestCase):
    def lines_of(self, *arguments):
        """Returns the log of 120 routine requests, one that fails, and the server's end."""
        server = Server(*arguments)
        self.addCleanup(server.kill)
        client = server.client()
        for number in range(121):
            client.get("/v1/models/nobody" if number == 77 else "/livez")
        client.connection.close()
        server.terminate()
        self.assertEqual(server.wait(), 0)
        return server.events()

    def test_one_of_many_has_a_line(self):
        lines = self.lines_of("--log-sample", "50", "--log-slow", "60")
        requests = [line for line in lines if line["event"] == "request"]
        good = [line for line in requests if line["target"] == "/livez"]
        self.assertIn(len(good), (2, 3))  # the harness's own requests count too
        self.assertEqual([line["status"] for line in requests if line["target"].endswith("nobody")], [404])
        rest = [line["requests"] for line in lines if line["event"] == "omitted"]
        omitted = sum(line.get("omitted", 0) for line in requests) + sum(rest)
        self.assertGreaterEqual(len(requests) + omitted, 122)  # no request is missing
        self.assertEqual(len(rest), 1)

    def test_slow_requests_are_no_routine(self):
        lines = self.lines_of("--log-sample", "1000000", "--log-slow", "0")
        self.assertEqual(sum(line.get("target") == "/livez" for line in lines), 120)
        self.assertFalse(any("omitted" in line or line["event"] == "omitted" for line in lines))


if __name__ == "__main__":
    tap.main()
