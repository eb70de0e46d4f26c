"""Tests nginx with deploy/nginx.conf in front of a live server, over TLS and a Unix socket."""
import http.server
import json
import os
import pwd
import re
import socket
import socketserver
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import cbor2
import tap
from deploy import PATH, need, read, run
from harness import PATIENCE, Server
from peers import Client
from samples import ASK, PUMA, slider

# The main configuration that includes nginx.conf. nginx runs as the user of the tests, who owns its folders.
AROUND = """
daemon off; pid pid; error_log error.log warn; {user} events {{}}
http {{
    access_log off; gzip on; gzip_types *;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
    include site.conf;
}}
"""


class TlsClient(Client):
    def __init__(self, port, context):
        super().__init__(port, PATIENCE)
        self.connection = http.client.HTTPSConnection("localhost", port, timeout=PATIENCE, context=context)


class Proxy:
    """nginx with the site of deploy/nginx.conf, with other paths, another port and a certificate of the test."""

    def __init__(self, folder):
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.certificate = self.make_certificate()
        site = re.sub(r"listen \[::\]:443.*", "", read("nginx.conf"))
        for old, new in (("listen 443", f"listen 127.0.0.1:{self.port}"), ("/run/torqued/socket", f"{folder}/socket"),
                         ("/etc/torqued/", f"{folder}/"), ("/var/log/nginx/", f"{folder}/")):
            assert old in site, old
            site = site.replace(old, new)
        user = f"user {pwd.getpwuid(0).pw_name};" if os.getuid() == 0 else ""
        for name, text in (("site.conf", site), ("nginx.conf", AROUND.format(user=user))):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        self.command = ["nginx", "-p", folder, "-e", "error.log", "-c", "nginx.conf"]
        self.process = None

    def make_certificate(self):
        path = os.path.join(self.folder, "certificate.pem")
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
            os.path.join(self.folder, "key.pem"), "-out", path, check=True)
        return path

    def start(self):
        self.process = subprocess.Popen(self.command, env={**os.environ, "PATH": PATH})
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port)).close()
            except OSError:
                if time.monotonic() > give_up or self.process.poll() is not None:
                    raise
                time.sleep(0.02)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(PATIENCE)

    def client(self):
        return TlsClient(self.port, ssl.create_default_context(cafile=self.certificate))

    def url(self, path):
        return f"https://localhost:{self.port}{path}"

    def log(self):
        with open(os.path.join(self.folder, "torqued.log")) as log:
            return [json.loads(line) for line in log]


class ProxyCase(unittest.TestCase):
    def setUp(self):
        need("nginx", "openssl")
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-e2e-"))
        self.proxy = Proxy(self.folder)
        self.proxy.start()
        self.addCleanup(self.proxy.stop)
        self.client = self.proxy.client()
        self.addCleanup(self.client.close)


