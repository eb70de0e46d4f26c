"""Tests frames that cannot move along a direction, whose row of the Jacobian contains only rounding errors: a robot
that stays in a plane, and frames on their joints' axes. Holding such a frame changes nothing, and no task can move it."""
import math

import numpy as np
import tap
from contacts import ContactCase

TILT = {"xyz": [0.12, -0.13, 0.64], "rpy": [-1.93, 1.25, 1.65]}
BALL = {"mass": 1.0, "com": [0.1, 0.2, 0.1], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}


def planar():
    """Returns three joints with parallel, tilted axes."""
    links = [{"name": "fix", "parent": "root", "joint": {"name": "jf", "type": "fixed", "origin": TILT}}]
    for i in range(3):
        links.append({"name": f"l{i}", "parent": links[-1]["name"], "inertial": BALL,
                      "joint": {"name": f"j{i}", "type": "revolute", "axis": [0, 0, 1], "origin": {"xyz": [0.3, 0.1, 0]}}})
    return {"base": {"link": "root"}, "links": links}


def spinning():
    """Returns one joint with a frame on its axis."""
    joint = {"name": "j0", "type": "revolute", "axis": [1, 2, 3], "origin": {"xyz": [0.3, 0.2, 0.1], "rpy": [0.3, 0.5, 0.7]}}
    return {"base": {"link": "root"}, "links": [{"name": "l0", "parent": "root", "joint": joint, "inertial": BALL}],
            "frames": [{"name": "f", "link": "l0", "xyz": [0.1, 0.2, 0.3]}]}


def winding():
    """Returns a prismatic joint and a mimic with ratio -1.5e5, which turns about the axis on which its frame lies."""
    slide = {"name": "slide", "type": "prismatic", "axis": [0, 0, 1]}
    turn = {"name": "turn", "type": "revolute", "axis": [0, 0, 1], "origin": {"xyz": [0.3, 0.1, 0.2]}, "mimic": {"joint": "slide", "multiplier": -1.5e5}}
    return {"base": {"link": "root"}, "links": [
        {"name": "fix", "parent": "root", "joint": {"name": "jf", "type": "fixed", "origin": TILT}},
        {"name": "nut", "parent": "fix", "joint": slide, "inertial": BALL}, {"name": "bolt", "parent": "nut", "joint": turn, "inertial": BALL}],
        "frames": [{"name": "head", "link": "bolt", "xyz": [0, 0, 0.7]}]}


class StillFrames(ContactCase):
    CASES = [("planar", [{"frame": "l2", "axes": ["z"], "reference": "frame"}], 3),
             ("planar", [{"frame": "l2", "axes": ["z", "rx", "ry"], "reference": "frame"}], 3),
             ("spinning", [{"frame": "f", "axes": ["x"]}], 1), ("spinning", [{"frame": "f", "axes": ["x", "y", "z"]}], 1),
             ("winding", [{"frame": "head", "axes": ["x", "y"], "reference": "frame"}], 1),
             ("delta", [{"frame": "arm2", "axes": ["z"]}], 3), ("delta", [{"frame": "arm3", "axes": ["x", "y", "z"]}], 3),
             ("allegro_hand", [{"frame": "thumb_base", "axes": ["x", "y"]}], 16)]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("planar", planar()), ("spinning", spinning()), ("winding", winding())):
            cls.client.put(f"/v1/models/{name}", document)

    def state(self, n, seed):
        return {name: [size * (1 + math.sin(seed + 2 * i)) / 2 for i in range(n)]
                for name, size in (("q", 0.4), ("qd", 0.3), ("tau", 0.5))}

    def test_holding_changes_nothing(self):
        for model, held, n in self.CASES:
            for seed in range(8):
                s = self.state(n, seed)
                asked = [("forward-dynamics", s), ("step", {**s, "step": 0.01}), ("step", {**s, "step": 0.01, "impact": True})]
                if model != "delta":
                    asked.append(("forward-sensitivity", s))
                for operation, request in asked:
                    with self.subTest(model=model, held=held, operation=operation, seed=seed):
                        free = self.ask(model, operation, {k: v for k, v in request.items() if k != "impact"})
                        got = self.ask(model, operation, {**request, "held": held})
                        for name in free:
                            most = np.abs(free[name]).max()
                            self.assertLessEqual(np.abs(np.subtract(got[name], free[name])).max(), 1e-11 * max(1, most), name)

    def test_impact_changes_nothing(self):
        for model, held, n in self.CASES:
            s = self.state(n, 5)
            got = self.ask(model, "impact", {"q": s["q"], "qd": s["qd"], "held": held})
            self.assertLessEqual(np.abs(np.subtract(got["qd_after"], s["qd"])).max(), 1e-12)
            self.assertFalse(np.any(got["contact_impulses"]))

    def test_no_task_moves_them(self):
        for model, axes, n in (("spinning", ["x"], 1), ("spinning", ["x", "y", "z"], 1), ("delta", ["z"], 3)):
            frame = "f" if model == "spinning" else "arm2"
            answer = self.client.post(f"/v1/models/{model}/task-space", {"q": self.state(n, 1)["q"], "frame": frame, "axes": axes})
            self.assertEqual(self.assertProblem(answer, 422)["code"], "singular-jacobian")


if __name__ == "__main__":
    tap.main()
