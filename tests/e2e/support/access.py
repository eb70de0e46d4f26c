"""Makes clients with tokens or certificates for the tests of access control: `torqued token`, the file of --tokens, and
the table of roles that each path requires."""
import os
import re
import ssl
import subprocess

from harness import BINARY

PENDULUM = {"links": [{"name": "rod", "parent": "base", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0]},
                       "inertial": {"solid": "box", "size": [0.1, 0.1, 1], "mass": 2, "xyz": [0, 0, -0.5]}}]}


def make_token(name, roles, *options):
    """Runs `torqued token` and returns the token and its line for the file of --tokens."""
    made = subprocess.run([BINARY, "token", name, roles, *options], check=True, capture_output=True, text=True)
    return made.stderr.strip(), made.stdout


class Tokens:
    """A file of --tokens with one client for each role, one client that has expired and one with patterns of model
    names. `token` maps the client's name to its token."""

    def __init__(self, folder, *further_lines):
        self.path = os.path.join(folder, "tokens")
        self.token, self.lines = {}, list(further_lines)
        for name, roles, *options in (("planner", "evaluate"), ("boss", "admin"), ("watcher", "observe"),
                                      ("cell", "admin", "--models", "cell-*")):
            self.add(name, roles, *options)
        self.token["expired"], line = make_token("former", "admin", "--days", "1")
        self.lines.append(re.sub(r"expires=\S+", "expires=2020-01-01T00:00:00Z", line))
        self.token["unknown"], _ = make_token("stranger", "admin")
        self.write()

    def add(self, name, roles, *options):
        self.token[name], line = make_token(name, roles, *options)
        self.lines.append(line)

    def remove(self, name):
        self.lines = [line for line in self.lines if not line.startswith(name + " ")]

    def write(self):
        with open(self.path + ".new", "w") as file:
            file.writelines(line if line.endswith("\n") else line + "\n" for line in self.lines)
        os.rename(self.path + ".new", self.path)

    def header(self, name):
        return {"Authorization": f"Bearer {self.token[name]}"} if name else {}


EVALUATE, ADMIN, OBSERVE = 1, 2, 4
ROLES = {"planner": EVALUATE, "boss": ADMIN, "watcher": OBSERVE}

# Each row: method, path, body, the roles that are allowed, and the status of the answer to these roles. A repeated request gets the same status.
MATRIX = [
    ("GET", "/v1", None, EVALUATE | ADMIN | OBSERVE, 200),
    ("HEAD", "/v1", None, EVALUATE | ADMIN | OBSERVE, 200),
    ("GET", "/metrics", None, OBSERVE | ADMIN, 200),
    ("GET", "/v1/models", None, EVALUATE | ADMIN, 200),
    ("GET", "/v1/models/puma560", None, EVALUATE | ADMIN, 200),
    ("HEAD", "/v1/models/puma560", None, EVALUATE | ADMIN, 200),
    ("GET", "/v1/models/puma560/document", None, EVALUATE | ADMIN, 200),
    ("GET", "/v1/models/puma560/export/urdf", None, EVALUATE | ADMIN, 200),
    ("GET", "/v1/models/nobody", None, EVALUATE | ADMIN, 404),
    ("POST", "/v1/models/puma560/mass-matrix", {"q": [0] * 6}, EVALUATE | ADMIN, 200),
    ("POST", "/v1/models/puma560/evaluate", {"q": [0] * 6, "operations": {"bias": {}}}, EVALUATE | ADMIN, 200),
    ("POST", "/v1/models/nobody/mass-matrix", {"q": [0]}, EVALUATE | ADMIN, 404),
    ("PUT", "/v1/models/mine", PENDULUM, ADMIN, (200, 201)),
    ("DELETE", "/v1/models/mine", None, ADMIN, (204, 404)),
]
PUBLIC = ["/", "/docs", "/livez", "/readyz", "/openapi.json", "/problems/forbidden", "/favicon.ico", "/THIRD_PARTY.txt", "/document",
          "/document.css", "/document.schema.json", "/clients", "/clients/torqued.js"]


def statuses(expected):
    return expected if isinstance(expected, tuple) else (expected,)


class Certificates:
    """Certificates in a folder, made by openssl: one of the server, one of a certificate authority, and those of
    clients signed by that authority."""

    def __init__(self, folder):
        self.folder = folder
        self.make_server()
        self.make_authority("ca")

    def path(self, name):
        return os.path.join(self.folder, name)

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=self.folder)

    def _self_signed(self, subject, name, *options):
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
                      f"/CN={subject}", "-keyout", f"{name}.new-key", "-out", f"{name}.new", *options)
        os.rename(self.path(f"{name}.new-key"), self.path(f"{name}.key"))
        os.rename(self.path(f"{name}.new"), self.path(f"{name}.pem"))

    def make_server(self):
        self._self_signed("localhost", "server", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")

    def make_authority(self, name):
        self._self_signed(name, name)

    def make_client(self, subject, name, authority="ca", *options, days="30"):
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={subject}",
                      "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
                      "-CAcreateserial", "-days", days, "-out", f"{name}.pem", *options)

    def arguments(self, client_ca=None):
        given = ["--tls-certificate", self.path("server.pem"), "--tls-key", self.path("server.key")]
        return given + (["--tls-client-ca", self.path(client_ca)] if client_ca else [])

    def context(self, client=None, trusted="server.pem"):
        """Returns the SSLContext of a client that trusts the server's certificate and shows the certificate `client`,
        or none."""
        context = ssl.create_default_context(cafile=self.path(trusted))
        if client:
            context.load_cert_chain(self.path(f"{client}.pem"), self.path(f"{client}.key"))
        return context
