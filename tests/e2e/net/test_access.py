"""Tests access control: which client may call which path, the refusals that other clients get, and the lines of the audit log."""
import os
import re
import subprocess
import tempfile
import unittest

import tap
from access import ADMIN, MATRIX, PENDULUM, PUBLIC, ROLES, Tokens, make_token, statuses
from harness import BINARY, MODELS, ServerCase


class Roles(ServerCase):
    """Sends every request of MATRIX with every token to one server."""

    @classmethod
    def setUpClass(cls):
        cls.tokens = Tokens(cls.enterClassContext(tempfile.TemporaryDirectory()))
        # by default the log leaves out refusals beyond a rate; here each refusal has a line
        cls.arguments = ("--tokens", cls.tokens.path, "--log-refusals", "1000")
        super().setUpClass()

    def ask(self, who, method, path, body=None, **headers):
        return self.client.request(method, path, body, {**self.tokens.header(who), **headers})

    def audit(self, since, event):
        """Returns the audit lines of one event after the first `since` lines. Waits for a marker, since the log is
        written some milliseconds after the answer."""
        self.client.get(f"/problems/mark-{since}")
        self.server.await_log(f"mark-{since}")
        return [line for line in self.server.events()[since:] if line["level"] == "audit" and line["event"] == event]

    def test_matrix(self):
        for method, path, body, roles, with_role in MATRIX:
            for who in (None, "unknown", "expired", *ROLES):
                with self.subTest(method=method, path=path, who=who):
                    answer = self.ask(who, method, path, body)
                    if who not in ROLES:
                        self.assertEqual(answer.status, 401)
                    elif not roles & ROLES[who]:
                        self.assertEqual(answer.status, 403)
                    else:
                        self.assertIn(answer.status, statuses(with_role))
                        continue
                    if method != "HEAD":
                        code = "unauthorized" if answer.status == 401 else "forbidden"
                        self.assertEqual(self.assertProblem(answer, answer.status)["code"], code)

    def test_challenge(self):
        for who, challenge in ((None, 'Bearer realm="torqued"'),
                               ("unknown", 'Bearer realm="torqued", error="invalid_token"'),
                               ("expired", 'Bearer realm="torqued", error="invalid_token"')):
            self.assertEqual(self.ask(who, "GET", "/v1").headers["WWW-Authenticate"], challenge)
        self.assertIsNone(self.ask("watcher", "GET", "/v1/models").headers["WWW-Authenticate"])

    def test_public_paths(self):
        self.assertEqual(self.ask("boss", "PUT", "/v1/models/secret-arm", PENDULUM).status, 201)
        for path in PUBLIC:
            for who in (None, "unknown", "expired", "watcher"):
                with self.subTest(path=path, who=who):
                    answer = self.ask(who, "GET", path, Accept="text/html")
                    self.assertEqual(answer.status, 200)
                    self.assertNotIn("secret-arm", answer.body.decode("latin-1"))

    def test_forms_of_authorization(self):
        good = self.tokens.token["planner"]
        for text, status in ((f"Bearer {good}", 200), (f"bearer  {good}", 200), (f"BEARER {good} ", 200),
                             (f"Bearer{good}", 401), (good, 401), (f"Basic {good}", 401), ("Bearer", 401),
                             ("Bearer ", 401), (f"Bearer {good}x", 401), (f"Bearer {good[:-1]}", 401),
                             (f"Bearer {good.upper()}", 401), (f"Bearer {good}, Bearer {good}", 401),
                             (f"Bearer {good} {good}", 401), ("", 401)):
            with self.subTest(text=text):
                self.assertEqual(self.client.get("/v1/models", Authorization=text).status, status)

    def test_two_headers_do_not_count(self):
        raw = self.server.socket()
        good = self.tokens.token["planner"]
        raw.send(f"GET /v1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {good}\r\nAuthorization: Bearer {good}\r\n\r\n")
        self.assertEqual(raw.answer().status, 401)
        raw.close()

    def test_a_token_in_a_query_does_not_count(self):
        answer = self.client.get(f"/v1/models?access_token={self.tokens.token['boss']}")
        self.assertEqual(answer.status, 401)

    def test_models_of_a_client(self):
        self.assertIn(self.ask("boss", "PUT", "/v1/models/cell-1", PENDULUM).status, (200, 201))
        listed = [model["name"] for model in self.ok(self.ask("cell", "GET", "/v1/models"))["models"]]
        self.assertEqual(listed, ["cell-1"])
        self.assertGreater(len(self.ok(self.ask("boss", "GET", "/v1/models"))["models"]), 2)
        self.assertEqual(self.ask("cell", "GET", "/v1/models/cell-1").status, 200)
        for method, path in (("GET", "/v1/models/puma560"), ("GET", "/v1/models/nobody"), ("DELETE", "/v1/models/puma560"),
                             ("GET", "/v1/models/%70uma560/document"), ("PUT", "/v1/models/cel")):
            with self.subTest(method=method, path=path):
                problem = self.assertProblem(self.ask("cell", method, path, PENDULUM if method == "PUT" else None), 403)
                self.assertIn("cell-*", problem["detail"])
        self.assertEqual(self.ask("cell", "DELETE", "/v1/models/cell-1").status, 204)

    def test_a_refused_body_is_not_read_into_memory(self):
        """A client without the right to PUT is refused after the head, before it sends its large body."""
        raw = self.server.socket()
        raw.send("PUT /v1/models/big HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n")
        self.assertEqual(raw.answer().status, 401)
        raw.close()

    def test_audit(self):
        since = len(self.server.events())
        first = self.ask("boss", "PUT", "/v1/models/cell-9", PENDULUM).headers["Model-Revision"]
        second = self.ask("cell", "PUT", "/v1/models/cell-9", {**PENDULUM, "gravity": [0, 0, -1]}).headers["Model-Revision"]
        self.ask("boss", "PUT", "/v1/models/cell-9", PENDULUM, **{"If-Match": '"other"'})
        self.ask("boss", "DELETE", "/v1/models/cell-9")
        changes = [[line.get(key) for key in ("method", "model", "client", "status", "before", "after")]
                   for line in self.audit(since, "change")]
        made = [["PUT", "cell-9", "boss", 201, "", first], ["PUT", "cell-9", "cell", 200, first, second],
                ["DELETE", "cell-9", "boss", 204, second, ""]]
        self.assertEqual([change for change in changes if change[3] < 300], made)
        self.assertEqual([change for change in changes if change not in made], [["PUT", "cell-9", "boss", 412, "", ""]])
        for line in self.audit(since, "change"):
            self.assertRegex(line["from"], r"^127\.0\.0\.1:[0-9]+$")
            self.assertTrue(line["id"])

    def test_audit_of_refusals(self):
        since = len(self.server.events())
        self.ask(None, "GET", "/v1/models/puma560")
        self.ask("expired", "DELETE", "/v1/models/puma560")
        self.ask("planner", "DELETE", "/v1/models/puma560")
        refused = [[line.get(key) for key in ("method", "target", "client", "status", "problem")]
                   for line in self.audit(since, "denied")]
        self.assertEqual(refused, [["GET", "/v1/models/puma560", None, 401, "unauthorized"],
                                   ["DELETE", "/v1/models/puma560", "former", 401, "unauthorized"],
                                   ["DELETE", "/v1/models/puma560", "planner", 403, "forbidden"]])

    def test_no_token_in_the_log(self):
        self.ask("boss", "GET", "/v1")
        self.ask("unknown", "GET", "/v1")
        self.client.get(f"/v1/models?access_token={self.tokens.token['boss']}&x=torqued_")
        self.audit(len(self.server.events()), "denied")
        log = self.server.log()
        self.assertIn("/v1/models?access_token=torqued_***&x=torqued_***", log)
        for token in self.tokens.token.values():
            self.assertNotIn(token[-64:], log)

    def test_origins_may_send_a_token(self):
        self.assertEqual(self.ask("boss", "OPTIONS", "/v1/models/x").status, 204)


