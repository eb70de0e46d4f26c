"""Puts SDF files for tests, and compares the model with what libsdformat reads."""
import json
import os
import subprocess
import tempfile

import mujoco
from harness import ROOT, ServerCase

FOLDER = os.path.join(ROOT, "tests", "data", "sdf")
NAMES = sorted(name[:-4] for name in os.listdir(FOLDER) if name.endswith(".sdf"))
ORACLE = os.path.join(mujoco.BUILD, "tests", "oracle", "sdformat")
SKIP = None if os.access(ORACLE, os.X_OK) else "no sdformat here"
EXACT = 1e-10


def read(name):
    with open(os.path.join(FOLDER, name + ".sdf")) as file:
        return file.read()


def rotation(pose):
    x, y, z, w = pose[3:]
    return mujoco.rotation(w, x, y, z)


def apply(R, v):
    return [sum(a * b for a, b in zip(row, v)) for row in R]


def compose(X, Y):
    """Composes two poses (rotation, position)."""
    return mujoco.multiply(X[0], Y[0]), [a + b for a, b in zip(apply(X[0], Y[1]), X[1])]


def inverse(X):
    back = [list(column) for column in zip(*X[0])]
    return back, [-a for a in apply(back, X[1])]


def matrix(pose):
    return rotation(pose), list(pose[:3])


def flat(X):
    return [entry for row in X[0] for entry in row] + list(X[1])


def read_all(texts):
    """Returns the entries that libsdformat reads from each text, None for a text that it refuses, and its error
    messages."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{n}.sdf") for n in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "w") as file:
                file.write(text)
        done = subprocess.run([ORACLE, *paths], capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout), done.stderr


class SdfCase(ServerCase):
    def put_sdf(self, name, text, query=""):
        return self.client.put(f"/v1/models/{name}{query}", text.encode(), Content_Type="application/xml")

    def take_sdf(self, name, text, query=""):
        answer = self.put_sdf(name, text, query)
        self.assertIn(answer.status, (200, 201), answer)
        return answer.json()

    def put_file(self, name, query=""):
        return self.take_sdf(name, read(name), query)


class MeaningCase(SdfCase):
    """Compares poses, inertias and axes with those that libsdformat reads."""

    def theirs(self, text):
        """Returns the entries of links, joints, frames and the world that libsdformat reads."""
        known, errors = read_all([text])
        self.assertIsNotNone(known[0], errors)
        return known[0]

    def ours(self, name, text):
        """Returns the server's poses in the world at q = 0, and the pose of the model, found by its first link."""
        self.take_sdf(name, text, "?base=fixed&mimic=independent")
        about = self.client.get(f"/v1/models/{name}").json()
        q = [1.0 if n.endswith(".qw") else 0.0 for n in about["position_names"]]
        poses = self.ask(name, "kinematics", {"q": q})["poses"]
        return about, q, {n: matrix(p["position"] + p["orientation"]) for n, p in poses.items()}

    def check_poses(self, name, known, poses):
        first = next(entry for entry in known if entry["kind"] == "link")
        X = compose(poses[first["name"]], inverse(matrix(first["pose"])))
        for entry in known:
            if entry["kind"] in ("link", "frame"):
                self.assertClose(flat(poses[entry["name"]]), flat(compose(X, matrix(entry["pose"]))), EXACT, scale=1,
                                 what=f"{name}: {entry['name']}")
        return X

    def check_inertias(self, name, known):
        document = self.client.get(f"/v1/models/{name}/document").json()
        links = {link["name"]: link.get("inertial") for link in document["links"]}
        for entry in known:
            if entry["kind"] != "link":
                continue
            ours = links[entry["name"]] or {"mass": 0}
            self.assertEqual(ours["mass"], entry["mass"])
            self.assertClose(ours.get("com", [0, 0, 0]), entry["com"], EXACT, scale=1)
            tensor = [ours.get("inertia", {}).get(key, 0) for key in ("xx", "xy", "xz", "yy", "yz", "zz")]
            self.assertClose(tensor, entry["inertia"], EXACT, scale=max(entry["inertia"]) or 1, what=entry["name"])

    def check_axes(self, name, known, about, q, X):
        """Checks a joint's column of the Jacobian of the link that it carries: angular velocity, and velocity of that
        link's origin."""
        carried = {joint["name"]: joint["link"] for joint in about["joints"]}
        for entry in known:
            if entry["kind"] != "joint" or not entry["axes"]:
                continue
            parts = [n for n in (entry["name"], entry["name"] + ".1", entry["name"] + ".2") if n in carried]
            joint = compose(X, matrix(entry["pose"]))
            for part, axis in zip(parts, entry["axes"]):
                frame = carried[part]
                answer = self.ask(name, "kinematics", {"q": q, "frame": frame, "outputs": ["jacobian", "poses"]})
                column = [row[about["velocity_names"].index(part)] for row in answer["jacobian"]]
                # the joint `back` has the base as its child, so the server's joint runs from child to parent
                sign = -1 if part == "back" else 1
                u = [sign * a for a in apply(X[0], axis)]
                arm = [a - b for a, b in zip(answer["poses"][frame]["position"], joint[1])]
                turning = mujoco.cross(u, arm)
                kind = next(j["type"] for j in about["joints"] if j["name"] == part)
                pitch = next((j["pitch"] for j in about["joints"] if j["name"] == part and kind == "helical"), 0)
                expected = ([*u, 0, 0, 0] if kind == "prismatic" else
                            [a + pitch * b for a, b in zip(turning, u)] + u)
                self.assertClose(column, expected, EXACT, scale=1, what=f"{name}: {part}")

    def check_text(self, name, text):
        known = self.theirs(text)
        about, q, poses = self.ours(name, text)
        X = self.check_poses(name, known, poses)
        self.check_inertias(name, known)
        self.check_axes(name, known, about, q, X)
        return X
