"""Tests transmissions whose motors drive one joint each against the same models with rotors and friction at the joints:
all operations have the same answers. Arms, mechanisms with closed loops, floating bases."""
import copy

import numpy as np
import tap
from arrays import flatten
from closed import bundled
from harness import ServerCase

RATIOS = (1.0, 0.02, -0.5, 3.0)  # rates of joints for unit rates of their motors
FRICTION = {"viscous": 0.3, "coulomb": {"positive": 0.2, "negative": 0.3}, "coulomb_velocity": 0.05}
STRIBECK = {**FRICTION, "breakaway": {"positive": 0.3, "negative": 0.5}, "stribeck_velocity": 0.4}
ROTOR = 0.07
COEFFICIENTS = ["tau_a", "tau_b", "tau_c", "tau_d", "dtau_a_ds", "dtau_b_ds", "dtau_c_ds", "dtau_d_ds"]
# Joints of the transmissions; the third joint of five_bar is passive.
JOINTS = {"panda": ["panda_joint2", "panda_joint1", "panda_joint3"], "five_bar": ["right", "left", "left_elbow"], "delta": ["motor2", "motor1"],
          "solo12": ["FL_KFE", "FL_HAA", "FL_HFE"], "humanoid": ["lumbar_pitch", "lumbar_roll", "chest_yaw"]}
HOME = {"five_bar": [2, 1.1], "delta": [0.4] * 3}
HELD = {"panda": [{"frame": "panda_flange", "axes": ["x", "z"]}], "solo12": [{"frame": "FR_FOOT", "axes": ["x", "y", "z"]}],
        "humanoid": [{"frame": "left_sole"}]}


def at_rate(friction, ratio):
    """Returns the friction of a motor that acts like `friction` at a joint with rate = ratio x motor's rate."""
    scale = {"viscous": ratio * ratio, "coulomb_velocity": 1 / abs(ratio), "stribeck_velocity": 1 / abs(ratio)}
    sides = ("negative", "positive") if ratio < 0 else ("positive", "negative")
    return {name: {key: abs(ratio) * value[side] for key, side in zip(("positive", "negative"), sides)}
            if isinstance(value, dict) else scale[name] * value for name, value in friction.items()}


def pair(document, names, permuted):
    """Returns a model with rotors and friction at the joints `names`, and the equivalent models with a transmission."""
    plain = copy.deepcopy(document)
    joints = {link["joint"].get("name", link["name"]): link["joint"] for link in plain["links"] if "joint" in link}
    frictions = [FRICTION, STRIBECK, FRICTION]
    for name in names:
        for field in ("rotor_inertia", "friction"):
            joints[name].pop(field, None)
    coupled = copy.deepcopy(plain)
    n = len(names)
    matrix, motors = np.zeros((n, n)), [None] * n
    for i, (name, friction) in enumerate(zip(names, frictions)):
        joints[name].update(rotor_inertia=ROTOR, friction=friction)
        k, ratio = ((i + 1) % n, RATIOS[i + 1]) if permuted else (i, 1.0)
        matrix[i, k] = ratio
        motors[k] = {"name": f"m{k}", "rotor_inertia": ROTOR * ratio * ratio, "friction": at_rate(friction, ratio)}
    coupled["transmissions"] = [{"joints": names, "matrix": matrix.tolist(), "motors": motors}]
    return plain, coupled


