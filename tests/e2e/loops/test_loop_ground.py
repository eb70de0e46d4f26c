"""Tests ground-reaction of robots with closed loops in their legs: the resultant against rates of momentum, which do
not depend on loops; the wrenches of the feet against inverse dynamics; derivatives against differences. Also tests
which loops are refused."""
import copy

import numpy as np
import tap
from closed import INERTIAL, Closed
from floating import moved, turned
from lagrange import extrapolated
from linkages import loop
from parallel_robots import quaternion

FEET = [{"frame": "tip"}, {"link": "right_rod", "point": [0.02, -0.03, 0.1]}]
PULL = [{"link": "right_rod", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4], "frame": "link"}]
PLAIN = ["resultant", "zero_moment_point", "foot_wrenches", "tau"]
DERIVATIVES = [f"d{'' if name == 'tau' else '_'}{name}_d" for name in PLAIN]


class LoopGround(Closed):
    @classmethod
    def setUpClass(cls):
        """Puts a five-bar that stands on its tip: once with a floating base, once with six joints with one coordinate instead of the floating
        base."""
        super().setUpClass()
        cls.put_floating_five_bar()
        jointed = copy.deepcopy(cls.documents["five_bar"])
        del jointed["base"]
        parent = "base"
        for i, (type, axis) in enumerate((t, a) for t in ("prismatic", "revolute") for a in np.eye(3).tolist()):
            jointed["links"].insert(i, {"name": f"global{i}", "parent": parent, "joint": {"name": f"g{i}", "type": type, "axis": axis}})
            parent = f"global{i}"
        jointed["links"][5].update(name="ground", inertial=INERTIAL)
        cls.client.put("/v1/models/jointed", jointed)

    def state(self, model, seed, rows=1):
        choose = np.random.default_rng(seed)
        base = lambda: [*choose.uniform(-0.3, 0.3, 3), *(quaternion if model == "borne" else list)(choose.uniform(-0.4, 0.4, 3))]
        q = [[*base(), *(np.array([2, 1.1]) + choose.uniform(-0.3, 0.3, 2))] for _ in range(rows)]
        return {"q": q, "qd": choose.uniform(-0.5, 0.5, (rows, 8)).tolist(), "qdd": choose.uniform(-0.8, 0.8, (rows, 8)).tolist()}

    def one(self, model, seed):
        return {name: rows[0] for name, rows in self.state(model, seed).items()}

    def test_resultant_is_rate_of_momentum(self):
        for seed, model in enumerate(("borne", "jointed", "borne", "jointed")):
            s, h, momenta = self.one(model, seed), 1e-5, []
            step = turned if model == "borne" else moved
            for t in (-h, h):
                q = step(s["q"], [t * (v + t / 2 * a) for v, a in zip(s["qd"], s["qdd"])])
                qd = [v + t * a for v, a in zip(s["qd"], s["qdd"])]
                momenta.append(self.ask(model, "energy", {"q": q, "qd": qd, "outputs": ["momentum"]})["momentum"])
            rate = (np.array(momenta[1]) - np.array(momenta[0])) / (2 * h)
            now = self.ask(model, "energy", {"q": s["q"], "outputs": ["mass", "com"]})
            com, gravity = np.array(now["com"]), np.array([0, -9.81, 0])
            answer = self.ask(model, "ground-reaction", {**s, "outputs": ["resultant", "zero_moment_point"]})
            F, N = np.split(np.array(answer["resultant"]), 2)
            self.near(F, rate[:3] - now["mass"] * gravity, 1e-7, model)
            self.near(N - np.cross(com, F), rate[3:], 1e-7, model, least=1)
            zero = np.array(answer["zero_moment_point"])
            self.near(np.cross([0, 1, 0], N - np.cross(zero, F)), [0, 0, 0], 1e-12, model, least=10)

    def test_feet_carry_it(self):
        """With the wrenches of the feet as external wrenches, the effort at the base is zero and the motors' efforts
        are those of inverse dynamics."""
        for seed, model in enumerate(("borne", "jointed", "borne", "jointed"), 10):
            s = {**self.one(model, seed), "payload": {"link": "left_crank", "mass": 0.4, "com": [0.1, 0.1, 0]}}
            answer = self.ask(model, "ground-reaction", {**s, "wrenches": PULL, "feet": FEET})
            poses = self.ask(model, "kinematics", {"q": s["q"], "frames": ["tip", "right_rod"]})["poses"]
            lever = turned([0, 0, 0, *poses["right_rod"]["orientation"]], FEET[1]["point"] + [0, 0, 0])[:3]
            feet = [np.array(poses["tip"]["position"]), np.array(poses["right_rod"]["position"]) + lever]
            total = np.zeros(6)
            for r, (*F, x, y, z) in zip(feet, answer["foot_wrenches"]):
                total += [*F, *(np.array([x, y, z]) + np.cross(r, F))]
            self.near(total, answer["resultant"], 1e-12, model)
            d = [np.linalg.norm(answer["zero_moment_point"] - r) for r in feet]
            self.near(np.array(answer["foot_wrenches"][0][:3]) * (d[0] + d[1]), np.array(answer["resultant"][:3]) * d[1], 1e-11, model)
            bear = [{"link": "left_rod", "point": [0.3, 0, 0]}, FEET[1]]  # the tip is a point of left_rod
            bear = [{**where, "force": w[:3], "torque": w[3:]} for where, w in zip(bear, answer["foot_wrenches"])]
            tau = self.ask(model, "inverse-dynamics", {**s, "wrenches": PULL + bear})["tau"]
            self.near(answer["tau"][6:], tau[6:], 1e-10, model)
            self.near([*tau[:6], *answer["tau"][:6]], [0] * 12, 1e-11, model, least=20)

    def test_derivatives(self):
        for seed, model in enumerate(("borne", "jointed"), 20):
            s = self.one(model, seed)
            request = {**s, "wrenches": PULL, "feet": FEET, "plane": {"point": [0.1, -0.4, 0.2], "normal": [0.1, 2, 0.2]}}
            answer = self.ask(model, "ground-reaction", {**request, "outputs": [d + by for d in DERIVATIVES for by in ("q", "qd", "qdd")]})
            size = 2e-3
            steps = [sign * size / part * e for e in np.eye(8) for part in (1, 2, 4) for sign in (1, -1)]
            for by in ("q", "qd", "qdd"):
                rows = [moved(s[by], step) for step in steps]
                near_by = self.ask(model, "ground-reaction", {**request, by: rows})
                for name, d in zip(PLAIN, DERIVATIVES):
                    self.near(answer[d + by], extrapolated(near_by[name], size), 1e-7, f"{model} {d}{by}", least=1)

    def test_alone_and_in_a_batch(self):
        for model in ("borne", "jointed"):
            s = self.state(model, 30, rows=19)
            outputs = PLAIN + [d + by for d in DERIVATIVES for by in ("q", "qd", "qdd")]
            request = {"wrenches": PULL, "feet": FEET, "outputs": outputs}
            batch = self.ask_texts(model, "ground-reaction", {**s, **request})
            alone = self.ask_texts(model, "ground-reaction", {**{name: rows[17] for name, rows in s.items()}, **request})
            self.assertEqual({name: rows[17] for name, rows in batch.items()}, alone)
            for output in outputs:
                self.assertEqual(self.ask_texts(model, "ground-reaction", {**s, **request, "outputs": [output]})[output], batch[output])

    def test_beside_others(self):
        """ground-reaction answers the same numbers in evaluate as in a request of its own, and the same torques when the request gives a
        guess."""
        s, ground = self.one("borne", 31), {"feet": FEET, "outputs": PLAIN + ["dtau_dq"]}
        both = self.ask("borne", "evaluate", {**s, "operations": {"ground-reaction": ground, "inverse-dynamics": {}}})
        self.assertEqual(both["ground-reaction"], self.ask("borne", "ground-reaction", {**s, **ground}))
        guess = {"left_elbow": -1.4, "right_elbow": 1.4}
        self.near(self.ask("borne", "ground-reaction", {**s, **ground, "guess": guess})["tau"], both["ground-reaction"]["tau"], 1e-9)

    def test_loops_in_the_way(self):
        """A loop between robot and world is refused, since it carries an unknown part of the weight."""
        tied = copy.deepcopy(self.ok(self.client.get("/v1/models/jointed/document")))
        tied["frames"].append({"name": "peg", "link": "base"})
        tied["loops"].append(loop("peg", "tip", "planar", [0, 0, 1], name="tie"))
        for i in (2, 3, 4):
            tied["links"][i]["joint"]["actuated"] = False
        self.put_model("tied", tied)
        answer = self.client.post("/v1/models/tied/ground-reaction", {"q": [0] * 3 + [2, 1.1], "feet": FEET})
        self.assertIn("tie", self.refused(answer, "not-for-loops"))
        self.refused(self.client.post("/v1/models/four_bar/ground-reaction", {"q": [1], "feet": [{"frame": "crank_end"}]}), "no-free-base")


if __name__ == "__main__":
    tap.main()
