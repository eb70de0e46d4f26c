"""Tests feed-forward for elastic joints with dampers: motors whose positions are given, and motors that are integrated along
the rows of one motion, against forward dynamics, SciPy's integrations of the spring, the motion without dampers, and
simulations with the torques of the answer. The robots are elastic arms, some with motors on moving links or with rigid
joints."""
import copy

import numpy as np
import tap
from closed import Closed
from numpy.polynomial import Polynomial
from numpy.polynomial.chebyshev import Chebyshev
from scipy.integrate import solve_ivp
from test_feed_forward import ORDERS, RIGID, coupled_ur5, elastic_ur5

REAL = ("q", "qd", "qdd", "qddd", "qdddd")
DAMPING = {"shoulder_lift_joint": 3, "elbow_joint": 9, "wrist_1_joint": 0.2}
# zero with eight derivatives at both ends of 0 to 1
RATE = Polynomial([0, 1]) ** 8 * Polynomial([1, -1]) ** 8
RISE = (RATE / RATE.integ()(1)).integ()
WAY = np.array([0.6, -0.4, 0.5, 0.3, -0.2, 0.4])


def damped(document, damping):
    """Returns a robot with dampers at joints by their names."""
    document = copy.deepcopy(document)
    for link in document["links"]:
        name = link["joint"].get("name", link["name"])
        if name in damping:
            link["joint"]["elastic"]["damping"] = damping[name]
    return document


def rise(u, r):
    """Returns the derivative of order r of a smooth rise from 0 to 1 at u, computed from the nearer end so that rounding errors are small."""
    near = np.minimum(u, 1 - u)
    x = RISE.deriv(r)(near) if r else RISE(near)
    return np.where(u < 0.5, x, (1 - x if r == 0 else x * (-1) ** (r + 1)))


def shape(times, orders=5, waves=0.0):
    """Returns the derivatives of the sum of a rise from 0 to 1 in one second and an oscillation of amplitude `waves`."""
    t = np.asarray(times, float)
    return [rise(t, r) + waves * 5.0 ** r * np.sin(5 * t + 0.3 + r * np.pi / 2) for r in range(orders)]


