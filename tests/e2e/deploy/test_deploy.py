"""Tests the service unit, image and manifests of deploy/ against the server that they run: settings, limits, health
checks."""
import json
import os
import re
import socket
import tempfile
import unittest

import tap
import yaml
from access import Certificates, Tokens
from deploy import need, pod, read, run, settings
from harness import BINARY, ROOT, Server, ServerCase

UNITS = {"": 1, "s": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def amount(text):
    """Parses an amount of bytes or seconds with its unit."""
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", text).groups()
    return float(number) * UNITS[unit]


def unit(name):
    """Returns the values of a directive in torqued.service."""
    return re.findall(rf"^{name}=(.*)$", read("torqued.service"), re.MULTILINE)


class Settings(unittest.TestCase):
    def test_the_environment_file_is_made_from_the_table(self):
        """torqued.env is the output of the command that its head names, and all of its lines are comments."""
        text = read("torqued.env")
        head, lines = text.split("\n\n", 1)
        command = re.search(r"torqued (--settings-table.*)", head.replace("\n#", "\n"), re.DOTALL).group(1)
        made = run("bash", "-c", f"'{BINARY}' {command}", check=True).stdout
        self.assertEqual("\n" + lines, made)
        self.assertEqual(len(re.findall("^#TORQUED_", lines, re.MULTILINE)), len(settings()))
        self.assertEqual(re.findall("^[^#\n]", text, re.MULTILINE), [])

    def test_variables_are_the_servers(self):
        for name in ("Containerfile", "torqued.service", "torqued.socket", "realtime.conf", "kubernetes.yaml", "compose.yaml", "nginx.conf", "haproxy.cfg",
                     "nginx-replicas.conf", "README.md", "REALTIME.md"):
            found = set(re.findall(r"TORQUED_[A-Z_]*[A-Z]", read(name)))
            self.assertTrue(found, name)
            self.assertEqual(found - set(settings()), set(), name)

    def test_the_server_takes_what_they_are_given(self):
        set_by_image = re.search(r"^ENV .*$", read("Containerfile"), re.MULTILINE)[0]
        image = dict(re.findall(r"(TORQUED_[A-Z_]+)=(\S+)", set_by_image))
        service = dict(pair.split("=", 1) for pair in " ".join(unit("Environment")).split())
        cluster = {entry["name"]: entry["value"] for entry in pod()["containers"][0]["env"] if "value" in entry}
        with tempfile.TemporaryDirectory() as folder:
            for given in (image, service, {**image, **cluster}):
                given = {name: re.sub("/(run/secrets|run|var/lib)/torqued", folder, value).replace(":8088", ":0").replace(":8087", ":0")
                         for name, value in given.items()}
                # the harness connects to the loopback address
                listen = given["TORQUED_LISTEN"].replace("0.0.0.0", "127.0.0.1")
                context = None
                if "TORQUED_TLS_CERTIFICATE" in given:
                    need("openssl")
                    certificates = Certificates(folder)
                    os.rename(certificates.path("server.key"), given["TORQUED_TLS_KEY"])
                    os.rename(certificates.path("server.pem"), given["TORQUED_TLS_CERTIFICATE"])
                    os.rename(Tokens(folder).path, given["TORQUED_TOKENS"])
                    context = certificates.context(trusted="tls.crt")
                self.assertTrue(given["TORQUED_HEALTH_LISTEN"].endswith(":0"), given)
                server = Server("--listen", listen, environment=given, context=context)
                self.assertEqual(server.client().get("/v1").status, 401 if context else 200)
                self.assertIsNone(server.stop())

    def test_the_image_does_not_start_without_its_secrets(self):
        set_by_image = re.search(r"^ENV .*$", read("Containerfile"), re.MULTILINE)[0]
        given = dict(re.findall(r"(TORQUED_[A-Z_]+)=(\S+)", set_by_image))
        with tempfile.TemporaryDirectory() as folder:
            done = run(BINARY, env={**os.environ, **given, "TORQUED_STORE": folder})
        self.assertEqual(done.returncode, 1)
        self.assertIn("/run/secrets/torqued/tokens of --tokens", done.stderr)

    def test_balancers_are_more_patient(self):
        preset, haproxy, nginx = settings(), read("haproxy.cfg"), read("nginx-replicas.conf")
        for pattern, text, setting in (
                ("timeout http-request +(\\S+)", haproxy, "TORQUED_READ_DEADLINE"),
                ("timeout client +(\\S+)", haproxy, "TORQUED_WRITE_DEADLINE"),
                ("timeout server +(\\S+)", haproxy, "TORQUED_TIMEOUT"),
                ("client_body_timeout +(.*?);", nginx, "TORQUED_READ_DEADLINE"),
                ("proxy_read_timeout +(.*?);", nginx, "TORQUED_TIMEOUT"),
                (" send_timeout +(.*?);", nginx, "TORQUED_WRITE_DEADLINE")):
            with self.subTest(pattern):
                self.assertGreater(amount(re.search(pattern, text)[1]), amount(preset[setting]))
        self.assertEqual(re.search("client_max_body_size +(.*?);", nginx)[1].upper(), preset["TORQUED_MAX_BODY"])
        delay, interval, fall = re.search(r"DRAIN_DELAY=(\d+).*check port 8087 inter (\d+)s .*fall (\d+)", haproxy, re.DOTALL).groups()
        self.assertGreater(int(delay), int(interval) * int(fall))

    def test_limits_of_memory_follow_from_the_settings(self):
        """The server logs the memory that it needs, and would warn if its limit were smaller: with the defaults of --memory and --model-memory,
        for the numbers of threads that machines of 16 cores (the unit), 8 cores (containers) and the pod's 4 cores give."""
        compose = yaml.safe_load(read("compose.yaml"))["x-torqued"]
        container = re.search(r"--memory ([0-9]+)g", read("README.md"))[1] + "G"
        cluster = pod()["containers"][0]
        self.assertEqual(cluster["resources"]["limits"]["cpu"], "4")
        for name, limit, loops, workers in (
                ("torqued.service", unit("MemoryMax")[0], 4, 12), ("README.md", container, 2, 6),
                ("compose.yaml", compose["mem_limit"].upper(), 2, 6), ("kubernetes.yaml", cluster["resources"]["limits"]["memory"], 1, 3)):
            server = Server("--loops", str(loops), "--workers", str(workers))
            needs = next(event["needs"] for event in server.events() if event["event"] == "memory")
            self.assertIsNone(server.stop())
            tls = 0 if name == "torqued.service" else 1024 * (64 << 10)  # TLS needs 64 KiB more for each connection
            self.assertLessEqual(needs + tls, amount(limit), name)
            self.assertGreater(needs, amount("3G"), "TORQUED_MEMORY and TORQUED_MODEL_MEMORY alone are 3G")

    def test_the_outside_is_more_patient_and_roomier(self):
        preset, nginx, container = settings(), read("nginx.conf"), read("README.md")
        for more, less in (
                (unit("TimeoutStopSec")[0], "TORQUED_DRAIN"), (pod()["terminationGracePeriodSeconds"] - 5, "TORQUED_DRAIN"),
                (re.search(r"--stop-timeout ([0-9]+)", container)[1], "TORQUED_DRAIN"),
                (unit("LimitNOFILE")[0], "TORQUED_CONNECTIONS"),
                (re.search("client_body_timeout *(.*?);", nginx)[1], "TORQUED_READ_DEADLINE"),
                (re.search("proxy_send_timeout *(.*?);", nginx)[1], "TORQUED_READ_DEADLINE"),
                (re.search("proxy_read_timeout *(.*?);", nginx)[1], "TORQUED_TIMEOUT"),
                (re.search(" send_timeout *(.*?);", nginx)[1], "TORQUED_WRITE_DEADLINE")):
            with self.subTest(setting=less, outside=more):
                self.assertGreater(amount(str(more)), amount(preset[less]))
        for text in (nginx, read("nginx-replicas.conf")):
            kept = re.search(r"upstream.*?keepalive_timeout *(.*?);", text, re.DOTALL)[1]
            self.assertLess(amount(kept), amount(preset["TORQUED_IDLE_TIMEOUT"]))
        # the defaults in the table of deploy/README.md
        for name, value in re.findall(r"^\| `(TORQUED_[A-Z_]+)` \(([0-9]+)[ GMiBs]*\)", container, re.MULTILINE):
            self.assertEqual(preset[name].rstrip("GM"), value)


class Service(unittest.TestCase):
    def setUp(self):
        need("systemd-analyze")
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = os.path.join(folder, "torqued.service")
        with open(self.path, "w") as file:
            file.write(read("torqued.service").replace("/usr/local/bin/torqued", BINARY))

    def test_systemd_takes_it(self):
        done = run("systemd-analyze", "verify", "--man=no", self.path)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_systemd_takes_the_socket(self):
        """The unit listens on each address that the socket unit passes on."""
        text = read("torqued.socket")
        path = os.path.join(os.path.dirname(self.path), "torqued.socket")
        with open(path, "w") as file:
            file.write(text)
        done = run("systemd-analyze", "verify", "--man=no", path)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        listen = dict(pair.split("=", 1) for pair in " ".join(unit("Environment")).split())["TORQUED_LISTEN"].split(",")
        passed = re.findall("^ListenStream=(.*)$", text, re.MULTILINE)
        self.assertTrue(passed and set(passed) <= set(listen), passed)

    def add_real_time(self):
        """Puts the drop-in file for real time where systemd finds it for the unit; returns its folder."""
        folder = self.path + ".d"
        os.mkdir(folder)
        with open(os.path.join(folder, "realtime.conf"), "w") as file:
            file.write(read("realtime.conf"))
        return folder

    def test_systemd_takes_the_real_time_drop_in(self):
        folder = self.add_real_time()
        done = run("systemd-analyze", "verify", "--man=no", self.path)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        with open(os.path.join(folder, "realtime.conf"), "a") as file:
            file.write("[Service]\nCPUSchedulingPolicy=fast\n")
        self.assertIn("realtime.conf", run("systemd-analyze", "verify", "--man=no", self.path).stderr, "it is read at all")

    def test_exposure(self):
        """systemd rates the exposure of the unit at 1.5 of 10 or less, without and with the drop-in file for real time (deploy/SECURITY.md)."""
        exposure = ("systemd-analyze", "security", "--offline=true", "--threshold=15", self.path)
        for real_time in (False, True):
            if real_time:
                self.add_real_time()
            done = run(*exposure)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, f"{'✗' if real_time else '✓'} RestrictRealtime=", "the drop-in is read")


class HealthCheck(ServerCase):
    arguments = ("--health-listen", "127.0.0.1:0")

    def check(self, port):
        """Runs the HEALTHCHECK command of the image, with another port."""
        text = read("Containerfile")
        command = json.loads(re.search(r"^HEALTHCHECK .*?CMD (\[.*\])$", text, re.MULTILINE)[1])
        self.assertEqual("0.0.0.0:8087", re.search("TORQUED_HEALTH_LISTEN=(\\S+)", text)[1])
        self.assertEqual(command[:4], ["torqued", "healthcheck", "--url", "http://127.0.0.1:8087"])
        return run(BINARY, *command[1:3], f"http://127.0.0.1:{port}", *command[4:]).returncode

    def test_it_tells(self):
        self.server.await_log('"for":"health"')
        address = next(event["address"] for event in self.server.events() if event.get("for") == "health")
        self.assertEqual(self.check(address.split(":")[1]), 0)
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
        self.assertEqual(self.check(port), 1)


if __name__ == "__main__":
    tap.main()
