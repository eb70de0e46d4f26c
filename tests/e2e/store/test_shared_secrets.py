"""Tests TLS and passwords of the connection to PostgreSQL: verify-full with the test's own certificate authority, SCRAM
with a password from a file. Log and /readyz name errors, but never a password."""
import os
import re
import shutil
import tempfile
import unittest

import tap
from access import Certificates
from balancers import loopback
from deploy import need
from harness import Server
from postgres import Postgres, await_state, available
from samples import pendulum
from stores import StoreCase

PASSWORD, WRONG = "correct-horse-7", "wrong-staple-8"


class Secret(StoreCase):
    """A PostgreSQL that accepts connections of the user torqued only by TCP with TLS and SCRAM."""

    @classmethod
    def setUpClass(cls):
        need("openssl")
        if not available():
            raise unittest.SkipTest("no postgres here")
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="torqued-secrets-"))
        cls.certificates = Certificates(cls.folder)
        cls.certificates.make_authority("other")
        cls.certificates.make_client("localhost", "database")  # a certificate signed by the authority
        cls.database = Postgres(password_encryption="scram-sha-256")
        cls.addClassCleanup(cls.database.close)
        cls.database.sql(f"CREATE ROLE torqued LOGIN PASSWORD '{PASSWORD}'")
        cls.database.sql("CREATE DATABASE torqued OWNER torqued")
        cls.database.stop()
        cls.demand_tls()
        cls.database.start()

    @classmethod
    def demand_tls(cls):
        data = cls.database.data
        for name in ("database.pem", "database.key"):
            shutil.copy(cls.certificates.path(name), data)
            os.chown(os.path.join(data, name), cls.database.user, -1)
            os.chmod(os.path.join(data, name), 0o600)
        with open(os.path.join(data, "pg_hba.conf"), "w") as file:
            file.write("local all postgres trust\nhostssl torqued torqued 127.0.0.0/8 scram-sha-256\n")
        cls.database.listen = loopback()
        cls.database.settings.update(ssl="on", ssl_cert_file="database.pem", ssl_key_file="database.key")

    def renew(self):
        self.database.sql("DROP SCHEMA IF EXISTS torqued CASCADE", "torqued")
        self.store = self.url()
        done = self.run_command("store", "migrate")
        self.assertEqual(done.returncode, 0, done.stderr)

    def passfile(self, password):
        path = os.path.join(self.enterContext(tempfile.TemporaryDirectory(dir=self.folder)), "passfile")
        with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"*:*:*:*:{password}\n")
        return path

    def url(self, host="localhost", authority="ca", password=PASSWORD, mode="verify-full"):
        return (f"postgresql://torqued@{host}/torqued?sslmode={mode}&sslrootcert={self.certificates.path(authority)}.pem"
                f"&passfile={self.passfile(password)}&hostaddr={self.database.listen}")

    def test_a_server_that_knows_the_secret(self):
        client = self.start()
        self.put("mine", pendulum(), 201)
        uses = "SELECT ssl, version LIKE 'TLSv1._' FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'torqued'"
        self.assertEqual(self.database.sql(uses), "t\tt")
        self.assertEqual(client.get("/readyz").json()["reasons"], [])
        self.restart()
        self.assertEqual(self.client.get("/v1/models/mine").status, 200)
        self.assertNotIn(PASSWORD, self.server.log())
        self.stop()

    def refused(self, said, url, environment=None):
        """Checks that the server does not become ready, and that log and /readyz give the reason without the password."""
        server = Server("--store", url, wait=False, environment=environment)
        self.addCleanup(server.kill)
        await_state(lambda: re.search(said, server.client().get("/readyz").body.decode()), f"/readyz says {said}")
        await_state(lambda: re.search(said, server.log()), f"the log says {said}")
        self.assertEqual(server.client().get("/readyz").status, 503)
        for text in (server.log(), server.client().get("/readyz").body.decode()):
            self.assertNotIn(WRONG, text)
            self.assertNotIn(PASSWORD, text)
        self.assertIsNone(server.stop())

    def test_a_wrong_password(self):
        said = "password authentication failed"
        self.refused(said, self.url(password=WRONG))
        plain = re.sub("&passfile=[^&]*", "", self.url())
        self.refused(said, plain.replace("torqued@", f"torqued:{WRONG}@"))
        self.refused(said, plain + f"&password={WRONG}")
        self.refused(said, plain, environment={"PGPASSFILE": self.passfile(WRONG)})
        self.refused("no password supplied", plain, environment={"PGPASSFILE": "/nowhere"})

    def test_a_password_by_the_environment(self):
        plain = re.sub("&passfile=[^&]*", "", self.url())
        server = Server("--store", plain, environment={"PGPASSFILE": self.passfile(PASSWORD)})
        self.addCleanup(server.kill)
        self.assertEqual(server.client().put("/v1/models/mine", pendulum()).status, 201)
        self.assertIsNone(server.stop())

    def test_a_certificate_that_does_not_fit(self):
        self.refused("certificate verify failed", self.url(authority="other"))
        self.refused("does not match host name", self.url(host="db.example"))
        self.refused("no pg_hba.conf entry", self.url(mode="disable"))


if __name__ == "__main__":
    tap.main()
