"""Tests loops of every type, each in a mechanism with an equation of motion in closed form; the same mechanism closed in several ways; redundant
constraints."""
import copy
import math

import numpy as np
import tap
from closed import Closed
from lagrange import Energies
from linkages import bar, link, loop
from samples import body

UP = [0, 0, 1]


class Types(Closed):
    """Compares mechanisms with one driven coordinate with M(q) qdd + dM/dq qd^2 / 2 + dV/dq."""

    def check(self, name, document, mass, potential, samples, tolerance=1e-11):
        class Form(Energies):
            def mass_matrix(self, q):
                return np.array([[mass(q[0])]])

            def potential(self, q):
                return potential(q[0])
        form = Form()
        put = self.put_model(name, document)
        self.assertEqual((put["nq"], put["nv"]), (1, 1))
        rows = [(q, 1.3, -2.1) for q in samples]
        batch = dict(zip(("q", "qd", "qdd"), ([[x] for x in column] for column in zip(*rows))))
        tau = self.ask(name, "inverse-dynamics", batch)["tau"]
        back = self.ask(name, "forward-dynamics", {"q": batch["q"], "qd": batch["qd"], "tau": tau})["qdd"]
        energy = self.ask(name, "energy", {"q": batch["q"], "qd": batch["qd"], "outputs": ["kinetic"]})["kinetic"]
        for r, (q, qd, qdd) in enumerate(rows):
            q, qd = np.array([q]), np.array([qd])
            self.near(tau[r], form.tau(q, qd, np.array([qdd])), tolerance, f"{name} at {q}")
            self.near(energy[r], form.energy(q, qd)[0], tolerance, f"{name} at {q}")
        self.near(back, batch["qdd"], 1e-9, name)

    def slider_crank(self, closure):
        """A crank r about y, a rod l and a block on the rail z = 0: x = r cos q + sqrt(l^2 - r^2 sin^2 q)."""
        return {"links": [
            link("crank", "base", "revolute", [0, -1, 0], body(2, (0.1, 0, 0)), True),
            link("rod", "crank", "revolute", [0, -1, 0], origin={"xyz": [0.2, 0, 0]}),
            link("block", "rod", "revolute", [0, -1, 0], {"mass": 3}, origin={"xyz": [0.5, 0, 0]})],
            "loops": [closure]}

    def test_a_driven_ball_joint(self):
        """A link on a driven spherical joint. An arm of three hinges holds its tip and reaches it only below. The sign
        of the quaternion has no effect, since the path takes the shorter arc."""
        bar = {"mass": 1, "com": [-0.2, 0, 0], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02}}
        self.put_model("held", {"links": [
            {"name": "bob", "parent": "base", "inertial": {**bar, "com": [0, 0, -0.3]}, "joint": {"name": "ball", "type": "spherical"}},
            link("post", "base", "revolute", UP, origin={"xyz": [0.6, 0, -0.5]}),
            link("upper", "post", "revolute", [0, 1, 0], bar, home=0.72),
            link("fore", "upper", "revolute", [0, 1, 0], bar, home=-1.45, origin={"xyz": [-0.4, 0, 0]})],
            "frames": [{"name": "tip", "link": "bob", "xyz": [0, 0, -0.5]}, {"name": "hand", "link": "fore", "xyz": [-0.4, 0, 0]}],
            "loops": [loop("tip", "hand", "spherical")]})
        for axis, angle in (([1, 0, 0], 0.2), ([0, 1, 0], -0.25), ([0.6, 0, 0.8], 0.3)):
            q = [*(math.sin(angle / 2) * x for x in axis), math.cos(angle / 2)]
            request = {"qd": [0.3, -0.2, 0.5], "qdd": [1, 2, 3], "outputs": ["tau", "full"]}
            one, other = (self.ask("held", "inverse-dynamics", {**request, "q": [sign * x for x in q]}) for sign in (1, -1))
            self.near(other["tau"], one["tau"], 1e-12)
            self.near(other["full"]["qd"], one["full"]["qd"], 1e-12)

    def test_prismatic(self):
        r, l, m, I = 0.2, 0.5, 3, 0.03 + 2 * 0.1**2
        speed = lambda q: -r * np.sin(q) - r * r * np.sin(q) * np.cos(q) / np.sqrt(l * l - (r * np.sin(q))**2)
        self.check("slider", self.slider_crank(loop("base", "block", "prismatic", [1, 0, 0])),
                   lambda q: I + m * speed(q)**2, lambda q: 2 * 9.81 * 0.1 * np.sin(q), (-0.6, -0.2, 0.5, 0.8))

    def test_fixed(self):
        """A weld joins the block at the rod's end to a block on a rail of its own: together they are the block of the
        slider-crank."""
        document = self.slider_crank(loop("block", "carriage", "fixed"))
        document["links"][2]["inertial"] = {"mass": 1}
        document["links"].append(link("carriage", "base", "prismatic", [1, 0, 0], {"mass": 2}, home=0.65))
        r, l, m, I = 0.2, 0.5, 3, 0.03 + 2 * 0.1**2
        speed = lambda q: -r * np.sin(q) - r * r * np.sin(q) * np.cos(q) / np.sqrt(l * l - (r * np.sin(q))**2)
        self.check("welded", document, lambda q: I + m * speed(q)**2, lambda q: 2 * 9.81 * 0.1 * np.sin(q), (-0.6, -0.2, 0.5, 0.8))

    def test_planar(self):
        """A wedge a slides along x, and b moves vertically on its face with the normal n = (-sin s, 0, cos s). From n .
        (b - a) = 0 with b - a = (-x, 0, z) follows z = -x tan s."""
        slope = 0.4
        document = {"links": [link("a", "base", "prismatic", [1, 0, 0], {"mass": 2}, True),
                              link("b", "base", "prismatic", UP, {"mass": 3})],
                    "loops": [loop("a", "b", "planar", [-math.sin(slope), 0, math.cos(slope)])]}
        self.check("wedges", document, lambda q: 2 + 3 * math.tan(slope)**2 + 0 * q, lambda q: -3 * 9.81 * q * math.tan(slope),
                   (-0.5, 0, 0.3))

    def test_helical(self):
        """A screw turns in place, and its nut slides on a rail: relative to the screw the nut turns by -q and moves by
        pitch times that, also after many turns."""
        pitch, m = 0.004, 3
        document = {"links": [link("screw", "base", "revolute", UP, body(1), True), link("nut", "base", "prismatic", UP, {"mass": m})],
                    "loops": [loop("screw", "nut", "helical", UP, pitch=pitch)]}
        self.check("spindle", document, lambda q: 0.04 + m * pitch**2 + 0 * q, lambda q: -m * 9.81 * pitch * q, (-2, 0, 1, 3))
        for turns in (5, -40):
            angle = 2 * math.pi * turns + 0.3
            full = self.full("spindle", {"q": [angle], "guess": {"nut_joint": -pitch * angle + 1e-4}})
            self.near(full["q"], [angle, -pitch * angle], 1e-12)

    def test_revolute_in_space(self):
        """Hooke's joint between shafts at an angle b: the input's arm (cos q, sin q, 0) and the output's arm (-sin o,
        cos b cos o, sin b cos o) stay perpendicular, so tan o = cos b tan q."""
        b = 0.6
        document = {"gravity": [0, 0, 0], "links": [
            link("input", "base", "revolute", UP, body(1, yz=0, xz=0, xy=0), True),
            link("cross", "input", "revolute", [1, 0, 0]),
            link("output", "base", "revolute", UP, body(1, yz=0, xz=0, xy=0), origin={"xyz": [0, 0, 0], "rpy": [b, 0, 0]})],
            "loops": [loop("cross", "output", "revolute", [0, 1, 0])]}
        ratio = lambda q: np.cos(b) / (1 - (np.sin(b) * np.sin(q))**2)
        self.check("hooke", document, lambda q: 0.04 * (1 + ratio(q)**2), lambda q: 0 * q, (-0.7, 0, 0.4, 1.1), 1e-10)


