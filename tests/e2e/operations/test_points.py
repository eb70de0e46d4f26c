"""Tests kinematics of several points: against frames at the same places, closed loops and batches; derivatives against
exact identities and extrapolated differences; points along trajectories against the chain rule."""
import numpy as np
import tap
from closed import Closed, only

OUTPUTS = ["point_positions", "point_jacobians", "point_jacobians_dot", "point_velocities", "point_accelerations"]
AS_FRAME = {"point_jacobians": "jacobian", "point_jacobians_dot": "jacobian_dot", "point_velocities": "velocity",
            "point_accelerations": "acceleration"}

DERIVATIVES = ["d_point_jacobians_dq", "d_point_velocities_dq", "d_point_accelerations_dq", "d_point_accelerations_dqd"]
ALONG = ["d_point_positions_dcontrol_points", "d_point_velocities_dcontrol_points", "d_point_velocities_dduration",
         "d_point_accelerations_dcontrol_points", "d_point_accelerations_dduration"]
STEPS = np.array([-2, -1, 1, 2]) * 1e-3
WEIGHTS = np.array([1, -8, 8, -1]) / 12e-3  # weights of fourth-order differences


def moved(values, k):
    """Returns the batch of states in which entry k takes each of the STEPS."""
    rows = np.tile(np.array(values, float), (len(STEPS), 1))
    rows[:, k] += STEPS
    return rows.tolist()


