"""Tests identify: parameters of simulated robots from noisy torques, within the standard deviations that the answer
states."""
import math
import random

import tap
from arrays import add, dot, matvec
from harness import Server
from identification import (PARAMETERS, Identify, add_noise, bundled, fourier, grouped, inertial_parameters, other_robot,
                            pick, rms, truth, values)
from samples import body, branched, chain, states


class Noisy(Identify):
    """Torques of a robot with changed parameters, with one percent of noise, at 400 instants of a periodic motion."""
    SEEDS, SAMPLES = range(1, 7), 400

    def check(self, name, count):
        """Checks that errors divided by stated deviations are standard normal: of about 400 values none exceeds 4.5,
        and their root mean square is near 1."""
        errors = []
        for seed in self.SEEDS:
            document = other_robot(bundled(name), seed)
            self.put_model(f"{name}_{seed}", document)
            rows = self.simulated(f"{name}_{seed}", fourier(len(document["links"]), self.SAMPLES, 100 + seed))
            size = [0.01 * rms(row[j] for row in rows["tau"]) for j in range(len(document["links"]))]
            add_noise(rows, size, 200 + seed)
            answer = self.ask(name, "identify", {**rows, **self.ALL})
            figures = truth(document)
            self.assertEqual(len(answer["base_parameters"]), count)
            errors += [(entry["value"] - grouped(entry, figures)) / entry["deviation"]
                       for entry in answer["base_parameters"]]
            for claimed, true in zip(answer["noise"], size):
                # the estimate has 330 degrees of freedom: 0.2 is five standard deviations
                self.assertAlmostEqual(claimed / true, 1, delta=0.2)
            self.assertAlmostEqual(answer["residual"] / rms(size), 1, delta=0.2)
            self.assertLess(answer["condition"], 200)
        self.assertLess(max(map(abs, errors)), 4.5)
        self.assertTrue(0.8 < rms(errors) < 1.2, rms(errors))

    def test_puma560(self):
        """36 base parameters of the bodies, 18 of friction, and rotors 3 to 6: those of joints 1 and 2 turn about a
        fixed axis and merge with other parameters."""
        self.check("puma560", 36 + 18 + 4)

    def test_panda(self):
        self.check("panda", 43 + 21 + 5)

    def test_against_the_normal_equations(self):
        """With weights of the request, the deviations are those of (A^T W^2 A)^-1 with the columns of the operation
        regressor."""
        rows = self.simulated("two_link", fourier(2, 20, 1))
        add_noise(rows, [0.05, 0.02], 1)
        choose = random.Random(2)
        weights = [[choose.uniform(0.5, 2) for _ in range(2)] for _ in range(20)]
        motion = {name: rows[name] for name in ("q", "qd", "qdd")}
        columns = self.ask("two_link", "regressor", {**motion, "outputs": ["base_regressor"]})["base_regressor"]
        A = [[w * x for x in row] for state, scale in zip(columns, weights) for row, w in zip(state, scale)]
        b = [w * x for state, scale in zip(rows["tau"], weights) for x, w in zip(state, scale)]
        n = len(A[0])
        inverse = invert([[sum(row[i] * row[j] for row in A) for j in range(n)] for i in range(n)])
        beta = matvec(inverse, [sum(row[i] * y for row, y in zip(A, b)) for i in range(n)])
        left = [y - dot(row, beta) for row, y in zip(A, b)]
        variance = dot(left, left) / (len(b) - n)
        answer = self.ask("two_link", "identify", {**rows, "weights": weights})
        self.assertClose(values(answer), beta, 1e-10)
        self.assertClose([entry["deviation"] for entry in answer["base_parameters"]],
                         [math.sqrt(variance * inverse[k][k]) for k in range(n)], 1e-10)
        self.assertClose(answer["residual"], rms(left), 1e-10)
        settled = [dot(row, matvec(inverse, row)) for row in A]  # share of the parameters that each row determines
        self.assertClose(answer["noise"], [math.sqrt(dot(left[j::2], left[j::2]) / (20 - sum(settled[j::2]))) for j in range(2)], 1e-10)

    def test_coordinates_weigh_by_their_noise(self):
        """Without weights in the request, each coordinate is weighted by the inverse of its noise, as with these weights in the request: large
        noise at joint 1 does not affect parameters that joint 2 determines."""
        rows = self.simulated("two_link", fourier(2, 100, 2))
        add_noise(rows, [5, 0.001], 3)
        answer = self.ask("two_link", "identify", rows)
        said = self.ask("two_link", "identify", {**rows, "weights": [1 / x for x in answer["noise"]]})
        for found, expected in zip(answer["base_parameters"], said["base_parameters"]):
            self.assertAlmostEqual(found["value"], expected["value"], delta=0.05 * expected["deviation"])
            self.assertAlmostEqual(found["deviation"], expected["deviation"], delta=0.05 * expected["deviation"])


