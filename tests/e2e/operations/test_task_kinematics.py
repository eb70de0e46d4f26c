"""Tests inverse kinematics of several tasks: goals computed by forward kinematics of bundled robots at 1000 positions, weights and priorities
against SciPy, sequences, seeds, limits and refusals."""
import copy
import json

import cbor2
import numpy as np
import tap
from harness import ServerCase
from samples import body
from scipy.optimize import least_squares, minimize

# (model, frames with the kind of their goal, true if the centre of mass is a goal, rows)
ROBOTS = [("panda", [("panda_link4", "position"), ("panda_flange", "pose")], False, 400),
          ("ur5", [("forearm_link", "direction"), ("tool0", "position")], False, 200),
          ("humanoid", [("right_hand", "position"), ("left_hand", "position"), ("right_foot", "pose")], True, 200),
          ("solo12", [("FL_FOOT", "position"), ("FR_FOOT", "position"), ("HL_FOOT", "position"), ("HR_FOOT", "position")], True, 200)]
ARM = {"links": [
    {"name": name, "parent": parent, "inertial": body(mass, (0.15, 0.02, 0)),
     "joint": {"name": "j" + name, "type": "revolute", "axis": axis, "origin": {"xyz": [0.3 if parent != "base" else 0, 0, 0.05]},
               "limits": {"position": [-2.2, 2.2]}}}
    for name, parent, axis, mass in (("a", "base", [0, 0, 1], 3), ("b", "a", [0, 1, 0], 2), ("c", "b", [0, 1, 0], 1.5), ("d", "c", [1, 0, 0], 1), ("e", "d", [0, 1, 0], 0.5))],
    "frames": [{"name": "tip", "link": "e", "xyz": [0.2, 0, 0.03]}]}


def rotation(quaternion):
    x, y, z, w = quaternion
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


