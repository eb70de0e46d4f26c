"""Tests that the processor time of loading a robot grows no faster than its file: chains of links, and humanoids whose inertias
come from meshes of 1 MB each; and how much memory that takes."""
import glob
import io
import math
import struct
import zipfile

import tap
from harness import SANITIZED, ServerCase

MERIDIANS, PARALLELS, MESHES = 101, 100, 40
GREATER = 1.5  # ratio of the processor time to that in proportion to the file


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


def chain(links):
    """An MJCF chain of links with hinges, each with an inertia of its own."""
    return "<mujoco><worldbody>" + "".join(
        f'<body name="b{k}" pos="0 0 .1"><inertial mass="{1 + k % 7}" pos="0 0 .05" diaginertia=".1 .1 .1"/><joint name="j{k}" axis="0 {k % 2} {1 - k % 2}"/>'
        for k in range(links)) + "</body>" * links + "</worldbody></mujoco>"


def humanoid(meshes):
    """Limbs of up to eight links on a free base, each link with a mesh of its own."""
    limbs = ""
    for limb in range(0, meshes, 8):
        links = ""
        for k in reversed(range(limb, min(limb + 8, meshes))):
            links = f'<body name="b{k}" pos="0 0 .1"><joint name="j{k}" axis="0 {k % 2} {1 - k % 2}"/><geom type="mesh" mesh="m{k}"/>{links}</body>'
        limbs += links
    assets = "".join(f'<mesh name="m{k}" file="m{k}.stl"/>' for k in range(meshes))
    return f'<mujoco><asset>{assets}</asset><worldbody><body name="base"><freejoint/><geom size=".1"/>{limbs}</body></worldbody></mujoco>'


def archive(meshes, mesh):
    """A zip file of a humanoid and its meshes, all of the same bytes."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as file:
        file.writestr("robot.xml", humanoid(meshes))
        for k in range(meshes):
            file.writestr(f"m{k}.stl", mesh)
    return whole.getvalue()


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

    def test_chains(self):
        def put(links):
            text = chain(links).encode()
            return self.least(lambda k: self.client.put("/v1/models/c", text + b" " * k, Content_Type="application/xml"), 8)
        self.assertLess(put(400), 8 * GREATER * put(50))

    def test_humanoid_of_meshes(self):
        mesh = ellipsoid()
        self.assertGreater(len(mesh), 990_000)
        few, many = archive(MESHES // 8, mesh), archive(MESHES, mesh)

        def put(body, count):
            return self.least(lambda k: self.client.put(f"/v1/models/h{k}", body, Content_Type="application/zip"), count)
        of_few, before = put(few, 5), self.peak()
        self.assertLess(put(many, 3), 8 * GREATER * of_few)
        if not SANITIZED:
            self.assertLess(self.peak() - before, 3 * len(many))
        report = self.client.get("/v1/models/h0").json()
        self.assertEqual(report["nv"], MESHES + 6)


if __name__ == "__main__":
    tap.main()