class Served(ProxyCase):
    def setUp(self):
        super().setUp()
        self.start_server()

    def start_server(self):
        self.server = Server("--listen", f"127.0.0.1:0,unix:{self.folder}/socket", "--max-body", "8M")
        self.addCleanup(self.server.kill)

    def test_the_same_answers(self):
        direct = self.server.client()
        for accept in ("application/json", "application/cbor"):
            for given, encode in (("application/json", lambda x: json.dumps(x).encode()),
                                  ("application/cbor", cbor2.dumps)):
                body = encode(PUMA)
                wanted, found = (c.post(ASK, body, Content_Type=given, Accept=accept) for c in (direct, self.client))
                self.assertEqual((found.status, found.body), (200, wanted.body))
                for name in ("Content-Type", "Content-Length", "Model-Revision"):
                    self.assertEqual(found.headers[name], wanted.headers[name], name)
        direct.close()

    def test_names_of_requests(self):
        self.assertEqual(self.client.get("/v1", Request_Id="a-name-of-ours").headers["Request-Id"], "a-name-of-ours")
        chosen = self.client.get("/v1/models").headers["Request-Id"]
        give_up = time.monotonic() + PATIENCE
        while [entry["id"] for entry in self.proxy.log()] != ["a-name-of-ours", chosen]:
            self.assertLess(time.monotonic(), give_up, self.proxy.log())
            time.sleep(0.1)  # nginx buffers its log lines for a second

    def test_large_bodies_and_answers(self):
        """A body of 4 MB and an answer of 30 MB pass completely, and nginx writes none of it to the disk."""
        rows = {"q": [PUMA["q"]] * 30_000, "outputs": ["tau", "joint_wrenches"]}
        self.assertEqual(self.client.post(ASK, rows).body, self.server.client().post(ASK, rows).body)
        with open(os.path.join(self.folder, "error.log")) as log:
            self.assertNotIn("buffered to a temporary file", log.read())

    def test_compression_is_the_servers(self):
        rows = {"q": [PUMA["q"]] * 1000}
        plain = self.client.post(ASK, rows)
        self.assertIsNone(plain.headers["Content-Encoding"])
        packed = self.client.post(ASK, rows, Accept_Encoding="zstd")
        self.assertEqual(packed.headers["Content-Encoding"], "zstd")
        self.assertLess(len(packed.body), len(plain.body))
        dense = self.client.post(ASK, rows, Accept="application/cbor", Accept_Encoding="gzip")
        self.assertIsNone(dense.headers["Content-Encoding"])

    def test_conditional_requests(self):
        tag = self.client.get("/v1/models/puma560").headers["ETag"]
        self.assertEqual(self.client.get("/v1/models/puma560", If_None_Match=tag).status, 304)
        self.assertEqual(self.client.post(ASK, PUMA, If_Match='"another"').status, 412)

    def test_too_large_is_said_by_the_server(self):
        """The server refuses a body beyond its limit, announced or chunked, and the client receives the answer although
        it is still sending."""
        body = os.path.join(self.folder, "large")
        with open(body, "w") as file:
            file.write(" " * (20 << 20))
        for version in ("--http1.1", "--http2"):
            for length in ("X-Nothing: 1", "Transfer-Encoding: chunked"):
                done = run("curl", "-sS", version, "--cacert", self.proxy.certificate, "-H", "Expect:", "-H", length,
                           "-H", "Content-Type: application/json", "--data-binary", f"@{body}", self.proxy.url(ASK))
                self.assertEqual(json.loads(done.stdout)["code"], "body-too-large", done.stderr)

    def test_both_versions_of_http(self):
        for version, name in (("--http1.1", "1.1"), ("--http2", "2")):
            done = run("curl", "-sS", version, "--cacert", self.proxy.certificate, "-w", "%{http_version} %{http_code}",
                       "-o", os.devnull, self.proxy.url("/v1"))
            self.assertEqual(done.stdout, f"{name} 200", done.stderr)

    def test_who_may_change_models(self):
        """By deploy/nginx.conf clients at 127.0.0.1 may change models; clients at 127.0.0.2 may only read and evaluate."""
        self.assertEqual(self.client.put("/v1/models/mine", slider()).status, 201)
        other = self.proxy.client()
        other.connection.source_address = ("127.0.0.2", 0)
        for method in ("PUT", "DELETE"):
            for path in ("/v1/models/mine", "/v1/models/%6dine", "//v1/models/mine", "/v1/models/mine/."):
                self.assertEqual(other.request(method, path, slider()).status, 403, path)
        refused = other.delete("/v1/models/mine")
        self.assertEqual((refused.status, refused.json()["status"]), (403, 403))
        self.assertEqual(refused.headers["Content-Type"], "application/problem+json")
        self.assertEqual(other.get("/v1/models/mine").status, 200)
        self.assertEqual(other.post("/v1/models/mine/inverse-dynamics", {"q": [0], "qdd": [1]}).json(), {"tau": [1]})
        self.assertEqual(self.client.delete("/v1/models/mine").status, 204)
        other.close()

    def test_a_server_that_is_away_for_a_while(self):
        self.assertEqual(self.client.get("/readyz").status, 200)
        self.assertIsNone(self.server.stop())
        gone = self.client.post(ASK, PUMA)
        self.assertEqual((gone.status, gone.json()["status"], gone.headers["Retry-After"]), (503, 503, "1"))
        self.assertEqual(gone.headers["Content-Type"], "application/problem+json")
        self.start_server()
        self.assertEqual(self.client.post(ASK, PUMA).status, 200)


class Recorder(http.server.BaseHTTPRequestHandler):
    """A server that records its connections and requests."""
    protocol_version = "HTTP/1.1"

    def setup(self):
        self.server.connections += 1
        super().setup()

    def do_GET(self):
        self.server.asked.append((self.path, self.headers))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Passed(ProxyCase):
    def setUp(self):
        super().setUp()
        self.server = socketserver.ThreadingUnixStreamServer(os.path.join(self.folder, "socket"), Recorder)
        self.server.connections, self.server.asked, self.server.daemon_threads = 0, [], True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def test_connections_are_kept(self):
        """nginx keeps one connection to the server for clients that connect and disconnect one after the other."""
        for _ in range(20):
            client = self.proxy.client()
            self.assertEqual(client.get("/v1").status, 200)
            client.close()
        self.assertEqual((len(self.server.asked), self.server.connections), (20, 1))

    def test_paths_and_headers_as_sent(self):
        for path in ("/v1/models/a%2fb", "/v1//models/x/%41", "/v1/models/x/../y?a=%20&b"):
            self.client.get(path, Accept="application/cbor;q=0.5", Request_Timeout="3", If_None_Match='"x"')
            asked, headers = self.server.asked.pop()
            self.assertEqual(asked, path)
            self.assertIsNone(headers["Connection"])
            for name, value in (("Accept", "application/cbor;q=0.5"), ("Request-Timeout", "3"),
                                ("If-None-Match", '"x"'), ("Host", "localhost")):
                self.assertEqual(headers[name], value)


if __name__ == "__main__":
    tap.main()