class TransmissionEquality(ServerCase):
    TOLERANCE = 1e-12

    def same(self, models, operation, request, what="", tolerance=TOLERANCE):
        plain, *coupled = (self.ask(model, operation, request) for model in models)
        for answer in coupled:
            self.assertEqual(answer.keys(), plain.keys())
            for name, value in plain.items():
                self.compare(answer[name], value, tolerance, f"{models[0]} {operation} {what} {name}")

    def compare(self, got, expected, tolerance, what):
        if isinstance(expected, dict):
            for name, value in expected.items():
                self.compare(got[name], value, tolerance, f"{what}.{name}")
        elif isinstance(expected, list) and expected and isinstance(expected[0], dict):
            for one, other in zip(got, expected):
                self.compare(one, other, tolerance, what)
        elif isinstance(expected, (list, float, int)):
            size = max((abs(x) for x in flatten(expected)), default=0)
            self.assertClose(got, expected, tolerance, scale=max(1, size), what=what)
        else:
            self.assertEqual(got, expected, what)

    def cases(self):
        """Yields the three models of each robot, a state, and the numbers of coordinates."""
        for name, joints in JOINTS.items():
            document = bundled(name)
            models = [name + "-plain", name + "-identity", name + "-permuted"]
            for model, one in zip(models, (*pair(document, joints, False), pair(document, joints, True)[1])):
                self.put_model(model, one)
            info = self.ok(self.client.get(f"/v1/models/{models[0]}"))
            choose, nq, nv = np.random.default_rng(5), info["nq"], info["nv"]
            q = np.array(HOME.get(name, [0] * nq), dtype=float) + choose.uniform(-0.3, 0.3, nq)
            if nq > nv:
                q[3:7] /= np.linalg.norm(q[3:7])
            rows = {key: choose.uniform(-1, 1, nv).tolist() for key in ("qd", "qdd", "qddd", "tau", "multipliers")}
            yield name, models, {"q": q.tolist(), **rows}, nv

    def test_states(self):
        for name, models, s, nv in self.cases():
            at, motion = {key: s[key] for key in ("q", "qd")}, {key: s[key] for key in ("q", "qd", "qdd")}
            driven, rates = {**at, "tau": s["tau"]}, {**motion, "qddd": s["qddd"]}
            loops = name in HOME
            for operation, request in (
                    ("inverse-dynamics", motion), ("forward-dynamics", driven), ("mass-matrix", {"q": s["q"]}),
                    ("bias", {**at, "outputs": ["bias", "friction"]}), ("energy", at), ("coriolis", at),
                    ("sensitivity", motion), ("forward-sensitivity", driven), ("torque-derivative", rates),
                    ("step", {**driven, "step": 1e-3, "integrator": "explicit_euler"}),
                    ("step", {**driven, "step": 1e-3, "integrator": "rk4"}),
                    ("step", {**driven, "step": 1e-3, "integrator": "implicit_euler"}),
                    ("path", {**motion, "qddd": s["qddd"], "friction": not loops, "outputs": COEFFICIENTS}),
                    ("rollout", {**at, "torques": [s["tau"]] * 3, "step": 1e-3, "integrator": "rk4"}),
                    *(() if loops else (
                        ("hessian", {**motion, "multipliers": s["multipliers"]}),
                        ("forward-hessian", {**driven, "multipliers": s["multipliers"]})))):
                self.same(models, operation, request, request.get("integrator", ""))

    def test_held_frames(self):
        for name, models, s, nv in self.cases():
            if name not in HELD:
                continue
            at, held = {key: s[key] for key in ("q", "qd")}, {"held": HELD[name]}
            driven = {**at, "tau": s["tau"], **held}
            for operation, request in (
                    ("forward-dynamics", driven), ("forward-sensitivity", driven), ("impact", {**at, **held}),
                    ("step", {**driven, "step": 1e-3, "integrator": "semi_implicit_euler"}),
                    ("step", {**driven, "step": 1e-3, "integrator": "semi_implicit_euler", "impact": True}),
                    ("task-space", {"q": s["q"], "frame": HELD[name][0]["frame"]})):
                self.same(models, operation, request, "held", 1e-11)

    def test_motions(self):
        """With a tolerance, rounding errors change the step sizes: the motions differ by a few times the tolerance."""
        for name, models, s, nv in self.cases():
            choose = np.random.default_rng(9)
            loops = name in HOME
            points = np.array(HOME.get(name, [0] * nv)) + choose.uniform(-0.2, 0.2, (6, nv))
            motion = {"degree": 4, "duration": 0.8, "samples": 3, "control_points": points.tolist()}
            gradients = ["dtau_dcontrol_points", "dtau_dduration", "dtau_dot_dcontrol_points"]
            self.same(models, "trajectory", {**motion, "outputs": ["tau", "tau_dot", *gradients[:2 if loops else 3]]})
            if name == "panda":
                self.same(models, "trajectory-hessian", {**motion, "torque_multipliers": [s["multipliers"]] * 3})
            for how, off in (({"integrator": "rk4", "step": 1e-3}, 1e-12), ({"integrator": "dopri5", "tolerance": 1e-9}, 1e-7),
                             ({"integrator": "esdirk5", "tolerance": 1e-9}, 1e-7)):
                self.same(models, "simulate", {"q": s["q"], "qd": s["qd"], "duration": 0.02, "samples": 3, **how},
                          how["integrator"], off)

    def test_other_operations(self):
        for name, models, s, nv in self.cases():
            motion = {key: s[key] for key in ("q", "qd", "qdd")}
            free = self.ok(self.client.get(f"/v1/models/{models[0]}"))["velocity_names"][0]
            pushed = {**motion, "qdd": [0, *s["qdd"][1:]], "tau": [s["tau"][0]] + [0] * (nv - 1), "free": [free]}
            self.same(models, "inverse-dynamics", pushed, "free")
            if name == "panda":
                self.same(models, "margins", {**motion, "qddd": s["qddd"], "outputs": [
                    "margins", "dmargins_dq", "dmargins_dqd", "dmargins_dqdd"]})
                self.same(models, "feed-forward", {**motion, "qddd": s["qddd"]})
            if name in ("humanoid", "solo12"):
                feet = [{"link": self.ok(self.client.get(f"/v1/models/{models[0]}"))["links"][-1]}]
                self.same(models, "ground-reaction", {**motion, "feet": feet, "outputs": ["resultant", "foot_wrenches", "tau"]})
                self.same(models, "inverse-dynamics", {**pushed, "free": "base", "qdd": [0] * 6 + s["qdd"][6:],
                                                       "tau": s["tau"][:6] + [0] * (nv - 6)}, "base")


if __name__ == "__main__":
    tap.main()