def invert(matrix):
    """Inverts a positive definite matrix by Gauss-Jordan elimination."""
    n = len(matrix)
    rows = [row[:] + [float(i == j) for j in range(n)] for i, row in enumerate(matrix)]
    for k in range(n):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


class Exact(Identify):
    """Torques without noise: identify finds the true parameters whatever the parameters of the model."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for base in ("fixed", "floating"):
            for name, mass in (("nominal", 1), ("true", 1.3)):
                document = branched(base)
                document["links"][1]["inertial"]["mass"] *= mass
                document["links"][2]["inertial"]["com"][0] += 0.1 * (mass - 1)
                cls.client.put(f"/v1/models/{name}_{base}", document)
        for name, mass in (("nominal", 0.1), ("true", 0.2)):
            hand = {"base": {"type": "fixed", "link": "base"}, "links": [  # two fingers that share one coordinate
                {"name": "palm", "parent": "base", "joint": {"name": "wrist", "type": "revolute", "axis": [1, 0, 0]},
                 "inertial": body(1)},
                {"name": "left", "parent": "palm", "joint": {"name": "grasp", "type": "prismatic", "axis": [0, 1, 0]},
                 "inertial": body(mass)},
                {"name": "right", "parent": "palm", "joint": {"name": "follow", "type": "prismatic", "axis": [0, -1, 0],
                 "mimic": {"joint": "grasp", "multiplier": 1.5, "offset": 0.1}}, "inertial": body(0.1)}]}
            cls.client.put(f"/v1/models/{name}_hand", hand)

    def test_published_robots(self):
        for name in ("puma560", "panda", "stanford", "ur5"):
            document = other_robot(bundled(name), 3)
            self.put_model("other", document)
            answer = self.ask(name, "identify", {**self.simulated("other", fourier(len(document["links"]), 100, 9)), **self.ALL})
            figures = truth(document)
            for entry in answer["base_parameters"]:
                true = grouped(entry, figures)
                self.assertAlmostEqual(entry["value"], true, delta=1e-8 * abs(true) + 1e-12, msg=f"{name} {entry}")
            self.assertLess(answer["residual"], 1e-11)

    ROBOTS = (("fixed", 4, False), ("floating", 10, True), ("hand", 2, False))
    WRENCHES = [{"link": "gripper", "force": [3, -2, 5], "torque": [0.3, 0.2, -0.1], "point": [0.1, 0, 0.2]},
                {"link": "thigh", "force": [1, 2, 3], "torque": [-0.2, 0.1, 0.4], "frame": "link"}]
    PAYLOAD = {"link": "gripper", "mass": 2, "com": [0.1, 0.2, 0]}

    def test_what_is_found_predicts(self):
        """On another motion, tau_true - tau_nominal = base_regressor (beta_true - beta_nominal), for trees, a floating
        base and mimic joints, with springs, wrenches, payload, and the model's friction."""
        for robot, nv, floating in self.ROBOTS:
            given = {} if robot == "hand" else {"wrenches": self.WRENCHES, "payload": self.PAYLOAD}
            motion, other = states(80, nv, floating, 1), states(5, nv, floating, 2)
            beta = {model: values(self.ask(f"nominal_{robot}", "identify",
                                           {**self.simulated(f"{model}_{robot}", motion, **given), **given}))
                    for model in ("true", "nominal")}
            tau = {model: self.simulated(f"{model}_{robot}", other)["tau"] for model in ("true", "nominal")}
            more = [x - y for x, y in zip(beta["true"], beta["nominal"])]
            columns = self.ask(f"nominal_{robot}", "regressor", {name: other[name] for name in ("q", "qd", "qdd")} | {"outputs": ["base_regressor"]})["base_regressor"]
            for state, true, nominal in zip(columns, tau["true"], tau["nominal"]):
                self.assertClose(add(nominal, matvec(state, more)), true, 1e-9, what=robot)

    def test_friction_and_rotors_said_known_or_looked_for(self):
        rows = fourier(6, 100, 5)
        with_friction, without = (self.simulated("puma560", rows, friction=f) for f in (True, False))
        known, none, found = (self.ask("puma560", "identify", request) for request in (
            with_friction, {**without, "friction": False}, {**with_friction, **self.ALL}))
        figures = truth(bundled("puma560"))
        self.assertClose(values(known), [grouped(entry, figures) for entry in known["base_parameters"]], 1e-9)
        self.assertClose(values(none), values(known), 1e-9)
        by_name = {entry["grouping"]["parameter"]: entry["value"] for entry in found["base_parameters"]}
        for j in range(1, 7):
            for c in ("viscous", "coulomb_positive", "coulomb_negative"):
                self.assertAlmostEqual(by_name[f"joint{j}.{c}"], figures[f"joint{j}.{c}"], delta=1e-8)
        for j in range(3, 7):
            self.assertAlmostEqual(by_name[f"joint{j}.rotor_inertia"], figures[f"joint{j}.rotor_inertia"], delta=1e-8)
        groups = {entry["grouping"]["parameter"]: [part["parameter"] for part in entry["grouping"]["with"]]
                  for entry in found["base_parameters"]}
        self.assertIn("joint1.rotor_inertia", groups["link1.Iyy"])
        self.assertIn("joint2.rotor_inertia", groups["link2.Izz"])

    def test_every_parameter_is_seen_grouped_or_said_not_to_be(self):
        for name, nothing in (("puma560", "link1.m"), ("panda", "panda_link2.mcz"), ("two_link", "link2.Ixx")):
            document = bundled(name)
            answer = self.ask(name, "identify", {**self.simulated(name, fourier(len(document["links"]), 60, 4)), **self.ALL})
            seen = {part["parameter"] for entry in answer["base_parameters"]
                    for part in [entry["grouping"], *entry["grouping"]["with"]]}
            self.assertEqual(seen | set(answer["unobservable"]), set(truth(document)))
            self.assertFalse(seen & set(answer["unobservable"]))
            self.assertIn(nothing, answer["unobservable"])

    def test_joints_in_another_order(self):
        rows = self.simulated("puma560", fourier(6, 100, 6))
        add_noise(rows, [0.3, 0.6, 0.1, 0.02, 0.03, 0.01], 4)
        straight = self.ask("puma560", "identify", {**rows, "weights": [1, 2, 3, 4, 5, 6]})
        turned = {name: [row[::-1] for row in field] for name, field in rows.items()}
        answer = self.ask("puma560", "identify", {**turned, "weights": [6, 5, 4, 3, 2, 1],
                                                  "joints": [f"joint{j}" for j in range(6, 0, -1)]})
        self.assertEqual(answer.pop("noise"), straight.pop("noise")[::-1])
        self.assertEqual(answer, straight)

    def test_same_bits_on_every_target(self):
        rows = self.simulated("panda", fourier(7, 101, 8))
        add_noise(rows, [0.1] * 7, 5)
        request = {**rows, **self.ALL, "consistent": True}
        widest = self.client.post("/v1/models/panda/identify", request).body
        server = Server("--target", "scalar")
        try:
            client = server.client()
            self.assertEqual(client.post("/v1/models/panda/identify", request).body, widest)
            client.close()
        finally:
            self.assertIsNone(server.stop())