class TaskKinematics(ServerCase):
    def setUp(self):
        self.put_model("arm", ARM)

    def solve(self, model, tasks, **more):
        return self.ask(model, "inverse-kinematics", {"tasks": tasks, **more})

    def poses(self, model, q, frames, com):
        found = self.ask(model, "kinematics", {"q": q, "outputs": ["poses"], "frames": frames})["poses"]
        return found, self.ask(model, "energy", {"q": q, "outputs": ["com"]})["com"] if com else None

    def states(self, model, rows, seed):
        random = self.ask(model, "configuration", {"outputs": ["random"], "count": rows, "seed": seed, "range": 0.3})["random"]
        return random if isinstance(random[0], list) else [random]

    def tasks_of(self, asked, poses, com):
        tasks = [{"com": com}] if com else []
        for frame, what in asked:
            task = {"frame": frame}
            if what != "direction":
                task["position"] = poses[frame]["position"]
            if what == "pose":
                task["orientation"] = poses[frame]["orientation"]
            if what == "direction":
                task |= {"direction": [(rotation(x) @ [0, 0.6, 0.8]).tolist() for x in poses[frame]["orientation"]], "axis": [0, 0.6, 0.8]}
            tasks.append(task)
        return tasks

    def test_a_thousand_poses(self):
        """Goals from forward kinematics are reached, from the middle of the limits or from near by, and no joint leaves its
        limits."""
        for model, asked, com, rows in ROBOTS:
            about = self.ok(self.client.get(f"/v1/models/{model}"))
            q = self.states(model, rows, 5)
            frames = [frame for frame, _ in asked]
            poses, center = self.poses(model, q, frames, com)
            tasks = self.tasks_of(asked, poses, center)
            near = self.ask(model, "configuration", {"q": q, "displacement": np.random.default_rng(3).uniform(-0.3, 0.3, (rows, about["nv"])).tolist(), "outputs": ["integrated"]})["integrated"]
            got = self.solve(model, tasks, q=near, starts=20, on_error="row", outputs=["q", "distance", "angle", "task_errors", "iterations"])
            failed = len(got.get("errors", []))
            print(f"# {model}: {failed} of {rows} rows not reached, {np.mean([x for x in got['iterations'] if x]):.1f} iterations")
            self.assertLessEqual(failed, 0.01 * rows, model)
            good = [i for i, one in enumerate(got["q"]) if one]
            back, there = self.poses(model, [got["q"][i] for i in good], frames, com)
            for task, again in zip(tasks, self.tasks_of(asked, back, there)):
                for name in ("position", "com", "direction"):
                    if name in task:
                        self.assertClose(again[name], [task[name][i] for i in good], 2e-9)
                if "orientation" in task:
                    self.assertLess(max(np.abs(rotation(a) - rotation(task["orientation"][i])).max() for a, i in zip(again["orientation"], good)), 1e-8)
            alone = self.solve(model, [{k: v[good[-1]] if k in ("position", "orientation", "direction", "com") else v for k, v in task.items()} for task in tasks],
                               q=near[good[-1]], starts=20)
            self.assertEqual(alone["q"], got["q"][good[-1]])

    def residual(self, q, tasks):
        poses = self.ask("arm", "kinematics", {"q": list(q), "outputs": ["poses"]})["poses"]
        com = self.ask("arm", "energy", {"q": list(q), "outputs": ["com"]})["com"]
        return np.concatenate([np.sqrt(t.get("weight", 1)) * (np.array(com if "com" in t else poses[t["frame"]]["position"]) - t.get("com", t.get("position"))) for t in tasks])

    def test_weights(self):
        """Tasks of one later priority that contradict each other end at a minimum of the weighted sum of squares."""
        for seed in range(6):
            choose = np.random.default_rng(seed)
            tasks = [{"frame": "tip", "position": choose.uniform(-0.9, 0.9, 3).tolist(), "weight": 2.5, "priority": 1},
                     {"frame": "c", "position": choose.uniform(-0.6, 0.6, 3).tolist(), "weight": 0.7, "priority": 1},
                     {"com": choose.uniform(-0.5, 0.5, 3).tolist(), "weight": 4, "priority": 1}]
            start = choose.uniform(-1, 1, 5)
            q = np.array(self.solve("arm", tasks, q=start.tolist())["q"])
            found = least_squares(self.residual, q, args=(tasks,), bounds=(-2.2 - 1e-12, 2.2 + 1e-12), xtol=1e-15, ftol=1e-15, gtol=1e-12)
            mine = (self.residual(q, tasks) ** 2).sum()
            self.assertLess(mine, (1 + 1e-9) * 2 * found.cost, seed)
            self.assertLess(np.abs(q - found.x).max(), 2e-4, seed)

    def test_priorities(self):
        """A later priority is a minimum among the positions that keep the earlier one: SLSQP finds no lower one near by."""
        for seed in range(4):
            choose = np.random.default_rng(10 + seed)
            q0 = choose.uniform(-1, 1, 5)
            tip = self.ask("arm", "kinematics", {"q": q0.tolist(), "outputs": ["poses"]})["poses"]["tip"]["position"]
            first, second = [{"frame": "tip", "position": tip}], [{"frame": "c", "position": choose.uniform(-0.6, 0.6, 3).tolist(), "priority": 3}]
            got = self.solve("arm", second + first, q=q0.tolist(), outputs=["q", "distance", "task_errors"])
            q = np.array(got["q"])
            self.assertLess(got["distance"], 1e-9)
            self.assertClose(got["task_errors"], [[np.linalg.norm(self.residual(q, second)), 0], [got["distance"], 0]], 1e-9)
            found = minimize(lambda x: (self.residual(x, second) ** 2).sum(), q, method="SLSQP", bounds=[(-2.2, 2.2)] * 5, options={"ftol": 1e-14, "maxiter": 200},
                             constraints={"type": "eq", "fun": lambda x: self.residual(x, first)})
            self.assertLess(found.fun, (self.residual(q, second) ** 2).sum() + 1e-9)
            self.assertGreater(found.fun, (self.residual(q, second) ** 2).sum() - 1e-7, seed)

    def test_rounding_errors_are_no_directions(self):
        """A point on the axis of the first joint, and a planar robot in an oblique plane, have Jacobians with rows of rounding errors: the first
        task is fulfilled without using any degree of freedom, so that the second task can use all of them."""
        turn = {"xyz": [0.1, 0.2, 0.3], "rpy": [0.4, 0.7, -0.3]}
        for axes in ([0.3, 0.5, 0.8], [0, 1, 0]), ([0, 1, 0], [0, 1, 0]):
            links = [{"name": name, "parent": parent, "inertial": body(1, (0.1, 0, 0)),
                      "joint": {"name": "j" + name, "type": "revolute", "axis": axis, "origin": {"xyz": [0.3, 0, 0]} if parent != "base" else turn}}
                     for name, parent, axis in zip("abc", ("base", "a", "b"), (axes[0], axes[1], [0, 1, 0]))]
            self.put_model("oblique", {"links": links, "frames": [{"name": "end", "link": "c", "xyz": [0.3, 0, 0]}]})
            q0, q = [0.3, 0.4, 0.5], [0.5, 0.2, 0.9]
            for held in ("a", "b"):
                poses = [self.ask("oblique", "kinematics", {"q": x, "outputs": ["poses"]})["poses"] for x in (q0, q)]
                first = {"frame": held, "position": poses[0 if held == "a" else 1][held]["position"]}
                got = self.solve("oblique", [first, {"frame": "end", "position": poses[1]["end"]["position"], "priority": 1}], q=q0, outputs=["q", "task_errors"])
                self.assertLess(got["task_errors"][0][0], 1e-9, (axes, held))
                self.assertLess(got["task_errors"][1][0], 1e-7, (axes, held))

    def test_a_minimum_near_a_singular_first_task(self):
        """Where the Jacobian of the first task is nearly singular, so that small errors need large motions, the error of the later task is still
        at a minimum: a search from the result finds no smaller one."""
        place = {"xyz": [0.1, -0.2, 0.15], "rpy": [0.5, -0.7, 0.3]}
        for seed in range(30):
            choose = np.random.default_rng(seed)
            links = [{"name": name, "parent": parent, "inertial": body(choose.uniform(0.3, 3), choose.uniform(-0.15, 0.15, 3).tolist()),
                      "joint": {"name": "j" + name, "type": "revolute", "axis": choose.normal(size=3).tolist(), "origin": place}}
                     for name, parent in zip("abcd", ("base", "a", "b", "c"))]
            self.put_model("bent", {"links": links})
            q, start = choose.uniform(-1, 1, (2, 4))
            com = self.ask("bent", "energy", {"q": q.tolist(), "outputs": ["com"]})["com"]
            tasks = [{"com": com}, {"frame": "d", "position": choose.uniform(-0.6, 0.6, 3).tolist(), "priority": 2}]
            answer = self.client.post("/v1/models/bent/inverse-kinematics", {"tasks": tasks, "q": start.tolist(), "outputs": ["q", "task_errors"]})
            if answer.status != 200:
                continue
            got = answer.json()
            again = self.solve("bent", tasks, q=got["q"], outputs=["task_errors"])
            self.assertGreater(again["task_errors"][1][0], got["task_errors"][1][0] - 1e-7, seed)

    def test_any_order_of_tasks(self):
        """A frame may turn about the axis along which it points, also where the centre of mass is the first task of the list."""
        for seed, (q, moved) in enumerate(zip(self.states("panda", 6, 5), self.states("panda", 6, 8))):
            poses, com = self.poses("panda", [moved], ["panda_link7", "panda_link4"], True)
            pointing = {"frame": "panda_link7", "direction": (rotation(poses["panda_link7"]["orientation"][0]) @ [0, 0.6, 0.8]).tolist(), "axis": [0, 0.6, 0.8]}
            later = {"frame": "panda_link4", "orientation": self.poses("panda", [q], ["panda_link4"], False)[0]["panda_link4"]["orientation"][0], "priority": 1}
            got = [self.solve("panda", [*first, later], q=q, limits=False, outputs=["q", "task_errors"])
                   for first in ([pointing, {"com": com[0]}], [{"com": com[0]}, pointing])]
            for one in got:
                self.assertLess(max(max(errors) for errors in one["task_errors"][:2]), 1e-8, seed)
            self.assertClose(got[0]["q"], got[1]["q"], 1e-6, what=str(seed))

    def test_aim(self):
        """A camera must look at a point while the wrist stays in place: the direction is reached, and the rotation about it is free."""
        q = [0.3, -0.5, 0.7, 0.2, 0.4]
        at = self.ask("arm", "kinematics", {"q": q, "outputs": ["poses"]})["poses"]["d"]["position"]
        ray = np.array([0.9, 0.4, 0.3]) - at
        got = self.solve("arm", [{"frame": "d", "position": at}, {"frame": "e", "direction": ray.tolist(), "axis": [1, 0, 0], "priority": 1}], q=q, outputs=["q", "task_errors"])
        pose = self.ask("arm", "kinematics", {"q": got["q"], "outputs": ["poses"]})["poses"]
        self.assertClose(pose["d"]["position"], at, 1e-9)
        angle = np.arccos(np.clip(rotation(pose["e"]["orientation"])[:, 0] @ ray / np.linalg.norm(ray), -1, 1))
        self.assertLess(abs(angle - got["task_errors"][1][1]), 1e-7)

    def test_sequence(self):
        """In a sequence the search of each row starts at the solution of the row before: positions change little between rows, and equal those
        of one request for each row."""
        q0, n = [0, -0.8, 0, -2, 0, 1.6, 0.8], 60
        start = self.ask("panda", "kinematics", {"q": q0, "outputs": ["poses"]})["poses"]["panda_flange"]
        path = np.array(start["position"]) + np.outer(np.linspace(0, 1, n), [0.1, 0.35, -0.2])
        task = {"frame": "panda_flange", "position": path.tolist(), "orientation": start["orientation"]}
        got = self.solve("panda", [task], q=q0, sequence=True, outputs=["q", "iterations", "at_limits"])
        self.assertLess(np.abs(np.diff(got["q"], axis=0)).max(), 0.05)
        q = q0
        for i in range(n):
            q = self.solve("panda", [{**task, "position": path[i].tolist()}], q=q)["q"]
            self.assertEqual(q, got["q"][i], i)
        path[5] = 5
        broken = self.solve("panda", [{**task, "position": path.tolist()}], q=q0, sequence=True, starts=2, on_error="row")
        self.assertEqual([i for i, one in enumerate(broken["q"]) if one is None], [5])
        self.assertEqual(broken["errors"][0]["pointer"], "/tasks/0/position/5")
        self.assertLess(np.abs(np.array(broken["q"][6]) - broken["q"][4]).max(), 0.1)

    def test_sequence_with_limits_on_used_memory(self):
        """In a sequence a row is computed after the row before it. The contents of the memory before that must not matter, such as NaN that an
        earlier request left."""
        q0 = [0.1, 0.4, 0.6, 0.2, 0.5]
        start = self.ask("arm", "kinematics", {"q": q0, "outputs": ["poses"]})["poses"]["tip"]["position"]
        path = (np.array(start) + np.outer(np.linspace(0, 1, 4), [0.01, 0.02, 0])).tolist()
        request = {"tasks": [{"frame": "tip", "position": path}], "q": q0, "sequence": True, "on_error": "row", "outputs": ["q", "at_limits"]}
        first = self.ask("arm", "inverse-kinematics", request)
        self.assertEqual(first["errors"], [])
        for rows in range(1, 60):
            nan = cbor2.CBORTag(40, [[rows, 5], cbor2.CBORTag(86, np.full(5 * rows, np.nan).tobytes())])
            given = {"q": nan, "on_error": "row", "tasks": [{"frame": "tip", "position": start}]}
            self.client.post("/v1/models/arm/inverse-kinematics", cbor2.dumps(given), Content_Type="application/cbor")
            self.assertEqual(self.ask("arm", "inverse-kinematics", request), first, rows)

    def test_same_as_one_frame(self):
        """A request with one task, a pose, must reach the same pose as a request with this pose as the goal of one frame, at a solution near the
        start."""
        goal = {"frame": "panda_flange", "position": [[0.5, 0.1, 0.4], [0.4, -0.2, 0.5]], "orientation": [1, 0, 0, 0]}
        plain, tasks = self.ask("panda", "inverse-kinematics", goal), self.solve("panda", [goal])
        for q in (plain["q"], tasks["q"]):
            self.assertClose(self.ask("panda", "kinematics", {"q": q, "outputs": ["poses"]})["poses"]["panda_flange"]["position"], goal["position"], 2e-9)
        locked = self.solve("panda", [goal], locked={"panda_joint3": 0.2})
        self.assertEqual(len(locked["q"][0]), 6)

    def test_refusals(self):
        good = {"frame": "tip", "position": [0.3, 0.1, 0.2]}
        for request, code, pointer in (
                ({"tasks": []}, "wrong-shape", "/tasks"), ({"tasks": [good] * 17}, "wrong-shape", "/tasks"),
                ({"tasks": [{**good, "weight": 0}]}, "bad-value", "/tasks/0/weight"), ({"tasks": [{**good, "priority": 1.5}]}, "bad-value", "/tasks/0/priority"),
                ({"tasks": [{"frame": "tip"}]}, "missing-field", "/tasks/0"), ({"tasks": [{"position": [0, 0, 1]}]}, "missing-field", "/tasks/0"),
                ({"tasks": [{**good, "frame": "nose"}]}, "unknown-name", "/tasks/0/frame"), ({"tasks": [{**good, "axis": [1, 0, 0]}]}, "bad-value", "/tasks/0/axis"),
                ({"tasks": [{**good, "orientation": [0, 0, 0, 1], "direction": [0, 0, 1]}]}, "bad-value", "/tasks/0"),
                ({"tasks": [{"com": [0, 0, 1], "position": [0, 0, 1]}]}, "unknown-field", "/tasks/0/position"),
                ({"tasks": [{**good, "frame": "base"}]}, "bad-value", "/tasks/0/frame"),
                ({"tasks": [good], "frame": "tip"}, "bad-value", "/frame"), ({"tasks": [good], "velocity": [0, 0, 1]}, "bad-value", "/velocity"),
                ({**good, "sequence": True}, "bad-value", "/sequence"), ({"position": [0, 0, 1]}, "missing-field", "/frame"), ({"frame": "tip"}, "missing-field", "/position"),
                ({"tasks": [{**good, "position": [3, 0, 0]}]}, "out-of-reach", None), ({"tasks": [{**good, "position": [0, 0]}]}, "wrong-shape", "/tasks/0/position"),
                ({**good, "outputs": ["task_errors"]}, "bad-value", "/outputs/0"), ({"tasks": [good], "outputs": ["qd"]}, "bad-value", "/outputs/0")):
            problem = self.assertProblem(self.client.post("/v1/models/arm/inverse-kinematics", request), 422)
            self.assertEqual((problem["code"], pointer or problem.get("pointer")), (code, problem.get("pointer")), request)


if __name__ == "__main__":
    tap.main()
