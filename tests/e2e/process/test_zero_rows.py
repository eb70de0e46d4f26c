"""Tests batches without rows: every operation answers arrays without rows, in both encodings and in evaluate; other
fields are checked."""
import cbor2
import numpy as np
import tap
from closed import Closed
from samples import branched, states


def typed(*shape):
    """Returns an empty typed array of doubles (RFC 8746) with the given shape."""
    return cbor2.CBORTag(40, [list(shape), cbor2.CBORTag(86, b"")])


# operations that requests() leaves out: ground-reaction needs a floating base, evaluate has a test of its own, the others have no rows of states
LEFT_OUT = {"ground-reaction", "identify", "trajectory", "trajectory-hessian", "path", "path-timing", "evaluate"}


class ZeroRows(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/flying", branched("floating"))

    def requests(self, model, nv):
        """Returns operations with their fields; None stands for a field of the state without rows."""
        motion, forward = {"qd": None, "qdd": None}, {"qd": None, "tau": None}
        frame = {"panda": "panda_link7", "flying": "tool", "five_bar": "tip"}[model]
        every = {
            "inverse-dynamics": motion, "forward-dynamics": forward, "mass-matrix": {}, "bias": {"qd": None}, "kinematics": {"frames": [frame]},
            "energy": {"qd": None}, "torque-derivative": {**motion, "qddd": None}, "sensitivity": motion, "forward-sensitivity": forward,
            "hessian": {**motion, "multipliers": None}, "forward-hessian": {**forward, "multipliers": None},
            "gradient": {**motion, "multipliers": None}, "forward-gradient": {**forward, "multipliers": None},
            "directional": {**motion, "directions": {"q": [[0.5] * nv]}}, "forward-directional": {**forward, "directions": {"tau": [[0.5] * nv]}},
            "rollout-gradient": {"qd": None, "torques": [[0.0] * nv] * 2, "step": 0.01, "cost": {"qd": 1}}, "coriolis": {"qd": None},
            "regressor": motion, "task-space": {"frame": frame, "axes": ["x"]}, "margins": {"qd": None},
            "impact": {"qd": None, "held": [{"frame": frame, "axes": ["x"]}]}, "step": {**forward, "step": 0.01},
            "rollout": {"qd": None, "torques": [[0.0] * nv] * 2, "step": 0.01},
            "configuration": {"displacement": None, "outputs": ["integrated", "normalised", "neutral"]}, "sensors": {**motion, "force_torque": [{"frame": frame}], "inertial": [frame]},
            "external-wrench": {**forward, "frame": frame, "axes": ["x"], "noise": 0.1},
            "simulate": {"qd": None, "duration": 0.01, "step": 0.005, "samples": 2},
            "feed-forward": {**motion, "outputs": ["tau"]},
            "differential-inverse-kinematics": {"tasks": [{"frame": frame, "velocity": [0.1, 0, 0.05]}], "step": 0.01, "damping": 0.1, "outputs": ["qd"]},
            "inverse-kinematics": {"frame": frame, "position": [0.1, 0, 0.5], "outputs": ["q", "distance", "at_limits"]},
        }
        if model == "five_bar":
            del every["hessian"], every["forward-hessian"], every["inverse-kinematics"], every["feed-forward"]
            del every["gradient"], every["forward-gradient"], every["rollout-gradient"], every["directional"], every["forward-directional"]
        return every

    def assertNoRows(self, value, what):
        if isinstance(value, dict):
            for name, part in value.items():
                self.assertNoRows(part, f"{what} {name}")
        else:
            self.assertEqual(len(value), 0, what)

    def test_every_operation(self):
        for model in ("panda", "flying", "five_bar"):
            described = self.ok(self.client.get(f"/v1/models/{model}"))
            nq, nv = described["nq"], described["nv"]
            for operation, fields in self.requests(model, nv).items():
                with self.subTest(model=model, operation=operation):
                    request = {"q": [], **{name: [] if value is None else value for name, value in fields.items()}}
                    for more in ({}, {"on_error": "row"}):
                        answer = self.ask(model, operation, {**request, **more})
                        self.assertTrue(answer)
                        self.assertNoRows({k: v for k, v in answer.items() if operation != "margins" or k != "limits"}, operation)
                    packed = {"q": typed(0, nq), **{name: typed(0, nv) if value is None else value for name, value in fields.items()}}
                    reply = self.client.post(f"/v1/models/{model}/{operation}", cbor2.dumps(packed), Content_Type="application/cbor",
                                             Accept="application/cbor")
                    self.assertEqual(reply.status, 200, reply)
                    got = cbor2.loads(reply.body)
                    self.assertEqual(list(got), list(self.ask(model, operation, request)))
                    for name, value in got.items():
                        if name not in ("poses", "limits"):
                            self.assertIn(value, ([], cbor2.CBORTag(86, b"")), name)

    def test_every_operation_has_a_request(self):
        listed = {operation["name"] for operation in self.ok(self.client.get("/v1"))["operations"]}
        self.assertEqual(listed - set(self.requests("panda", 7)) - LEFT_OUT, set(), "add a request without rows, or a reason to LEFT_OUT")

    def test_evaluate(self):
        answer = self.ask("panda", "evaluate", {"q": [], "qd": [0.0] * 7, "operations": {
            "bias": {}, "kinematics": {"frames": ["panda_link7"]}, "mass-matrix": {}}})
        self.assertEqual(answer, {"bias": {"bias": []}, "kinematics": {"poses": {"panda_link7": {"position": [], "orientation": []}}},
                                  "mass-matrix": {"mass_matrix": []}})

    def test_other_fields(self):
        """Unbatched fields and wrenches are still checked, all batched fields must have the same number of rows, and identify needs a row."""
        post = lambda operation, **request: self.client.post(f"/v1/models/panda/{operation}", request)
        for request, pointer in (({"q": [], "qd": [1, 2]}, "/qd"), ({"q": [], "qd": [["x"] * 7]}, "/qd"),
                                 ({"q": [], "qd": [[0.0] * 7] * 3}, "/qd"), ({"q": [[0.0] * 7] * 3, "qd": []}, "/qd"),
                                 ({"q": [], "wrenches": [{"link": "nobody", "force": [0, 0, 1]}]}, "/wrenches/0/link"),
                                 ({"q": [], "wrenches": [{"link": "panda_link7", "force": [0, 1]}]}, "/wrenches/0/force"),
                                 ({"q": [[]]}, "/q/0")):
            self.assertProblem(post("bias", **request), 422, pointer)
        self.assertEqual(self.ok(post("bias", q=[], wrenches=[{"link": "panda_link7", "force": []}])), {"bias": []})
        self.assertIn("at least one", self.assertProblem(post("identify", q=[], qd=[], qdd=[], tau=[]), 422, "/q")["detail"])
        s = {name: rows[0] for name, rows in states(1, 7).items()}
        self.assertEqual(self.ok(post("inverse-dynamics", q=s["q"], qd=s["qd"], qdd=[])), {"tau": []})
        pose = {"frame": "panda_link7", "position": [], "orientation": [0, 0, 0, 1]}
        self.assertNoRows({k: v for k, v in self.ok(post("inverse-kinematics", **pose)).items()}, "inverse-kinematics")
        tips = {"frame": "tip", "position": []}
        self.assertNoRows(self.ask("five_bar", "mass-matrix", {"platform": tips}), "platform")
        self.assertEqual(np.shape(self.ask("panda", "bias", {"q": [[0.0] * 7]})["bias"]), (1, 7))


if __name__ == "__main__":
    tap.main()
