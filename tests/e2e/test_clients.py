"""Real clients, many of them, and what the server does when there is too much, too late or it is told to stop."""
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import tap
from harness import BINARY, MODELS, PATIENCE, Server, ServerCase
from samples import branched, chain, slider

FOLDER = os.path.dirname(os.path.abspath(__file__))
QN = [0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0]
PUMA = {"q": QN, "qd": [1] * 6, "qdd": [1] * 6}
PUBLISHED = "32.49524275, 60.86698848, 17.74359491, 1.454519026, 1.299110411, 0.7137808875"
ASK = "/v1/models/puma560/inverse-dynamics"
HEAVY = json.dumps({"q": [[0.1] * 100] * 1500, "tau": [0] * 100, "operations": {      # of chain(100): some 0.1 s
    "inverse-dynamics": {}, "bias": {}, "energy": {}, "forward-dynamics": {}}})


def in_threads(count, work):
    """work(index) in that many threads at once; what each returned or raised."""
    results = [None] * count
    barrier = threading.Barrier(count)

    def run(index):
        try:
            barrier.wait()
            results[index] = work(index)
        except Exception as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Curl(ServerCase):
    def curl(self, *arguments, data=None):
        done = subprocess.run(["curl", "-sS", *arguments], input=data, capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_published_torques(self):
        out = self.curl(self.server.url(ASK), "-H", "Content-Type: application/json", "-d",
                        '{"q":[0,0.7853981633974483,3.141592653589793,0,0.7853981633974483,0],'
                        '"qd":[1,1,1,1,1,1],"qdd":[1,1,1,1,1,1]}')
        self.assertPrinted(json.loads(out)["tau"], PUBLISHED, 10)

    def test_more_than_a_megabyte_after_expect(self):
        request = json.dumps({"q": [QN] * 20000}).encode()
        self.assertGreater(len(request), 1 << 20)
        with tempfile.NamedTemporaryFile() as headers:
            out = self.curl(self.server.url(ASK), "-D", headers.name, "-H", "Content-Type: application/json",
                            "--data-binary", "@-", data=request)
            self.assertIn(b"100 Continue", headers.read())
        self.assertEqual(len(json.loads(out)["tau"]), 20000)

    def test_several_on_one_connection(self):
        out = self.curl(*[self.server.url("/v1/models/puma560")] * 3, "-w", "%{num_connects} %{http_code}\n",
                        "-o", os.devnull, "-o", os.devnull, "-o", os.devnull)
        self.assertEqual(out.decode().split("\n")[:3], ["1 200", "0 200", "0 200"])

    def test_chunked_upload_and_conditional_get(self):
        document = json.dumps(branched()).encode()
        out = self.curl("-T", "-", "-H", "Content-Type: application/json", self.server.url("/v1/models/up"), data=document)
        etag = f'"{json.loads(out)["revision"]}"'
        out = self.curl("-o", os.devnull, "-w", "%{http_code}", "-H", f"If-None-Match: {etag}",
                        self.server.url("/v1/models/up"))
        self.assertEqual(out, b"304")

    def test_head(self):
        self.assertIn(b"200 OK", self.curl("-I", self.server.url("/v1")))


class Python(ServerCase):
    def test_urllib(self):
        request = urllib.request.Request(self.server.url(ASK), json.dumps(PUMA).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            self.assertPrinted(json.load(answer)["tau"], PUBLISHED, 10)
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(self.server.url("/v1/models/none"), timeout=PATIENCE)
        self.assertEqual(json.load(caught.exception)["status"], 404)
        caught.exception.close()

    def test_a_connection_is_kept_through_errors(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        connection.connect()
        port = connection.sock.getsockname()[1]
        for body, status in ((json.dumps(PUMA), 200), ("{", 400), ('{"q":[]}', 422), (json.dumps(PUMA), 200)) * 20:
            connection.request("POST", ASK, body)
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, status)
            self.assertEqual(connection.sock.getsockname()[1], port)
        connection.close()

    def test_a_hundred_thousand_states_in_one_request(self):
        """Seven joints, all rates, as text, with the settings as they come."""
        q = [[round(0.1 * j + 1e-5 * i, 5) for j in range(7)] for i in range(100_000)]
        request = {"q": q, "qd": [row[::-1] for row in q], "qdd": q}
        client = self.server.client(120)
        tau = self.ok(client.post("/v1/models/panda/inverse-dynamics", request))["tau"]
        self.assertEqual(len(tau), 100_000)
        for i in (0, 50_000, 99_999):
            alone = self.ask("panda", "inverse-dynamics", {"q": q[i], "qd": q[i][::-1], "qdd": q[i]})
            self.assertEqual(tau[i], alone["tau"])
        client.close()


class Node(ServerCase):
    @unittest.skipUnless(shutil.which("node"), "no node")
    def test_fetch(self):
        done = subprocess.run(["node", "--test", "--test-reporter=tap", os.path.join(FOLDER, "clients.mjs")],
                              env={**os.environ, "TORQUED_URL": self.server.url()}, capture_output=True, timeout=6 * PATIENCE)
        output = done.stdout.decode() + done.stderr.decode()
        self.assertEqual(done.returncode, 0, output)
        self.assertRegex(output, r"# pass [1-9]")
        self.assertIn("# skipped 0", output)


class Crowd(ServerCase):
    def test_two_hundred_clients_at_once(self):
        expected = self.client.post(ASK, PUMA).body

        def work(index):
            client = self.server.client()
            bodies = {client.post(ASK, PUMA).body for _ in range(10)}
            client.close()
            return bodies

        self.assertEqual(in_threads(200, work), [{expected}] * 200)

    def test_heavy_and_light_together(self):
        """Batches on the workers do not keep single states waiting for their whole length."""
        batch = {"q": [QN] * 20000}
        expected = self.client.post(ASK, PUMA).body
        waits = []

        def work(index):
            client = self.server.client(60)
            if index < 4:
                result = [len(client.post(ASK, batch).json()["tau"]) for _ in range(2)] == [20000] * 2
            else:
                result = True
                for _ in range(50):
                    start = time.monotonic()
                    result = result and client.post(ASK, PUMA).body == expected
                    waits.append(time.monotonic() - start)
            client.close()
            return result

        self.assertEqual(in_threads(12, work), [True] * 12)
        print(f"# light requests beside heavy ones: median {1e3 * sorted(waits)[len(waits) // 2]:.1f} ms, "
              f"worst {1e3 * max(waits):.1f} ms")


class Overload(ServerCase):
    """One worker and a short queue."""
    arguments = ("--workers", "1", "--queue", "0.2", "--inline-limit", "20")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/long", chain(100))
        cls.client.put("/v1/models/slider", slider())

    def test_a_full_queue_says_so_at_once(self):
        def work(index):
            client = self.server.client(120)
            start = time.monotonic()
            answer = client.post("/v1/models/long/evaluate", HEAVY)
            client.close()
            return answer, time.monotonic() - start

        results = in_threads(24, work)
        for result in results:
            self.assertIsInstance(result, tuple, result)
        served = [answer for answer, _ in results if answer.status == 200]
        refused = [answer for answer, _ in results if answer.status != 200]
        self.assertTrue(served)
        self.assertTrue(refused, "24 heavy requests at once were all taken")
        for answer in refused:
            problem = self.assertProblem(answer, 503)
            self.assertGreaterEqual(int(answer.headers["Retry-After"]), 1, problem)
        self.assertEqual(len({answer.body for answer in served}), 1)
        self.ok(self.client.post("/v1/models/slider/inverse-dynamics", {"q": [0]}))

    def test_a_deadline_passed(self):
        answer = self.client.post("/v1/models/long/evaluate", HEAVY, Request_Timeout="0.001")
        self.assertProblem(answer, 504)
        self.ok(self.client.post("/v1/models/slider/inverse-dynamics", {"q": [0]}))


class HangingUp(ServerCase):
    """One worker and a queue that takes everything: what is abandoned would be in the way if it were done."""
    arguments = ("--workers", "1", "--queue", "600")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/long", chain(100))
        cls.client.post("/v1/models/long/evaluate", HEAVY)

    def timed(self, body):
        start = time.monotonic()
        self.ok(self.client.post("/v1/models/long/evaluate", body))
        return time.monotonic() - start

    def send(self, body):
        raw = self.server.socket()
        raw.send(f"POST /v1/models/long/evaluate HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n" + body)
        return raw

    def test_waiting_requests_are_dropped(self):
        """Twenty heavy requests, abandoned by closing or half-closing, and one that is not."""
        one = min(self.timed(HEAVY) for _ in range(3))
        start = time.monotonic()
        for half in (False, True) * 10:
            raw = self.send(HEAVY)
            self.addCleanup(raw.close)
            raw.half_close() if half else raw.close()
        self.timed(HEAVY)
        took = time.monotonic() - start
        print(f"# one heavy request takes {one:.3f} s; twenty abandoned ones and one: {took:.3f} s")
        self.assertLess(took, 10 * one + 0.5)

    def test_a_running_request_is_given_up(self):
        rows = json.loads(HEAVY)
        rows["q"] = rows["q"] * 12
        long = json.dumps(rows)
        full, short = self.timed(long), self.timed(HEAVY)
        raw = self.send(long)
        time.sleep(0.3 * full)
        raw.close()
        freed = self.timed(HEAVY)
        print(f"# a request of {full:.2f} s abandoned after {0.3 * full:.2f} s; one of {short:.2f} s then took {freed:.2f} s")
        self.assertLess(freed, 0.5 * full + short)


class Memory(ServerCase):
    arguments = ("--memory", "8M", "--max-body", "4M", "--max-answer", "4M")

    def test_more_in_flight_than_the_budget(self):
        """Bodies that arrive slowly hold their memory; the next are refused, and it comes back."""
        held = []
        for _ in range(8):
            raw = self.server.socket()
            raw.send(b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
            try:
                raw.send(b" " * 2_900_000)
            except ConnectionError:
                pass
            held.append(raw)
        statuses = []
        for raw in held:
            raw.sock.settimeout(0.5)
            try:
                answer = raw.answer()
                statuses.append(answer.status)
                self.assertTrue(answer.headers.get("Retry-After"), answer)
            except (TimeoutError, ConnectionError):
                pass
            raw.close()
        self.assertTrue(statuses, "none of eight bodies of 3 MB was refused on a budget of 8 MB")
        self.assertEqual(set(statuses), {503})
        give_up = time.monotonic() + PATIENCE
        while self.client.post(ASK, json.dumps(PUMA) + " " * 500_000).status == 503:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.05)


class Stopping(unittest.TestCase):
    def test_sigterm_under_load_loses_no_accepted_request(self):
        """Sixteen clients ask without pause while the server is told to stop. A request is lost when its answer was
        cut short, or when the server's log has its id and the client has no answer."""
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
                except OSError:             # refused, or closed before the first byte of an answer
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
        """Heavy requests the server is known to hold when it is told to stop: each is answered in full."""
        server = Server("--workers", "1", "--queue", "60")
        client = server.client()
        client.put("/v1/models/long", chain(100))
        expected = client.post("/v1/models/long/evaluate", HEAVY).body
        client.close()
        request = (f"POST /v1/models/long/evaluate HTTP/1.1\r\nHost: x\r\nContent-Length: {len(HEAVY)}\r\n\r\n"
                   + HEAVY).encode()
        sockets = [server.socket(120) for _ in range(12)]
        for raw in sockets:
            raw.send(request)
        sockets[0].sock.recv(1, socket.MSG_PEEK)       # the first is done, the last has not been begun
        server.terminate()
        answers = [raw.answer() for raw in sockets]
        self.assertEqual([answer.status for answer in answers], [200] * 12)
        self.assertEqual({answer.body for answer in answers}, {expected})
        self.assertEqual(answers[-1].headers.get("Connection", "").lower(), "close")
        self.assertEqual(server.wait(), 0, server.log()[-3000:])
        server.kill()

    def test_draining_is_visible(self):
        """While it finishes what it holds, /readyz on a kept connection says so."""
        server = Server("--workers", "1", "--queue", "60")
        kept = server.client()
        kept.get("/livez")
        raw = server.socket(120)
        body = json.dumps({"q": [QN] * 100_000}).encode()
        raw.send(b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.2)
        server.terminate()
        time.sleep(0.05)
        try:
            self.assertEqual(kept.get("/readyz").status, 503)
        except OSError:
            pass        # or the idle connection is closed
        self.assertEqual(raw.answer().status, 200)
        self.assertEqual(server.wait(), 0)
        server.kill()

    def test_draining_is_bounded(self):
        """A request that never arrives, and an answer that nobody takes, do not keep the server from ending."""
        body = json.dumps({"q": [QN] * 60_000, "outputs": ["tau", "joint_wrenches"]}).encode()
        whole = b"POST " + ASK.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
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

    def test_both_signals_end_an_idle_server_cleanly(self):
        for number in (2, 15):
            server = Server()
            server.process.send_signal(number)
            self.assertEqual(server.wait(), 0)
            server.kill()


class Starting(unittest.TestCase):
    def run_briefly(self, *arguments, environment=None):
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TORQUED_")}
        return subprocess.run([BINARY, *MODELS, *arguments], capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                              env={**inherited, **(environment or {})})

    def test_a_taken_port(self):
        server = Server()
        done = self.run_briefly("--listen", f"127.0.0.1:{server.port}")
        said = (done.stdout + done.stderr).decode()
        self.assertEqual(done.returncode, 1, said)
        self.assertIn(str(server.port), said)
        self.assertIn("--listen", said)
        self.assertIsNone(server.stop())

    def test_help_and_version(self):
        done = self.run_briefly("--help")
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
            server = Server("--models", folder)
            client = server.client()
            self.assertEqual([m["name"] for m in client.get("/v1/models").json()["models"]], ["mine"])
            self.assertEqual(client.post("/v1/models/mine/inverse-dynamics", {"q": [0], "qdd": [1]}).json(), {"tau": [4]})
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


class Log(ServerCase):
    def test_one_json_line_an_event(self):
        self.client.get("/v1/models/puma560", Request_Id="find-me-in-the-log")
        give_up = time.monotonic() + PATIENCE
        while "find-me-in-the-log" not in self.server.log():
            self.assertLess(time.monotonic(), give_up, self.server.log())
            time.sleep(0.02)
        for line in self.server.log().splitlines():
            self.assertIsInstance(json.loads(line), dict)


if __name__ == "__main__":
    tap.main()
