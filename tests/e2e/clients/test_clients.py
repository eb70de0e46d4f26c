"""Tests HTTP clients that keep their connections, one client after the other and many at the same time."""
import http.client
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import tap
from harness import PATIENCE, ServerCase
from samples import ASK, PUMA, QN, branched
from threads import in_threads

FOLDER = os.path.dirname(os.path.abspath(__file__))
PUBLISHED = "32.49524275, 60.86698848, 17.74359491, 1.454519026, 1.299110411, 0.7137808875"


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
        out = self.curl("-T", "-", "-H", "Content-Type: application/json", self.server.url("/v1/models/up"),
                        data=document)
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
        for body, status in ((json.dumps(PUMA), 200), ("{", 400), ('{"q":[1]}', 422), (json.dumps(PUMA), 200)) * 20:
            connection.request("POST", ASK, body)
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, status)
            self.assertEqual(connection.sock.getsockname()[1], port)
        connection.close()

    def test_a_hundred_thousand_states_in_one_request(self):
        """A batch of 100 000 states of seven joints in JSON, with the default settings of the server."""
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
    @unittest.skipUnless(shutil.which("node"), "no node here")
    def test_fetch(self):
        done = subprocess.run(["node", "--test", "--test-reporter=tap", os.path.join(FOLDER, "clients.mjs")],
                              env={**os.environ, "TORQUED_URL": self.server.url()}, capture_output=True,
                              timeout=6 * PATIENCE)
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
        """Requests of one state get correct answers while batches of 20 000 states are evaluated; prints how long the small requests wait."""
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


if __name__ == "__main__":
    tap.main()