class Damped(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        ur5 = cls.client.get("/v1/models/ur5/document").json()
        limber, chain = elastic_ur5(ur5), coupled_ur5(ur5, 3)
        rigid = copy.deepcopy(limber)
        for link in rigid["links"]:
            if link["joint"].get("name") in ("elbow_joint", "wrist_3_joint"):
                link["joint"].pop("elastic")
        cls.documents = {"limber": limber, "mixed": damped(limber, DAMPING), "rigid": damped(rigid, {"shoulder_lift_joint": 3, "wrist_2_joint": 1}),
                         "chain": damped(chain, {"shoulder_pan_joint": 20, "elbow_joint": 5}),
                         "soft": damped(limber, {"elbow_joint": 4000})}
        for name, document in cls.documents.items():
            assert cls.client.put("/v1/models/" + name, document).status in (200, 201)

    def names(self, model):
        return self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]

    def motion(self, model, times, waves=0.0, orders=5, **options):
        """Returns the fields of a motion in which the joints have different shapes."""
        nv = len(self.names(model))
        way = np.append(WAY, np.zeros(nv - 6))
        rows = [np.outer(c, way) + 0.1 * np.outer(d, way[::-1] * (np.arange(nv) < 6))
                for c, d in zip(shape(times, orders, waves=waves), shape(times, orders, waves / 2))]
        fields = dict(zip(ORDERS, (x.tolist() for x in rows)))
        higher = {"higher_derivatives": [x.tolist() for x in rows[5:]]} if orders > 5 else {}
        return {**fields, **higher, "times": list(times), **options}

    def coordinates(self, model, joint):
        """Returns the index of a joint, of its motor, and the spring."""
        names = self.names(model)
        link = next(x for x in self.documents[model]["links"] if x["joint"].get("name", x["name"]) == joint)
        spring = link["joint"]["elastic"]
        return names.index(joint), names.index(joint + ".motor"), spring["stiffness"], spring.get("damping", 0), spring.get("rest", 0)

    def load(self, model, joint, fields, loads):
        """Returns the torque that the spring of a joint carries on each row: inverse dynamics at the motor position at which the spring has no
        deflection."""
        rows = {name: np.array(fields[name]) for name in REAL[:3]}
        names = self.names(model)
        for name in names:
            if name.endswith(".motor"):
                j, m, _, _, rest = self.coordinates(model, name.removesuffix(".motor"))
                for field, x in rows.items():
                    x[:, m] = x[:, j] - (rest if field == "q" else 0)
        tau = self.ask(model, "inverse-dynamics", {**{name: x.tolist() for name, x in rows.items()}, **loads})["tau"]
        return np.array(tau)[:, names.index(joint)]

    def integrate(self, model, joint, loads, start, at, waves):
        """Integrates d e' + k e = tau, e = theta - q + rest, from e(0) = start on by Gauss's quadrature of 24 nodes between any two times. The
        load is a polynomial through inverse dynamics at Chebyshev's nodes. Returns e at the times, the e(0) at which the spring is in
        equilibrium, and the load."""
        nodes = (1 - np.cos(np.pi * (np.arange(120) + 0.5) / 120)) / 2
        load = Chebyshev.fit(nodes, self.load(model, joint, self.motion(model, nodes, waves), loads), 100, domain=[0, 1])
        _, _, k, d, _ = self.coordinates(model, joint)
        settled = (load(0.0) - (d / k * load.deriv(1)(0.0) - (d / k) ** 2 * load.deriv(2)(0.0) if waves else 0)) / k
        x, weights = np.polynomial.legendre.leggauss(24)
        h, e = at[1] - at[0], [start]
        s = (x + 1) * h / 2
        gains = load(at[:-1, None] + s) @ (weights * np.exp(-k / d * (h - s)) * h / 2 / d)
        for gain in gains:
            e.append(np.exp(-k / d * h) * e[-1] + gain)
        return np.array(e), settled, load

    def compare(self, model, joint, loads, start, waves, tolerance):
        times = np.linspace(0, 1, 801)
        j, m, _, _, rest = self.coordinates(model, joint)
        fields = self.motion(model, times, waves)
        if start is not None:
            fields["motor_positions"] = "given"
            for name in self.names(model):
                if name.endswith(".motor"):
                    i, n, _, _, other = self.coordinates(model, name.removesuffix(".motor"))
                    fields["q"][0][n] = fields["q"][0][i] - other + start
        answer = self.ask(model, "feed-forward", {**fields, **loads})
        e = np.array(answer["q"])[:, m] - np.array(answer["q"])[:, j] + rest
        expected, settled, tau = self.integrate(model, joint, loads, e[0] if start is None else start, times, waves)
        self.near(e, expected, tolerance, joint)
        self.assertLess(abs(e[0] - (settled if start is None else start)), 1e-6 if waves else 1e-9)
        return times, e, tau

    def test_integration(self):
        """Compares the motors' motions with a quadrature, started in equilibrium and at a given position, and one of them with SciPy's
        integration."""
        for model, joint in (("mixed", "shoulder_lift_joint"), ("mixed", "elbow_joint"), ("mixed", "wrist_1_joint"),
                             ("rigid", "wrist_2_joint"), ("soft", "elbow_joint")):
            for start in (None, 0.05):
                self.compare(model, joint, RIGID, start, 0, 1e-10)
        times, e, tau = self.compare("mixed", "elbow_joint", {}, None, 0.1, 1e-8)
        _, _, k, d, _ = self.coordinates("mixed", "elbow_joint")
        solution = solve_ivp(lambda t, e: (tau(t) - k * e) / d, (0, 1), [e[0]], "DOP853", t_eval=times, rtol=1e-13, atol=1e-15)
        self.near(e, solution.y[0], 1e-8)

    def test_states_are_consistent(self):
        """Every row of an integrated motion satisfies the equation of motion, and equals the answer to a request with the state of this row."""
        times = np.linspace(0, 1, 101)
        for model in ("mixed", "rigid", "soft"):
            fields = self.motion(model, times, 0.1)
            answer = self.ask(model, "feed-forward", {**fields, **RIGID})
            moved = self.ask(model, "forward-dynamics", {**RIGID, **{name: answer[name] for name in ("q", "qd", "tau")}})["qdd"]
            self.near(moved, answer["qdd"], 1e-8, model)
            fields.pop("times")
            given = self.ask(model, "feed-forward", {**fields, **RIGID, "q": answer["q"], "motor_positions": "given"})
            self.assertNotIn("qdd_errors", given)
            for name in ("q", "qd", "qdd", "tau"):
                self.near(given[name], answer[name], 1e-8, f"{model} {name}")

    def test_rates(self):
        """qd and qdd of motors against central differences of q and qd along the motion."""
        h = 1e-3
        for model in ("mixed", "chain"):
            orders = 9 if model == "chain" else 5
            answer = self.ask(model, "feed-forward", self.motion(model, np.arange(0, 1001) * h, 0.1, orders))
            q, qd, qdd = (np.array(answer[name]) for name in REAL[:3])
            for x, rate, what in ((q, qd, "qd"), (qd, qdd, "qdd")):
                difference = (x[:-6] * -1 + 9 * x[1:-5] - 45 * x[2:-4] + 45 * x[4:-2] - 9 * x[5:-1] + x[6:]) / (60 * h)
                self.near(difference, rate[3:-3], 1e-7, f"{model} {what}")

    def follow(self, model, orders):
        times = np.linspace(0, 1, 2001)
        fields = self.motion(model, times, 0, orders)
        answer = self.ask(model, "feed-forward", fields)
        given = {"values": answer["tau"], "times": list(times), "interpolation": "cubic"}
        moved = self.ask(model, "simulate", {"q": answer["q"][0], "qd": answer["qd"][0], "input": {"tau": given}, "duration": 1,
                                             "samples": 5, "tolerance": 1e-12})
        for sample, row in enumerate((0, 500, 1000, 1500, 2000)):
            self.near(moved["q"][sample], answer["q"][row], 1e-8, f"{model} {row}")
            self.assertEqual(fields["q"][row][:6], answer["q"][row][:6])

    def test_simulation(self):
        """The torques of the answer, applied in simulate, move the links as asked."""
        for model, orders in (("mixed", 5), ("rigid", 5), ("chain", 9)):
            self.follow(model, orders)

    def test_given_positions(self):
        """Draws states; the motors' accelerations are those of forward dynamics, their rates those of the spring."""
        choose = np.random.default_rng(3)
        for model in ("mixed", "rigid", "soft"):
            names = self.names(model)
            s = {name: choose.uniform(-0.4, 0.4, (7, len(names))).tolist() for name in ORDERS[:4]}
            answer = self.ask(model, "feed-forward", {**s, **RIGID, "motor_positions": "given"})
            moved = self.ask(model, "forward-dynamics", {**RIGID, **{name: answer[name] for name in ("q", "qd", "tau")}})["qdd"]
            self.near(moved, answer["qdd"], 1e-9, model)
            for joint in (name.removesuffix(".motor") for name in names if name.endswith(".motor")):
                j, m, k, d, rest = self.coordinates(model, joint)
                if d == 0:
                    continue
                q, qd = np.array(answer["q"]), np.array(answer["qd"])
                self.assertEqual(q[:, m].tolist(), [row[m] for row in s["q"]])
                load = self.load(model, joint, s, RIGID)
                self.near(qd[:, m], qd[:, j] + (load + k * (q[:, j] - q[:, m] - rest)) / d, 1e-12, joint)
            for row in range(7):
                one = {**{name: x[row] for name, x in s.items()}, **RIGID, "motor_positions": "given"}
                self.assertEqual(self.ask(model, "feed-forward", one), {name: x[row] for name, x in answer.items()})

    def test_accelerations_of_given_positions(self):
        """theta'' must be the rate of theta' along the motion: by central differences of second order, with theta by Taylor's series."""
        h, model = 1e-3, "mixed"
        names = self.names(model)
        choose = np.random.default_rng(5)
        s = [choose.uniform(-0.4, 0.4, len(names)) for _ in range(4)]
        at = lambda derivatives, t: sum(t ** n / np.prod(np.arange(1, n + 1)) * x for n, x in enumerate(derivatives))
        fields = {**dict(zip(ORDERS, (x.tolist() for x in s))), "motor_positions": "given"}
        first = self.ask(model, "feed-forward", fields)
        errors = []
        for h in (2e-4, 1e-4):  # theta is known up to h^3: the error of the difference falls with h^2
            steps = [{name: at(s[r:], t).tolist() for r, name in enumerate(ORDERS[:4])} for t in (-h, h)]
            for t, one in zip((-h, h), steps):
                q = np.array(one["q"])
                motors = [i for i, name in enumerate(names) if name.endswith(".motor")]
                q[motors] = at([np.array(first[name]) for name in REAL[:3]], t)[motors]
                one["q"] = q.tolist()
            before, after = (np.array(self.ask(model, "feed-forward", {**one, "motor_positions": "given"})["qd"]) for one in steps)
            errors.append(np.abs((after - before) / (2 * h) - first["qdd"]).max())
        self.assertLess(errors[0], 2e-3)
        self.assertLess(abs(errors[0] / errors[1] - 4), 0.2)

    def test_small_dampers(self):
        """As the damping decreases, the motors' motion tends to that without dampers in proportion to it, also from a start in motion."""
        times = np.linspace(0, 1, 201)
        fields = self.motion("limber", times, 0.1)
        without = self.ask("limber", "feed-forward", fields)
        self.assertEqual(without.pop("qdd_errors"), [[0] * 12] * 201)
        self.assertEqual(without, self.ask("limber", "feed-forward", {name: fields[name] for name in ORDERS}))
        largest = {}
        for damping in (1e-2, 1e-4, 1e-6, 1e-9, 1e-13):
            document = damped(self.documents["limber"], {name: damping for name in DAMPING})
            self.assertIn(self.client.put("/v1/models/little", document).status, (200, 201))
            answer = self.ask("little", "feed-forward", fields)
            for name in ("q", "qd", "qdd", "tau"):
                gap = np.abs(np.array(answer[name]) - without[name])
                largest[name, damping] = gap.max()
                self.assertLess(gap.max(), 200 * damping + 1e-11 * (1 + np.abs(without[name]).max()), (name, damping))
        for name in ("q", "qd", "qdd", "tau"):
            self.assertLess(abs(largest[name, 1e-2] / largest[name, 1e-4] - 100), 5, name)

    def test_errors(self):
        """The error falls with the fourth power of the interval, with the third where the damper is faster than the interval (the last joint),
        and the error estimate in the answer bounds it."""
        errors, model = [], "mixed"
        finest = np.array(self.ask(model, "feed-forward", self.motion(model, np.linspace(0, 1, 1025), 0.1))["qdd"])
        for n in (33, 65, 129):
            answer = self.ask(model, "feed-forward", self.motion(model, np.linspace(0, 1, n), 0.1))
            gap = np.abs(np.array(answer["qdd"]) - finest[::1024 // (n - 1)])
            estimate = np.array(answer["qdd_errors"])
            moving = [self.coordinates(model, joint)[1] for joint in DAMPING]
            self.assertEqual(estimate[:, [i for i in range(12) if i not in moving]].max(), 0)
            self.assertTrue((gap.max(axis=0) <= estimate.max(axis=0) + 1e-9).all())
            self.assertLess(estimate.max(), 60 * gap[:, moving].max())
            errors.append(gap[:, moving].max(axis=0))
        self.assertTrue((errors[0] / errors[2] > [4 ** 4, 4 ** 4, 0.7 * 4 ** 3]).all(), errors)

    def test_continuation(self):
        """A motion in two requests: the second starts at the motors' positions where the first ended."""
        times = np.linspace(0, 1, 401)
        whole = self.ask("mixed", "feed-forward", self.motion("mixed", times, 0.1))
        second = self.motion("mixed", times[200:], 0.1, motor_positions="given")
        second["q"][0] = whole["q"][200]
        rest = self.ask("mixed", "feed-forward", second)
        for name in ("q", "qd", "tau"):
            self.near(rest[name], whole[name][200:], 1e-8, name)

    def test_forms(self):
        """A single row, another order of the joints, the operation inside evaluate and CBOR give the same bits."""
        times = np.linspace(0, 1, 37)
        fields = self.motion("mixed", times, 0.1)
        answer = self.ask("mixed", "feed-forward", fields)
        names = self.names("mixed")
        turned = {name: np.array(x)[..., ::-1].tolist() for name, x in fields.items() if name != "times"}
        other = self.ask("mixed", "feed-forward", {**turned, "times": list(times), "joints": names[::-1]})
        self.assertEqual({name: np.array(x)[..., ::-1].tolist() for name, x in other.items()}, answer)
        state = {name: x for name, x in fields.items() if name != "times"}
        both = self.ask("mixed", "evaluate", {**state, "operations": {"feed-forward": {"times": list(times)}, "energy": {}}})
        self.assertEqual(both["feed-forward"], answer)
        one = self.ask("mixed", "feed-forward", {**{name: x[0] for name, x in state.items()}, "times": [0.7]})
        self.near(one["q"], answer["q"][0], 1e-15)
        empty = self.ask("mixed", "feed-forward", {**{name: [] for name in state}, "times": []})
        self.assertEqual(empty["tau"], [])

    def test_refusals(self):
        fields = self.motion("mixed", [0, 0.1, 0.2])
        state = {name: x for name, x in fields.items() if name != "times"}
        refused = lambda request, code, place=None, model="mixed": self.assertEqual(self.assertProblem(
            self.client.post(f"/v1/models/{model}/feed-forward", request), 422, place)["code"], code)
        for missing in ({}, {"motor_positions": "settled"}):
            refused({**state, **missing}, "not-supported")
        for name in ("qd", "qdd", "qddd", "qdddd"):
            refused({x: y for x, y in fields.items() if x != name}, "missing-field", "/" + name)
        for times, code, place in (([0, 1], "wrong-shape", ""), ([0, 1, 1], "bad-value", "/2"), ([0, 2, 1], "bad-value", "/2"),
                                   ([-1e308, 1e308, 1.5e308], "bad-value", "/1"), (3, "wrong-type", ""), ([0, "a", 1], "wrong-type", "/1")):
            refused({**fields, "times": times}, code, "/times" + place)
        refused({**fields, "motor_positions": "guessed"}, "unknown-name", "/motor_positions")
        refused({**state, "motor_positions": "given", "outputs": ["qdd_errors"]}, "bad-value", "/outputs/0")
        refused({**fields, "on_error": "row"}, "not-supported", "/on_error")
        refused({**fields, "gravity": [[0, 0, -9.81]] * 3}, "not-supported", "/gravity")
        refused({**fields, "wrenches": [{"link": "forearm_link", "force": [[3, -2, 5]] * 3}]}, "not-supported", "/wrenches/0/force")
        refused({**self.motion("chain", [0, 1]), "times": [0, 1]}, "missing-field", "/higher_derivatives", "chain")
        self.assertIn(self.client.put("/v1/models/growing", damped(self.documents["limber"], {"elbow_joint": -1})).status, (200, 201))
        refused(fields, "not-supported", None, "growing")
        self.ask("growing", "feed-forward", {**state, "motor_positions": "given"})
        refused({**fields, "times": [0, 1]}, "wrong-shape", "/times", "limber")


if __name__ == "__main__":
    tap.main()
