"""Tests that faults in operation appear in metrics and log: slow clients, exhausted memory, too many connections, a bad file of clients, a
refused token, an old certificate, a log whose reader has stopped. deploy/RUNBOOK.md leads from there to the cause."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import tap
from access import Certificates, make_token
from deploy import need
from harness import BINARY, MODELS, PATIENCE, Server

HEAD = "POST /v1/models/puma560/bias HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


class Operator(unittest.TestCase):
    def serve(self, *arguments, **keywords):
        server = Server(*arguments, **keywords)
        self.addCleanup(server.kill)
        return server

    def metric(self, server, series, **headers):
        page = server.client().get("/metrics", **headers).body.decode()
        found = re.search(rf"^{re.escape(series)} (\S+)$", page, re.MULTILINE)
        self.assertTrue(found, series)
        return float(found[1])

    def await_metric(self, server, series, least, **headers):
        give_up = time.monotonic() + PATIENCE
        while (value := self.metric(server, series, **headers)) < least:
            self.assertLess(time.monotonic(), give_up, f"{series} is {value}, not {least}")
            time.sleep(0.05)

    def events(self, server, name):
        return [line for line in server.events() if line["event"] == name]

    def await_event(self, server, name):
        server.await_log(f'"event":"{name}"')
        return self.events(server, name)

    def test_slow_clients(self):
        """One client sends no complete head, another does not read its answer of 10 MB. The line of the slow request names
        the phase."""
        server = self.serve("--read-deadline", "0.5", "--write-deadline", "0.5", "--slow-request", "0.4")
        sender = self.enterContext(socket.create_connection(("127.0.0.1", server.port)))
        sender.sendall(b"GET /v1 HT")
        reader = self.enterContext(socket.socket())
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", server.port))
        body = json.dumps({"q": [[0.1] * 6] * 100000})
        reader.sendall((HEAD % len(body) + body).encode())
        self.await_metric(server, 'torqued_expired_connections_total{phase="answer"}', 1)
        self.await_metric(server, 'torqued_expired_connections_total{phase="request"}', 1)
        line = self.await_event(server, "slow-request")[-1]
        self.assertEqual((line["status"], line["ended"], line["from"].split(":")[0]), (200, "early", "127.0.0.1"))
        self.assertEqual(max(("read", "queue", "decode", "evaluate", "encode", "send"), key=line.get), "send")
        self.assertGreaterEqual(self.metric(server, 'torqued_slow_requests_total{operation="bias"}'), 1)

    def test_memory_is_exhausted(self):
        server = self.serve("--memory", "8M", "--max-body", "4M", "--max-answer", "4M")
        self.assertEqual(self.metric(server, 'torqued_problems_total{problem="client-memory-full"}'), 0)
        for _ in range(8):
            one = self.enterContext(socket.create_connection(("127.0.0.1", server.port)))
            one.sendall((HEAD % 3000000).encode() + b"[" * 2000000)
        self.await_metric(server, 'torqued_problems_total{problem="client-memory-full"}', 1)
        # at least the bytes of one request are in use; which requests are refused depends on their order
        self.await_metric(server, "torqued_memory_bytes", 2000000)
        self.assertEqual(self.metric(server, "torqued_memory_limit_bytes"), 8 << 20)
        self.assertGreaterEqual(self.metric(server, 'torqued_client_refused_requests_total{from="127.0.0.1"}'), 1)
        server.await_log('"problem":"client-memory-full"')

    def test_too_many_connections(self):
        server = self.serve("--connections", "30", "--client-connections", "10")
        for _ in range(20):
            one = self.enterContext(socket.create_connection(("127.0.0.1", server.port)))
            one.sendall(b"GET /v1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        refused = 'torqued_problems_total{problem="too-many-connections"}'
        give_up = time.monotonic() + PATIENCE
        while True:  # this client has the same address as the others, so that its connection may be refused too
            answer = server.client().get("/metrics")
            found = re.search(rf"^{re.escape(refused)} ([1-9]\d*)$", answer.body.decode(), re.MULTILINE)
            if answer.status == 200 and found:
                break
            self.assertLess(time.monotonic(), give_up, answer)
        self.assertRegex(answer.body.decode(), r'(?m)^torqued_client_refused_requests_total\{from="127\.0\.0\.1"\} [1-9]')

    def test_a_bad_file_of_clients(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = os.path.join(folder, "tokens")
        token, line = make_token("scraper", "observe")
        with open(path, "w") as file:
            file.write(line)
        server, mine = self.serve("--tokens", path), {"authorization": f"Bearer {token}"}
        self.assertEqual(self.metric(server, "torqued_failed_reloads_total", **mine), 0)
        with open(path, "a") as file:
            file.write("nonsense here\n")
        server.reload()
        self.assertEqual(self.metric(server, "torqued_failed_reloads_total", **mine), 1)
        self.assertIn('line 2 has "here"', self.events(server, "not-reloaded")[0]["message"])
        with open(path, "w") as file:
            file.write(line)
        server.reload()
        self.assertGreaterEqual(self.metric(server, "torqued_last_reload_timestamp_seconds", **mine),
                                self.metric(server, "torqued_last_failed_reload_timestamp_seconds", **mine))

    def test_a_token_that_has_expired(self):
        """The log line of the refusal gives the reason why the credential was refused."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = os.path.join(folder, "tokens")
        token, line = make_token("planner", "evaluate")
        with open(path, "w") as file:
            file.write(line.rstrip("\n") + " expires=2020-01-01T00:00:00Z\n")
        server = self.serve("--tokens", path)
        self.assertEqual(server.client().get("/v1", authorization=f"Bearer {token}").status, 401)
        self.assertEqual(server.client().get("/v1", authorization="Bearer wrong").status, 401)
        server.await_log("no client of this server has the token")
        found = self.events(server, "denied")
        self.assertIn("expired", found[0]["reason"])
        self.assertNotIn(token, server.log())

    def test_a_certificate_that_ends(self):
        """The test's certificate expires in 30 days, the one that replaces it in 5: after the reload the metric must show the new date."""
        need("openssl")
        folder = self.enterContext(tempfile.TemporaryDirectory())
        certificates = Certificates(folder)
        server = self.serve(*certificates.arguments(), context=certificates.context())
        expiry = self.metric(server, "torqued_certificate_expiry_seconds")
        self.assertAlmostEqual(expiry - time.time(), 30 * 86400, delta=3600)
        self.assertEqual(self.events(server, "certificate-ends"), [])
        subprocess.run(["openssl", "x509", "-in", "server.pem", "-signkey", "server.key", "-days", "5", "-out", "next.pem"], cwd=folder,
                       check=True, capture_output=True)
        os.rename(os.path.join(folder, "next.pem"), certificates.path("server.pem"))
        server.context = certificates.context()
        server.reload()
        self.assertIn("replace the file and reload", self.await_event(server, "certificate-ends")[0]["message"])
        self.assertAlmostEqual(self.metric(server, "torqued_certificate_expiry_seconds") - time.time(), 5 * 86400, delta=3600)

    def test_a_log_whose_reader_has_stopped(self):
        """The server continues to answer, and counts the log lines that it had to drop."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "socket")
            process = subprocess.Popen([BINARY, "--listen", f"127.0.0.1:0,unix:{path}", "--store", folder, *MODELS], stderr=writer)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            os.close(writer)
            give_up = time.monotonic() + PATIENCE
            lost = 0
            while lost == 0:
                self.assertLess(time.monotonic(), give_up)
                if not os.path.exists(path):
                    time.sleep(0.05)
                    continue
                client = http.client.HTTPConnection("localhost", timeout=PATIENCE)
                client.sock = socket.socket(socket.AF_UNIX)
                client.sock.connect(path)
                for _ in range(500):
                    client.request("GET", "/livez")
                    self.assertIn(client.getresponse().read()[:1], (b"{", b""))
                client.request("GET", "/metrics")
                lost = int(re.search(r"^torqued_lost_log_lines_total (\d+)$", client.getresponse().read().decode(), re.MULTILINE)[1])
                client.close()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(PATIENCE), 0)


if __name__ == "__main__":
    tap.main()