class Redundancy(Closed):
    """A planar loop with a spherical pin has one redundant constraint, with a revolute pin three."""

    def variants(self):
        revolute = self.documents["four_bar"]
        yield "four_bar", revolute
        for type in ("spherical", "continuous"):
            document = copy.deepcopy(revolute)
            closure = document["loops"][0]
            closure["type"] = type
            if type == "spherical":
                del closure["axis"]
            yield type, document
        document = copy.deepcopy(revolute)  # the coupler in two halves, welded in the middle
        coupler = document["links"][2]
        mass, inertia, _ = bar(coupler)
        half = {"mass": mass / 2, "com": [-0.03, 0, 0], "inertia": {"zz": inertia / 2 - mass / 2 * 0.03**2}}
        coupler["inertial"] = half
        document["links"].append({
            "name": "half", "parent": "crank", "joint": {"name": "half_joint", "type": "revolute", "axis": UP, "actuated": False,
                                                         "home": 0.3, "origin": {"xyz": [0.04, 0, 0]}},
            "inertial": {**half, "com": [0.03, 0, 0]}})
        document["frames"] += [{"name": "middle_a", "link": "half", "xyz": [0.06, 0, 0]},
                               {"name": "middle_b", "link": "coupler", "xyz": [-0.06, 0, 0]}]
        document["loops"] = [{"name": "weld", "frame_a": "middle_a", "frame_b": "middle_b", "type": "fixed"}]
        yield "welded", document
        document = copy.deepcopy(revolute)  # three equal pins
        document["loops"] += [{**document["loops"][0], "name": f"again{n}"} for n in range(2)]
        yield "thrice", document

    def test_same_mechanism(self):
        s = self.states("four_bar", 10, 11)
        s["q"] = [[q[0] / 3] for q in s["q"]]
        for name, document in self.variants():
            self.put_model(name, document)
            motion = {n: s[n] for n in ("q", "qd", "qdd")}
            tau = self.ask(name, "inverse-dynamics", motion)["tau"]
            qdd = self.ask(name, "forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": s["tau"]})["qdd"]
            slopes = self.ask(name, "sensitivity", motion)
            if name == "four_bar":
                expected = tau, qdd, slopes
                continue
            self.near(tau, expected[0], 1e-9, name)
            self.near(qdd, expected[1], 1e-9, name)
            for output in slopes:
                self.near(slopes[output], expected[2][output], 1e-8, f"{name} {output}")

    def test_forces_are_shared(self):
        """Three equal pins carry a third of the force each: the minimum-norm forces."""
        s = self.state("four_bar", 12)
        motion = {**{n: s[n] for n in ("q", "qd", "qdd")}, "outputs": ["full", "joint_wrenches"]}
        answers = {}
        for name, document in self.variants():
            if name in ("four_bar", "thrice"):
                self.put_model(name, document)
                answers[name] = self.ask(name, "inverse-dynamics", motion)
        one = np.array(answers["four_bar"]["full"]["loop_wrenches"])
        self.near(answers["thrice"]["full"]["loop_wrenches"], np.repeat(one / 3, 3, axis=0), 1e-9)
        self.near(answers["thrice"]["joint_wrenches"], answers["four_bar"]["joint_wrenches"], 1e-9)


if __name__ == "__main__":
    tap.main()
