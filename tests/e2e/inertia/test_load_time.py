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
GREATER = 1.5  # largest allowed ratio of the processor time to one that grows in proportion to the file


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
    """A URDF chain of links with revolute joints, each with an inertia of its own."""
    link = '<link name="l{k}"><inertial><origin xyz="0 0 .05"/><mass value="{m}"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{n}"/><origin xyz="0 0 .1"/><axis xyz="0 {k2} {not_k2}"/></joint>'
    return "<robot name='chain'>" + "".join(link.format(k=k, m=1 + k % 7) for k in range(links)) + "".join(
        joint.format(k=k, n=k + 1, k2=k % 2, not_k2=1 - k % 2) for k in range(links - 1)) + "</robot>"


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
        few, many = put(50), put(400)
        print(f"# chains of 50 and 400 links: {1e3 * few:.2f} and {1e3 * many:.2f} ms")
        self.assertLess(many, 8 * GREATER * few)

    def test_humanoid_of_meshes(self):
        mesh = ellipsoid()
        self.assertGreater(len(mesh), 990_000)
        few, many = archive(MESHES // 8, mesh), archive(MESHES, mesh)

        def put(body, count):
            return self.least(lambda k: self.client.put(f"/v1/models/h{k}", body, Content_Type="application/zip"), count)
        of_few, before = put(few, 5), self.peak()
        of_many = put(many, 3)
        print(f"# humanoids of {MESHES // 8} and {MESHES} meshes of 1 MB: {1e3 * of_few:.1f} and {1e3 * of_many:.1f} ms")
        self.assertLess(of_many, 8 * GREATER * of_few)
        if not SANITIZED:
            self.assertLess(self.peak() - before, 3 * len(many))
        report = self.client.get("/v1/models/h0").json()
        self.assertEqual(report["nv"], MESHES + 6)


if __name__ == "__main__":
    tap.main()
