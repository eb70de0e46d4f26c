"""Tests helical and planar joints through HTTP: helical joints against a nut on a screw and the product of exponentials, planar joints against
two prismatic joints and a hinge; names of coordinates."""
import math
import random

import numpy as np
import tap
from gyrostat import rpy, turn
from harness import ServerCase
from samples import body


def document(kind, axis, **more):
    return {"links": [
        {"name": "arm", "parent": "base", "joint": {"name": "root", "type": "revolute", "axis": [1, 0, 0]},
         "inertial": body(2, (0.1, 0, 0.2))},
        {"name": "slab", "parent": "arm",
         "joint": {"name": "glide", "type": kind, "axis": axis, "origin": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.4, -0.5, 0.6]}, **more},
         "inertial": body(1.5, (0.05, -0.1, 0.15))},
        {"name": "tip", "parent": "slab",
         "joint": {"name": "wrist", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0.2, 0, 0.1]}},
         "inertial": body(0.7, (0, 0.1, 0.05))}]}


def in_three(axis, e_x, e_y):
    """Returns the planar joint as two prismatic joints and a hinge with massless links between them."""
    whole = document("revolute", axis)
    slab = whole["links"][1]
    sliders = [{"name": name, "parent": parent, "joint": {"name": "by_" + name, "type": "prismatic", "axis": list(e)}}
               for name, parent, e in (("x", "arm", e_x), ("y", "x", e_y))]
    sliders[0]["joint"]["origin"] = slab["joint"].pop("origin")
    slab["parent"] = "y"
    whole["links"][1:1] = sliders
    return whole


def numbers(answer):
    """Returns the arrays of the answer, including those inside `poses`."""
    poses = answer.pop("poses", {})
    return {**answer, **{f"{frame} {part}": pose[part] for frame, pose in poses.items() for part in pose}}


