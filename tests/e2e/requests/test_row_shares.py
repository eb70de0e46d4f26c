"""Tests that a row whose time depends on its values cannot use the time of the other rows: with "on_error": "row" it fails by name when its
share of the request's time is used up, and the other rows have the bits of requests of one row."""
import unittest

import tap
from harness import ServerCase
from samples import chain

FAR = 99999  # rad; following the loop to this angle of the crank takes seconds
GOOD = [0.5, 0.6, 0.7, 0.8, 0.9]


def failed(answer):
    return [(e["row"], e["code"]) for e in answer["errors"]]


class Loops(ServerCase):
    arguments = ("--workers", "1")

    def ask_rows(self, operation, request):
        return self.ok(self.client.post(f"/v1/models/four_bar/{operation}", {**request, "on_error": "row"},
                                        Request_Timeout="1"))

    def compare(self, operation, request, angles, outputs):
        """Sends one row at FAR among rows that take little time, and compares those rows with requests of one row each."""
        answer = self.ask_rows(operation, {**request, "q": [[angle] for angle in angles]})
        late = [row for row, angle in enumerate(angles) if angle == FAR]
        self.assertEqual(failed(answer), [(row, "deadline-passed") for row in late])
        for error in answer["errors"]:
            self.assertIn("has used up its share of the", error["detail"])
        for row, angle in enumerate(angles):
            for output in outputs:
                with self.subTest(operation=operation, row=row, output=output):
                    if row in late:
                        self.assertIsNone(answer[output][row])
                        continue
                    alone = self.ask("four_bar", operation, {**request, "q": [angle]})
                    self.assertEqual(answer[output][row], alone[output])

    def test_a_far_row_beside_near_ones_in_lanes(self):
        """The loops of rows in one block are closed together. If one row takes too long, the others are closed again without it, with the bits
        of requests of one row."""
        self.compare("inverse-dynamics", {"qd": [0.3], "qdd": [0.2]}, [*GOOD[:2], FAR, *GOOD[2:]], ["tau"])

    def test_far_rows_at_the_ends_of_a_batch(self):
        self.compare("inverse-dynamics", {"qd": [0.3], "qdd": [0.2]}, [FAR, *GOOD * 4, FAR], ["tau"])

    def test_simulations(self):
        self.compare("simulate", {"duration": 0.01, "tolerance": 1e-6, "samples": 2}, [*GOOD[:2], FAR, GOOD[2]], ["q", "qd"])
        self.compare("simulate", {"duration": 0.01, "step": 0.005, "samples": 2}, [GOOD[0]], ["q", "qd"])

    def test_rollouts(self):
        self.compare("rollout", {"qd": [0.1], "step": 0.001, "integrator": "implicit_euler", "torques": [[0.1], [0.2]]},
                     [*GOOD[:2], FAR, GOOD[2]], ["q_after", "qd_after"])

    def test_motions(self):
        near = [[0.5], [0.6], [0.7], [0.8], [0.9], [1.0]]
        far = [*near[:2], [FAR], *near[3:]]
        request = {"duration": 1, "degree": 5, "samples": 5, "outputs": ["tau"]}
        answer = self.ask_rows("trajectory", {**request, "control_points": [near, far, near]})
        self.assertEqual(failed(answer), [(1, "deadline-passed")])
        self.assertIsNone(answer["tau"][1])
        alone = self.ask("four_bar", "trajectory", {**request, "control_points": near})
        self.assertEqual([answer["tau"][0], answer["tau"][2]], [alone["tau"]] * 2)

    def test_a_request_of_late_rows_alone_fails(self):
        answer = self.client.post("/v1/models/four_bar/inverse-dynamics",
                                  {"q": [[FAR], [FAR]], "qd": [0], "qdd": [0], "on_error": "row"}, Request_Timeout="0.5")
        self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")

    def test_operations_of_evaluate_share_the_closing(self):
        request = {"qd": [0.3], "qdd": [0.2], "tau": [0.1],
                   "operations": {"inverse-dynamics": {}, "forward-dynamics": {}, "kinematics": {}}}
        frames = [f["name"] for f in self.ok(self.client.get("/v1/models/four_bar"))["frames"]]
        request["operations"]["kinematics"] = {"frames": frames[:1]}
        answer = self.ask_rows("evaluate", {**request, "q": [[0.5], [FAR], [0.6]]})
        self.assertEqual(failed(answer), [(1, "deadline-passed")])
        for row, angle in ((0, 0.5), (2, 0.6)):
            alone = self.ask("four_bar", "evaluate", {**request, "q": [angle]})
            self.assertEqual(answer["inverse-dynamics"]["tau"][row], alone["inverse-dynamics"]["tau"])
            self.assertEqual(answer["forward-dynamics"]["qdd"][row], alone["forward-dynamics"]["qdd"])
            pose = answer["kinematics"]["poses"][frames[0]]
            self.assertEqual(pose["position"][row], alone["kinematics"]["poses"][frames[0]]["position"])

    def test_a_sum_over_rows_has_no_shares(self):
        """Without the rows that took too long, identify would answer other parameters; so the request fails."""
        rows = [[0.1 * i] for i in range(12)]
        request = {"q": [*rows, [FAR]], "qd": [0.3], "qdd": [[0.1 * (i % 5)] for i in range(13)], "tau": [[0.1]] * 13,
                   "on_error": "row"}
        answer = self.client.post("/v1/models/four_bar/identify", request, Request_Timeout="0.5")
        self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")

    def test_other_failures_keep_their_names(self):
        answer = self.ask_rows("inverse-dynamics", {"q": [[0.5], [1e9], [FAR], [0.6]], "qd": [0], "qdd": [0]})
        self.assertEqual(failed(answer), [(1, "angle-too-large"), (2, "deadline-passed")])

    def test_without_on_error_a_far_row_fails_the_request(self):
        answer = self.client.post("/v1/models/four_bar/inverse-dynamics", {"q": [[0.5], [FAR]], "qd": [0], "qdd": [0]},
                                  Request_Timeout="0.3")
        self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")


class Sticking(ServerCase):
    arguments = ("--workers", "1")

    def test_joints_at_rest_beside_moving_ones(self):
        """Only a row at rest has a friction problem. For a chain of 512 joints the problem takes half a second, and each of 40 rows
        has a few hundredths."""
        n = 512
        document = chain(n)
        for link in document["links"]:
            link["joint"]["friction"] = {"coulomb": 0.5}
        self.put_model("sticky", document)
        rest, moving = [0] * n, [0.1] * n
        request = {"q": [[0.1] * n] * 40, "qd": [moving] * 20 + [rest] + [moving] * 19, "tau": [0.3] * n,
                   "friction_at_rest": "stick"}
        answer = self.client.post("/v1/models/sticky/forward-dynamics", {**request, "on_error": "row"}, Request_Timeout="2")
        answer = self.ok(answer)
        self.assertEqual(failed(answer), [(20, "deadline-passed")])
        alone = self.ask("sticky", "forward-dynamics", {**request, "q": [0.1] * n, "qd": moving})
        self.assertEqual(answer["qdd"][19], alone["qdd"])
        self.assertEqual(answer["qdd"][21], alone["qdd"])


if __name__ == "__main__":
    tap.main()
