"""Tests SIGHUP: which settings of the file of --config take effect, which need a restart, and that a reload with an error
leaves everything as it was."""
import os
import re
import signal
import tempfile
import threading
import time
import unittest

import tap
from access import PENDULUM, Certificates, Tokens
from harness import PATIENCE, Server, ServerCase


class Settings:
    """A file of --config."""

    def __init__(self, folder, **lines):
        self.path = os.path.join(folder, "settings.env")
        self.write(**lines)

    def write(self, **lines):
        with open(self.path, "w") as file:
            file.write("# settings of a test\n\n" + "".join(f"TORQUED_{name}={value}\n" for name, value in lines.items()))


class ReloadCase(ServerCase):
    lines = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.settings = Settings(cls.folder, **cls.lines)
        cls.arguments = (*cls.arguments, "--config", cls.settings.path)
        super().setUpClass()

    def reload(self, **lines):
        """Writes the file, reloads, and returns the events of the log since then."""
        since = len(self.server.events())
        self.settings.write(**{**self.lines, **lines})
        self.server.reload()
        return self.server.events()[since:]

    def named(self, events, kind):
        return {event["name"]: event for event in events if event["event"] == kind}


class Reload(ReloadCase):
    lines = {"MAX_ROWS": "100", "TIMEOUT": "30"}

    def setUp(self):
        self.reload()

    def limits(self):
        return self.client.get("/v1").json()["limits"]

    def test_the_file_is_read_at_the_start(self):
        self.assertEqual((self.limits()["rows"], self.limits()["timeout"]), (100, 30))

    def test_limits_change(self):
        ask = ("/v1/models/two_link/mass-matrix", {"q": [[0.1, 0.2]] * 5})
        self.assertEqual(self.client.post(*ask).status, 200)
        events = self.reload(MAX_ROWS="4", TIMEOUT="20", MAX_BODY="1M", MAX_ANSWER="2M", MAX_NESTING="9", MAX_MODELS="50",
                             MAX_LINKS="12")
        self.assertEqual(self.client.post(*ask).json()["code"], "too-many-rows")
        limits = self.limits()
        self.assertEqual([limits[name] for name in ("rows", "timeout", "body", "answer", "nesting", "models", "links")],
                         [4, 20, 1 << 20, 2 << 20, 9, 50, 12])
        told = self.named(events, "setting")
        self.assertEqual(set(told), {"max-rows", "timeout", "max-body", "max-answer", "max-nesting", "max-models", "max-links"})
        self.assertEqual((told["max-rows"]["before"], told["max-rows"]["after"]), ("100", "4"))
        reloaded = [event for event in events if event["event"] == "reloaded"]
        self.assertEqual([(event["level"], event["settings"]) for event in reloaded], [("audit", 7)])
        self.assertEqual(self.client.request("PUT", "/v1/models/x", b"x" * (2 << 20)).status, 413)

    def test_models_beyond_a_new_limit_stay(self):
        self.reload(MAX_MODELS="1", MODEL_MEMORY="1M")
        self.assertEqual(self.client.put("/v1/models/one-more", PENDULUM).status, 507)
        self.assertEqual(self.client.get("/v1/models/panda").status, 200)
        self.reload()
        self.assertEqual(self.client.put("/v1/models/one-more", PENDULUM).status, 201)
        self.assertEqual(self.client.delete("/v1/models/one-more").status, 204)

    def test_names_and_origins_change(self):
        host, origin = {"Host": "robots.example"}, {"Origin": "http://console.example"}
        self.assertEqual(self.client.request("GET", "/v1", headers=host).status, 421)
        self.assertNotIn("Access-Control-Allow-Origin", self.client.request("GET", "/v1", headers=origin).headers)
        self.reload(HOST="robots.example", ALLOW_ORIGIN="http://console.example")
        self.assertEqual(self.client.request("GET", "/v1", headers=host).status, 200)
        self.assertIn("Access-Control-Allow-Origin", self.client.request("GET", "/v1", headers=origin).headers)

    def test_clients_are_limited_from_now_on(self):
        self.reload(CLIENT_RATE="1")
        statuses = [self.client.get("/v1").status for _ in range(5)]
        self.assertIn(429, statuses)
        self.reload()
        self.assertEqual({self.client.get("/v1").status for _ in range(5)}, {200})

    def test_the_log_changes(self):
        self.reload(LOG_LEVEL="error")
        self.client.get("/v1/models/panda", Request_Id="below-the-level")
        self.reload(LOG_LEVEL="info")
        self.client.get("/v1/models/panda", Request_Id="above-the-level")
        self.server.await_log("above-the-level")
        self.assertNotIn("below-the-level", self.server.log())

    def test_deadlines_of_waiting_connections_change(self):
        """A connection that is silent when the limit becomes shorter is closed after the new limit."""
        silent = self.server.socket()
        silent.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(silent.answer().status, 200)
        began = time.monotonic()
        self.reload(IDLE_TIMEOUT="0.2")
        self.assertEqual(silent.sock.recv(1), b"")
        self.assertLess(time.monotonic() - began, 15)
        silent.close()
        slow = self.server.socket()
        slow.send("POST /v1/models/two_link/bias HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  "Content-Length: 100\r\n\r\n{")
        time.sleep(0.1)
        self.reload(READ_DEADLINE="0.3")
        self.assertEqual(slow.answer().status, 408)
        slow.close()

    def test_settings_that_need_a_restart_are_named(self):
        events = self.reload(WORKERS="3", MAX_ROWS="5", STORE="postgresql://u:secret@db.example/t", LISTEN="127.0.0.1:1")
        told = self.named(events, "needs-restart")
        # --listen and --store are flags of this server, so their lines have no effect
        self.assertEqual(set(told), {"workers"})
        self.assertEqual((told["workers"]["running"], told["workers"]["given"], told["workers"]["level"]), ("0", "3", "warning"))
        self.assertEqual(set(self.named(events, "setting")), {"max-rows"})
        self.assertEqual([event["needing_restart"] for event in events if event["event"] == "reloaded"], [1])
        again = self.reload(WORKERS="3", MAX_ROWS="5")
        self.assertEqual(set(self.named(again, "needs-restart")), {"workers"}, "named until the restart")
        self.assertEqual(self.named(again, "setting"), {})

    def refused(self, said, **lines):
        before = self.limits(), self.metrics()
        events = self.reload(MAX_ROWS="3", **lines)
        told = [event["message"] for event in events if event["event"] == "not-reloaded"]
        self.assertEqual(len(told), 1, events)
        self.assertIn(said, told[0])
        self.assertIn("goes on with what it has read before", told[0])
        self.assertEqual(self.named(events, "setting"), {})
        self.assertEqual(self.limits(), before[0])
        failed = "torqued_failed_reloads_total"
        self.assertEqual(self.metrics()[failed], before[1][failed] + 1)
        self.assertAlmostEqual(self.metrics()["torqued_last_failed_reload_timestamp_seconds"], time.time(), delta=PATIENCE)

    def metrics(self):
        text = self.client.get("/metrics").text
        return {name: float(value) for name, value in re.findall(r"^(torqued_\w*reload\w*) (\S+)$", text, re.M)}

    def test_a_file_with_an_error_changes_nothing(self):
        path = self.settings.path
        self.refused(f'TORQUED_TIMEOUT in line 4 of {path} is "soon"; expected seconds', TIMEOUT="soon")
        self.refused(f"line 5 of {path}: TORQUED_MAX_BODDY is no setting of torqued (did you mean TORQUED_MAX_BODY?)", MAX_BODDY="1M")
        self.refused(f"TORQUED_MAX_BODY=4G (line 5 of {path}) is above --memory 2G (default)", MAX_BODY="4G")
        self.refused("cannot use the file /nowhere of --tokens: No such file", TOKENS="/nowhere")
        self.refused("--host is", HOST="a:80")
        self.refused("cannot be in the file itself", CONFIG="other")

    def test_a_file_that_is_gone_changes_nothing(self):
        os.rename(self.settings.path, self.settings.path + ".away")
        self.server.reload()
        os.rename(self.settings.path + ".away", self.settings.path)
        self.assertIn(f"cannot use the file {self.settings.path} of --config: No such file", self.server.log())
        self.assertEqual(self.limits()["rows"], 100)

    def test_reloads_are_counted(self):
        before = self.metrics()
        self.reload()
        after = self.metrics()
        self.assertEqual(after["torqued_reloads_total"], before["torqued_reloads_total"] + 1)
        self.assertEqual(after["torqued_failed_reloads_total"], before["torqued_failed_reloads_total"])
        self.assertAlmostEqual(after["torqued_last_reload_timestamp_seconds"], time.time(), delta=PATIENCE)

    def test_access_control_is_switched_on_and_off(self):
        tokens = Tokens(self.folder)
        self.reload(TOKENS=tokens.path)
        self.assertEqual(self.client.get("/v1").status, 401)
        self.assertEqual(self.client.request("GET", "/v1", headers=tokens.header("planner")).status, 200)
        self.reload()
        self.assertEqual(self.client.get("/v1").status, 200)

    def test_changed_clients_are_in_the_audit_log(self):
        tokens = Tokens(self.folder)
        self.reload(TOKENS=tokens.path)
        tokens.remove("watcher")
        tokens.remove("planner")
        tokens.add("planner", "evaluate")
        tokens.add("visitor", "observe")
        tokens.write()
        events = self.reload(TOKENS=tokens.path)
        told = [{key: event[key] for key in ("level", "added", "changed", "removed") if key in event}
                for event in events if event["event"] == "clients"]
        self.assertEqual(told, [{"level": "audit", "added": "visitor"}, {"level": "audit", "changed": "planner"},
                                {"level": "audit", "removed": "watcher"}])
        self.assertEqual([event for event in self.reload(TOKENS=tokens.path) if event["event"] == "clients"], [])

    def test_many_changed_clients_share_lines_without_loss(self):
        path = os.path.join(self.folder, "many")
        names = [f"client-with-a-rather-long-name-{number:04}" for number in range(1500)]
        with open(path, "w") as file:
            file.writelines(f"{name} evaluate sha256:{number:064x}\n" for number, name in enumerate(names))
        events = self.reload(TOKENS=path)
        added = [event["added"] for event in events if event["event"] == "clients"]
        self.assertEqual(" ".join(added).split(), names)
        self.reload()

    def test_no_request_is_lost_while_settings_change(self):
        """Four clients send requests while the settings change: each answer is complete and has one of the two limits."""
        ends, statuses = threading.Event(), []

        def ask():
            client = self.server.client()
            while not ends.is_set():
                statuses.append(client.post("/v1/models/two_link/mass-matrix", {"q": [[0.1, 0.2]] * 5}).status)
            client.close()
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(20):
            self.reload(MAX_ROWS=str(4 + number % 2), QUEUE=str(1 + number), INLINE_LIMIT=str(10 * number))
        ends.set()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(set(statuses), {200, 413})


class Flags(ReloadCase):
    """Flags take precedence over the file, and the file over the environment."""
    lines = {"MAX_ROWS": "100", "MAX_NESTING": "8"}
    arguments = ("--max-rows", "50")

    def setUp(self):
        self.reload()

    def test_a_flag_stays(self):
        events = self.reload(MAX_ROWS="7", MAX_NESTING="9")
        self.assertEqual(set(self.named(events, "setting")), {"max-nesting"})
        self.assertEqual(self.client.get("/v1").json()["limits"]["rows"], 50)

    def test_the_file_goes_before_the_environment(self):
        server = Server("--config", self.settings.path, environment={"TORQUED_MAX_NESTING": "20", "TORQUED_MAX_LINKS": "30"})
        self.addCleanup(server.kill)
        client = server.client()
        limits = client.get("/v1").json()["limits"]
        self.assertEqual((limits["nesting"], limits["links"]), (8, 30))
        client.close()
        self.assertIsNone(server.stop())


class Exposure(unittest.TestCase):
    def test_a_reload_does_not_expose_the_server(self):
        """A server that other machines can reach refuses to start without tokens; a reload to such settings is refused too."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        tokens, certificates = Tokens(folder), Certificates(folder)
        files = {"TLS_CERTIFICATE": certificates.path("server.pem"), "TLS_KEY": certificates.path("server.key")}
        settings = Settings(folder, TOKENS=tokens.path, **files)
        server = Server("--config", settings.path, "--listen", "127.0.0.1:0,0.0.0.0:0", context=certificates.context())
        self.addCleanup(server.kill)
        settings.write(**files)
        server.reload()
        self.assertIn("every client may do everything (no --tokens)", server.log())
        client = server.client()
        self.assertEqual(client.get("/v1").status, 401)
        settings.write(TOKENS=tokens.path)
        server.reload()
        told = [event["name"] for event in server.events() if event["event"] == "needs-restart"]
        self.assertEqual(told, ["tls-certificate", "tls-key"], "TLS is part of the listeners")
        self.assertEqual(client.get("/v1").status, 401)
        client.close()
        self.assertIsNone(server.stop())


class SocketMode(unittest.TestCase):
    def test_permissions_of_a_unix_socket_change(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path, settings = os.path.join(folder, "socket"), Settings(folder, SOCKET_MODE="600")
        server = Server("--config", settings.path, "--listen", f"127.0.0.1:0,unix:{path}")
        self.addCleanup(server.kill)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        settings.write(SOCKET_MODE="666")
        server.reload()
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o666)
        self.assertIsNone(server.stop())
        self.assertFalse(os.path.exists(path))


class Proxies(ReloadCase):
    def test_trusted_proxies_change(self):
        """The client that a proxy names counts only while the proxy is trusted."""
        def asked_from(name):
            self.client.get("/v1", X_Forwarded_For="192.0.2.7", Request_Id=name)
            self.server.await_log(f'"id":"{name}"}}\n')
            return next(event for event in self.server.events() if event.get("id") == name)["from"]
        self.assertTrue(asked_from("before").startswith("127.0.0.1:"))
        self.reload(TRUSTED_PROXY="127.0.0.1")
        self.assertEqual(asked_from("trusted"), "192.0.2.7")
        self.reload()
        self.assertTrue(asked_from("after").startswith("127.0.0.1:"))


if __name__ == "__main__":
    tap.main()
