"""Tests rows that fail without failing the request ("on_error": "row") in every operation on states, and the errors that fail the whole request
all the same."""
import math
import random

import cbor2
import tap
from failing_rows import CBOR, SHAPED, FailingRowsCase, decode, same, typed
from harness import Server
from samples import everything, states

UPRIGHT = [0, 0, 1, 0, 0, 0, 1]


class FailingRows(FailingRowsCase):
    # --- 10 of 1000 rows fail

    def test_ten_of_a_thousand(self):
        rows = {name: values for name, values in self.arm_rows().items() if name in ("q", "qd", "qdd")}
        bad = {}
        for k, i in enumerate(self.choose(1000, 10)):
            if k % 2:
                rows["q"][i] = rows["q"][i][:3] + [1e9]
            else:
                rows["qd"][i] = [1e200] * 4
            bad[i] = "angle-too-large" if k % 2 else "result-not-finite"
        answer = self.check("arm", "inverse-dynamics", {"outputs": ["tau", "joint_wrenches"]}, rows, bad)
        self.assertEqual(len(answer["errors"]), 10)
        self.assertEqual(sum(row is not None for row in answer["tau"]), 990)
        self.assertEqual([e.get("pointer") for e in answer["errors"]],
                         [f"/q/{i}/3" if bad[i] == "angle-too-large" else None for i in bad])
        for i in self.choose(1000, 30, 6):
            if i not in bad:
                alone = self.ask("arm", "inverse-dynamics", {name: v[i] for name, v in rows.items()})
                self.assertTrue(same(alone["tau"], answer["tau"][i]))

    def test_every_output_of_a_floating_robot(self):
        """Quaternions of a length other than 1 fail their rows; those within rounding of 1 are normalised as in a
        request of one row."""
        rows = {name: values for name, values in self.arm_rows(200, True).items() if name in ("q", "qd")}
        bad = dict.fromkeys(self.choose(200, 10), "bad-quaternion")
        for q in rows["q"]:
            q[3:7] = [x * (1 + 3e-7) for x in q[3:7]]
        for i in bad:
            rows["q"][i][3:7] = [0.5, 0.5, 0.5, 0.6]
        self.check("free", "kinematics", {"frames": ["tool", "thigh"], "frame": "tool", "outputs": [
            "poses", "jacobian", "jacobian_dot", "velocity"]}, rows, bad)
        self.check("free", "energy", {"outputs": ["kinetic", "potential", "com"]}, rows, bad)
        self.check("free", "mass-matrix", {"outputs": ["mass_matrix", "inverse"]}, {"q": rows["q"]}, bad)

    def test_every_output_of_evaluate(self):
        for model, nv, coordinate in (("arm", 4, 3), ("free", 10, 10)):
            rows = states(40, nv, nv == 10)
            bad = self.choose(40, 5)
            for i in bad:
                rows["q"][i][coordinate] = -1e9
            whole = everything(rows)
            self.check(model, "evaluate", {"operations": whole["operations"]},
                       {name: v for name, v in whole.items() if name != "operations"}, dict.fromkeys(bad, "angle-too-large"))

    def test_numbers_that_are_not_finite(self):
        """Typed arrays may hold infinities and NaN, which fail only their rows."""
        rows = {name: values for name, values in self.arm_rows(300).items() if name in ("q", "qd")}
        bad = self.choose(300, 10)
        kept = self.ask("arm", "bias", {name: [v[i] for i in range(300) if i not in bad] for name, v in rows.items()})
        for k, i in enumerate(bad):
            rows["qd" if k % 2 else "q"][i][k % 4] = (math.nan, math.inf, -math.inf)[k % 3]
        request = cbor2.dumps({"q": typed(rows["q"]), "qd": typed(rows["qd"]), "on_error": "row"})
        headers = {"Content-Type": CBOR, "Accept": "application/json"}
        answer = self.ok(self.client.request("POST", "/v1/models/arm/bias", request, headers))
        self.assertEqual([(e["row"], e["code"]) for e in answer["errors"]], [(i, "non-finite") for i in bad])
        self.assertEqual(answer["errors"][1]["pointer"], f"/qd/{bad[1]}/1")
        self.assertTrue(same([row for row in answer["bias"] if row], kept["bias"]))
        whole = {"q": typed(rows["q"]), "qd": typed(rows["qd"])}
        self.assertProblem(self.client.request("POST", "/v1/models/arm/bias", cbor2.dumps(whole), headers), 422)

    # --- operations

    def stretched(self, n=200):
        """Returns rows of q of `massless`, and the set of those in the stretched position."""
        rng = random.Random(4)
        bad = self.choose(n, 10)
        return [[rng.uniform(-3, 3), 0 if i in bad else rng.uniform(0.5, 2)] for i in range(n)], bad

    def test_singular_mass_matrices(self):
        q, bad = self.stretched()
        bad = dict.fromkeys(bad, "singular-mass-matrix")
        tau = [[0.1 * i, 1] for i in range(len(q))]
        rows = {"q": q, "tau": tau}
        self.check("massless", "forward-dynamics", {"outputs": ["qdd", "joint_wrenches"]}, rows, bad)
        self.check("massless", "forward-sensitivity", {}, rows, bad)
        self.check("massless", "forward-gradient", {"multipliers": [1, 2]}, rows, bad)
        self.check("massless", "forward-directional", {"directions": {"q": [[1, 2], [0.5, 0]]}}, rows, bad)
        self.check("massless", "forward-hessian", {"multipliers": [1, 2], "outputs": ["hessian_q_q", "d2qdd_dq_dq"]}, rows, bad)
        self.check("massless", "mass-matrix", {"outputs": ["mass_matrix", "inverse"]}, {"q": q}, bad)
        self.check("massless", "inverse-dynamics", {"free": ["shoulder", "elbow"]}, rows, bad)
        held = [{"frame": "b", "axes": ["x"]}]
        self.check("massless", "impact", {"held": held}, {"q": q, "qd": tau}, bad)
        self.check("massless", "task-space", {"frame": "b", "axes": ["rz"]}, {"q": q}, bad)
        self.check("massless", "forward-dynamics", {"held": held, "outputs": ["qdd", "joint_wrenches", "contact_wrenches"]},
                   rows, bad)

    def test_singular_jacobians(self):
        rng = random.Random(8)
        bad = self.choose(100, 10)
        q = [[rng.uniform(-3, 3), 0 if i in bad else rng.uniform(0.5, 2)] for i in range(100)]
        outputs = ["inertia", "jacobian", "jacobian_dot_qd", "jacobian_inverse", "bias", "ellipsoid", "condition"]
        self.check("two_link", "task-space", {"frame": "link2", "axes": ["x", "y", "rz"][:2], "outputs": outputs[:1]},
                   {"q": q, "qd": q}, self.singular_of(q))

    def singular_of(self, q):
        """Sends each row as a request of its own, and returns the rows for which task-space is refused."""
        found = {}
        for i, row in enumerate(q):
            answer = self.post("two_link", "task-space", {"q": row, "frame": "link2", "axes": ["x", "y"]})
            if answer.status != 200:
                found[i] = "singular-jacobian"
        return found

    def test_contradictory_contacts(self):
        rows = self.arm_rows(60)
        bad = dict.fromkeys(self.choose(60, 10), "contradictory-contacts")
        held = [{"frame": "tool"}, {"frame": "thigh"}]
        for i in range(60):
            if i not in bad:
                rows["qd"][i] = [0] * 4
        self.check("arm", "forward-dynamics", {"held": held, "outputs": ["qdd", "contact_wrenches"]},
                   {name: rows[name] for name in ("q", "qd", "tau")}, bad)

    def test_no_zero_moment_point(self):
        """Rows in which the robot accelerates downwards by 30 m/s^2, faster than in free fall, have no zero-moment
        point."""
        nv = int(self.ok(self.client.get("/v1/models/humanoid"))["nv"])
        rng = random.Random(2)
        bad = self.choose(50, 10)
        q = [UPRIGHT + [rng.uniform(-0.2, 0.2) for _ in range(nv - 6)] for _ in range(50)]
        qdd = [[0, 0, -30 if i in bad else rng.uniform(-1, 1)] + [0] * (nv - 3) for i in range(50)]
        outputs = ["resultant", "zero_moment_point", "foot_wrenches", "tau", "d_resultant_dq", "d_foot_wrenches_dqd",
                   "dtau_dq"]
        self.check("humanoid", "ground-reaction", {"feet": [{"frame": "left_sole"}, {"frame": "right_sole"}], "outputs": outputs},
                   {"q": q, "qdd": qdd}, dict.fromkeys(bad, "no-zero-moment-point"))

    def test_loops_out_of_reach(self):
        q, qd, bad = self.bars()
        self.check("apart", "inverse-dynamics", {"outputs": ["tau", "joint_wrenches", "full"]}, {"q": q, "qd": qd}, bad)
        self.check("apart", "forward-dynamics", {"outputs": ["qdd", "full"]}, {"q": q, "qd": qd, "tau": qd}, bad)
        self.check("apart", "sensitivity", {}, {"q": q, "qd": qd}, bad)
        self.check("apart", "evaluate", {"operations": {"energy": {}, "bias": {}, "kinematics": {"frames": ["tip"]}}},
                   {"q": q, "qd": qd}, bad)
        self.check("apart", "impact", {"held": [{"frame": "tip", "axes": ["x"]}]}, {"q": q, "qd": qd}, bad)

    def platforms(self, model, operation, request, position, bad):
        """Tests requests that give poses of the platform; the answer begins with the coordinates that were found."""
        def of(rows):
            return {"platform": {**request["platform"], "position": rows}, **{
                name: value for name, value in request.items() if name != "platform"}}
        good = [i for i in range(len(position)) if i not in bad]
        answer = self.ask(model, operation, {**of(position), "on_error": "row"})
        kept = self.ask(model, operation, of([position[i] for i in good]))
        self.assertEqual([e["row"] for e in answer["errors"]], bad)
        self.assertEqual([e.get("pointer") for e in answer["errors"]], [f"/platform/position/{i}" for i in bad])
        self.check_arrays(answer, kept, good, bad, None)
        coded = self.post(model, operation, {**of(position), "on_error": "row"}, Accept=SHAPED)
        self.check_coded(decode(cbor2.loads(self.body_of(coded))), answer)

    def test_platforms_out_of_reach(self):
        rng = random.Random(3)
        bad = self.choose(40, 4)
        position = [[rng.uniform(0.05, 0.15), rng.uniform(0.3, 0.4), 0] for _ in range(40)]
        for i in bad:
            position[i] = [3, 3, 0]
        self.platforms("five_bar", "inverse-dynamics", {"platform": {"frame": "tip"}}, position, bad)
        self.platforms("five_bar", "evaluate", {"platform": {"frame": "tip"}, "operations": {
            "inverse-dynamics": {}, "energy": {}}}, position, bad)
        position = [[rng.uniform(-0.05, 0.05), rng.uniform(-0.05, 0.05), rng.uniform(-0.7, -0.65)] for _ in range(40)]
        for i in bad:
            position[i] = [0, 0, -3]
        self.platforms("delta", "inverse-dynamics", {"platform": {"frame": "tool"}}, position, bad)

    def test_evaluate(self):
        """A row can fail in one operation of evaluate and be answered by the others."""
        q, bad = self.stretched()
        rows = {"q": q, "qd": [[1, 2]] * len(q), "tau": [[1, 1]] * len(q)}
        shared = {"operations": {"kinematics": {"frames": ["b"]}, "forward-dynamics": {}, "energy": {},
                                 "mass-matrix": {"outputs": ["inverse"]}}}
        answer = self.check("massless", "evaluate", shared, rows, dict.fromkeys(bad, "singular-mass-matrix"),
                            {"forward-dynamics", "mass-matrix"})
        self.assertEqual([(e["row"], e["operation"]) for e in answer["errors"]],
                         [(i, name) for i in bad for name in ("forward-dynamics", "mass-matrix")])
        rows["q"] = [[1e9, 0] if i in bad[:2] else row for i, row in enumerate(q)]
        answer = self.ask("massless", "evaluate", {**shared, **rows, "on_error": "row"})
        self.assertEqual([e.get("operation") for e in answer["errors"][:4]], [None, None, "forward-dynamics", "mass-matrix"])
        self.assertEqual([i for i, row in enumerate(answer["energy"]["kinetic"]) if row is None], bad[:2])

    def test_identify(self):
        """identify leaves failed rows out: the answer equals that to a request with only the rows that do not fail."""
        rows = self.arm_rows(300)
        rows = {name: rows[name] for name in ("q", "qd", "qdd", "tau")}
        bad = self.choose(300, 10)
        good = [i for i in range(300) if i not in bad]
        kept = self.ask("arm", "identify", {name: [v[i] for i in good] for name, v in rows.items()})
        for k, i in enumerate(bad):
            name, value = (("q", 1e9), ("qd", 1e200), ("tau", 1e300))[k % 3]
            rows[name][i][1] = value
        answer = self.ask("arm", "identify", {**rows, "on_error": "row"})
        codes = ["angle-too-large", "result-not-finite", "result-not-finite"]
        self.assertEqual([(e["row"], e["code"]) for e in answer.pop("errors")],
                         [(i, codes[k % 3]) for k, i in enumerate(bad)])
        self.assertTrue(same(answer, kept))
        coded = self.post("arm", "identify", {**rows, "on_error": "row"}, Accept=SHAPED)
        self.assertTrue(same({k: v for k, v in decode(cbor2.loads(coded.body)).items() if k != "errors"}, kept))

    def test_identify_without_rows(self):
        rows = {name: self.arm_rows(100)[name] for name in ("q", "qd", "qdd", "tau")}
        rows["q"] = [[1e9] * 4] * 100
        answer = self.ask("arm", "identify", {**rows, "on_error": "row"})
        self.assertEqual(len(answer.pop("errors")), 100)
        self.assertIsInstance(answer.pop("unobservable"), list)  # `unobservable` is a property of the model, not of the rows
        self.assertEqual(set(answer.values()), {None})
        rows["q"][:5] = [[0] * 4] * 5
        problem = self.assertProblem(self.post("arm", "identify", {**rows, "on_error": "row"}), 422)
        self.assertEqual(problem["code"], "rank-deficient")

    # --- the request

    def test_no_row_fails(self):
        answer = self.ask("arm", "bias", {"q": [[0.1] * 4] * 3, "on_error": "row"})
        self.assertEqual(answer["errors"], [])
        self.assertNotIn("errors", self.ask("arm", "bias", {"q": [[0.1] * 4] * 3, "on_error": "request"}))
        coded = cbor2.loads(self.post("arm", "bias", {"q": [0.1] * 4, "on_error": "row"}, Accept=SHAPED).body)
        self.assertEqual(list(coded), ["bias", "errors"])
        self.assertEqual(coded["errors"], [])

    def test_all_rows_fail(self):
        answer = self.ask("arm", "bias", {"q": [[1e9] * 4] * 1200, "on_error": "row"})
        self.assertEqual(answer["bias"], [None] * 1200)
        self.assertEqual([e["row"] for e in answer["errors"]], list(range(1200)))
        shared = self.ask("arm", "bias", {"q": [1e9, 0, 0, 0], "qd": [[0] * 4] * 3, "on_error": "row"})
        self.assertEqual([(e["row"], e["pointer"]) for e in shared["errors"]], [(i, "/q/0") for i in range(3)])
        self.assertEqual(shared["bias"], [None] * 3)

    def test_what_fails_the_request(self):
        good = {"q": [[0.1] * 4] * 3, "on_error": "row"}
        for more, pointer, code in (({"q": [[0.1] * 4, [1e9] * 4, [0] * 3]}, "/q/2", "wrong-shape"),
                                    ({"q": [[1e9] * 4, [0, "a", 0, 0]]}, "/q/1/1", "wrong-type"),
                                    ({"qd": [[0] * 4] * 2}, "/qd", "wrong-shape"),
                                    ({"on_error": "rows"}, "/on_error", "bad-value"),
                                    ({"on_error": True}, "/on_error", "wrong-type"),
                                    ({"outputs": ["torque"]}, "/outputs/0", "unknown-name")):
            with self.subTest(**more):
                problem = self.assertProblem(self.post("arm", "bias", {**good, **more}), 422, pointer)
                self.assertEqual(problem["code"], code)

    def test_deadlines_fail_the_request(self):
        rows = self.arm_rows(2)  # two simulations in the lanes of one block
        answer = self.post("arm", "simulate", {"q": rows["q"], "duration": 100, "step": 1e-4, "samples": 2, "on_error": "row"},
                           **{"Request-Timeout": "0.2"})
        self.assertProblem(answer, 504)

    def test_errors_count_as_the_answer(self):
        """The size of `errors` counts in the limit of an answer; a larger answer is refused."""
        request = {"q": [[1e9, 0]] * 60, "on_error": "row"}
        size = len(self.post("two_link", "energy", request).body)
        for limit, status in ((size, 200), (size - 1, 413)):
            server = Server("--max-answer", str(limit))
            try:
                answer = server.client().request("POST", "/v1/models/two_link/energy", request, {})
                self.assertEqual(answer.status, status, answer)
            finally:
                self.assertIsNone(server.stop())
        self.assertEqual(self.assertProblem(answer, 413)["code"], "answer-too-large")

    def test_bad_values_of_other_fields(self):
        """Bad quaternions of platforms, angles of guesses, weights, and torques of driven coordinates fail their rows."""
        weights = [[1] * 4] * 20
        weights[3] = [1, 1, -1, 1]
        rows = {name: v[:20] for name, v in self.arm_rows(20).items() if name in ("q", "qd", "qdd", "tau")}
        answer = self.ask("arm", "identify", {**rows, "weights": weights, "on_error": "row"})
        self.assertEqual([(e["row"], e["code"], e["pointer"]) for e in answer["errors"]], [(3, "bad-value", "/weights/3/2")])
        rows = {"q": rows["q"], "tau": [[0, 0, 0, 1] if i in (4, 9) else [1, 0, 0, 0] for i in range(20)]}
        free = [self.client.get("/v1/models/arm").json()["velocity_names"][0]]
        self.check("arm", "inverse-dynamics", {"free": free}, rows, {4: "bad-value", 9: "bad-value"})
        upright = [0, 0, 0, 1]
        answer = self.ask("stewart", "inverse-dynamics", {"platform": {
            "frame": "platform", "position": [0, 0, 1], "orientation": [upright, [0, 0, 0, 2], upright]}, "on_error": "row"})
        self.assertIn((1, "bad-quaternion"), [(e["row"], e["code"]) for e in answer["errors"]])

    def test_the_first_step_and_row_that_fail(self):
        """The problem of a failed request names the first row, and in it the first step, that fails, although the server computes several rows
        of a batch at the same time."""
        def torques(step):
            """Returns six torques, of which that of one step, unless None, moves the arm out of range."""
            return [[1, 1e200 if i == step else 0] for i in range(6)]
        request = {"q": [0.3, 0.5], "qd": [0, 0], "step": 0.01}
        phases = [{"steps": 3}, {"steps": 3, "held": [{"frame": "link2", "axes": ["y"]}]}]
        for operation, more in (("rollout", {}), ("rollout", {"phases": phases}), ("rollout-gradient", {"multipliers_q": [[1, 1]] * 6})):
            for steps in ((None, 4, 1, 0), (None, None, None, 1, 4, None, None, None, 2)):
                rows = [torques(step) for step in steps]
                first = next(i for i, step in enumerate(steps) if step is not None)
                alone = self.assertProblem(self.post("two_link", operation, {**request, **more, "torques": rows[first]}), 422)
                self.assertEqual(alone["detail"].partition(":")[0], f"step {steps[first]}")
                problem = self.assertProblem(self.post("two_link", operation, {**request, **more, "torques": rows}), 422, row=first)
                self.assertEqual(problem["detail"], alone["detail"])

    def test_joints_in_another_order(self):
        """With `joints`, the problem names the overflowing entry by its index in the request's order."""
        names = self.ok(self.client.get("/v1/models/arm"))["velocity_names"]
        request = {"q": [[0] * 4] * 2, "qd": [[0, 0, 0, 0], [0, 0, 0, 1e200]], "joints": names[::-1]}
        problem = self.assertProblem(self.post("arm", "bias", request), 422, row=1)
        error, = self.ask("arm", "bias", {**request, "on_error": "row"})["errors"]
        self.assertEqual(error["detail"], problem["detail"])


if __name__ == "__main__":
    tap.main()
