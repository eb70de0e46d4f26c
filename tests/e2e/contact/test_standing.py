"""Tests robots that stand and walk with sharp joint friction: simulations in which joints stick while frames are held,
with error control and with fixed steps, compared with each other and with forward-dynamics."""
import copy

import numpy as np
import tap
from closed import bundled
from contacts import AXES
from harness import ServerCase
from test_stiction import STICK

ADAPTIVE, STIFF, FIXED = {"tolerance": 1e-6}, {"tolerance": 1e-6, "stiff": True}, {"step": 2e-3}
STILL = 1e-9  # rad/s and m/s, below which a joint counts as at rest
# Masses (kg), centres of mass (m) and moments of inertia (xx, yy, zz: kg m^2) of trunk, hip, thigh, calf and foot of
# the right front leg; positions of the hips, offset of the thighs, and length of thigh and calf (m). Source: Unitree's
# descriptions of the robots.
A1 = {"bodies": ((6.0, (0, 0.0041, -0.0005), (0.0158533, 0.0377999, 0.0456542)),
                 (0.696, (-0.003311, -0.000635, 3.1e-05), (0.000469246, 0.00080749, 0.000552929)),
                 (1.013, (-0.003237, 0.022327, -0.027326), (0.005529065, 0.005139339, 0.001367788)),
                 (0.166, (0.006435, 0, -0.107388), (0.002997972, 0.003014022, 3.2426e-05)), (0.06, (0, 0, 0), (9.6e-6,) * 3)),
      "hip": (0.1805, 0.047), "thigh": 0.0838, "length": 0.2}
GO1 = {"bodies": ((5.204, (0.0223, 0.002, -0.0005), (0.0168128557, 0.063009565, 0.0716547275)),
                  (0.591, (-0.005657, 0.008752, -0.000102), (0.000334008405, 0.000619101213, 0.00040057614)),
                  (0.92, (-0.003342, 0.018054, -0.033451), (0.004431760472, 0.004485671726, 0.000740309489)),
                  (0.135862, (0.006197, 0.001408, -0.116695), (0.001088793059, 0.001100428748, 2.4787446e-05)),
                  (0.06, (0, 0, 0), (9.6e-6,) * 3)),
       "hip": (0.1881, 0.04675), "thigh": 0.08, "length": 0.213}


def inertial(body, side):
    mass, (x, y, z), moments = body
    return {"mass": mass, "com": [x, y * side, z], "inertia": dict(zip(("xx", "yy", "zz"), moments))}


def dog(figures, coulomb=0.2, viscous=0.01):
    """Returns a quadruped with these figures, left legs mirrored, and friction at every joint."""
    trunk, hip, thigh, calf, foot = figures["bodies"]
    (ahead, beside), length, links, frames = figures["hip"], figures["length"], [], []
    for name, front, side in (("FR", 1, -1), ("FL", 1, 1), ("RR", -1, -1), ("RL", -1, 1)):
        places = ([front * ahead, side * beside, 0], [0, side * figures["thigh"], 0], [0, 0, -length])
        for part, place, axis, body, parent in zip(("hip", "thigh", "calf"), places, ([1, 0, 0], [0, 1, 0], [0, 1, 0]),
                                                   (hip, thigh, calf), ("trunk", f"{name}_hip", f"{name}_thigh")):
            links.append({"name": f"{name}_{part}", "parent": parent, "inertial": inertial(body, -side), "joint": {
                "name": f"{name}_{part}_joint", "type": "revolute", "axis": axis, "origin": {"xyz": place},
                "friction": {"coulomb": coulomb, "viscous": viscous}}})
        links.append({"name": f"{name}_foot", "parent": f"{name}_calf", "inertial": inertial(foot, 1),
                      "joint": {"name": f"{name}_foot_fixed", "type": "fixed", "origin": {"xyz": [0, 0, -length]}}})
    return {"base": {"type": "floating", "link": "trunk", "inertial": inertial(trunk, 1)}, "links": links}


