"""Tests the TypeScript client of api/clients/typescript: built with its lock file, its tests compiled strictly and run
against a server, its samples run. Skipped where npm is absent or cannot fetch the packages."""
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

import postgres
import tap
from access import Certificates, Tokens
from client_samples import CLIENTS, SampleCase
from harness import BINARY, ROOT, Server
from relay import Relay
from samples import PUMA, pendulum

BUILD = os.environ.get("BUILD", "build")
FOLDER = os.path.join(ROOT, BUILD, "typescript")


def version():
    with open(os.path.join(ROOT, "Makefile")) as file:
        return re.search(r"^VERSION := (\S+)", file.read(), re.MULTILINE)[1]


CHANGES = """
import {Torqued} from 'torqued';
const client = new Torqued(process.argv[2]), document = JSON.parse(process.argv[3]);
let seen = 0;
for (let mass = 1; mass <= 10; mass++) {
    document.links[0].inertial.mass = mass;
    const {revision} = await client.putModel('mine', document);
    seen += (await client.model('mine')).revision === revision ? 1 : 0;
}
console.log(seen);
"""


class Page:
    """An HTTP server of the compiled client and a page that puts the torques of one state into its title."""
    TEXT = """<!doctype html><title>nothing yet</title>
<script type="importmap" nonce="x">{"imports": {"torqued": "/dist/torqued.js", "cbor-x": "/node_modules/cbor-x/index.js"}}</script>
<script type="module" nonce="x">
let evaluates = true;
try { new Function(''); } catch { evaluates = false; }
import('torqued').then(({Torqued}) => new Torqued('SERVER').evaluate('puma560', 'inverse-dynamics', PUMA))
    .then(({tau}) => { document.title = (evaluates ? 'eval ' : 'tau ') + [...tau].join(','); }, error => { document.title = String(error); });
</script>"""

    def __init__(self):
        page = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=FOLDER)

            def do_GET(self):
                if self.path != "/":
                    return super().do_GET()
                text = page.TEXT.replace("SERVER", page.connect).replace("PUMA", json.dumps(PUMA)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Security-Policy",
                                 f"default-src 'none'; script-src 'self' 'nonce-x'; connect-src {page.connect}")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # harness.py looks for 127.0.0.1 to find the server's address
        self.url = f"http://localhost:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class TypeScript(SampleCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        built = subprocess.run([os.path.join(CLIENTS, "typescript", "build"), version()], capture_output=True, text=True,
                               timeout=300, env={**os.environ, "BUILD": BUILD})
        cls.failure = (built.stdout + built.stderr).strip() if built.returncode != 0 else None

    def setUp(self):
        if self.failure and self.failure.startswith(("no npm here", "npm cannot install")):
            self.skipTest(self.failure.replace("\n", " "))
        self.assertIsNone(self.failure)

    def test_copied_folder(self):
        """A copy of the folder without the rest of the tree can be built from the contract of a running server, to the same client."""
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "copy")
            shutil.copytree(os.path.join(CLIENTS, "typescript"), copy)
            os.symlink(os.path.join(FOLDER, "node_modules"), os.path.join(copy, "node_modules"))
            self.output("npm", "run", "build", cwd=copy)
            for name in os.listdir(os.path.join(FOLDER, "dist")):
                with open(os.path.join(copy, "dist", name)) as built, open(os.path.join(FOLDER, "dist", name)) as expected:
                    self.assertEqual(built.read(), expected.read(), name)

    def test_client(self):
        test = os.path.join(FOLDER, "test")
        shutil.rmtree(test, ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "tests", "e2e", "clients", "typescript"), test)
        self.output(os.path.join(FOLDER, "node_modules", ".bin", "tsc"), cwd=test)
        with tempfile.TemporaryDirectory() as folder:
            tokens = Tokens(folder)
            guarded = Server("--tokens", tokens.path)
            self.addCleanup(guarded.kill)
            said = self.output("node", "--test", "--test-reporter=tap", os.path.join(test, "out", "client.test.js"),
                               environment={"TORQUED_GUARDED": guarded.url(), "TORQUED_PLANNER": tokens.token["planner"]})
        self.assertRegex(said, r"# pass [89]")
        self.assertIn("# skipped 0", said)

    def test_changes_are_seen_everywhere(self):
        """Two servers share a database, and a balancer sends each request to the next one: the client sends the number
        of its last change."""
        if not postgres.available():
            self.skipTest("no postgres here")
        program = os.path.join(FOLDER, "samples", "changes.mjs")
        with open(program, "w") as file:
            file.write(CHANGES)
        database = postgres.Postgres()
        self.addCleanup(database.close)
        self.output(BINARY, "store", "migrate", "--store", database.url())
        servers = [Server("--store", database.url()) for _ in range(2)]
        for server in servers:
            self.addCleanup(server.kill)
        relay = Relay(servers)
        self.addCleanup(relay.close)
        self.assertEqual(self.output("node", program, relay.url, json.dumps(pendulum())), "10\n")
        relay.check()

    def test_samples(self):
        samples = os.path.join(FOLDER, "samples")
        self.check_one(self.output("node", "one.mjs", self.server.url(), cwd=samples))
        self.check_batch(self.output("node", "batch.mjs", self.server.url(), cwd=samples))

    @unittest.skipUnless(shutil.which("openssl"), "no openssl here")
    def test_over_tls(self):
        """A program works with a token and trust in the server's certificate, and fails without either."""
        program = os.path.join(FOLDER, "samples", "over_tls.mjs")
        with open(program, "w") as file:
            file.write("import {Torqued} from 'torqued';\n"
                       "const client = new Torqued(process.argv[2], process.env.TOKEN ? {token: process.env.TOKEN} : {});\n"
                       f"const {{tau}} = await client.evaluate('puma560', 'inverse-dynamics', {json.dumps(PUMA)});\n"
                       "console.log(tau.join(','));\n")
        with tempfile.TemporaryDirectory() as folder:
            certificates, tokens = Certificates(folder), Tokens(folder)
            guarded = Server("--tokens", tokens.path, *certificates.arguments(), context=certificates.context())
            self.addCleanup(guarded.kill)
            trust = {"NODE_EXTRA_CA_CERTS": certificates.path("server.pem")}
            token = {"TOKEN": tokens.token["planner"]}
            self.check_one(self.output("node", program, guarded.url(), environment={**trust, **token}))
            for missing in (trust, token):
                done = subprocess.run(["node", program, guarded.url()], env={**os.environ, **missing}, capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, "credential|certificate")

    def test_in_a_browser(self):
        """The client works in Chromium under a Content-Security-Policy without eval, from another origin than the
        server's."""
        chromium = shutil.which("chromium")
        if not chromium:
            self.skipTest("no chromium here")
        page = Page()
        self.addCleanup(page.close)
        server = Server("--allow-origin", page.url)
        self.addCleanup(server.kill)
        page.connect = server.url()
        with tempfile.TemporaryDirectory() as profile:
            dom = self.output(chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                              "--virtual-time-budget=15000", "--dump-dom", page.url + "/")
        found = re.search(r"<title>(.*?)</title>", dom)[1]
        self.assertIn("tau ", found, dom)
        self.check_one(found.removeprefix("tau "))

    def test_the_package_needs_cbor_x_alone(self):
        folder = os.path.join(FOLDER, "installed_package")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "node_modules"))
        self.output("tar", "xzf", os.path.join(FOLDER, f"torqued-{version()}.tgz"), "-C", os.path.join(folder, "node_modules"))
        os.rename(os.path.join(folder, "node_modules", "package"), os.path.join(folder, "node_modules", "torqued"))
        shutil.copytree(os.path.join(FOLDER, "node_modules", "cbor-x"), os.path.join(folder, "node_modules", "cbor-x"))
        shutil.copy(os.path.join(CLIENTS, "typescript", "samples", "one.mjs"), folder)
        self.check_one(self.output("node", "one.mjs", self.server.url(), cwd=folder))


if __name__ == "__main__":
    tap.main()
