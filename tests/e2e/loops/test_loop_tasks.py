"""Tests inverse kinematics of tasks for models with loops: goals that are computed from known positions, the order of priorities by the gradient
in the null space, limits of passive joints, other assemblies, sequences and refusals."""
import copy

import numpy as np
import tap
from assemblies import three_rrr
from closed import Closed
from scipy.optimize import minimize

GOALS = (("four_bar", "coupler_point", False), ("five_bar", "tip", False), ("delta", "tool", False), ("stewart", "centre", True))
CLOSED = 1e-12  # norm of the loop error, rad and parts of the mechanism's length


class LoopTasks(Closed):
    def solve(self, model, tasks, **more):
        return self.ask(model, "inverse-kinematics", {"tasks": tasks, **more})

    def reference(self, model):
        return self.ok(self.client.get(f"/v1/models/{model}"))["reference"]

    def poses(self, model, q, frame, **more):
        return self.ask(model, "kinematics", {"q": q, "frames": [frame], "outputs": ["poses"], **more})["poses"][frame]

    def full(self, model, q, **more):
        return self.ask(model, "inverse-dynamics", {"q": q, "outputs": ["full"], **more})["full"]

    def test_goals_are_found_again(self):
        """40 goals of each robot, from its reference: the first priority is a position or pose, the second the centre of mass, and one position
        of the robot fulfils both. Other operations find the frame there, and the loops closed."""
        for model, frame, turned in GOALS:
            q0 = np.array(self.reference(model)["q"])
            spread = 0.1 if model == "stewart" else 0.25
            q = q0 + np.random.default_rng(4).uniform(-spread, spread, (40, len(q0)))
            pose, com = self.poses(model, q.tolist(), frame), self.ask(model, "energy", {"q": q.tolist(), "outputs": ["com"]})["com"]
            first = {"frame": frame, **(pose if turned else {"position": pose["position"]})}
            got = self.solve(model, [{"com": com, "priority": 1}, first], q=q0.tolist(), outputs=["q", "distance", "angle", "task_errors", "iterations"])
            print(f"# {model}: {np.mean(got['iterations']):.1f} iterations")
            self.assertLess(np.max(got["distance"]), 1e-9)
            self.assertLess(np.max(np.array(got["task_errors"])[:, 0, 0]), 1e-8)
            self.assertClose(self.poses(model, got["q"], frame)["position"], pose["position"], 2e-9)
            self.assertLess(np.max(self.full(model, got["q"])["residual"]), CLOSED)
            one = self.solve(model, [{"com": com[7], "priority": 1}, {k: v if k == "frame" else v[7] for k, v in first.items()}], q=q0.tolist())
            self.assertEqual(one["q"], got["q"][7], model)

    def test_a_later_priority_is_at_a_minimum(self):
        """The gradient of the second error has no part in the null space of the first rows: J1 P = 0, P J2^T e2 = 0. Goals of the
        second priority are out of reach."""
        q0, choose = self.reference("stewart")["q"], np.random.default_rng(6)
        for _ in range(8):
            moved = (np.array(q0) + choose.uniform(-0.08, 0.08, 6)).tolist()
            place, corner = (np.array(self.poses("stewart", moved, frame)["position"]) for frame in ("centre", "seat4"))
            place, aim = place.tolist(), (place + 1.2 * (corner - place)).tolist()
            tasks = [{"frame": "centre", "position": place}, {"frame": "seat4", "position": aim, "priority": 1}]
            got = self.solve("stewart", tasks, q=q0, limits=False, outputs=["q", "distance", "task_errors", "iterations"])
            rows = [self.ask("stewart", "kinematics", {"q": got["q"], "frame": frame, "frames": ["seat4"], "outputs": ["jacobian", "poses"]}) for frame in ("centre", "seat4")]
            first, second = (np.array(one["jacobian"])[:3] for one in rows)
            error = np.array(rows[1]["poses"]["seat4"]["position"]) - aim
            gradient = second.T @ error
            left = gradient - np.linalg.pinv(first) @ first @ gradient
            self.assertLess(np.abs(left).max(), 1e-7 * np.abs(gradient).max())
            self.assertLess(got["distance"], 1e-9)
            self.assertLess(got["iterations"], 60)
            self.assertClose(np.linalg.norm(error), got["task_errors"][1][0], 1e-9)

    def test_limits_of_passive_joints(self):
        """A rod of the five-bar may turn less than its goal would need: the joint stops at its limit, and the error of the other task is the
        least that this limit allows: no neighbouring position within the limits has a smaller one. Without limits the goal is reached."""
        document = copy.deepcopy(self.documents["five_bar"])
        rod = next(one for one in document["links"] if one["name"] == "left_rod")
        rod["joint"]["limits"] = {"position": [-1.3, -0.9]}
        self.put_model("limited", document)
        q0 = np.array(self.reference("five_bar")["q"])
        goal = self.poses("five_bar", (q0 + [0.5, -0.3]).tolist(), "tip")["position"]
        task = [{"frame": "tip", "position": goal, "priority": 1}]
        self.assertLess(self.solve("limited", task, q=q0.tolist(), limits=False, outputs=["task_errors"])["task_errors"][0][0], 1e-8)
        got = self.solve("limited", task, q=q0.tolist(), outputs=["q", "at_limits", "task_errors"])
        angle = [x for x in self.full("limited", got["q"])["q"] if min(abs(x + 1.3), abs(x + 0.9)) < 1e-8]
        self.assertEqual(len(angle), 1)
        self.assertEqual([one["joint"] for one in got["at_limits"]], ["left_elbow"])
        error = got["task_errors"][0][0]
        self.assertGreater(error, 1e-3)
        for turn in np.linspace(0, 2 * np.pi, 40):
            near = np.array(got["q"]) + 1e-3 * np.array([np.cos(turn), np.sin(turn)])
            inside = all(-1.3 <= x <= -0.9 for x in self.full("limited", near.tolist())["q"][1:2])
            if inside:
                away = np.linalg.norm(np.array(self.poses("limited", near.tolist(), "tip")["position"]) - goal)
                self.assertGreater(away, error - 1e-8)
        refused = self.assertProblem(self.client.post("/v1/models/limited/inverse-kinematics", {"q": q0.tolist(), "tasks": [{"frame": "tip", "position": goal}]}), 422)
        self.assertEqual(refused["code"], "out-of-reach")

    def test_a_guess_selects_the_assembly(self):
        """With a guess of another assembly a goal in that assembly is found, and other operations with this guess confirm the answer."""
        q0, other = self.reference("five_bar")["q"], [-1.5, -1.5]
        goal = self.poses("five_bar", q0, "tip", guess=other)["position"]
        self.assertGreater(np.linalg.norm(np.array(goal) - self.poses("five_bar", q0, "tip")["position"]), 0.05)
        start = (np.array(q0) + [0.1, -0.05]).tolist()
        got = self.solve("five_bar", [{"frame": "tip", "position": goal}], q=start, guess=other, outputs=["q", "distance"])
        self.assertLess(got["distance"], 1e-9)
        self.assertClose(self.poses("five_bar", got["q"], "tip", guess=other)["position"], goal, 1e-9)
        self.assertClose(got["q"], q0, 1e-6)

    def test_a_search_that_ends_in_another_assembly(self):
        """Around a cusp of the singular set a path leads a 3-RRR to another assembly than the straight line from the reference: the goal is
        reached there, and the row fails with a problem that says so, since q would select another position in other requests."""
        self.put_model("three_rrr", three_rrr())
        by, to = np.array([0.617, -1.652, -0.36]), np.array([0.318, 0.328, -0.696])
        active = [i for i, one in enumerate(three_rrr()["links"]) if one["joint"].get("actuated")]
        passive = lambda full: [x for i, x in enumerate(full["q"]) if i not in active]
        at, path = passive(self.full("three_rrr", by.tolist())), []
        for part in np.linspace(0.01, 1, 100):
            q = (by + part * (to - by)).tolist()
            at = passive(self.full("three_rrr", q, guess=at))
            path.append(self.poses("three_rrr", q, "platform", guess=at))
        self.assertGreater(np.abs(np.subtract(path[-1]["position"], self.poses("three_rrr", to.tolist(), "platform")["position"])).max(), 1e-3)
        task = {"frame": "platform", **{name: [one[name] for one in path] for name in path[0]}}
        got = self.solve("three_rrr", [task], q=by.tolist(), sequence=True, starts=1, on_error="row")
        self.assertTrue(any("another assembly" in one["detail"] for one in got["errors"]), got["errors"])
        good = [i for i, q in enumerate(got["q"]) if q]
        self.assertGreater(len(good), 10)
        self.assertClose(self.poses("three_rrr", [got["q"][i] for i in good], "platform")["position"], [path[i]["position"] for i in good], 1e-8)
        alone = self.solve("three_rrr", [{"frame": "platform", **path[-1]}], q=to.tolist(), guess=at, outputs=["q", "distance", "angle"])
        self.assertClose(alone["q"], to.tolist(), 1e-7)

    def test_sequence(self):
        """In a sequence each row starts at the solution of the row before; the rows equal those of single requests up to rounding errors."""
        q0, n = self.reference("delta")["q"], 30
        place = np.array(self.poses("delta", q0, "tool")["position"])
        path = place + np.outer(np.linspace(0, 1, n), [0.12, -0.1, 0.05])
        got = self.solve("delta", [{"frame": "tool", "position": path.tolist()}], q=q0, sequence=True)["q"]
        self.assertLess(np.abs(np.diff(got, axis=0)).max(), 0.05)
        q = q0
        for i in range(n):
            q = self.solve("delta", [{"frame": "tool", "position": path[i].tolist()}], q=q)["q"]
            self.assertClose(q, got[i], 1e-8)

    def test_velocities(self):
        """Without limits qd is J^-1 v; a batch of 9 states has the bits of single requests."""
        for model, frame, rows in (("delta", "tool", [0, 1, 2]), ("stewart", "centre", range(6))):
            q0, choose = np.array(self.reference(model)["q"]), np.random.default_rng(8)
            q = q0 + choose.uniform(-0.05, 0.05, (9, len(q0)))
            J = np.array(self.ask(model, "kinematics", {"q": q.tolist(), "frame": frame, "outputs": ["jacobian"]})["jacobian"])[:, list(rows)]
            v = choose.uniform(-0.3, 0.3, (9, len(q0)))
            request = {"tasks": [{"frame": frame, "velocity": v.tolist()}], "step": 0.01, "kinds": ["velocity"]}
            got = self.ask(model, "differential-inverse-kinematics", {"q": q.tolist(), **request})["qd"]
            self.assertClose(got, np.linalg.solve(J, v[..., None])[..., 0].tolist(), 1e-9)
            request["tasks"] = [{"frame": frame, "velocity": v[4].tolist()}]
            self.assertEqual(self.ask(model, "differential-inverse-kinematics", {"q": q[4].tolist(), **request})["qd"], got[4])

    def test_velocities_within_limits_of_passive_joints(self):
        """A slow passive joint bounds the velocity of the tip: the least |J qd - v| with |G_p qd| <= 0.2, by SLSQP."""
        document = copy.deepcopy(self.documents["five_bar"])
        next(one for one in document["links"] if one["name"] == "left_rod")["joint"]["limits"] = {"velocity": 0.2}
        self.put_model("slow", document)
        q, goal = [1.9, 1.0], np.array([0.15, -0.2, 0])
        J = np.array(self.ask("slow", "kinematics", {"q": q, "frame": "tip", "outputs": ["jacobian"]})["jacobian"])[:3]
        row = np.array(self.full("slow", q)["G"])[1]
        got = self.ask("slow", "differential-inverse-kinematics", {"q": q, "tasks": [{"frame": "tip", "velocity": goal.tolist()}], "step": 0.01, "outputs": ["qd", "task_errors"]})
        self.assertGreater(abs(row @ np.linalg.lstsq(J, goal, rcond=None)[0]), 0.3)
        found = minimize(lambda x: ((J @ x - goal) ** 2).sum(), np.zeros(2), method="SLSQP", options={"ftol": 1e-16},
                         constraints={"type": "ineq", "fun": lambda x: [0.2 - row @ x, 0.2 + row @ x]})
        self.assertClose(got["qd"], found.x.tolist(), 1e-6)
        self.assertClose(abs(row @ got["qd"]), 0.2, 1e-12)
        self.assertClose(got["task_errors"][0][0], np.sqrt(found.fun), 1e-8)
        request = {"tasks": [{"frame": "tip", "velocity": goal.tolist()}], "step": 0.01}
        # Damping is that of the norm, which counts the passive joint, and not of the loop.
        found = np.linalg.solve(J.T @ J + 0.16 * (np.eye(2) + np.outer(row, row)), J.T @ goal)
        self.assertLess(abs(row @ found), 0.19)
        self.assertClose(self.ask("slow", "differential-inverse-kinematics", {"q": q, **request, "damping": 0.4})["qd"], found.tolist(), 1e-12)
        # A passive joint beyond its limit moves back by all of that distance, whatever the damping.
        beyond, angle = copy.deepcopy(document), self.full("slow", q)["q"][1]
        next(one for one in beyond["links"] if one["name"] == "left_rod")["joint"]["limits"] = {"position": [angle + 0.003, angle + 1.7]}
        self.put_model("beyond", beyond)
        back = self.ask("beyond", "differential-inverse-kinematics", {"q": q, **request, "damping": 0.4})["qd"]
        self.assertClose(row @ back, 0.003 / 0.01, 1e-12)
        states = (q + np.random.default_rng(3).uniform(-0.2, 0.2, (9, 2))).tolist()
        beside = self.ask("slow", "differential-inverse-kinematics", {"q": states, **request})["qd"]
        self.assertEqual([self.ask("slow", "differential-inverse-kinematics", {"q": one, **request})["qd"] for one in states], beside)

    def test_refusals(self):
        q0 = self.reference("delta")["q"]
        near = self.poses("delta", q0, "tool")["position"]
        for request, code, pointer in (
                ({"q": q0, "frame": "tool", "position": near}, "not-for-loops", None), ({"tasks": [{"frame": "tool", "position": near}]}, "not-for-loops", "/q"),
                ({"q": q0, "tasks": [{"frame": "tool", "position": [0, 0, -3]}]}, "out-of-reach", None),
                ({"q": [9, 0.4, 0.4], "tasks": [{"frame": "tool", "position": near}]}, "loop-crossing", None)):
            problem = self.assertProblem(self.client.post("/v1/models/delta/inverse-kinematics", request), 422)
            self.assertEqual((problem["code"], pointer or problem.get("pointer")), (code, problem.get("pointer")), request)
        rows = self.solve("delta", [{"frame": "tool", "position": [near, [0, 0, -3], near]}], q=[q0, q0, [9, 0.4, 0.4]], on_error="row")
        self.assertEqual([one is None for one in rows["q"]], [False, True, True])
        self.assertEqual([one["code"] for one in rows["errors"]], ["out-of-reach", "loop-crossing"])


if __name__ == "__main__":
    tap.main()