def with_friction(document, coulomb, viscous):
    document = copy.deepcopy(document)
    for joint in (link["joint"] for link in document["links"]):
        if joint["type"] in ("revolute", "continuous"):
            joint["friction"] = {"coulomb": coulomb, "viscous": viscous}
    return document


class Standing(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.DOCUMENTS = {"a1": dog(A1), "go1": dog(GO1), "solo": with_friction(bundled("solo12"), 0.2, 0),
                         "human": with_friction(bundled("humanoid"), 3, 0.5)}
        cls.HELD, cls.START, cls.DRIVE = {}, {}, {}
        for model, document in cls.DOCUMENTS.items():
            assert cls.client.put("/v1/models/" + model, document).status == 201
            names = cls.client.get("/v1/models/" + model).json()["velocity_names"][6:]
            bend = {"thigh": 0.8, "calf": -1.6, "hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
            joints = [next((angle for part, angle in bend.items() if part in name), 0) for name in names]
            if model == "solo":
                joints = [0, 0.8, -1.6] * 2 + [0, -0.8, 1.6] * 2
            feet = [f"{leg}_FOOT" for leg in ("FL", "FR", "HL", "HR")] if model == "solo" else [f"{leg}_foot" for leg in ("FR", "FL", "RR", "RL")]
            cls.HELD[model] = [{"frame": frame} for frame in ("left_sole", "right_sole")] if model == "human" else [
                {"frame": frame, "axes": ["x", "y", "z"]} for frame in feet]
            cls.START[model] = [0, 0, 0.3, 0, 0, 0, 1, *joints]

    def drive(self, model, shift):
        """Returns a pd_gravity controller whose reference is the start position plus `shift`. The gains are in rad/s^2
        times the inertia that each joint moves."""
        q = self.START[model]
        if model not in self.DRIVE:
            inertia = 1 / np.diag(self.ask(model, "mass-matrix", {"q": q, "outputs": ["inverse"]})["inverse"])
            self.DRIVE[model] = (400 * inertia, 40 * inertia) if model == "human" else (40, 1)
        kp, kd = (np.broadcast_to(gain, len(q) - 1).tolist() for gain in self.DRIVE[model])
        return {"controller": "pd_gravity", "kp": kp, "kd": kd, "reference": [0] * 6 + (np.array(q[7:]) + shift).tolist()}

    def simulate(self, model, how, shift=0, duration=1, **more):
        return self.ask(model, "simulate", {"q": self.START[model], "held": self.HELD[model], "duration": duration, "samples": 5,
                                            "input": self.drive(model, shift), **how, "outputs": [
                                                "q", "qd", "qdd", "tau", "contact_wrenches", "steps"], **more})

    def check_last(self, model, a, held):
        """Checks that nothing moves at the last sample, and that its accelerations and wrenches are those of
        forward-dynamics."""
        self.assertLess(np.abs(a["qd"][-1]).max(), STILL, model)
        self.assertLess(np.abs(a["qdd"][-1]).max(), STILL, model)
        state = {"q": a["q"][-1], "tau": a["tau"][-1]}
        now = self.ask(model, "forward-dynamics", {**state, "held": held, **STICK})
        self.assertLess(np.abs(now["qdd"]).max(), STILL)
        self.assertClose(a["contact_wrenches"][-1], now["contact_wrenches"], 1e-8)

    def test_standing_still(self):
        """At the reference nothing moves, and adaptive integration needs few steps."""
        for model in self.DOCUMENTS:
            for how in (ADAPTIVE, FIXED) if model == "human" else (ADAPTIVE, STIFF, FIXED):
                a = self.simulate(model, how, duration=0.1 if how == FIXED else 1)
                self.assertLess(np.abs(a["qd"]).max(), 1e-12, f"{model} {how}")
                self.assertLess(np.abs(np.subtract(a["q"], a["q"][0])).max(), 1e-12)
                self.assertLess(a["steps"][-1], 100)
                self.check_last(model, a, self.HELD[model])
            self.assertClose([np.array(a["contact_wrenches"])[-1, :, :3].sum(axis=0)[2]], [self.weight(model)], 1e-9)

    def weight(self, model):
        q = self.START[model]
        return self.ask(model, "bias", {"q": q, "outputs": ["gravity"]})["gravity"][2]

    def test_coming_to_rest(self):
        """Displaced by its drives, a robot comes to rest where friction holds it; all methods end in the same position.
        """
        for model, duration in (("a1", 2), ("go1", 2), ("solo", 1)):
            shift = 0.1 * np.sin(np.arange(12))
            ends = [self.simulate(model, how, shift, duration) for how in (ADAPTIVE, {"tolerance": 1e-8}, {"step": 4e-3})]
            for a in ends:
                self.check_last(model, a, self.HELD[model])
                self.assertGreater(np.abs(np.subtract(a["q"][-1], a["q"][0])).max(), 1e-2)
            self.assertLess(np.abs(np.subtract(ends[0]["q"], ends[1]["q"])).max(), 2e-5, model)
            self.assertLess(np.abs(np.subtract(ends[0]["q"], ends[2]["q"])).max(), 2e-2, model)
        shift = 0.03 * np.sin(np.arange(len(self.START["human"]) - 7))
        for how in ({"tolerance": 1e-4}, {"step": 1e-3}):
            self.check_last("human", self.simulate("human", how, shift, 3), self.HELD["human"])

    def test_walking_two_phases(self):
        """One foot swings while three stand, and lands; then all four stand until the robot rests."""
        for model, foot in (("a1", 0), ("go1", 3)):
            held, ends = self.HELD[model], []
            three = held[:foot] + held[foot + 1:]
            swing = np.zeros(12)
            swing[3 * foot + 1:3 * foot + 3] = 0.4, -0.5
            for how in (ADAPTIVE, FIXED):
                a = self.simulate(model, how, swing, 0.3, held=three)
                self.assertGreater(np.abs(a["qd"][1]).max(), 0.1)
                q = a["q"][-1]
                hit = self.ask(model, "impact", {"q": q, "qd": a["qd"][-1], "held": held})
                b = self.simulate(model, how, swing, 1.5, q=q, qd=hit["qd_after"])
                self.check_last(model, b, held)
                ends.append(np.array(b["q"][-1]))
            self.assertLess(np.abs(ends[0] - ends[1]).max(), 2e-2)

    def test_same_bits(self):
        """Rows that start and stop sticking at different instants have the same bits in requests of one row and in batches, whatever the other
        rows are."""
        q = self.START["a1"]
        drives = [self.drive("a1", 0.02 * i * np.sin(np.arange(12))) for i in range(9)]
        for how in ({"step": 4e-3}, {"tolerance": 1e-5}):
            request = {"q": [q] * 9, "held": self.HELD["a1"], "duration": 0.1, "samples": 4, **how,
                       "input": {**drives[0], "reference": [d["reference"] for d in drives]},
                       "outputs": ["q", "qd", "qdd", "tau", "contact_wrenches", "friction_work"]}
            batch = self.ask("a1", "simulate", request)
            self.assertGreater(np.abs(batch["qd"][8]).max(), 0.01)
            self.assertFalse(np.any(np.abs(batch["qd"][0]) > STILL))
            for i in (0, 3, 8):
                alone = self.ask("a1", "simulate", {**request, "q": q, "input": drives[i]})
                self.assertEqual(alone, {name: rows[i] for name, rows in batch.items()}, str(how))


class Arms(ServerCase):
    """Tests of sharp friction without held frames."""

    def test_fixed_steps_rest(self):
        """An arm with friction stops and stays where it stops; fixed steps differ from adaptive ones by an error
        proportional to their length."""
        self.put_model("arm", with_friction(bundled("ur5"), 4, 0))
        q = [0.3, -0.8, 0.9, 0.2, 0.4, 0.1]
        request = {"q": q, "qd": [1, -0.5, 0.7, 2, -1, 1], "gravity": [0, 0, 0], "duration": 3, "samples": 7, "outputs": ["q", "qd", "qdd"]}
        exact = self.ask("arm", "simulate", {**request, "tolerance": 1e-9})
        gaps = []
        for step in (4e-3, 1e-3):
            a = self.ask("arm", "simulate", {**request, "step": step})
            self.assertEqual(np.abs(a["qd"][-1]).max(), 0)
            self.assertEqual(np.abs(a["qdd"][-1]).max(), 0)
            self.assertEqual(a["q"][-1], a["q"][-2])
            gaps.append(np.abs(np.subtract(a["q"], exact["q"])).max())
        self.assertLess(max(gaps), 1e-8)
        self.assertEqual(np.abs(exact["qd"][-1]).max(), 0)

    def test_a_wheel_stops_at_the_end_of_a_step(self):
        """A wheel of 0.5 kg m^2 at 1 rad/s stops after 1/6 s under a friction of 3 N m: in the 17th step of 0.01 s."""
        wheel = {"gravity": [0, 0, 0], "links": [{"name": "wheel", "parent": "base", "inertial": {
            "mass": 1, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 0.5}}, "joint": {
                "name": "axle", "type": "revolute", "axis": [0, 0, 1], "friction": {"coulomb": {"positive": 3, "negative": 2}}}}]}
        self.put_model("wheel", wheel)
        times = [0.16, 0.17, 0.18, 1]
        a = self.ask("wheel", "simulate", {"q": [0], "qd": [1], "duration": 1, "times": times, "step": 0.01, "outputs": ["q", "qd", "qdd"]})
        self.assertClose(a["qd"], [[0.04], [0], [0], [0]], 1e-12, 1)
        self.assertEqual(a["qd"][1:], [[0.0]] * 3)
        self.assertEqual(a["qdd"][1:], [[0.0]] * 3)
        self.assertEqual(a["q"][1], a["q"][3])
        # the rising effort exceeds the friction at 0.5 s; before that time the wheel rests
        push = {"tau": {"values": [[0], [6]]}}
        for how in ({"step": 0.01}, {"tolerance": 1e-10}):
            b = self.ask("wheel", "simulate", {"q": [0], "duration": 1, "times": [0.4, 0.49, 1], "input": push, **how, "outputs": ["qd"]})
            self.assertEqual(b["qd"][:2], [[0.0]] * 2)
            self.assertClose(b["qd"][2], [0.5 * 6 * 0.25 / 0.5], 2e-2)

    def test_compensated_friction(self):
        """The friction that computed_torque compensates does not jump where a joint starts to move."""
        a = self.ask("puma560", "simulate", {
            "q": [-0.387845, -0.080675, -0.227831, 0.462382, -0.227831, -0.30827], "duration": 0.05, "samples": 3, "tolerance": 1e-5,
            "input": {"controller": "computed_torque", "kp": 10, "kd": 1, "reference": {"values": [[0] * 6, [0.1] * 6]}},
            "outputs": ["qd", "steps"]})
        self.assertLess(a["steps"][-1], 100)
        self.assertGreater(np.abs(a["qd"][-1]).max(), 0.1)

    def test_loops(self):
        """The cranks of a five-bar with friction come to rest; fixed steps agree."""
        document = copy.deepcopy(bundled("five_bar"))
        for joint in (link["joint"] for link in document["links"]):
            if joint.get("actuated", True):
                joint["friction"] = {"coulomb": {"positive": 0.3, "negative": 0.2}, "viscous": 0.05}
        self.put_model("cranks", document)
        request = {"q": [2, 1.1], "qd": [0.5, -0.3], "duration": 2, "samples": 5, "outputs": ["q", "qd", "steps"]}
        a = self.ask("cranks", "simulate", {**request, "tolerance": 1e-8})
        self.assertEqual(a["qd"][-1], [0, 0])
        self.assertLess(a["steps"][-1], 1000)
        b = self.ask("cranks", "simulate", {**request, "step": 1e-3})
        self.assertEqual(b["qd"][-1], [0, 0])
        self.assertLess(np.abs(np.subtract(a["q"], b["q"])).max(), 5e-3)


if __name__ == "__main__":
    tap.main()