class JointTypes(ServerCase):
    def states(self, n, rows=3):
        source = random.Random(n)
        return {key: [[source.uniform(-size, size) for _ in range(n)] for _ in range(rows)]
                for key, size in (("q", 1), ("qd", 2), ("qdd", 3), ("qddd", 3))}

    def names(self, model):
        answer = self.ok(self.client.get(f"/v1/models/{model}"))
        return answer["position_names"], answer["velocity_names"]

    # --- planar --------------------------------------------------------------------------------------------------

    def test_planar_is_two_sliders_and_a_hinge(self):
        """About z the plane has the joint frame's own x and y; about other axes, those after the smallest rotation that
        takes z to the axis."""
        for axis, e_x, e_y in (([0, 0, 1], [1, 0, 0], [0, 1, 0]), ([1, 0, 0], [0, 0, -1], [0, 1, 0]),
                               ([0, 2, 0], [1, 0, 0], [0, 0, -1]), ([0, 0, -1], [1, 0, 0], [0, -1, 0]),
                               ([0.6, 0, 0.8], [0.8, 0, -0.6], [0, 1, 0])):
            with self.subTest(axis=axis):
                self.put_model("planar", document("planar", axis))
                self.put_model("three", in_three(axis, e_x, e_y))
                s = self.states(5)
                motion = {key: s[key] for key in ("q", "qd", "qdd")}
                wrenches = {"wrenches": [{"link": "tip", "force": [1, 2, 3], "point": [0.1, 0, 0]}]}
                for operation, request in (("inverse-dynamics", {**motion, **wrenches}), ("torque-derivative", s),
                                           ("forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": s["qdd"]}),
                                           ("sensitivity", motion), ("coriolis", {"q": s["q"], "qd": s["qd"]}),
                                           ("energy", {"q": s["q"], "qd": s["qd"]}),
                                           ("kinematics", {**s, "frame": "slab", "frames": ["slab", "tip"],
                                                           "outputs": ["poses", "jacobian", "acceleration", "jerk"]})):
                    one, other = (numbers(self.ask(model, operation, request)) for model in ("planar", "three"))
                    for key in one:
                        self.assertClose(one[key], other[key], 1e-11, what=f"{operation} {key}")

    def test_names_of_a_planar_joint(self):
        self.put_model("planar", document("planar", [0, 0, 1]))
        names = ["root", "glide.x", "glide.y", "glide.angle", "wrist"]
        self.assertEqual(self.names("planar"), (names, names))
        model = self.ok(self.client.get("/v1/models/planar"))
        self.assertEqual((model["bodies"], model["nq"], model["nv"]), (["arm", "slab", "tip"], 5, 5))
        self.assertEqual([j["type"] for j in model["joints"]], ["revolute", "planar", "revolute"])
        by_name = self.ask("planar", "inverse-dynamics", {"q": dict(zip(names, [0.1, 0.2, 0.3, 0.4, 0.5])), "qd": dict(zip(names[::-1], range(5)))})
        in_order = self.ask("planar", "inverse-dynamics", {"q": [0.1, 0.2, 0.3, 0.4, 0.5], "qd": [4, 3, 2, 1, 0]})
        self.assertEqual(by_name, in_order)
        s = self.states(5)
        order = [3, 1, 0, 4, 2]
        permuted = self.ask("planar", "mass-matrix", {"q": [s["q"][0][i] for i in order], "joints": [names[i] for i in order]})
        plain = np.array(self.ask("planar", "mass-matrix", {"q": s["q"][0]})["mass_matrix"])
        self.assertEqual(permuted["mass_matrix"], plain[np.ix_(order, order)].tolist())

    def test_free_planar_slab_falls(self):
        """A free planar slab accelerates by the component of gravity in its plane."""
        self.put_model("slab", {"links": [{"name": "slab", "parent": "base", "inertial": body(2, (0, 0, 0), xy=0, xz=0, yz=0),
                                           "joint": {"name": "table", "type": "planar", "axis": [0, 1, 0],
                                                     "origin": {"rpy": [0.3, 0, 0]}}}]})
        R = rpy([0.3, 0, 0])
        expected = [*(R.T @ [0, 0, -9.81])[[0]], -(R.T @ [0, 0, -9.81])[2], 0]
        answer = self.ask("slab", "forward-dynamics", {"q": [1, 2, 0.7], "qd": [3, 1, 2], "tau": [0, 0, 0]})
        self.assertClose(answer["qdd"], expected, 1e-14)

    # --- helical -------------------------------------------------------------------------------------------------

    def test_nut_on_a_screw(self):
        """A vertical screw: tau = (I + m p^2) qdd + m g p, with the energies and the pose by hand."""
        I, m, p = 0.04, 1.5, 0.02
        self.put_model("nut", {"links": [{"name": "nut", "parent": "base", "inertial": body(m, zz=I),
                                          "joint": {"name": "thread", "type": "helical", "axis": [0, 0, 1], "pitch": p}}]})
        joint, = self.ok(self.client.get("/v1/models/nut"))["joints"]
        self.assertEqual((joint["type"], joint["pitch"]), ("helical", p))
        request = {"q": [[4], [-50]], "qd": [[2], [1]], "qdd": [[3], [-1]]}
        answer = self.ask("nut", "inverse-dynamics", {**request, "outputs": ["tau", "joint_wrenches"]})
        effort = [(I + m * p * p) * qdd + m * 9.81 * p for qdd in (3, -1)]
        self.assertClose(answer["tau"], [[x] for x in effort], 1e-14)
        self.assertClose([row[0][5] + p * row[0][2] for row in answer["joint_wrenches"]], effort, 1e-14)
        energy = self.ask("nut", "energy", {"q": [4], "qd": [2]})
        self.assertClose([energy["kinetic"], energy["potential"]], [(I + m * p * p) * 2, m * 9.81 * p * 4], 1e-14)
        pose = self.ask("nut", "kinematics", {"q": [4], "frames": ["nut"]})["poses"]["nut"]
        self.assertClose([*pose["position"], *pose["orientation"]], [0, 0, 4 * p, 0, 0, -math.sin(2), -math.cos(2)], 1e-14)

    def test_screws_with_pitch(self):
        """Poses against the product of exponentials exp([S1] q1) exp([S2] q2) M, efforts against the derivative of the
        potential energy."""
        unit = np.eye(4)
        M2 = unit.copy()
        M2[:3, 3] = [0.3, 0.1, 0.2]
        S = [[0, 0, 2, 0.1, 0, 0.5], [0.6, 0, 0.8, 0.2, -0.3, -0.4]]
        G = np.diag([0.1, 0.2, 0.3, 2, 2, 2]).tolist()
        self.put_model("screwed", {"screws": {"M": [unit.tolist(), M2.tolist()], "G": [G, G], "S": S}})
        self.assertEqual([j["type"] for j in self.ok(self.client.get("/v1/models/screwed"))["joints"]], ["helical"] * 2)

        def exponential(s, q):
            w, v = np.array(s[:3]), np.array(s[3:])
            size = np.linalg.norm(w)
            R, T = turn(w / size, size * q), np.eye(4)
            T[:3, :3] = R
            T[:3, 3] = (np.eye(3) - R) @ np.cross(w, v) / size ** 2 + w * (w @ v) * q / size ** 2
            return T

        def ends(q):
            first = exponential(S[0], q[0])
            return first, first @ exponential(S[1], q[1]) @ M2

        q = [0.7, -1.1]
        pose = self.ask("screwed", "kinematics", {"q": q, "frames": ["link2"]})["poses"]["link2"]
        self.assertClose(pose["position"], ends(q)[1][:3, 3].tolist(), 1e-14)
        x, y, z, w = pose["orientation"]
        self.assertClose([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], ends(q)[1][:3, 2].tolist(), 1e-14)
        height = lambda q: 2 * 9.81 * sum(T[2, 3] for T in ends(q))
        slope = [(height([q[0] + (i == 0) * h, q[1] + (i == 1) * h]) - height([q[0] - (i == 0) * h, q[1] - (i == 1) * h])) / (2 * h)
                 for i in range(2) for h in (1e-5,)]
        self.assertClose(self.ask("screwed", "bias", {"q": q, "outputs": ["gravity"]})["gravity"], slope, 1e-8)

    def test_helical_joint_without_pitch(self):
        self.put_model("flat", document("helical", [1, 2, 3], pitch=0))
        self.put_model("hinge", document("revolute", [1, 2, 3]))
        s = self.states(3)
        self.assertEqual(self.ask("flat", "torque-derivative", s), self.ask("hinge", "torque-derivative", s))

    def test_mimic_of_a_helical_joint(self):
        """Two nuts that share one coordinate, each with its own ratio."""
        nut = {"name": "one", "parent": "base", "inertial": body(1, zz=0.05),
               "joint": {"name": "a", "type": "helical", "axis": [0, 0, 1], "pitch": 0.1}}
        other = {"name": "two", "parent": "base", "inertial": body(2, zz=0.03),
                 "joint": {"name": "b", "type": "helical", "axis": [0, 0, 1], "pitch": -0.2,
                           "mimic": {"joint": "a", "multiplier": 3, "offset": 1}}}
        self.put_model("nuts", {"links": [nut, other]})
        self.assertEqual(self.names("nuts"), (["a"], ["a"]))
        answer = self.ask("nuts", "inverse-dynamics", {"q": [0.4], "qdd": [2]})
        inertia = 0.05 + 0.1 ** 2 + 9 * (0.03 + 2 * 0.2 ** 2)
        self.assertClose(answer["tau"], [inertia * 2 + 9.81 * (0.1 - 3 * 2 * 0.2)], 1e-14)
        for q in (0, 0.4, -0.7):
            answer = self.ask("nuts", "evaluate", {"q": [q], "operations": {"kinematics": {"frames": ["one", "two"]}, "energy": {"outputs": ["potential"]}}})
            for frame, pitch, turned in (("one", 0.1, q), ("two", -0.2, 3 * q + 1)):
                pose = answer["kinematics"]["poses"][frame]
                self.assertClose([*pose["position"], *pose["orientation"]],
                                 [0, 0, pitch * turned, 0, 0, math.sin(turned / 2), math.cos(turned / 2)], 1e-14, 1)
            self.assertClose(answer["energy"]["potential"], 9.81 * (0.1 * q - 2 * 0.2 * (3 * q + 1)), 1e-14, 1)

    # --- refusals ------------------------------------------------------------------------------------------------

    def test_refusals(self):
        for kind, more, pointer in (("planar", {"friction": {"viscous": 1}}, "/links/1/joint/friction"),
                                    ("planar", {"limits": {"effort": 1}}, "/links/1/joint/limits"),
                                    ("helical", {}, "/links/1/joint/pitch"),
                                    ("revolute", {"pitch": 0.1}, "/links/1/joint/pitch")):
            self.assertProblem(self.client.put("/v1/models/bad", document(kind, [0, 0, 1], **more)), 422, pointer)
        self.put_model("planar", document("planar", [0, 0, 1]))
        problem = self.assertProblem(self.client.post("/v1/models/planar/mass-matrix", {"q": [0, 0, 0, 2e5, 0]}), 422, "/q/3")
        self.assertEqual(problem["code"], "angle-too-large")
        # these large values are positions in m, so that the limit of angles does not apply
        self.ask("planar", "mass-matrix", {"q": [0, 2e5, -2e5, 0, 0]})

    def test_singular_planar_joint_is_named(self):
        self.put_model("empty", {"links": [{"name": "ghost", "parent": "base",
                                            "joint": {"name": "table", "type": "planar", "axis": [0, 0, 1]}}]})
        problem = self.assertProblem(self.client.post("/v1/models/empty/forward-dynamics", {"q": [0] * 3, "tau": [0] * 3}), 422)
        self.assertEqual(problem["code"], "singular-mass-matrix")
        self.assertIn("table", problem["detail"])


if __name__ == "__main__":
    tap.main()