class Weights(Identify):
    def setUp(self):
        self.rows = self.simulated("puma560", fourier(6, 120, 7))
        add_noise(self.rows, [0.4, 0.6, 0.2, 0.05, 0.03, 0.02], 3)

    def test_only_their_ratios_count(self):
        one, three = (self.ask("puma560", "identify", {**self.rows, "weights": [w] * 6}) for w in (1, 3))
        self.assertClose(values(three), values(one), 1e-10)
        self.assertClose([entry["deviation"] for entry in three["base_parameters"]],
                         [entry["deviation"] for entry in one["base_parameters"]], 1e-10)
        self.assertClose(three["residual"], 3 * one["residual"], 1e-10)

    def test_zero_leaves_a_row_out(self):
        chosen = [i for i in range(120) if i % 3]
        weights = [[1 if i % 3 else 0] * 6 for i in range(120)]
        zeros = self.ask("puma560", "identify", {**self.rows, "weights": weights})
        fewer = self.ask("puma560", "identify", {**pick(self.rows, chosen), "weights": [1] * 6})
        self.assertEqual(zeros, fewer)

    def test_zero_leaves_a_coordinate_out(self):
        """Weight zero excludes a coordinate: the efforts of a floating base, which were not measured."""
        self.put_model("free", branched("floating"))
        rows = self.simulated("free", states(60, 10, True, 3))
        clean = self.ask("free", "identify", {**rows, "weights": [1] * 10})
        for row in rows["tau"]:
            row[2] += random.Random(1).uniform(-100, 100)
        answer = self.ask("free", "identify", {**rows, "weights": [1, 1, 0, 1, 1, 1, 1, 1, 1, 1]})
        self.assertClose(values(answer), values(clean), 1e-8)
        self.assertEqual(answer["noise"][2], 0)


