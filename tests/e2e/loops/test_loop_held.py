"""Tests simulations of mechanisms with closed loops and held frames: against mechanisms with a joint in place of the
held frame, against invariants, and against balances of forces and energy."""
import copy

import numpy as np
import tap
from closed import Closed
from linkages import link, loop

METHODS = {"step": 1e-3}, {"tolerance": 1e-9}, {"tolerance": 1e-8, "stiff": True}
START = [2.1, 1.2]


class LoopHeld(Closed):
    @classmethod
    def setUpClass(cls):
        """Puts the five-bar on a floating base, and the five-bar whose tip moves on a rail along y."""
        super().setUpClass()
        borne = copy.deepcopy(cls.documents["five_bar"])
        borne["base"] = {"type": "floating", "link": "ground", "inertial": {
            "mass": 2, "com": [0.1, 0, 0.2], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}}}
        cls.client.put("/v1/models/borne", borne)
        cls.tip = cls.client.post("/v1/models/five_bar/kinematics", {"q": START}).json()["poses"]["tip"]["position"]
        railed = copy.deepcopy(cls.documents["five_bar"])
        railed["links"][2]["joint"].update(actuated=False, home=START[1])
        railed["links"].append(link("slide", "ground", "prismatic", [0, 1, 0], origin={"xyz": [cls.tip[0], 0, 0]}, home=cls.tip[1]))
        railed["loops"].append(loop("slide", "tip", "revolute", [0, 0, 1], name="rail"))
        cls.client.put("/v1/models/railed", railed)

    def simulate(self, model, request, *outputs, **more):
        return self.ask(model, "simulate", {**request, **({"outputs": list(outputs)} if outputs else {}), **more})

    def test_a_tip_that_is_held_along_x_is_on_a_rail(self):
        for how in METHODS:
            request = {"duration": 0.2, "samples": 5, **how}
            a = self.simulate("railed", {**request, "q": START[:1], "input": {"tau": {"amplitude": [0.4], "angular_frequency": [7]}}},
                              "q", "qd", "kinetic", "potential")
            b = self.simulate("five_bar", {**request, "q": START, "held": [{"frame": "tip", "axes": ["x"]}], "input": {
                "tau": {"amplitude": [0.4, 0], "angular_frequency": [7, 7]}}}, "q", "qd", "kinetic", "potential", "contact_wrenches")
            self.near([q[:1] for q in b["q"]], a["q"], 1e-6, str(how))
            self.near([qd[:1] for qd in b["qd"]], a["qd"], 1e-5, str(how))
            self.near(b["kinetic"], a["kinetic"], 1e-5, str(how))
            poses = self.ask("five_bar", "kinematics", {"q": b["q"]})["poses"]["tip"]["position"]
            self.near([p[0] for p in poses], [self.tip[0]] * 5, 1e-12, str(how))
            self.assertGreater(max(abs(p[1] - self.tip[1]) for p in poses), 0.02)
            full = self.ask("railed", "forward-dynamics", {"q": START[:1], "tau": [0], "outputs": ["full"]})["full"]
            force, bears = b["contact_wrenches"][0][0], full["loop_wrenches"][1]
            self.near(force, [bears[0], 0, 0, 0, 0, 0], 1e-9, str(how))

    def test_a_base_that_is_held_is_a_fixed_one(self):
        for how in METHODS:
            request = {"duration": 0.3, "samples": 4, **how}
            a = self.simulate("five_bar", {**request, "q": START}, "q", "qd", "kinetic")
            b = self.simulate("borne", {**request, "q": [0, 0, 0, 0, 0, 0, 1, *START], "held": [{"frame": "ground"}]}, "q", "qd", "kinetic",
                              "contact_wrenches")
            self.near([q[:7] for q in b["q"]], [[0, 0, 0, 0, 0, 0, 1]] * 4, 1e-12, str(how))
            self.near([q[7:] for q in b["q"]], a["q"], 1e-7, str(how))
            self.near([qd[6:] for qd in b["qd"]], a["qd"], 1e-6, str(how))
            qdd = self.ask("five_bar", "forward-dynamics", {"q": START, "tau": [0, 0]})["qdd"]
            bears = self.ask("borne", "inverse-dynamics", {"q": [0, 0, 0, 0, 0, 0, 1, *START], "qdd": [0] * 6 + qdd})["tau"][:6]
            self.near(b["contact_wrenches"][0][0], bears, 1e-10, str(how))

    def test_energy_and_places(self):
        """A floating robot swings about its held tip: the contact force does no work, and the tip stays."""
        request = {"q": [0.1, 0.2, 0.3, 0, 0, 0, 1, *START], "duration": 0.12, "samples": 4, "friction": False,
                   "held": [{"frame": "tip", "axes": ["x", "y", "z"]}]}
        for how in METHODS:
            a = self.simulate("borne", {**request, **how}, "q", "qd", "kinetic", "potential", "actuator_work")
            energy = np.add(a["kinetic"], a["potential"])
            self.near(energy - energy[0], a["actuator_work"], 1e-6, str(how), least=abs(energy[0]))
            self.assertGreater(a["kinetic"][-1], 0.3)
            places = self.ask("borne", "kinematics", {"q": a["q"]})["poses"]["tip"]["position"]
            self.near(places, [places[0]] * 4, 1e-12, str(how))
            moves = self.ask("borne", "kinematics", {"q": a["q"], "qd": a["qd"], "frame": "tip", "outputs": ["velocity"]})["velocity"]
            self.near([v[:3] for v in moves], [[0] * 3] * 4, 1e-11, str(how), least=1)

    def test_same_bits_alone(self):
        rows = [[2 + 0.02 * i, 1.2 - 0.01 * i] for i in range(11)]
        for how in ({"step": 5e-3}, {"tolerance": 1e-5}, {"tolerance": 1e-4, "stiff": True}):
            request = {"duration": 0.1, "samples": 3, "held": [{"frame": "tip", "axes": ["y"]}], **how}
            batch = self.simulate("five_bar", {**request, "q": rows})
            for i in (0, 7, 10):
                self.assertEqual(self.simulate("five_bar", {**request, "q": rows[i]}), {name: value[i] for name, value in batch.items()},
                                 str(how))

    def test_what_moves_though_it_is_held(self):
        held = {"held": [{"frame": "tip", "axes": ["x"]}], "duration": 0.1, "step": 0.01, "samples": 2}
        answer = self.client.post("/v1/models/five_bar/simulate", {"q": [START, START], "qd": [[0, 0], [1, 0]], **held})
        self.refused(answer, "contradictory-contacts", row=1)


if __name__ == "__main__":
    tap.main()
