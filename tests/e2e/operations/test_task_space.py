"""Tests task-space: inertia, Jacobians and their inverses against mass-matrix, kinematics and forward-dynamics."""
import math

import numpy as np
import tap
from arrays import add, dot, flatten, matmul, matvec, transpose
from harness import ServerCase
from samples import branched, states, tilted_crank


def product(*matrices):
    result = matrices[0]
    for matrix in matrices[1:]:
        result = matmul(result, matrix)
    return result


def identity(n):
    return [[float(i == j) for j in range(n)] for i in range(n)]


class TaskSpace(ServerCase):
    ALL = ["inertia", "jacobian", "jacobian_dot_qd", "jacobian_inverse", "bias", "ellipsoid", "condition"]
    AXES = ["x", "y", "z", "rx", "ry", "rz"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/arm", branched())
        cls.client.put("/v1/models/free", branched("floating"))

    def cases(self):
        """Yields model, frame, axes and state."""
        for model, frame, axes, nv in (("arm", "finger", ["z", "x", "ry"], 4), ("free", "tool", self.AXES, 10),
                                       ("free", "thigh", ["rx"], 10), ("puma560", "link6", self.AXES, 6)):
            rows = states(3, nv, model == "free")
            for i in range(3):
                yield model, frame, axes, {name: field[i] for name, field in rows.items()}

    def test_inertia_and_inverse(self):
        for model, frame, axes, s in self.cases():
            t = self.ask(model, "task-space", {"q": s["q"], "qd": s["qd"], "frame": frame, "axes": axes, "outputs": self.ALL})
            k = self.ask(model, "kinematics", {"q": s["q"], "qd": s["qd"], "frame": frame,
                                               "outputs": ["jacobian", "jacobian_dot"]})
            rows = [self.AXES.index(axis) for axis in axes]
            self.assertEqual(t["jacobian"], [k["jacobian"][i] for i in rows])
            self.assertClose(t["jacobian_dot_qd"], [dot(k["jacobian_dot"][i], s["qd"]) for i in rows], 1e-14)
            inverse = self.ask(model, "mass-matrix", {"q": s["q"], "outputs": ["inverse"]})["inverse"]
            J, Jt = t["jacobian"], transpose(t["jacobian"])
            tolerance = 1e-14 * t["condition"]
            self.assertClose(product(J, inverse, Jt, t["inertia"]), identity(len(axes)), tolerance)
            self.assertClose(t["jacobian_inverse"], product(inverse, Jt, t["inertia"]), tolerance)
            self.assertEqual(t["inertia"], transpose(t["inertia"]))

    def test_a_force_accelerates_as_the_inertia_says(self):
        """Under tau = J^T F, with friction, wrenches and gravity, the acceleration J qdd + J' qd is the xdd of F =
        Lambda xdd + bias."""
        wrenches = {"arm": "gripper", "free": "gripper", "puma560": "link5"}
        for model, frame, axes, s in self.cases():
            motion = {"q": s["q"], "qd": s["qd"], "wrenches": [{"link": wrenches[model], "force": [1, -2, 3]}]}
            t = self.ask(model, "task-space", {**motion, "frame": frame, "axes": axes, "outputs": self.ALL})
            F = [1.0, -2.0, 0.5, 0.3, 0.2, -0.1][:len(axes)]
            qdd = self.ask(model, "forward-dynamics", {**motion, "tau": matvec(transpose(t["jacobian"]), F)})["qdd"]
            xdd = add(matvec(t["jacobian"], qdd), t["jacobian_dot_qd"])
            inertial = matvec(t["inertia"], xdd)
            scale = max(map(abs, flatten(t["inertia"]))) * max(map(abs, xdd)) * t["condition"]**0.5
            self.assertClose(add(inertial, t["bias"]), F, 1e-13, scale)

    def test_several_frames(self):
        """With several frames, the rows of J are those of requests for each frame, one frame after the other. NumPy computes L = (J M^-1 J^T)^-1
        including the blocks that couple the frames, J^- = M^-1 J^T L, and mu = J^-T h - L J' qd. A list of one frame has the bits of the field
        `frame`."""
        for model, nv, frames in (("arm", 4, [("finger", ["z"]), ("gripper", ["x", "ry"])]), ("free", 10, [("tool", self.AXES), ("thigh", ["rx", "x"])]),
                                  ("delta", 3, [("tool", ["x"]), ("rod1a", ["ry", "z"])]), ("humanoid", 39, [(name, self.AXES) for name in ("left_foot", "right_foot", "left_hand", "right_hand")])):
            s = {name: one[0] for name, one in states(1, nv, model in ("free", "humanoid")).items()}
            if model == "delta":
                s["q"] = [0.4, 0.5, 0.3]
            listed = [{"frame": name} if axes == self.AXES else {"frame": name, "axes": axes} for name, axes in frames]
            motion = {"q": s["q"], "qd": s["qd"]}
            got = self.ask(model, "task-space", {**motion, "frames": listed, "outputs": self.ALL})
            alone = [self.ask(model, "task-space", {**motion, **one, "outputs": self.ALL}) for one in listed]
            self.assertEqual(got["jacobian"], sum((one["jacobian"] for one in alone), []))
            self.assertEqual(got["jacobian_dot_qd"], sum((one["jacobian_dot_qd"] for one in alone), []))
            self.assertEqual(self.ask(model, "task-space", {**motion, "frames": listed[:1], "outputs": self.ALL}), alone[0])
            inverse = np.array(self.ask(model, "mass-matrix", {"q": s["q"], "outputs": ["inverse"]})["inverse"])
            h = np.array(self.ask(model, "bias", motion)["bias"])
            J = np.array(got["jacobian"])
            inertia = np.linalg.inv(J @ inverse @ J.T)
            back = inverse @ J.T @ inertia
            mu = back.T @ h - inertia @ got["jacobian_dot_qd"]
            for name, expected in (("inertia", inertia), ("jacobian_inverse", back), ("bias", mu)):
                self.assertLess(np.abs(got[name] - expected).max(), 1e-14 * got["condition"] * np.abs(expected).max(), (model, name))
            self.assertGreater(np.abs(inertia[:len(frames[0][1]), len(frames[0][1]):]).max(), 1e-3 * np.abs(inertia).max())
            many = self.ask(model, "task-space", {"q": [s["q"]] * 5, "qd": [s["qd"]] * 5, "frames": listed})
            self.assertEqual(many["inertia"], [got["inertia"]] * 5)

    def test_refusals_of_several_frames(self):
        """The problem names the field if the request has fields of a single frame as well as the list, entries without a frame, or linearly
        dependent rows."""
        q = {"q": [0.1, 0.2, 0.3, 0.4]}
        for fields, code, pointer in (({}, "missing-field", "/frame"), ({"frames": []}, "wrong-shape", "/frames"), ({"frames": ["finger"]}, "wrong-type", "/frames/0"),
                                      ({"frames": [{"axes": ["x"]}]}, "missing-field", "/frames/0/frame"), ({"frames": [{"frame": "nose"}]}, "unknown-name", "/frames/0/frame"),
                                      ({"frames": [{"frame": "finger", "axes": ["w"]}]}, "unknown-name", "/frames/0/axes/0"),
                                      ({"frames": [{"frame": "finger", "axis": "x"}]}, "unknown-field", "/frames/0/axis"),
                                      ({"frames": [{"frame": "finger"}], "frame": "finger"}, "bad-value", "/frame"), ({"frames": [{"frame": "finger"}], "axes": ["x"]}, "bad-value", "/axes"),
                                      ({"frames": [{"frame": "finger"}] * 9}, "wrong-shape", "/frames"),
                                      ({"frames": [{"frame": "finger", "axes": ["x"]}] * 2}, "singular-jacobian", "/q")):
            problem = self.assertProblem(self.client.post("/v1/models/arm/task-space", {**q, **fields}), 422)
            self.assertEqual((problem["code"], problem["pointer"]), (code, pointer), fields)

    def test_ellipsoid_and_condition(self):
        for model, frame, axes, s in self.cases():
            t = self.ask(model, "task-space", {"q": s["q"], "frame": frame, "axes": axes, "outputs": self.ALL})
            lengths = [math.sqrt(dot(axis, axis)) for axis in t["ellipsoid"]]
            self.assertEqual(lengths, sorted(lengths, reverse=True))
            self.assertClose(t["condition"], lengths[0] / lengths[-1], 1e-12)
            for axis, length in zip(t["ellipsoid"], lengths):
                self.assertClose(matvec(t["inertia"], axis), [length * x for x in axis], 1e-12, lengths[0] * length)
                self.assertGreater(max(axis, key=abs), 0)

    def test_two_links_by_hand(self):
        """A stretched arm is singular for forces in the plane, regular for those across it, and has a bounded inertia
        with damping."""
        post = lambda **request: self.client.post("/v1/models/two_link/task-space", {"frame": "link2", **request})
        problem = self.assertProblem(post(q=[0.3, 0], axes=["x", "y"]), 422, "/q")
        self.assertEqual(problem["code"], "singular-jacobian")
        for word in ("rank 1", "fewer axes", "damping"):
            self.assertIn(word, problem["detail"])
        self.assertProblem(post(q=[[0.3, 1], [0.3, 0]], axes=["x", "y"]), 422, "/q/1", 1)
        self.assertProblem(post(q=[0.3, 1]), 422, "/q")
        # the square of this damping underflows to zero
        tiny = self.assertProblem(post(q=[0.3, 0], axes=["x", "y"], damping=1e-200), 422, "/q")
        self.assertEqual(tiny["code"], "singular-jacobian")
        M = self.ask("two_link", "mass-matrix", {"q": [0, 0], "outputs": ["inverse"]})["inverse"]
        J = self.ask("two_link", "kinematics", {"q": [0, 0], "frame": "link2", "outputs": ["jacobian"]})["jacobian"]
        across = dot(J[1], matvec(M, J[1]))
        self.assertClose(self.ok(post(q=[0, 0], axes=["y"]))["inertia"], [[1 / across]], 1e-13)
        damped = self.ok(post(q=[0, 0], axes=["x", "y"], damping=0.1))["inertia"]
        self.assertClose(damped, [[100, 0], [0, 1 / (across + 0.01)]], 1e-12)
        self.ok(post(q=[0, 0], axes=["x", "y"], outputs=["jacobian", "jacobian_dot_qd"]))

    def test_near_a_singular_state(self):
        """Near a singular state Lambda is more accurate than the inverse of J M^-1 J^T would be."""
        for bend in (1e-3, 1e-5, 1e-7):
            t = self.ask("two_link", "task-space", {"q": [0, bend], "frame": "link2", "axes": ["x", "y"], "outputs": [
                "inertia", "jacobian", "jacobian_inverse"]})
            self.assertClose(matmul(t["jacobian"], t["jacobian_inverse"]), identity(2), 1e-15 / bend)
            M = self.ask("two_link", "mass-matrix", {"q": [0, bend]})["mass_matrix"]
            (a, b), (c, d) = t["jacobian"]
            inverse = [[d / (a * d - b * c), -b / (a * d - b * c)], [-c / (a * d - b * c), a / (a * d - b * c)]]
            self.assertClose(t["inertia"], product(transpose(inverse), M, inverse), 1e-14 / bend)

    def test_what_rounding_leaves_is_no_direction(self):
        """No joint moves this frame along x, but the Jacobian's entries are about 1e-17, not zero: the server must not
        take them for a direction of motion."""
        self.client.put("/v1/models/tilted", tilted_crank())
        ask = {"q": [0.4, 1.1], "frame": "tip"}
        row = self.ask("tilted", "task-space", {**ask, "axes": ["x"], "outputs": ["jacobian"]})["jacobian"][0]
        self.assertTrue(0 < max(abs(x) for x in row) < 1e-15, row)
        for axes in (["x"], ["x", "ry"], ["ry", "rz"]):
            problem = self.assertProblem(self.client.post("/v1/models/tilted/task-space", {**ask, "axes": axes}), 422, "/q")
            self.assertEqual(problem["code"], "singular-jacobian")
        damped = self.ask("tilted", "task-space", {**ask, "axes": ["x"], "damping": 0.5, "outputs": [
            "inertia", "jacobian_inverse"]})
        self.assertEqual(damped, {"inertia": [[4]], "jacobian_inverse": [[0], [0]]})

    def test_refusals(self):
        post = lambda **request: self.client.post("/v1/models/arm/task-space", {"q": [0.1] * 4, **request})
        self.assertProblem(post(), 422, "/frame")
        self.assertProblem(post(frame="nowhere"), 422, "/frame")
        self.assertProblem(post(frame="tool", axes=[]), 422, "/axes")
        self.assertProblem(post(frame="tool", axes="w"), 422, "/axes")
        self.assertProblem(post(frame="tool", axes=["x", "w"]), 422, "/axes/1")
        self.assertProblem(post(frame="tool", axes=["x", "z", "x"]), 422, "/axes/2")
        self.assertProblem(post(frame="tool", damping=-0.1), 422, "/damping")
        self.assertProblem(post(frame="tool", damping="high"), 422, "/damping")
        self.assertProblem(self.client.post("/v1/models/arm/evaluate", {"q": [0.1] * 4, "operations": {
            "task-space": {"frame": "tool", "axes": ["y", "u"]}}}), 422, "/operations/task-space/axes/1")


if __name__ == "__main__":
    tap.main()
