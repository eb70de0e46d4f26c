"""Tests that documents which write the same geometry in different forms give the same robot."""
import copy
import math

import tap
from arrays import matmul
from harness import ServerCase
from samples import body, branched


class Forms(ServerCase):
    """Compares different forms of the same geometry."""

    def pose(self, origin, q=0.0, kind="revolute", **joint):
        """Returns the pose [position, orientation] at q of a link whose joint has that origin."""
        link = {"name": "l", "parent": "base", "joint": {"name": "j", "type": kind, **joint}, "inertial": body(1)}
        if origin is not None:
            link["joint"]["origin"] = origin
        self.put_model("form", {"links": [link]})
        pose = self.ask("form", "kinematics", {"q": [] if kind == "fixed" else [q]})["poses"]["l"]
        return pose["position"] + pose["orientation"]

    def test_rpy_turns_about_x_then_y_then_z(self):
        r, p, y = 0.3, -0.5, 1.1
        c, s = math.cos, math.sin
        Rz = [[c(y), -s(y), 0], [s(y), c(y), 0], [0, 0, 1]]
        Ry = [[c(p), 0, s(p)], [0, 1, 0], [-s(p), 0, c(p)]]
        Rx = [[1, 0, 0], [0, c(r), -s(r)], [0, s(r), c(r)]]
        R = matmul(matmul(Rz, Ry), Rx)
        matrix = [R[0] + [1], R[1] + [2], R[2] + [3], [0, 0, 0, 1]]
        axis = {"axis": [1, 2, 3], "q": 0.7}
        self.assertClose(self.pose({"xyz": [1, 2, 3], "rpy": [r, p, y]}, **axis),
                         self.pose({"matrix": matrix}, **axis), 1e-15)

    def test_standard_dh(self):
        """Standard parameters: Rz(theta + q) Tz(d) Tx(a) Rx(alpha); the joint moves before the constant part."""
        dh = {"theta": 0.4, "d": 0.3, "a": 0.2, "alpha": 0.7}
        for q in (0.0, 1.3):
            t = 0.4 + q
            expected = [0.2 * math.cos(t), 0.2 * math.sin(t), 0.3, *quaternion_zx(t, 0.7)]
            self.assertClose(self.pose({"dh": dh}, q), expected, 1e-15)
        expected = [0.2 * math.cos(0.4), 0.2 * math.sin(0.4), 0.3 + 0.25, *quaternion_zx(0.4, 0.7)]
        self.assertClose(self.pose({"dh": dh}, 0.25, "prismatic"), expected, 1e-15)

    def test_modified_dh(self):
        """Modified parameters: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r); the joint moves last."""
        figures = {"gamma": 0.2, "b": 0.1, "alpha": 0.7, "d": 0.3, "theta": 0.4, "r": 0.5}
        same = {"xyz": [0.3 * math.cos(0.2), 0.3 * math.sin(0.2), 0.1], "rpy": [0.7, 0, 0]}
        turned = self.pose({"modified_dh": figures}, 0.9)
        # by hand: computes the frame before theta and r by hand, then rotates it by theta + q and moves it by r along its z axis
        g, a, t = 0.2, 0.7, 0.4 + 0.9
        z = [math.sin(g) * math.sin(a), -math.cos(g) * math.sin(a), math.cos(a)]
        position = [x + 0.5 * n for x, n in zip(same["xyz"], z)]
        self.assertClose(turned[:3], position, 1e-15)
        product = quaternion_zx(g, a)
        half = [0, 0, math.sin(t / 2), math.cos(t / 2)]
        x, y, zq, w = product
        composed = [x * half[3] + y * half[2], y * half[3] - x * half[2], zq * half[3] + w * half[2],
                    w * half[3] - zq * half[2]]
        self.assertClose(turned[3:], composed, 1e-15)
        slid = self.pose({"modified_dh": figures}, 0.25, "prismatic")
        self.assertClose(slid[:3], [x + 0.75 * n for x, n in zip(same["xyz"], z)], 1e-15)

    def test_axes_are_normalised(self):
        self.assertClose(self.pose(None, 0.7, axis=[0, 0, 9]), self.pose(None, 0.7, axis=[0, 0, 1]), 1e-16)
        self.assertEqual(self.pose(None, 0.5, "prismatic", axis=[0, 3, 0])[:3], [0, 0.5, 0])

    def test_absent_means_identity_and_massless(self):
        document = {"links": [
            {"name": "l", "parent": "base", "joint": {"name": "j", "type": "prismatic", "axis": [1, 0, 0]}},
            {"name": "tip", "parent": "l", "joint": {"name": "f", "type": "fixed"}, "inertial": {"mass": 2}}]}
        self.put_model("sparse", document)
        model = self.ok(self.client.get("/v1/models/sparse"))
        self.assertEqual((model["gravity"], model["mass"], model["bodies"]), ([0, 0, -9.81], 2, ["l"]))
        self.assertEqual(self.ask("sparse", "inverse-dynamics", {"q": [0], "qdd": [3]})["tau"], [6])

    def test_solids(self):
        """Inertias of solids by closed forms, with a mass or a density."""
        pi = math.pi
        r, h = 0.1, 0.4
        ball, rod = 4 / 3 * pi * r ** 3, pi * r * r * h
        solids = {
            "box": ([0.2, 0.3, 0.5], 0.03, [(0.09 + 0.25) / 12, (0.04 + 0.25) / 12, (0.04 + 0.09) / 12]),
            "sphere": ([r], ball, [0.4 * r * r] * 3),
            "cylinder": ([r, h], rod, [(3 * r * r + h * h) / 12] * 2 + [r * r / 2]),
            "ellipsoid": ([0.1, 0.2, 0.3], 4 / 3 * pi * 0.006, [0.13 / 5, 0.10 / 5, 0.05 / 5])}
        for solid, (size, volume, per_mass) in solids.items():
            given, dense, plain = (self.inertia(inertial) for inertial in (
                {"solid": solid, "size": size, "mass": 3}, {"solid": solid, "size": size, "density": 3 / volume},
                {"mass": 3, "inertia": dict(zip(("xx", "yy", "zz"), [3 * x for x in per_mass]))}))
            self.assertClose(given, plain, 1e-14, what=solid)
            self.assertClose(dense, plain, 1e-14, what=solid + " by density")
        capsule = self.inertia({"solid": "capsule", "size": [r, h], "density": 10})
        m1, m2 = 10 * rod, 10 * ball
        xx = m1 * (3 * r * r + h * h) / 12 + m2 * (0.4 * r * r + h * h / 4 + 3 * h * r / 8)
        zz = m1 * r * r / 2 + m2 * 0.4 * r * r
        plain = self.inertia({"mass": m1 + m2, "inertia": {"xx": xx, "yy": xx, "zz": zz}})
        self.assertClose(capsule, plain, 1e-14, what="capsule")

    def test_a_solid_may_be_moved_and_turned(self):
        turned = self.inertia({"solid": "box", "size": [0.2, 0.3, 0.5], "mass": 3, "xyz": [0.1, 0.2, 0.3],
                               "rpy": [math.pi / 2, 0, 0]})
        plain = self.inertia({"solid": "box", "size": [0.2, 0.5, 0.3], "mass": 3, "xyz": [0.1, 0.2, 0.3]})
        self.assertClose(turned, plain, 1e-14)

    def inertia(self, inertial):
        """Returns the mass matrix of a free body at rest, which contains all ten inertial parameters."""
        self.put_model("solid", {"base": {"type": "floating", "link": "b", "inertial": inertial}, "links": []})
        return self.ask("solid", "mass-matrix", {"q": [0, 0, 0, 0, 0, 0, 1]})["mass_matrix"]

    def test_products_of_inertia_are_tensor_entries(self):
        M = self.inertia({"mass": 1, "inertia": {"xx": 1, "yy": 2, "zz": 2.5, "xy": 0.1, "xz": -0.2, "yz": 0.3}})
        self.assertEqual([row[3:] for row in M[3:]], [[1, 0.1, -0.2], [0.1, 2, 0.3], [-0.2, 0.3, 2.5]])

    def test_the_order_of_links_in_a_document_is_the_order_of_siblings(self):
        document = branched()
        document["links"].reverse()  # children before parents
        self.put_model("reversed", document)
        self.assertEqual(self.ok(self.client.get("/v1/models/reversed"))["velocity_names"],
                         ["hip", "shoulder", "elbow", "grasp"])

    def test_a_different_name_only_is_the_same_revision(self):
        one, two = branched(), copy.deepcopy(branched())
        two["name"] = "otherwise"
        self.assertEqual(self.put_model("one", one)["revision"], self.put_model("two", two)["revision"])


def quaternion_zx(z, x):
    """Returns the quaternion of Rz(z) Rx(x), with w >= 0 for the angles used here."""
    a, b, c, d = math.sin(x / 2), math.cos(x / 2), math.sin(z / 2), math.cos(z / 2)
    return [d * a, c * a, c * b, d * b]


if __name__ == "__main__":
    tap.main()
