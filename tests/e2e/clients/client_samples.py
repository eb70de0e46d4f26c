"""Expected output of the samples in api/clients, in any language: the torques of one state, and of 10 000 states as
CSV. Tests compare it bit for bit with the server's JSON answer to the same states."""
import os
import platform
import subprocess

from harness import PATIENCE, ROOT, ServerCase
from samples import ASK, PUMA

CLIENTS = os.path.join(ROOT, "api", "clients")
ROWS = 10_000
FROM = [0, -0.5, 0, -2, 0, 1.5, 0.5]
TO = [1, 0.5, -0.5, -1, 0.5, 2, -0.5]


def motion():
    """Returns the request of the batch samples. The samples compute the motion with the same operations in the same
    order, hence with the same bits."""
    q, qd, qdd = [], [], []
    for i in range(ROWS):
        s = i / 9999
        ways = [b - a for a, b in zip(FROM, TO)]
        q.append([a + way * (s * s * s * (10 + s * (6 * s - 15))) for a, way in zip(FROM, ways)])
        qd.append([way * (30 * s * s * (1 - s) * (1 - s) / 2) for way in ways])
        qdd.append([way * (60 * s * (1 - s) * (1 - 2 * s) / 4) for way in ways])
    return {"q": q, "qd": qd, "qdd": qdd}


class SampleCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one = cls.client.post(ASK, PUMA).json()["tau"]
        cls.batch = cls.client.post("/v1/models/panda/inverse-dynamics", motion()).json()["tau"]

    def output(self, *command, cwd=None, environment=None):
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=6 * PATIENCE,
                              env={**os.environ, "TORQUED_URL": self.server.url(), **(environment or {})})
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-4000:])
        return done.stdout

    def check_one(self, printed):
        self.assertEqual([float(text) for text in printed.split(",")], self.one)

    def check_batch(self, printed):
        head, *lines = printed.splitlines()
        self.assertEqual(head, "t,tau1,tau2,tau3,tau4,tau5,tau6,tau7")
        rows = [[float(text) for text in line.split(",")] for line in lines]
        self.assertEqual([row[0] for row in rows], [i / 9999 * 2 for i in range(ROWS)])
        torques = [row[1:] for row in rows]
        if platform.machine() == "x86_64":
            self.assertEqual(torques, self.batch)
        else:  # where the compilers of C and Go fuse multiplication and addition, the last bits of the motion differ
            self.assertClose(torques, self.batch, 1e-13)
