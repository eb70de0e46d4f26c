"""Tests how long robots take to load, in processor time of the server: panda, and a humanoid whose inertias come from 40 meshes of
1 MB; and how much memory that takes."""
import glob
import io
import math
import os
import struct
import zipfile

import tap
from harness import ROOT, SANITIZED, ServerCase

SLOWER = 20 if SANITIZED else 1
MERIDIANS, PARALLELS, MESHES = 101, 100, 40


def ellipsoid():
    """A closed binary STL of 2 MERIDIANS (PARALLELS - 1) triangles, 1 MB."""
    def point(i, j):
        a, b = 2 * math.pi * (i % MERIDIANS) / MERIDIANS, math.pi * j / PARALLELS
        ring = math.sin(b) if 0 < j < PARALLELS else 0
        return 0.05 * ring * math.cos(a), 0.07 * ring * math.sin(a), 0.1 * math.cos(b)

    faces = [face for j in range(PARALLELS) for i in range(MERIDIANS)
             for face in (((i, j), (i, j + 1), (i + 1, j)), ((i + 1, j), (i, j + 1), (i + 1, j + 1)))
             if len({point(*corner) for corner in face}) == 3]
    return bytes(80) + struct.pack("<I", len(faces)) + b"".join(struct.pack("<12fH", 0, 0, 0, *(x for corner in face for x in point(*corner)), 0)
                                                                for face in faces)


def humanoid():
    """Five limbs of eight links on a free base, each with a mesh of its own."""
    limbs = ""
    for limb in range(5):
        chain = ""
        for k in reversed(range(limb * 8, limb * 8 + 8)):
            chain = f'<body name="b{k}" pos="0 0 .1"><joint name="j{k}" axis="0 {k % 2} {1 - k % 2}"/><geom type="mesh" mesh="m{k}"/>{chain}</body>'
        limbs += chain
    assets = "".join(f'<mesh name="m{k}" file="m{k}.stl"/>' for k in range(MESHES))
    return f'<mujoco><asset>{assets}</asset><worldbody><body name="base"><freejoint/><geom size=".1"/>{limbs}</body></worldbody></mujoco>'


class LoadTime(ServerCase):
    def spent(self):
        """Returns the processor time that all threads of the server have had, in s."""
        total = 0
        for path in glob.glob(f"/proc/{self.server.process.pid}/task/*/schedstat"):
            with open(path) as file:
                total += int(file.read().split()[0])
        return total * 1e-9

    def least(self, put, count):
        """Returns the least processor time of the server for one of several PUTs."""
        spent = []
        for k in range(count):
            before = self.spent()
            answer = put(k)
            self.assertIn(answer.status, (200, 201), answer)
            spent.append(self.spent() - before)
        return min(spent)

    def peak(self):
        """Returns the greatest memory that the server has had, in bytes."""
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

    def test_panda(self):
        with open(os.path.join(ROOT, "models", "panda.json"), "rb") as file:
            text = file.read()
        spent = self.least(lambda k: self.client.put("/v1/models/p", text + b" " * k, Content_Type="application/json"), 10)
        self.assertLess(spent, 0.002 * SLOWER)

    def test_humanoid_of_meshes(self):
        mesh, archive = ellipsoid(), io.BytesIO()
        self.assertGreater(len(mesh), 990_000)
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
            file.writestr("robot.xml", humanoid())
            for k in range(MESHES):
                file.writestr(f"m{k}.stl", mesh)
        body, before = archive.getvalue(), self.peak()
        spent = self.least(lambda k: self.client.put(f"/v1/models/h{k}", body, Content_Type="application/zip"), 3)
        self.assertLess(spent, 0.3 * SLOWER)
        if not SANITIZED:
            self.assertLess(self.peak() - before, 3 * len(body))
        report = self.client.get("/v1/models/h0").json()
        self.assertEqual(report["nv"], MESHES + 6)


if __name__ == "__main__":
    tap.main()
