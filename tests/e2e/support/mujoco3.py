"""Runs MuJoCo 3.14 under node (the package that tests/oracle/mujoco3 pins) as a reference for MJCF files that only this
version compiles.

`Compiled` is a file as MuJoCo compiles it, in the conventions of mujoco.py. `Agreement` puts a text into the server and
compares the dynamics and the poses of both."""
import json
import os
import subprocess

import mujoco
from harness import ROOT, ServerCase

FOLDER = os.path.join(ROOT, "tests", "oracle", "mujoco3")
INSTALLED = os.path.abspath(os.path.join(ROOT, os.environ.get("BUILD", "build"), "mujoco3"))
FAR = 1e4  # rad or m, outside all limits
LIMIT_JOINT = 3  # MuJoCo's mjCNSTR_LIMIT_JOINT
EXACT = 1e-9  # relative to the largest entry; MuJoCo finds principal axes only to 1e-12 kg m^2


class Peer:
    """The node process that runs MuJoCo; it starts with the first question."""
    process = None

    @classmethod
    def ask(cls, **request):
        if not cls.process:
            cls.process = subprocess.Popen(["node", os.path.join(INSTALLED, "mujoco.mjs")], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, text=True)
        cls.process.stdin.write(json.dumps(request) + "\n")
        cls.process.stdin.flush()
        return json.loads(cls.process.stdout.readline())

    @classmethod
    def close(cls):
        if cls.process:
            cls.process.stdin.close()
            cls.process.stdout.close()
            cls.process.wait()
            cls.process = None


def why_not():
    """Returns the reason why MuJoCo cannot run on this machine, or None."""
    done = subprocess.run([os.path.join(FOLDER, "install")], capture_output=True, text=True, timeout=300)
    return (done.stdout + done.stderr).strip().replace("\n", " ") if done.returncode else None


class Refused(Exception):
    """Raised when MuJoCo refuses a file."""


class Compiled(mujoco.Model):
    def __init__(self, text, **more):
        self.request = {"xml": text, **more}
        answer = self.run()
        self.about, self.rest = answer["about"], answer["states"][0]
        self.types, self.nv = self.about["types"], self.about["nv"]

    def run(self, **more):
        answer = Peer.ask(**self.request, **more)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    def answer(self, states):
        return self.run(states=states)["states"]

    def matrix(self, answer):
        return [answer["mass_matrix"][i * self.nv:(i + 1) * self.nv] for i in range(self.nv)]


class Agreement(ServerCase):
    """Compares models of MJCF texts with MuJoCo, without equalities and contacts."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.reason = why_not()
        cls.addClassCleanup(Peer.close)

    def setUp(self):
        if self.reason and self.reason.startswith(("no npm here", "npm cannot install")):
            self.skipTest(self.reason)
        self.assertIsNone(self.reason)

    def put_text(self, name, text, query="?equality=independent"):
        """Puts a file and returns the report."""
        answer = self.client.put(f"/v1/models/{name}{query}", text.encode(), Content_Type="application/mjcf+xml")
        self.assertIn(answer.status, (200, 201), f"{text}\n{answer}")
        return answer.json()["report"]

    def agree(self, text, name="m", seed=1, count=3):
        """Checks that mass matrix, inverse dynamics and poses agree at random states."""
        report = self.put_text(name, text)
        self.compare(Compiled(text), name, seed, count)
        return report

    def compare(self, model, name, seed=1, count=3, tolerance=EXACT):
        drawn = mujoco.states(model, count, seed)
        converted = [model.convert(state) for state in drawn]
        ours = self.ask(name, "evaluate", {"q": [s[0] for s in converted], "qd": [s[1] for s in converted],
                                           "qdd": [s[2] for s in converted],
                                           "operations": {"mass-matrix": {}, "inverse-dynamics": {}, "kinematics": {}}})
        for k, (state, theirs) in enumerate(zip(drawn, model.answer(drawn))):
            turn = model.columns(state)
            M = mujoco.multiply(mujoco.multiply(turn, ours["mass-matrix"]["mass_matrix"][k]), list(zip(*turn)))
            self.assertClose(M, model.matrix(theirs), tolerance, what=f"{name}: mass matrix")
            loss = [c * ((v > 0) - (v < 0)) for c, v in zip(model.about["frictionloss"], converted[k][1])]
            tau = mujoco.apply(turn, ours["inverse-dynamics"]["tau"][k])
            self.assertClose(tau, [sum(terms) for terms in zip(theirs["inverse"], loss, theirs["tendon_loss"])], tolerance,
                             scale=self.size(model, theirs, state), what=f"{name}: inverse dynamics")
            self.compare_poses(model, theirs, ours["kinematics"]["poses"], k, tolerance)
        self.compare_limits(model, name)

    def compare_limits(self, model, name):
        """Compares the ranges of hinges and slides. Far outside all ranges, MuJoCo has a limit constraint for each
        joint whose range is active."""
        document = self.client.get(f"/v1/models/{name}/document").json()
        limits = {link["joint"]["name"]: link["joint"].get("limits", {}).get("position") for link in document.get("links", [])}
        far, held, first = list(model.about["qpos0"]), 0, 0
        for i, (joint, kind) in enumerate(zip(model.about["joints"], model.types)):
            if kind in (mujoco.SLIDE, mujoco.HINGE):
                far[first] = FAR
                if limits.get(joint):
                    self.assertClose(limits[joint], model.about["ranges"][2 * i:2 * i + 2], 1e-14, what=f"range of {joint}")
                    held += 1
            first += mujoco.POSITIONS[kind]
        if all(model.about["joints"]):
            rows = model.run(states=[[far, [0.0] * model.nv, [0.0] * model.nv]], constraints=True)["states"][0]
            self.assertEqual(held, rows["constraint_types"].count(LIMIT_JOINT))

    def size(self, model, theirs, state):
        """Returns the largest term in the sum of inverse dynamics, as the scale of errors: the sum itself may be nearly
        zero."""
        inertial = mujoco.apply(model.matrix(theirs), state[2])
        return max(map(abs, (*theirs["inverse"], *theirs["bias"], *theirs["passive"], *inertial)))

    def compare_poses(self, model, theirs, poses, k, tolerance):
        names = model.about["bodies"]
        for i, body in enumerate(names):
            if body not in poses or body == "world":
                continue
            self.assertClose(poses[body]["position"][k], theirs["xpos"][3 * i:3 * i + 3], tolerance, scale=1,
                             what=f"position of {body}")
            x, y, z, w = poses[body]["orientation"][k]
            self.assertClose(mujoco.rotation(w, x, y, z), mujoco.rotation(*theirs["xquat"][4 * i:4 * i + 4]), tolerance,
                             scale=1, what=f"orientation of {body}")
        for i, site in enumerate(model.about["sites"]):
            if site in poses and site not in names:
                self.assertClose(poses[site]["position"][k], theirs["site_xpos"][3 * i:3 * i + 3], tolerance, scale=1,
                                 what=f"position of site {site}")
