"""Tests compose.yaml of deploy/: the file is valid, the files that it names exist, and its services agree on addresses,
ports, names and secrets."""
import os
import re
import shutil
import tempfile
import unittest

import tap
import yaml
from deploy import DEPLOY, PATH, need, pod, read, run, settings
from harness import Server


def parts(volume):
    """Splits a volume into its source, its mount point and its mode."""
    source, place, *mode = volume.split(":")
    return source, place, "".join(mode)


class Compose(unittest.TestCase):
    def setUp(self):
        self.compose = yaml.safe_load(read("compose.yaml"))
        self.services = self.compose["services"]
        self.replicas = {name: service for name, service in self.services.items() if name.startswith("replica")}

    def folder(self):
        """Copies deploy/ to a temporary folder and makes new secrets there, owned by the user of the test."""
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-e2e-"))
        copy = os.path.join(folder, "deploy")
        shutil.copytree(DEPLOY, copy, ignore=shutil.ignore_patterns("secrets"))
        programs = os.path.join(folder, "bin")
        os.mkdir(programs)
        with open(os.path.join(programs, "chown"), "w") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(file.name, 0o755)
        need("openssl")
        made = run("sh", "compose/secrets.sh", cwd=copy, env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        return copy, re.search("administrator: (\\S+)", made.stdout)[1]

    def test_docker_compose_takes_it(self):
        need("docker-compose")
        checked = run("docker-compose", "-f", os.path.join(DEPLOY, "compose.yaml"), "config", "-q")
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
        with tempfile.TemporaryDirectory() as folder:
            wrong = os.path.join(folder, "compose.yaml")
            with open(wrong, "w") as file:
                file.write(read("compose.yaml").replace("healthcheck:", "healthchecks:"))
            self.assertNotEqual(run("docker-compose", "-f", wrong, "config", "-q").returncode, 0)

    def test_what_is_mounted_exists(self):
        folder, _ = self.folder()
        for name, service in self.services.items():
            for source, place, mode in map(parts, service["volumes"]):
                if source.startswith("./"):
                    self.assertTrue(os.path.exists(os.path.join(folder, source)), f"{source} of {name}")
                    self.assertEqual(mode, "ro", source)
                else:
                    self.assertIn(source, self.compose["volumes"])

    def test_what_is_named_exists(self):
        for name, service in self.services.items():
            for other in service.get("depends_on", {}):
                self.assertIn(other, self.services, name)
            for network in service.get("networks", []):
                self.assertIn(network, self.compose["networks"], name)
            shared = service.get("network_mode", "service:haproxy").split(":")[1]
            self.assertIn(shared, self.services)
            if name != "migrate":
                self.assertTrue("healthcheck" in service or "build" in service, f"{name} has a health check, or its image has")
        for address in re.findall(r"[a-z0-9.]+:\d+", read("compose/prometheus.yml") + read("compose/grafana-source.yml")):
            self.assertIn(address.split(":")[0], [*self.services, "127.0.0.1"], address)
        where = {parts(volume)[1]: parts(volume)[0] for volume in self.services["prometheus"]["volumes"]}
        for path in re.findall(r"file: (/etc/prometheus/\w[\w.]*)", read("compose/prometheus.yml")):
            self.assertIn(path, where)

    def test_haproxy_knows_the_replicas(self):
        haproxy = read("haproxy.cfg")
        servers = dict(re.findall(r"^    server (\w+) (\S+):8443$", haproxy, re.MULTILINE))
        self.assertEqual(servers, {name: replica["networks"]["torqued"]["ipv4_address"] for name, replica in self.replicas.items()})
        for replica in self.replicas.values():
            given = replica["environment"]
            self.assertEqual(given["TORQUED_TRUSTED_PROXY"], self.services["haproxy"]["networks"]["torqued"]["ipv4_address"])
            self.assertIn(":8443+proxy", given["TORQUED_LISTEN"])
            self.assertNotIn("TORQUED_HEALTH_LISTEN", given, "the image has it")
        self.assertIn(" check port 8087 ", haproxy)
        self.assertIn("TORQUED_HEALTH_LISTEN=0.0.0.0:8087 ", read("Containerfile"))
        places = [place for _, place, _ in map(parts, self.services["haproxy"]["volumes"])]
        for path in set(re.findall(r"/etc/haproxy/\S+\.pem", haproxy)):
            self.assertIn(path, places)

    def test_times_and_sizes(self):
        preset = settings()
        self.assertLessEqual(set(settings_of(self.replicas["replica1"])), set(preset))
        for replica in self.replicas.values():
            given = {**preset, **replica["environment"]}
            together = float(given["TORQUED_DRAIN"]) + float(given["TORQUED_DRAIN_DELAY"])
            self.assertGreater(float(replica["stop_grace_period"].rstrip("s")), together)
            self.assertEqual((given["TORQUED_MEMORY"], replica["mem_limit"]), ("2G", "4g"))
            self.assertTrue(replica["read_only"])
            self.assertEqual(replica["image"], pod()["containers"][0]["image"])

    def test_the_secrets_fit(self):
        """A server starts with the generated tokens and certificate; pgpass and the password of PostgreSQL have the
        same content."""
        folder, token = self.folder()
        secret = lambda name: os.path.join(folder, "secrets", name)
        with open(secret("torqued/pgpass")) as entry, open(secret("postgres.password")) as password:
            self.assertEqual(entry.read(), f"postgres:5432:torqued:torqued:{password.read()}\n")
        server = Server("--tokens", secret("torqued/tokens"))
        self.addCleanup(server.kill)
        with open(secret("prometheus.token")) as file:
            observer = file.read()
        for bearer, path, status in ((token, "/v1/models", 200), (observer, "/metrics", 200), (observer, "/v1/models", 403),
                                     ("torqued_0", "/v1/models", 401)):
            self.assertEqual(server.client().get(path, Authorization=f"Bearer {bearer}").status, status, path)
        for name in ("torqued.internal", "replica1", "replica2", "replica3"):
            checked = run("openssl", "verify", "-CAfile", secret("ca.crt"), "-verify_hostname", name, secret("torqued/tls.crt"))
            self.assertEqual(checked.returncode, 0, checked.stderr)
        again = run("sh", "compose/secrets.sh", cwd=folder)
        self.assertEqual((again.returncode, again.stdout), (1, ""))

    def test_haproxy_takes_the_secrets(self):
        need("haproxy")
        folder, _ = self.folder()
        text = re.sub("(?m)^    (user|group) haproxy$", "", read("haproxy.cfg"))
        for source, place, _ in map(parts, self.services["haproxy"]["volumes"]):
            text = text.replace(place, os.path.join(folder, source))
        with open(os.path.join(folder, "checked.cfg"), "w") as file:
            file.write(text)
        checked = run("haproxy", "-dW", "-c", "-f", file.name, env={**os.environ, "PATH": PATH})
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_prometheus_takes_its_configuration(self):
        need("promtool")
        checked = run("promtool", "check", "config", "--syntax-only", os.path.join(DEPLOY, "compose", "prometheus.yml"))
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


def settings_of(service):
    return [name for name in service["environment"] if name.startswith("TORQUED_")]


if __name__ == "__main__":
    tap.main()