class Points(Closed):
    def motion(self, nv, seed=1):
        choose = np.random.default_rng(seed)
        return {name: choose.uniform(-1, 1, nv).tolist() for name in ("q", "qd", "qdd")}

    def test_frames_at_the_points(self):
        """A point gives the same as a frame of the document at its place, in world and in frame axes."""
        document = self.ok(self.client.get("/v1/models/ur5/document"))
        links = [link["name"] for link in document["links"]]
        places = [(links[1], [0.1, -0.2, 0.3]), (links[5], [0, 0, 0.2]), (links[5], [0, 0, 0]), (links[3], [1, 2, -1])]
        frames = [{"name": f"at{i}", "link": link, "xyz": xyz} for i, (link, xyz) in enumerate(places)]
        self.put_model("marked", {**document, "name": "marked", "frames": document.get("frames", []) + frames})
        s = self.motion(6)
        points = [{"link": link, "point": xyz} for link, xyz in places]
        for reference in ("world", "frame"):
            answer = self.ask("ur5", "kinematics", {**s, "points": points, "reference": reference, "outputs": OUTPUTS})
            self.assertEqual(list(answer), OUTPUTS)
            for i in range(len(places)):
                one = self.ask("marked", "kinematics", {**s, "frame": f"at{i}", "reference": reference,
                                                        "outputs": list(AS_FRAME.values())})
                for name, usual in AS_FRAME.items():
                    self.near(answer[name][i], one[usual], 1e-13, (name, i))
                pose = self.ask("marked", "kinematics", {**s, "frames": [f"at{i}"]})["poses"][f"at{i}"]
                self.near(answer["point_positions"][i], pose["position"], 1e-13)

    def test_frames_and_origins(self):
        s = self.motion(6, 2)
        answer = self.ask("ur5", "kinematics", {**s, "points": [{"frame": "tool0"}, {"frame": "tool0", "point": [0, 0, 0.5]}]})
        self.assertEqual(list(answer), ["poses", "point_positions"])
        pose = answer["poses"]["tool0"]
        self.assertEqual(answer["point_positions"][0], pose["position"])
        x, y, z, w = pose["orientation"]
        third = np.array([2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)])
        self.near(answer["point_positions"][1], pose["position"] + 0.5 * third, 1e-13)

    def test_loops_and_batches(self):
        for model in self.MODELS:
            s = only(self.states(model, 5, 3), "q", "qd", "qdd")
            link = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"][-1]
            request = {"points": [{"link": link, "point": [0.1, 0, 0.2]}, {"link": link}], "outputs": OUTPUTS}
            answer = self.ask(model, "kinematics", {**s, **request})
            J = np.array(answer["point_jacobians"])
            self.near(np.einsum("npij,nj->npi", J, s["qd"]), answer["point_velocities"], 1e-9, model)
            rest = np.einsum("npij,nj->npi", J, s["qdd"]) + np.einsum("npij,nj->npi", answer["point_jacobians_dot"], s["qd"])
            self.near(rest, answer["point_accelerations"], 1e-8, model)
            for i in range(5):
                alone = self.ask(model, "kinematics", {**{name: rows[i] for name, rows in s.items()}, **request})
                self.assertEqual(alone, {name: rows[i] for name, rows in answer.items()}, model)
        combined = self.ask("ur5", "evaluate", {**self.motion(6), "operations": {
            "kinematics": {"points": [{"frame": "tool0"}], "outputs": ["point_velocities"]}}})
        self.assertEqual(list(combined["kinematics"]), ["point_velocities"])

    def points_of(self, model):
        bodies = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"]
        return [{"link": bodies[-1], "point": [0.1, -0.05, 0.2]}, {"link": bodies[len(bodies) // 2], "point": [0.03, 0.2, 0]}]

    def test_derivatives_are_consistent(self):
        """J' = dJ/dq qd, dv/dq = dJ/dq contracted with qd, da/dqd = J' + dv/dq, and the jerk."""
        for model in (*self.MODELS, "ur5", "robotiq_2f_85", "panda"):
            nv = len(self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"])
            s = self.state(model, 7) if model in self.MODELS else {**self.motion(nv, 7), "qddd": [0.3] * nv}
            s.pop("tau", None)
            points = self.points_of(model)
            a = self.ask(model, "kinematics", {**only(s, "q", "qd", "qdd"), "points": points, "outputs": OUTPUTS + DERIVATIVES})
            H, qd = np.array(a["d_point_jacobians_dq"]), np.array(s["qd"])
            self.near(H @ qd, a["point_jacobians_dot"], 1e-11, model, 1)
            self.near(np.einsum("pijk,j->pik", H, qd), a["d_point_velocities_dq"], 1e-11, model, 1)
            expected = np.array(a["point_jacobians_dot"]) + a["d_point_velocities_dq"]
            self.near(a["d_point_accelerations_dqd"], expected, 1e-11, model, 1)
            jerk = self.ask(model, "kinematics", {**only(s, "q", "qd", "qdd", "qddd"), "frame": points[0]["link"], "outputs": ["jerk"]})
            b = self.ask(model, "kinematics", {**only(s, "q", "qd", "qdd"), "points": [{"frame": points[0]["link"]}],
                                               "outputs": OUTPUTS + DERIVATIVES})
            found = (np.array(b["d_point_accelerations_dq"][0]) @ qd + np.array(b["d_point_accelerations_dqd"][0]) @ s["qdd"] +
                     np.array(b["point_jacobians"][0]) @ s["qddd"])
            self.near(found, jerk["jerk"], 1e-11, model, 1)

    def test_derivatives_by_differences(self):
        for model in ("four_bar", "stewart", "delta", "ur5"):
            s = only(self.state(model, 9), "q", "qd", "qdd") if model in self.MODELS else self.motion(6, 9)
            for reference in ("world", "frame"):
                request = {"points": self.points_of(model), "reference": reference}
                exact = self.ask(model, "kinematics", {**s, **request, "outputs": DERIVATIVES})
                for k in range(len(s["q"])):
                    by_q = self.ask(model, "kinematics", {**s, "q": moved(s["q"], k), **request, "outputs": OUTPUTS})
                    by_qd = self.ask(model, "kinematics", {**s, "qd": moved(s["qd"], k), **request, "outputs": OUTPUTS})
                    for name, answer, output in (("d_point_jacobians_dq", by_q, "point_jacobians"),
                                                 ("d_point_velocities_dq", by_q, "point_velocities"),
                                                 ("d_point_accelerations_dq", by_q, "point_accelerations"),
                                                 ("d_point_accelerations_dqd", by_qd, "point_accelerations")):
                        expected = np.einsum("r,r...->...", WEIGHTS, np.array(answer[output]))
                        self.near(np.array(exact[name])[..., k], expected, 2e-8, (model, reference, name), 1)

    def test_derivatives_in_batches(self):
        for model in ("delta", "ur5"):
            s = only(self.states(model, 9, 4), "q", "qd", "qdd") if model in self.MODELS else {
                name: np.random.default_rng(3).uniform(-1, 1, (9, 6)).tolist() for name in ("q", "qd", "qdd")}
            request = {"points": self.points_of(model), "outputs": DERIVATIVES}
            batch = self.ask(model, "kinematics", {**s, **request})
            for i in range(9):
                alone = self.ask(model, "kinematics", {**{name: rows[i] for name, rows in s.items()}, **request})
                self.assertEqual(alone, {name: rows[i] for name, rows in batch.items()}, model)

    def test_free_bodies(self):
        """On a floating base, derivatives by q are along p += R e_v, R <- R exp(e_w); the components of the velocity
        stay constant."""
        s = {"q": [0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5], "qd": [1, -2, 0.5, 0.3, 0.2, -0.4], "qdd": [0.1, 0, 0.2, 0.3, 1, 2]}
        self.put_model("body", {"base": {"type": "floating", "inertial": {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
                                "links": []})
        link = self.ok(self.client.get("/v1/models/body"))["bodies"][0]
        a = self.ask("body", "kinematics", {**s, "points": [{"link": link, "point": [0.1, 0.2, 0.3]}],
                                            "outputs": OUTPUTS + DERIVATIVES})
        H, qd = np.array(a["d_point_jacobians_dq"]), np.array(s["qd"])
        self.near(H @ qd, a["point_jacobians_dot"], 1e-13)
        self.near(np.einsum("pijk,j->pik", H, qd), a["d_point_velocities_dq"], 1e-13)

    def along(self, model, seed, **change):
        """Returns a request for a trajectory with points."""
        choose = np.random.default_rng(seed)
        start = np.array(self.state(model, seed)["q"]) if model in self.MODELS else choose.uniform(-1, 1, 6)
        size = 0.05 if model in self.MODELS else 1
        return {"degree": 4, "duration": 1.3, "control_points": (start + choose.uniform(-size, size, (7, len(start)))).tolist(),
                "times": [0, 0.31, 0.8, 1.3], "points": self.points_of(model), **change}

    def test_along_trajectories(self):
        """The gradients are those of kinematics at the same states, times the basis."""
        for model in ("ur5", "delta", "four_bar"):
            request = self.along(model, 5)
            a = self.ask(model, "trajectory", {**request, "outputs": ["q", "qd", "qdd", "basis", "point_positions",
                                                                     "point_velocities", "point_accelerations", *ALONG]})
            s, b = only(a, "q", "qd", "qdd"), np.array(a["basis"])
            k = self.ask(model, "kinematics", {**s, "points": request["points"], "outputs": OUTPUTS + DERIVATIVES})
            for name in ("point_positions", "point_velocities", "point_accelerations"):
                self.near(a[name], k[name], 1e-13, model)
            J, v_q = np.array(k["point_jacobians"]), np.array(k["d_point_velocities_dq"])
            a_q, a_qd = np.array(k["d_point_accelerations_dq"]), np.array(k["d_point_accelerations_dqd"])
            qd, qdd, T = np.array(a["qd"]), np.array(a["qdd"]), request["duration"]
            chain = lambda *parts: sum(np.einsum("nk,npij->npikj", b[:, r], part) for r, part in enumerate(parts))
            along = lambda x, part: np.einsum("npij,nj->npi", part, x)
            for name, expected in (("d_point_positions_dcontrol_points", chain(J[:, :, :3])),
                                   ("d_point_velocities_dcontrol_points", chain(v_q, J)),
                                   ("d_point_accelerations_dcontrol_points", chain(a_q, a_qd, J)),
                                   ("d_point_velocities_dduration", -along(qd, J) / T),
                                   ("d_point_accelerations_dduration", -(along(qd, a_qd) + 2 * along(qdd, J)) / T)):
                self.near(a[name], expected, 1e-11, (model, name), 1)
            dense = self.ask(model, "trajectory", {**request, "dense": True, "outputs": ALONG})
            for n, first in enumerate(map(int, a["first_control_point"])):
                part = np.array(dense["d_point_velocities_dcontrol_points"])[n]
                self.assertTrue((part[:, :, first:first + 5] == np.array(a["d_point_velocities_dcontrol_points"])[n]).all())
                self.assertEqual(np.count_nonzero(np.delete(part, range(first, first + 5), axis=2)), 0)

    def test_trajectories_in_batches(self):
        request = self.along("ur5", 8, outputs=ALONG + ["point_positions"])
        rows = [self.along("ur5", seed)["control_points"] for seed in range(5)]
        batch = self.ask("ur5", "trajectory", {**request, "control_points": rows})
        for i, row in enumerate(rows):
            alone = self.ask("ur5", "trajectory", {**request, "control_points": row})
            shared = {name: value[i] for name, value in batch.items()}
            self.assertEqual(alone, shared)
        default = self.ask("ur5", "trajectory", {name: value for name, value in self.along("ur5", 8).items()})
        self.assertEqual(list(default)[-1], "point_positions")

    def test_refusals(self):
        s = {"q": [0] * 6}
        for change, code, pointer in (
                ({"points": []}, "wrong-shape", "/points"), ({"points": [{"point": [0, 0, 0]}]}, "missing-field", "/points/0/frame"),
                ({"points": [{"link": "nothing"}]}, "unknown-name", "/points/0/link"),
                ({"points": [{"frame": "tool0"}, {"frame": "tool0", "link": "tool0"}]}, "bad-value", "/points/1/link"),
                ({"points": [{"frame": "tool0", "point": [0, 0]}]}, "wrong-shape", "/points/0/point"),
                ({"points": [{"frame": "tool0", "mass": 1}]}, "unknown-field", "/points/0/mass"),
                ({"points": [{"frame": "tool0"}] * 257}, "wrong-shape", "/points"),
                ({"outputs": ["point_positions"]}, "missing-field", "/points")):
            problem = self.assertProblem(self.client.post("/v1/models/ur5/kinematics", {**s, **change}), 422, pointer)
            self.assertEqual(problem["code"], code, (change, problem))
        motion = {**self.along("ur5", 1), "outputs": ["point_positions"]}
        motion.pop("points")
        self.assertProblem(self.client.post("/v1/models/ur5/trajectory", motion), 422, "/points")


if __name__ == "__main__":
    tap.main()