class Command(unittest.TestCase):
    """Tests the command `torqued token`."""

    def test_token_and_line(self):
        token, line = make_token("a.b-c", "evaluate,observe", "--days", "30", "--models", "x*,y")
        self.assertRegex(token, r"^torqued_[0-9a-f]{64}$")
        self.assertRegex(line, r"^a\.b-c evaluate,observe sha256:[0-9a-f]{64} expires=20..-..-..T..:..:..Z models=x\*,y\n$")
        self.assertNotEqual(make_token("a", "admin")[0], token)

    def test_misuse(self):
        for arguments in ((), ("a",), ("a", "root"), ("a b", "admin"), ("a", "admin", "--days"), ("a", "admin", "--days", "0"),
                          ("a", "admin", "--days", "1x"), ("a", "admin", "--models", "[a]"), ("a", "admin", "--else", "1")):
            with self.subTest(arguments=arguments):
                done = subprocess.run([BINARY, "token", *arguments], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertTrue(done.stderr.startswith("torqued: "), done.stderr)

    def test_no_line_no_token(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([BINARY, "token", "a", "admin"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("torqued_", done.stderr)

    def test_a_bad_file_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tokens")
            with open(path, "w") as file:
                file.write("boss root sha256:00\n")
            done = subprocess.run([BINARY, "--listen", "127.0.0.1:0", "--tokens", path, *MODELS], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'cannot use the file {path} of --tokens: line 1 has "root" where it needs roles', done.stderr)


class Open(ServerCase):
    """Without access control every client may do everything, and changes are in the audit log."""

    def test_changes_are_audited(self):
        self.put_model("mine", PENDULUM)
        self.server.await_log('"event":"change"')
        self.assertEqual(self.client.delete("/v1/models/mine").status, 204)
        self.assertEqual(self.client.get("/v1/models", Authorization="Bearer x").status, 200)


if __name__ == "__main__":
    tap.main()
