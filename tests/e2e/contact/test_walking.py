"""Simulates robots that walk a step: all feet are held, then some are released to swing, then all are held again. The integration methods of
simulate must agree with each other and with rollouts, joints that stick must rest, and accelerations and contact wrenches are those of an
independent solver (friction_solver.py)."""
import numpy as np
import tap
from biped import biped
from closed import bundled
from contacts import AXES
from friction_solver import Friction
from harness import ServerCase
from test_standing import A1, GO1, dog, with_friction
from test_stiction import STICK

RESTS = 1e-9    # rad/s; a joint below this rate counts as at rest
FINE, COARSE, FIXED = {"tolerance": 1e-8}, {"tolerance": 1e-6}, {"step": 4e-3}
DURATIONS = (0.2, 0.3, 2)     # s, durations of the three phases
BEND = {"thigh": 0.8, "calf": -1.6, "hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4, "elbow": -0.5}
GAINS = {"hip": (1500, 60), "knee": (1500, 60), "ankle": (1500, 60), "torso": (800, 40), "lumbar": (800, 40), "chest": (800, 40)}
LEAN = {"left_hip_roll": 0.06, "right_hip_roll": 0.06, "left_ankle_roll": -0.06, "right_ankle_roll": -0.06}
LIFT = {"right_hip_pitch": -0.3, "right_knee": 0.5, "right_ankle_pitch": -0.2}
SWING = {f"{leg}_{part}_joint": shift for leg in ("FR", "RL") for part, shift in (("thigh", 0.4), ("calf", -0.5))}


def with_rotors(document, inertia):
    for link in document["links"]:
        link["joint"]["rotor_inertia"] = inertia
    return document


class Walker:
    """A robot, the frames that it holds in each phase, and the references of its drives."""

    def __init__(self, document, names):
        """`names` are the velocity names of the model."""
        two_legged = "left_sole" in [frame["name"] for frame in document.get("frames", [])]
        self.limits = np.array([self.friction(document, name) for name in names])
        self.names, self.start = names, np.array([next((angle for part, angle in BEND.items() if part in name), 0) for name in names])
        feet = [{"frame": f"{side}_sole"} for side in ("left", "right")] if two_legged else [
            {"frame": f"{leg}_foot", "axes": ["x", "y", "z"]} for leg in ("FR", "FL", "RR", "RL")]
        self.held = [feet, feet[:1] if two_legged else feet[1:3], feet]
        lean = [LEAN.get(name, 0) if two_legged else 0.03 * np.sin(i) for i, name in enumerate(names)]
        lift = [LEAN.get(name, 0) + LIFT.get(name, 0) if two_legged else SWING.get(name, 0) for name in names]
        self.references = [self.start + shift for shift in (lean, lift, lift)]
        other = (60, 3) if two_legged else (40, 1)
        self.gains = np.array([next((gain for part, gain in GAINS.items() if two_legged and part in name), other) for name in names], float)

    @staticmethod
    def friction(document, name):
        coulomb = next(link["joint"]["friction"]["coulomb"] for link in document["links"] if link["joint"]["name"] == name)
        return (-coulomb["negative"], coulomb["positive"]) if isinstance(coulomb, dict) else (-coulomb, coulomb)

    def drive(self, phase):
        kp, kd = ([0] * 6 + column.tolist() for column in self.gains.T)
        return {"controller": "pd_gravity", "kp": kp, "kd": kd, "reference": [0] * 6 + self.references[phase].tolist()}


class Walking(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client = cls.server.client(timeout=120)
        cls.walkers, cls.walked = {}, {}
        for model, document in (("talos", biped()), ("human", with_rotors(with_friction(bundled("humanoid"), 3, 0.5), 0.05)),
                                ("a1", dog(A1)), ("go1", dog(GO1))):
            assert cls.client.put("/v1/models/" + model, document).status == 201
            cls.walkers[model] = Walker(document, cls.client.get("/v1/models/" + model).json()["velocity_names"][6:])

    def phase(self, model, how, phase, q, qd, **more):
        walker = self.walkers[model]
        return self.ask(model, "simulate", {"q": q, "qd": qd, "held": walker.held[phase], "duration": DURATIONS[phase], "samples": 44,
                                            "input": walker.drive(phase), **how, "outputs": [
                                                "q", "qd", "qdd", "tau", "contact_wrenches", "steps"], **more})

    def walk(self, model, how):
        """The answers of the three phases; the feet land without a bounce."""
        key = (model, str(how))
        if key not in self.walked:
            walker = self.walkers[model]
            q = [0, 0, 1, 0, 0, 0, 1, *walker.start]
            first = self.phase(model, how, 0, q, [0] * (len(q) - 1))
            second = self.phase(model, how, 1, first["q"][-1], first["qd"][-1])
            landed = self.ask(model, "impact", {"q": second["q"][-1], "qd": second["qd"][-1], "held": walker.held[2]})["qd_after"]
            self.walked[key] = [first, second, self.phase(model, how, 2, second["q"][-1], landed)]
        return self.walked[key]

    def test_methods_agree(self):
        """Simulations with error control and with fixed steps must reach the same position after each phase, and rest at the end."""
        for model in self.walkers:
            fine = self.walk(model, FINE)
            for how, tolerance in ((COARSE, 1e-5), (FIXED, 4e-3)):
                for phase, (a, b) in enumerate(zip(self.walk(model, how), fine)):
                    self.assertLess(np.abs(np.subtract(a["q"], b["q"])).max(), tolerance, f"{model} {how} {phase}")
            for how in (FINE, COARSE, FIXED):
                first, second, third = self.walk(model, how)
                self.assertGreater(np.abs(first["qd"]).max(), 0.1)
                self.assertGreater(np.abs(second["qd"]).max(), 5)
                self.assertLess(np.abs(third["qd"][-1]).max(), RESTS, f"{model} {how}")
                self.assertLess(np.abs(third["qdd"][-1]).max(), RESTS)
                self.assertLess(first["steps"][-1] + second["steps"][-1] + third["steps"][-1], 2000)

    def test_the_lean_moves_the_hips(self):
        """A shift of the weight goes on while joints pass through zero velocity: the pelvis moves aside all the time."""
        for model in ("talos", "human"):
            for how in (COARSE, FIXED):
                a = self.walk(model, how)[0]
                aside = np.array(a["qd"])[3:38, 1]
                self.assertLess(aside.max(), -0.05, f"{model} {how}")
                self.assertLess(np.abs(np.diff(aside)).max(), 0.1)

    def check_states(self, model, a, held):
        """Returns the number of joints that stick, of those that start to move, of states, and of states in which friction determines the
        wrenches: where joints and feet share a load, the friction of least norm is expected."""
        nv, n = len(a["qd"][0]), len(a["q"])
        # A joint that moves at a rate just above RESTS is about to stop, and rounding decides whether it or a coupled joint sticks.
        slow = (np.abs(a["qd"]) > RESTS) & (np.abs(a["qd"]) <= 20 * RESTS)
        qd = np.where((np.abs(a["qd"]) <= RESTS) | slow, 0, a["qd"])
        state = {"q": a["q"], "qd": qd.tolist()}
        free = np.array(self.ask(model, "forward-dynamics", {**state, "tau": a["tau"]})["qdd"])
        mass = np.array(self.ask(model, "mass-matrix", {"q": a["q"]})["mass_matrix"])
        J, drift = [], []
        for entry in held:
            k = self.ask(model, "kinematics", {**state, "frame": entry["frame"], "outputs": ["jacobian", "jacobian_dot"]})
            rows = [AXES.index(axis) for axis in entry.get("axes", AXES)]
            J.append(np.array(k["jacobian"])[:, rows])
            drift.append(np.einsum("nij,nj->ni", np.array(k["jacobian_dot"])[:, rows], qd))
        J, drift, counts, alone = np.concatenate(J, 1), np.concatenate(drift, 1), np.zeros(2, int), 0
        limits = self.walkers[model].limits
        for i in range(1, n):   # state 0 is left out: there a joint with a rate below RESTS slides
            rests = np.flatnonzero(qd[i, 6:] == 0)
            W = np.eye(nv)[6 + rests]
            problem = Friction(mass[i], free[i], W, *limits[rests].T, J[i], drift[i])
            f = problem.solve()
            expected, got = problem.accelerations(f), np.array(a["qdd"][i])
            scale = (1000 if slow[i].any() else 1) * (1 + np.abs(expected).max())
            self.assertLess(np.abs(got - expected).max(), 1e-6 * scale, f"{model} {i}")
            l = np.concatenate([[w[AXES.index(x)] for x in e.get("axes", AXES)] for e, w in zip(held, a["contact_wrenches"][i])])
            left = mass[i] @ (free[i] - got) + J[i].T @ l     # the friction of joints at rest
            size = (1000 if slow[i].any() else 1) * (1 + np.abs(mass[i] @ free[i]).max())
            self.assertLess(np.abs(np.delete(left, 6 + rests)).max(), 1e-8 * size, f"{model} {i}")
            if not slow[i].any():
                self.assertLess(problem.residual(left[6 + rests], got), 1e-6, f"{model} {i}")
                self.assertLess(problem.norm(left[6 + rests]), problem.norm(f) * (1 + 1e-4) + 1e-9, f"{model} {i}")
            if np.linalg.svd(problem.Y / np.linalg.norm(problem.free, axis=0), compute_uv=False).min(initial=1) > 1e-3:
                wrenches = np.linalg.lstsq(J[i].T, mass[i] @ (expected - free[i]) + W.T @ f, rcond=1e-10)[0]
                self.assertLess(np.abs(l - wrenches).max(), 1e-5 * size, f"{model} {i}")
                alone += 1
            moves = np.abs(got[6 + rests]) > 1e-8 * scale
            counts += (~moves).sum(), moves.sum()
        return np.array([*counts, n - 1, alone])

    def test_against_an_independent_solver(self):
        """More than 500 states along the motions."""
        states = 0
        for model, walker in self.walkers.items():
            sticks = sum(self.check_states(model, a, held) for a, held in zip(self.walk(model, COARSE), walker.held))
            self.assertGreater(sticks[0], 300, model)
            states += sticks[2:]
        self.assertGreater(states[0], 500)
        self.assertGreater(states[1], 200)

    def rollout(self, model, torques, parts):
        """Runs the rollouts of both phases with each torque held for `parts` steps, then the rollout after the landing."""
        walker, steps = self.walkers[model], [parts * len(tau) for tau in torques]
        q = [0, 0, 1, 0, 0, 0, 1, *walker.start]
        settings = {"step": 4e-3 / parts, **STICK, "outputs": ["q_after", "qd_after", "sticking"]}
        repeated = [np.repeat(tau, parts, axis=0).tolist() for tau in torques]
        a = self.ask(model, "rollout", {"q": q, "torques": repeated[0] + repeated[1], **settings, "phases": [
            {"steps": n, "held": held} for n, held in zip(steps[:2], walker.held)]})
        q, qd = a["q_after"][-1], a["qd_after"][-1]
        qd = self.ask(model, "impact", {"q": q, "qd": qd, "held": walker.held[2]})["qd_after"]
        b = self.ask(model, "rollout", {"q": q, "qd": qd, "torques": repeated[2], **settings, "held": walker.held[2]})
        rates = np.array(a["qd_after"] + b["qd_after"])
        sticking = np.array(a["sticking"] + b["sticking"]) == 1
        self.assertFalse(rates[sticking].any())
        self.assertGreater(sticking.sum(), 20)
        return np.array([a["q_after"][steps[0] - 1], a["q_after"][-1], b["q_after"][-1]])

    def test_rollouts_agree(self):
        """Under the same torques, held for 4 ms each, a rollout tends to the simulation in proportion to its steps."""
        for model, walker in self.walkers.items():
            torques, ends = [], []
            q, qd = [0, 0, 1, 0, 0, 0, 1, *walker.start], [0] * (6 + len(walker.start))
            for phase, n in enumerate((25, 25, 10)):
                sampled = self.ask(model, "simulate", {"q": q, "qd": qd, "held": walker.held[phase], "duration": 4e-3 * n, "samples": n + 1,
                                                       "input": walker.drive(phase), **COARSE, "outputs": ["tau"]})["tau"]
                torques.append(np.array(sampled[:-1]))
                a = self.ask(model, "simulate", {"q": q, "qd": qd, "held": walker.held[phase], "duration": 4e-3 * n, "samples": 2, **FINE,
                                                 "input": {"tau": {"values": sampled[:-1], "interpolation": "hold"}}, "outputs": ["q", "qd"]})
                q, qd = a["q"][-1], a["qd"][-1]
                ends.append(q)
                if phase == 1:
                    qd = self.ask(model, "impact", {"q": q, "qd": qd, "held": walker.held[2]})["qd_after"]
            gaps = [np.abs(self.rollout(model, torques, parts) - ends).max() for parts in (1, 2, 8)]
            self.assertLess(gaps[1], 0.7 * gaps[0], model)
            self.assertLess(gaps[2], min(0.05, 0.25 * gaps[0]), model)


if __name__ == "__main__":
    tap.main()
