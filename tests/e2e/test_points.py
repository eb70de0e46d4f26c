"""kinematics of several points: against frames at the same places, differences, closed loops and batches."""
import numpy as np
import tap
from closed import Closed, only

OUTPUTS = ["point_positions", "point_jacobians", "point_jacobians_dot", "point_velocities", "point_accelerations"]
AS_FRAME = {"point_jacobians": "jacobian", "point_jacobians_dot": "jacobian_dot", "point_velocities": "velocity",
            "point_accelerations": "acceleration"}


class Points(Closed):
    def motion(self, nv, seed=1):
        choose = np.random.default_rng(seed)
        return {name: choose.uniform(-1, 1, nv).tolist() for name in ("q", "qd", "qdd")}

    def test_frames_at_the_points(self):
        """A frame of the document at each point gives the same, in world and in frame axes."""
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


if __name__ == "__main__":
    tap.main()