class Consistent(Identify):
    def positive(self, parameters):
        """True if the mass is positive and the pseudo-inertia positive definite, by the pivots of Gaussian elimination.
        """
        m, x, y, z, xx, xy, yy, xz, yz, zz = parameters
        half = (xx + yy + zz) / 2
        rows = [[half - xx, -xy, -xz, x], [-xy, half - yy, -yz, y], [-xz, -yz, half - zz, z], [x, y, z, m]]
        for k in range(4):
            if rows[k][k] <= 0:
                return False
            for i in range(k + 1, 4):
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
        return True

    def check(self, name, noise, seed):
        """With `consistent`, checks that the parameters fit within the noise, belong to real bodies, and make a valid
        document."""
        document = other_robot(bundled(name), seed)
        self.put_model("other", document)
        rows = self.simulated("other", fourier(len(document["links"]), 300, seed))
        size = [noise * rms(row[j] for row in rows["tau"]) for j in range(len(document["links"]))]
        add_noise(rows, size, seed)
        answer = self.ask(name, "identify", {**rows, **self.ALL, "consistent": True})
        figures = {}
        found = bundled(name)
        for link, entry in zip(found["links"], answer["parameters"]):
            self.assertEqual((entry["link"], entry["joint"]), (link["name"], link["joint"]["name"]))
            self.assertTrue(self.positive(entry["inertial_parameters"]), entry)
            self.assertGreater(entry["rotor_inertia"], 0)
            link["inertial"] = {key: entry[key] for key in ("mass", "com", "inertia")}
            link["joint"] |= {key: entry[key] for key in ("rotor_inertia", "friction")}
            for at in ("positive", "negative"):  # documents refuse negative friction, so negative estimates become 0
                link["joint"]["friction"]["coulomb"][at] = max(0, entry["friction"]["coulomb"][at])
            for key, x in zip(PARAMETERS, entry["inertial_parameters"]):
                self.assertAlmostEqual(inertial_parameters(link["inertial"])[key], x, delta=1e-9 * (1 + abs(x)))
        figures = truth(found)
        errors = [(grouped(entry, figures) - entry["value"]) / entry["deviation"] for entry in answer["base_parameters"]]
        self.assertLess(rms(errors), 1, f"{name}: what is consistent is further from the base parameters than noise is")
        self.put_model("found", found)
        self.assertLess(rms(x - y for a, b in zip(self.simulated("found", rows)["tau"], rows["tau"]) for x, y in zip(a, b)),
                        1.1 * rms(size))

    def test_published_robots(self):
        for name in ("puma560", "panda", "stanford", "ur5"):
            for seed, noise in enumerate((0.001, 0.01, 0.1)):
                with self.subTest(model=name, noise=noise):
                    self.check(name, noise, 11 + seed)

    def test_the_model_itself_where_the_data_agree(self):
        """From noiseless torques of a physically possible model, identify with `consistent` must find this model."""
        self.put_model("real", chain(3))
        rows = self.simulated("real", fourier(3, 60, 1))
        answer = self.ask("real", "identify", {**rows, "consistent": True})
        figures = truth(chain(3))
        for entry in answer["parameters"]:
            for key, x in zip(PARAMETERS, entry["inertial_parameters"]):
                self.assertAlmostEqual(x, figures[f"{entry['link']}.{key}"], delta=1e-6)
            self.assertNotIn("rotor_inertia", entry)
            self.assertNotIn("friction", entry)

    def test_a_floating_base_and_massless_bodies(self):
        wrist = chain(4)
        del wrist["links"][1]["inertial"], wrist["links"][3]["inertial"]
        self.put_model("wrist", wrist)
        for name, nv in (("solo12", 18), ("wrist", 4)):
            rows = self.simulated(name, states(120, nv, name == "solo12", 1))
            answer = self.ask(name, "identify", {**rows, "outputs": ["parameters"]})
            self.assertEqual(list(answer), ["parameters"])
            self.assertEqual("joint" in answer["parameters"][0], name == "wrist")
            for entry in answer["parameters"]:
                self.assertTrue(self.positive(entry["inertial_parameters"]), entry)


if __name__ == "__main__":
    tap.main()
