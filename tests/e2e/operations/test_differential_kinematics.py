"""Tests velocities that come nearest to those of several frames: against SciPy's bounded least squares and, with priorities,
against its SLSQP; limits of position, velocity and acceleration along steps of time; refusals."""
import copy

import numpy as np
import tap
from harness import ServerCase
from samples import body
from scipy.optimize import lsq_linear, minimize

LIMITS = {"position": [-1.8, 1.8], "velocity": 1.5, "acceleration": 6}
ARM = {"links": [
    {"name": name, "parent": parent, "inertial": body(mass, (0.15, 0.02, 0)),
     "joint": {"name": "j" + name, "type": "revolute", "axis": axis, "origin": {"xyz": [0.3 if parent != "base" else 0, 0, 0.05]}, "limits": LIMITS}}
    for name, parent, axis, mass in (("a", "base", [0, 0, 1], 3), ("b", "a", [0, 1, 0], 2), ("c", "b", [0, 1, 0], 1.5), ("d", "c", [1, 0, 0], 1), ("e", "d", [0, 1, 0], 0.5))]}


class DifferentialKinematics(ServerCase):
    def setUp(self):
        self.put_model("arm", ARM)

    def velocities(self, tasks, model="arm", **more):
        return self.ask(model, "differential-inverse-kinematics", {"tasks": tasks, "step": 0.01, "outputs": ["qd", "task_errors", "limited"], **more})

    def rows(self, q, tasks):
        """Returns the weighted Jacobian and velocity of each priority."""
        levels = {}
        for t in tasks:
            if "frame" in t:
                J = np.array(self.ask("arm", "kinematics", {"q": list(q), "frame": t["frame"], "outputs": ["jacobian"]})["jacobian"])[:len(t["velocity"])]
            else:
                J = np.array(self.ask("arm", "energy", {"q": list(q), "outputs": ["com_jacobian"]})["com_jacobian"])
            w = np.sqrt(t.get("weight", 1))
            levels.setdefault(t.get("priority", 0), []).append((w * J, w * np.array(t.get("velocity", t.get("com_velocity")))))
        return [(np.vstack([J for J, _ in levels[k]]), np.concatenate([v for _, v in levels[k]])) for k in sorted(levels)]

    def test_weights(self):
        """With one priority the velocities are those of bounded least squares, damped or not."""
        for seed in range(40):
            choose = np.random.default_rng(seed)
            q, damping = choose.uniform(-1.5, 1.5, 5), [0, 0.05][seed % 2]
            tasks = [{"frame": "e", "velocity": choose.uniform(-1.5, 1.5, 6).tolist(), "weight": 2}, {"com_velocity": choose.uniform(-0.6, 0.6, 3).tolist(), "weight": 0.5}]
            got = self.velocities(tasks, q=q.tolist(), kinds=["velocity"], damping=damping)
            (A, b), qd = self.rows(q, tasks)[0], np.array(got["qd"])
            found = lsq_linear(np.vstack([A, damping * np.eye(5)]), np.concatenate([b, np.zeros(5)]), (-1.5, 1.5), method="bvls", tol=1e-15)
            self.assertLess(np.abs(qd - found.x).max(), 1e-7, seed)
            self.assertEqual(got["limited"], [int(np.sign(x)) if abs(x) >= 1.5 else 0 for x in qd])
            errors = np.linalg.norm((A @ qd - b)[:3]) / np.sqrt(2), np.linalg.norm((A @ qd - b)[3:6]) / np.sqrt(2)
            self.assertClose(got["task_errors"][0], list(errors), 1e-12)

    def test_least_norm(self):
        """Where no limit is active, the velocity must be the one of least norm, that of the field `velocity` of inverse-kinematics."""
        q = [0.2, -0.4, 0.7, 0.3, 0.5]
        got = self.velocities([{"frame": "e", "velocity": [0.05, -0.02, 0.03]}], q=q, kinds=["position", "velocity"])
        (A, b), = self.rows(q, [{"frame": "e", "velocity": [0.05, -0.02, 0.03]}])
        self.assertClose(got["qd"], (np.linalg.pinv(A) @ b).tolist(), 1e-13)

    def test_priorities(self):
        """A task of a later priority does not change the errors of earlier tasks, and has the least error among the velocities that keep those
        errors."""
        for seed in range(20):
            choose = np.random.default_rng(50 + seed)
            q = choose.uniform(-1.5, 1.5, 5)
            tasks = [{"frame": "c", "velocity": choose.uniform(-1, 1, 3).tolist(), "priority": 2},
                     {"frame": "e", "velocity": choose.uniform(-1.2, 1.2, 3).tolist(), "priority": 1}]
            got = self.velocities(tasks, q=q.tolist(), kinds=["velocity"])
            (A, b), (B, c) = self.rows(q, tasks)
            qd = np.array(got["qd"])
            first = lsq_linear(A, b, (-1.5, 1.5), method="bvls", tol=1e-15).x
            self.assertLess(np.abs(A @ qd - A @ first).max(), 1e-7)
            found = minimize(lambda x: ((B @ x - c) ** 2).sum(), first, jac=lambda x: 2 * B.T @ (B @ x - c), method="SLSQP", bounds=[(-1.5, 1.5)] * 5,
                             constraints={"type": "eq", "fun": lambda x: A @ (x - first), "jac": lambda x: A}, options={"ftol": 1e-14, "maxiter": 500})
            self.assertLess(((B @ qd - c) ** 2).sum(), found.fun + 1e-7, seed)

    def test_along_steps(self):
        """When the velocities are applied step by step, all limits hold, and a joint that a task drives towards its position limit stops before
        the limit."""
        q, qd, step = np.array([0.2, -0.4, 0.7, 0.3, 0.5]), np.zeros(5), 0.01
        top = 0
        for _ in range(400):
            tasks = [{"frame": "e", "velocity": [-1, 3, 0.5]}, {"frame": "e", "velocity": [0, 0, 0, 0, 0, 2], "priority": 1}]
            new = np.array(self.velocities(tasks, q=q.tolist(), qd=qd.tolist(), step=step)["qd"])
            self.assertLess(np.abs(new).max(), 1.5 + 1e-12)
            self.assertLess(np.abs(new - qd).max(), 6 * step + 1e-12)
            q, qd, top = q + step * new, new, max(top, np.abs(new).max())
            self.assertLess(np.abs(q).max(), 1.8 + 1e-12)
        self.assertGreater(np.abs(q).max(), 1.79)
        self.assertGreater(top, 1.49)

    def test_bounds(self):
        """One joint in closed form: its velocity is bounded by the least of three limits. A joint beyond a limit may move back."""
        one = {"links": [copy.deepcopy(ARM["links"][0])]}
        one["links"][0]["joint"]["mimic"] = None
        del one["links"][0]["joint"]["mimic"]
        self.put_model("one", one)
        twist = lambda w: [{"frame": "a", "velocity": [0, 0, 0, 0, 0, w]}]
        most = lambda q, qd, **more: self.velocities(twist(50), "one", q=[q], qd=[qd], **more)["qd"][0]
        self.assertClose(most(0, 0), 0.06, 1e-14)
        self.assertClose(most(0, 1.49), 1.5, 1e-14)
        self.assertClose(most(1.7, 1.0), 2 * 0.1 / (0.01 + np.sqrt(1e-4 + 0.2 / 6)), 1e-13)
        self.assertClose(most(1.7, 1.0, kinds=["position"]), 10, 1e-12)
        self.assertClose(most(1.9, 0, kinds=["position", "velocity"]), -1.5, 1e-13)
        self.assertClose(most(1.9, 0), -0.06, 1e-13)

    def test_bounds_of_a_joint_that_follows(self):
        """The limits of a mimic joint, -1.6 q + 0.2, bound the velocity of its leader: its upper limits are bounds from below."""
        limits, ratio, step = {"position": [-0.5, 1.1], "velocity": 1.2, "acceleration": 5}, -1.6, 0.01
        lead, follow = copy.deepcopy(ARM["links"][0]), copy.deepcopy(ARM["links"][0])
        del lead["joint"]["limits"]
        follow["name"], follow["joint"] = "f", {**follow["joint"], "name": "jf", "limits": limits, "mimic": {"joint": "ja", "multiplier": ratio, "offset": 0.2}}
        self.put_model("pair", {"links": [lead, follow]})

        def both(q, qd, **more):
            return [self.velocities([{"frame": "a", "velocity": [0, 0, 0, 0, 0, w]}], "pair", q=[q], qd=[qd], **more)["qd"][0] for w in (-500, 500)]
        self.assertClose(both(0.1, 0.4), [0.4 - 5 * step / 1.6, 0.4 + 5 * step / 1.6], 1e-14)
        self.assertClose(both(0.1, 0.74), [0.74 - 5 * step / 1.6, 1.2 / 1.6], 1e-14)
        stop = lambda distance: 2 * distance / (step + np.sqrt(step ** 2 + 2 * distance / 5)) / 1.6
        at = lambda q: ratio * q + 0.2
        self.assertClose(both(0.43, 0.1, kinds=["position"]), [-(1.1 - at(0.43)) / step / 1.6, (at(0.43) + 0.5) / step / 1.6], 1e-12)
        self.assertClose(both(0.43, stop(at(0.43) + 0.5), kinds=["position", "acceleration"])[1], stop(at(0.43) + 0.5), 1e-14)
        self.assertClose(both(-0.56, -stop(1.1 - at(-0.56)), kinds=["position", "acceleration"])[0], -stop(1.1 - at(-0.56)), 1e-14)

    def test_bounds_that_later_levels_keep(self):
        """`limited` marks velocities at their bounds, also where a later level has changed the last digit."""
        marked = 0
        for seed in range(60):
            choose = np.random.default_rng(seed)
            q = choose.uniform(-1, 1, 5)
            tasks = [{"frame": "e", "velocity": choose.uniform(-3, 3, 3).tolist()}, {"frame": "c", "velocity": choose.uniform(-1, 1, 3).tolist(), "priority": 1},
                     {"com_velocity": choose.uniform(-1, 1, 3).tolist(), "priority": 2}]
            got = self.velocities(tasks, q=q.tolist(), kinds=["velocity"])
            self.assertEqual(got["limited"], [int(np.sign(x)) if abs(x) >= 1.5 - 1e-12 else 0 for x in got["qd"]], seed)
            marked += np.abs(got["limited"]).sum()
        self.assertGreater(marked, 60)

    def test_elastic_joints(self):
        """The motor of an elastic joint moves with the joint."""
        springy = copy.deepcopy(ARM)
        springy["links"][2]["joint"] |= {"elastic": {"stiffness": 300}, "rotor_inertia": 0.05}
        self.put_model("springy", springy)
        names = self.ok(self.client.get("/v1/models/springy"))["velocity_names"]
        self.assertIn("jc.motor", names)
        tasks, q = [{"frame": "e", "velocity": [0.3, -0.2, 0.4]}], [0.2, -0.4, 0.7, 0.3, 0.5]
        rigid = dict(zip((link["joint"]["name"] for link in ARM["links"]), self.velocities(tasks, q=q)["qd"]))
        got = self.velocities(tasks, "springy", q=[*q, 0.65])["qd"]
        self.assertClose([got[names.index(name)] for name in rigid], list(rigid.values()), 1e-13)
        self.assertEqual(got[names.index("jc.motor")], got[names.index("jc")])
        self.assertGreater(abs(rigid["jc"]), 0.05)

    def test_batches(self):
        choose = np.random.default_rng(1)
        q, twist = choose.uniform(-1, 1, (21, 5)).tolist(), choose.uniform(-2, 2, (21, 6)).tolist()
        got = self.velocities([{"frame": "e", "velocity": twist}], q=q)
        for i in (0, 13, 20):
            self.assertEqual(self.velocities([{"frame": "e", "velocity": twist[i]}], q=q[i]), {name: got[name][i] for name in got})
        humanoid = self.ok(self.client.get("/v1/models/humanoid"))
        state = self.ask("humanoid", "configuration", {"outputs": ["random"], "range": 0.2})["random"]
        walk = self.velocities([{"frame": "left_sole", "velocity": [0] * 6}, {"frame": "right_sole", "velocity": [0.2, 0, 0.1, 0, 0, 0]},
                                {"com_velocity": [0.05, 0.02, 0], "priority": 1}], "humanoid", q=state)
        self.assertEqual(len(walk["qd"]), humanoid["nv"])
        self.assertLess(max(walk["task_errors"][0] + walk["task_errors"][1]), 1e-9)

    def test_refusals(self):
        good, q = [{"frame": "e", "velocity": [0, 0, 1]}], [0] * 5
        for request, code, pointer in (({"tasks": good, "q": q}, "missing-field", "/step"), ({"step": 0.1, "q": q}, "missing-field", "/tasks"),
                                       ({"tasks": good, "step": 0, "q": q}, "bad-value", "/step"), ({"tasks": good, "step": 0.1, "q": q, "kinds": ["effort"]}, "unknown-name", "/kinds/0"),
                                       ({"tasks": [{"frame": "e"}], "step": 0.1, "q": q}, "missing-field", "/tasks/0/velocity"),
                                       ({"tasks": [{"frame": "e", "position": [0, 0, 1]}], "step": 0.1, "q": q}, "unknown-field", "/tasks/0/position"),
                                       ({"tasks": [{"frame": "e", "velocity": [0, 0, 1, 2]}], "step": 0.1, "q": q}, "wrong-shape", "/tasks/0/velocity"),
                                       ({"tasks": good, "step": 0.1, "q": q, "damping": -1}, "bad-value", "/damping")):
            problem = self.assertProblem(self.client.post("/v1/models/arm/differential-inverse-kinematics", request), 422)
            self.assertEqual((problem["code"], problem.get("pointer")), (code, pointer), request)


if __name__ == "__main__":
    tap.main()
