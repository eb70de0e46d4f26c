"""Tests joints at rest that stick in robots with held frames, with motors of transmissions and with passive joints of loops: against an
independent solver and by the conditions of friction (friction_solver.py), in forward-dynamics and in steps."""
import copy

import cbor2
import numpy as np
import tap
from closed import bundled
from contacts import AXES
from friction_solver import Friction
from harness import ServerCase
from test_stiction import STICK, chain

H = 0.004
FEET = [{"frame": f"{leg}_FOOT", "axes": ["x", "y", "z"]} for leg in ("FL", "FR", "HL", "HR")]
SOLES = [{"frame": "left_sole"}, {"frame": "right_sole"}]
AGAIN = [{"frame": "left_foot"}, {"frame": "right_foot", "axes": ["x", "rz"]}]  # linearly dependent on SOLES
EULER = ("explicit_euler", "semi_implicit_euler")


def rough(document, rng, size, breakaway=True):
    """Returns the document with sharp friction at every joint with one coordinate, passive ones included; limits differ
    by direction."""
    document = copy.deepcopy(document)
    for joint in (link["joint"] for link in document["links"]):
        if joint["type"] not in ("revolute", "continuous", "prismatic"):
            continue
        coulomb = {side: size * rng.uniform(0.1, 1) for side in ("positive", "negative")}
        joint["friction"] = {"coulomb": coulomb, "viscous": 0.05}
        if breakaway and rng.uniform() < 0.3:
            joint["friction"] |= {"breakaway": {side: 1.4 * x for side, x in coulomb.items()}, "stribeck_velocity": 0.3}
    return document


def limits(friction):
    """Returns the limits (low, high) of static friction, or None if friction is smoothed or absent."""
    if not friction or friction.get("coulomb_velocity") or "coulomb" not in friction:
        return None
    most = friction.get("breakaway", friction["coulomb"])
    return (-most["negative"], most["positive"]) if isinstance(most, dict) else (-most, most)


def uneven(document):
    """Returns the document with motors of transmissions whose friction differs by direction, at rest and in motion."""
    document = copy.deepcopy(document)
    for motor in document["transmissions"][0]["motors"]:
        coulomb = motor["friction"]["coulomb"]
        positive = coulomb["positive"] if isinstance(coulomb, dict) else coulomb
        motor["friction"] |= {"coulomb": {"positive": positive, "negative": 0.6 * positive},
                              "breakaway": {"positive": 1.3 * positive, "negative": 1.1 * positive}, "stribeck_velocity": 0.4}
    return document


class Sticking(ServerCase):
    """Robots with friction at all joints and motors, and the rows W that map qd to their rates."""
    SIZES = {"solo12": 0.5, "humanoid": 8, "five_bar": 1, "delta": 1, "stewart": 20}
    PUSH = {"humanoid": 20, "stewart": 100, "tx40": 8, "uneven": 8}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(12)
        cls.documents = {name: rough(bundled(name), rng, size) for name, size in cls.SIZES.items()}
        cls.documents |= {"chain": chain(rng, 7), "tx40": bundled("tx40"),
                          "plain": rough(bundled("solo12"), rng, 0.5, breakaway=False)}
        cls.documents["uneven"] = uneven(cls.documents["tx40"])
        cls.names = {}
        for name, document in cls.documents.items():
            assert cls.client.put("/v1/models/" + name, document).status in (200, 201)
            cls.names[name] = cls.client.get("/v1/models/" + name).json()["velocity_names"]

    def coordinate_rows(self, model, q):
        """Returns {joint name: the row that gives its rate from qd}."""
        names = self.names[model]
        if not self.documents[model].get("loops"):
            return dict(zip(names, np.eye(len(names))))
        units = np.eye(len(names)).tolist()
        full = self.ask(model, "inverse-dynamics", {"q": [q] * len(names), "qd": units, "outputs": ["full"]})["full"]
        return dict(zip(full["velocity_names"], np.array(full["qd"]).T))

    def rows(self, model, q, qd):
        """Returns W and the limits of friction of the joints and motors at rest."""
        document, of_joint, found = self.documents[model], self.coordinate_rows(model, q), {}
        for joint in (link["joint"] for link in document["links"]):
            both, mimic = limits(joint.get("friction")), joint.get("mimic", {"joint": joint["name"], "multiplier": 1})
            if both:
                low, high = sorted(mimic["multiplier"] * x for x in both)
                _, a, b = found.get(mimic["joint"], (0, 0, 0))
                found[mimic["joint"]] = (of_joint[mimic["joint"]], a + low, b + high)
        for transmission in document.get("transmissions", []):
            for motor, weights in zip(transmission["motors"], np.linalg.inv(transmission["matrix"])):
                both = limits(motor.get("friction"))
                if both:
                    found[motor["name"]] = (sum(w * of_joint[j] for w, j in zip(weights, transmission["joints"])), *both)
        W, low, high = (np.array(x) for x in zip(*found.values()))
        rest = [not qd[np.abs(row) > 0].any() for row in W]
        return W[rest], low[rest], high[rest]

    def jacobians(self, model, state, held):
        if not held:
            return None, None
        J, rate = [], []
        for entry in held:
            k = self.ask(model, "kinematics", {"q": state["q"], "qd": state["qd"], "frame": entry["frame"],
                                               "outputs": ["jacobian", "jacobian_dot"]})
            rows = [AXES.index(axis) for axis in entry.get("axes", AXES)]
            J += [k["jacobian"][row] for row in rows]
            rate += [k["jacobian_dot"][row] for row in rows]
        return np.array(J), np.array(rate) @ state["qd"]

    def draw(self, model, rng, moving):
        nv = len(self.names[model])
        if model in ("solo12", "plain", "humanoid"):
            turn = rng.normal(size=4) * 0.1 + [0, 0, 0, 1]
            q = [0, 0, 0.3, *(turn / np.linalg.norm(turn)), *rng.uniform(-0.6, 0.6, nv - 6)]
        else:
            middle, around = {"five_bar": ([2, 1.1], 0.3), "delta": (0.4, 0.4), "stewart": (0.9, 0.03)}.get(model, (0, 1.5))
            q = middle + rng.uniform(-around, around, nv)
        qd = rng.uniform(-1, 1, nv) * rng.choice([0, 0, 0.02, 1], nv) * moving
        gravity = self.ask(model, "bias", {"q": list(q), "outputs": ["gravity"]})["gravity"]
        push = rng.uniform(-1, 1, nv) * rng.choice([0.1, 1, 4]) * self.PUSH.get(model, 1)
        return {"q": list(q), "qd": qd.tolist(), "tau": (np.array(gravity) * rng.choice([0, 1, 1]) + push).tolist()}


class ForwardDynamics(Sticking):
    def check(self, model, state, held):
        """Compares one state. Returns how many rows stick and how many start to move."""
        more = {"held": held} if held else {}
        a = self.ask(model, "forward-dynamics", {**state, **more, **STICK})
        own = self.ask(model, "bias", {"q": state["q"], "qd": state["qd"], "outputs": ["friction"]})["friction"]
        free = np.array(self.ask(model, "forward-dynamics", state)["qdd"])
        M = np.array(self.ask(model, "mass-matrix", {"q": state["q"]})["mass_matrix"])
        W, low, high = self.rows(model, state["q"], np.array(state["qd"]))
        J, drift = self.jacobians(model, state, held)
        qdd, friction = np.array(a["qdd"]), np.subtract(a["friction"], own)
        problem = Friction(M, free, W, low, high, J, drift)
        f = problem.solve()
        expected = problem.accelerations(f)
        scale = 1 + np.abs(expected).max()
        self.assertLess(np.abs(qdd - expected).max(), 1e-6 * scale, f"{model} {state}")
        # W^T f determines f only if the rows of W are independent: motors and joints may act on the same coordinates.
        if len(W) == 0 or np.linalg.matrix_rank(W) == len(W):
            given = np.linalg.lstsq(W.T, friction, rcond=None)[0]
            self.assertLess(np.abs(W.T @ given - friction).max(initial=0), 1e-9 * (1 + np.abs(friction).max()))
            self.assertLess(problem.residual(given, qdd), 1e-8, f"{model} {state}")
            self.assertLess(problem.norm(given), problem.norm(f) * (1 + 1e-5) + 1e-9)
        else:
            self.assertLess(np.abs(friction - W.T @ f).max(), 2e-3 * np.abs(W.T @ high).max())
        left = M @ (qdd - free) + friction
        if held:
            l = [w[AXES.index(x)] for e, w in zip(held, a["contact_wrenches"]) for x in e.get("axes", AXES)]
            left -= J.T @ l
            self.assertLess(np.abs(J @ qdd + drift).max(), 1e-10 * scale)
        self.assertLess(np.abs(left).max(), 1e-10 * (1 + np.abs(M @ free).max()))
        moving = np.abs(W @ qdd) > 1e-9 * scale
        return np.array([(~moving).sum(), moving.sum()])

    def test_against_an_independent_solver(self):
        """More than 500 states: some joints at exactly zero velocity and others moving, redundant contacts, limits that differ by joint and
        direction, motors that drive two joints, passive joints of loops."""
        rng = np.random.default_rng(3)
        for model, n, choices in (("solo12", 120, (FEET, FEET[:2], FEET[1:])), ("humanoid", 90, (SOLES, SOLES[:1], SOLES + AGAIN)),
                                  ("chain", 80, ([{"frame": "l6", "axes": ["z"]}], [{"frame": "l5"}, {"frame": "l6"}])),
                                  *((model, 80, ([{"frame": "link6", "axes": ["x", "ry"]}], None)) for model in ("tx40", "uneven")),
                                  ("five_bar", 50, (None, [{"frame": "right_rod", "axes": ["x"]}])), ("delta", 50, (None,)),
                                  ("stewart", 40, (None, [{"frame": "platform", "axes": ["z", "rx"]}]))):
            sticks = 0
            for i in range(n):
                held = choices[i % len(choices)]
                redundant = held and (held[-1] in AGAIN or len(held) == 2 and model == "chain")
                rests = redundant or self.documents[model].get("loops")
                sticks = sticks + self.check(model, self.draw(model, rng, 0 if rests or i % 3 == 0 else 1), held)
            self.assertGreater(min(sticks), n // 2, model)

    def test_damped_contacts(self):
        """With contact damping d, held frames accelerate by d times their wrenches, and joints stick at the same time."""
        rng, damping, sticks = np.random.default_rng(8), 0.2, 0
        for i in range(30):
            state = self.draw("plain", rng, i % 2)
            a = self.ask("plain", "forward-dynamics", {**state, "held": FEET, "contact_damping": damping, **STICK})
            own = self.ask("plain", "bias", {"q": state["q"], "qd": state["qd"], "outputs": ["friction"]})["friction"]
            free = np.array(self.ask("plain", "forward-dynamics", state)["qdd"])
            M = np.array(self.ask("plain", "mass-matrix", {"q": state["q"]})["mass_matrix"])
            W, low, high = self.rows("plain", state["q"], np.array(state["qd"]))
            J, drift = self.jacobians("plain", state, FEET)
            qdd, f = np.array(a["qdd"]), W @ np.subtract(a["friction"], own)
            l = np.ravel([wrench[:3] for wrench in a["contact_wrenches"]])
            scale = 1 + np.abs(qdd).max()
            self.assertLess(np.abs(M @ (qdd - free) + W.T @ f - J.T @ l).max(), 1e-9 * (1 + np.abs(M @ free).max()))
            self.assertLess(np.abs(J @ qdd + drift + damping * l).max(), 1e-9 * scale)
            self.assertLess(Friction(M, free, W, low, high).residual(f, qdd), 1e-8)
            sticks += (W @ qdd == 0).sum()
        self.assertGreater(sticks, 30)

    def test_same_bits(self):
        rng = np.random.default_rng(4)
        for model, held in (("solo12", FEET), ("humanoid", SOLES + AGAIN), ("tx40", [{"frame": "link6", "axes": ["x"]}]),
                            ("delta", None)):
            rows = [self.draw(model, rng, 0) for _ in range(9)]
            request = {**{key: [row[key] for row in rows] for key in rows[0]}, **STICK, **({"held": held} if held else {}),
                       "outputs": ["qdd", "friction", "joint_wrenches", *(["contact_wrenches"] if held else [])]}
            answer = self.client.post(f"/v1/models/{model}/forward-dynamics", request)
            batch = self.ok(answer)
            for i, row in enumerate(rows):
                alone = self.ask(model, "forward-dynamics", {**request, **row})
                self.assertEqual(alone, {name: values[i] for name, values in batch.items()})
            other = self.client.post(f"/v1/models/{model}/forward-dynamics", cbor2.dumps(request), Content_Type="application/cbor",
                                     Accept="application/json")
            self.assertEqual(other.body, answer.body)
            options = {name: request[name] for name in request if name not in rows[0]}
            both = self.ask(model, "evaluate", {**{key: request[key] for key in rows[0]},
                                                "operations": {"forward-dynamics": options, "energy": {}}})
            self.assertEqual(both["forward-dynamics"], batch)

    def test_a_table_is_pushed(self):
        """A held slider has no friction, since the contact carries everything. A free slider sticks up to its limits
        and then breaks loose."""
        slider = {"gravity": [0, 0, 0], "links": [{"name": "box", "parent": "base", "inertial": {"mass": 2, "com": [0, 0, 0]},
                                                   "joint": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0],
                                                             "friction": {"coulomb": {"positive": 3, "negative": 1}}}}]}
        self.put_model("slider", slider)
        for tau, friction, wrench in ((2.5, 2.5, 0), (-0.5, -0.5, 0), (5, 0, -5), (-4, 0, 4)):
            a = self.ask("slider", "forward-dynamics", {"q": [0], "tau": [tau], **STICK, "held": [{"frame": "box", "axes": ["x"]}]})
            self.assertEqual(a["qdd"], [0])  # the contact carries everything: minimum-norm friction is zero
            self.assertAlmostEqual(a["friction"][0], 0, delta=1e-14)
            self.assertAlmostEqual(a["contact_wrenches"][0][0], -tau, delta=1e-14)
            free = self.ask("slider", "forward-dynamics", {"q": [0], "tau": [tau], **STICK})
            self.assertAlmostEqual(free["friction"][0], friction if wrench == 0 else np.clip(tau, -1, 3), delta=1e-14)

    def test_the_deadline_ends_it(self):
        """Three hundred joints: the solver checks the deadline, and without a deadline it ends within seconds."""
        links = [{"name": f"l{i}", "parent": f"l{i - 1}" if i else "base", "inertial": {"solid": "box", "size": [0.05, 0.02, 0.02], "mass": 0.1},
                  "joint": {"name": f"j{i}", "type": "revolute", "axis": [0, i % 2, 1 - i % 2], "origin": {"xyz": [0.05, 0, 0]},
                            "friction": {"coulomb": 1}}} for i in range(300)]
        self.put_model("long", {"links": links})
        rng = np.random.default_rng(1)
        q = rng.uniform(-1, 1, 300).tolist()
        gravity = self.ask("long", "bias", {"q": q, "outputs": ["gravity"]})["gravity"]
        request = {"q": q, "tau": (gravity + rng.uniform(-1.2, 1.2, 300)).tolist(), **STICK}
        qdd, friction = (np.array(self.ask("long", "forward-dynamics", request)[name]) for name in ("qdd", "friction"))
        self.assertTrue((np.abs(friction) <= 1).all())
        self.assertTrue((friction[qdd != 0] == np.sign(qdd[qdd != 0])).all())
        late = self.client.post("/v1/models/long/forward-dynamics", {**request, "q": [q] * 40, "tau": [request["tau"]] * 40},
                                Request_Timeout="1")
        self.assertProblem(late, 504)


class Steps(Sticking):
    def test_conditions(self):
        """The velocity qd + h qdd satisfies the friction problem with velocities in place of accelerations."""
        rng = np.random.default_rng(5)
        for model, held in (("plain", FEET), ("plain", FEET[:2]), ("chain", [{"frame": "l6", "axes": ["z"]}]), ("tx40", []),
                            ("tx40", [{"frame": "link6", "axes": ["x", "ry"]}])):
            stuck = 0
            for i in range(25):
                state = self.draw(model, rng, i % 4 != 0)
                qd, request = np.array(state["qd"]), {**state, "held": held, **STICK, "step": H}
                a = self.ask(model, "step", {**request, "integrator": EULER[i % 2], "outputs": ["qd_after", "sticking"]})
                after, sticking = np.array(a["qd_after"]), np.array(a["sticking"]) == 1
                W, low, high = self.rows(model, state["q"], 0 * qd)
                rate = W @ qd
                sharp = W.T @ np.where(rate > 0, high, np.where(rate < 0, low, 0))
                free = self.ask(model, "forward-dynamics", {**state, "tau": (sharp + state["tau"]).tolist()})["qdd"]
                M = np.array(self.ask(model, "mass-matrix", {"q": state["q"]})["mass_matrix"])
                J, drift = self.jacobians(model, state, held)
                problem = Friction(M, np.array(free), W, low, high, J, drift)
                problem.b += rate / H
                problem.size += np.abs(rate) / H
                if model == "tx40":     # the rows W of joints and motors that share a load differ much in size
                    self.assertTrue(problem.admits(free - (after - qd) / H, W @ after, M, J), f"{model} {state}")
                else:
                    expected = qd + H * problem.accelerations(problem.solve())
                    self.assertLess(np.abs(after - expected).max(), 1e-8 * (1 + np.abs(expected).max()), f"{model} {state}")
                self.assertTrue((after[sticking] == 0).all())
                if held:
                    self.assertLess(np.abs(J @ (after - qd) / H + drift).max(), 1e-8)
                stuck += (np.abs(W @ after) < 1e-12).sum()
            self.assertGreater(stuck, 20)

    def test_jacobians(self):
        """Compares Jacobians with differences between rows in which the same joints stick."""
        rng, compared, nv = np.random.default_rng(6), 0, 6
        held = [{"frame": "l6", "axes": ["z"]}]
        for i in range(60):
            state = self.draw("chain", rng, 1)
            x = np.concatenate([state[name] for name in ("q", "qd", "tau")])
            x[nv + 2] += np.copysign(0.1, x[nv + 2])  # smoothed friction of this joint has a kink at rest
            moved = np.array([x + d * e for e in np.eye(3 * nv) for d in (5e-5, -5e-5, 1e-4, -1e-4)])
            ask = lambda x, **more: self.ask("chain", "step", {
                "q": x[..., :nv].tolist(), "qd": x[..., nv:2 * nv].tolist(), "tau": x[..., 2 * nv:].tolist(), **STICK, "step": H,
                "held": held, "integrator": EULER[i % 2], **more})
            a, b = ask(x), ask(moved, outputs=["q_after", "qd_after", "sticking"])
            moves = np.array(a["sticking"]) == 0
            before, after = np.sign(moved[:, nv:2 * nv])[:, moves], np.sign(b["qd_after"])[:, moves]
            if any(other != a["sticking"] for other in b["sticking"]) or (before != before[0]).any() or (after != after[0]).any():
                continue
            ends = np.hstack([b["q_after"], b["qd_after"]]).reshape(3 * nv, 4, 2 * nv)
            expected = ((8 * (ends[:, 0] - ends[:, 1]) - (ends[:, 2] - ends[:, 3])) / 6e-4).T
            got = np.hstack([a["state_matrix"], a["input_matrix"]])
            self.assertClose(got.tolist(), expected.tolist(), 1e-7)
            self.assertFalse(got[nv:][np.array(a["sticking"]) == 1].any())
            compared += 1
        self.assertGreater(compared, 4)

    def test_jacobians_beside_motors(self):
        """Compares Jacobians with differences of rows in which the same joints and motors stick; the rate of a sticking motor stays zero."""
        rng, compared, nv = np.random.default_rng(9), 0, 6
        self.put_model("curved", self.curved())
        for i in range(120):
            held = [{"frame": "link6", "axes": ["x", "ry"]}] if i % 3 == 0 else []
            state = self.draw("tx40", rng, 1)
            x = np.concatenate([state[name] for name in ("q", "qd", "tau")])
            moved = np.array([x + d * e for e in np.eye(3 * nv) for d in (5e-5, -5e-5, 1e-4, -1e-4)])
            ask = lambda x, **more: self.ask(("tx40", "curved")[i % 2], "step", {
                "q": x[..., :nv].tolist(), "qd": x[..., nv:2 * nv].tolist(), "tau": x[..., 2 * nv:].tolist(), **STICK, "step": H,
                "held": held, "integrator": EULER[i // 2 % 2], **more})
            a, b = ask(x), ask(moved, outputs=["q_after", "qd_after"])
            W = self.rows("tx40", state["q"], 0 * x[nv:2 * nv])[0]
            rates = np.array([a["qd_after"], *b["qd_after"]]) @ W.T
            signs, before = np.where(np.abs(rates) < 1e-12, 0, np.sign(rates)), np.sign(np.vstack([x, moved])[:, nv:2 * nv] @ W.T)
            if (signs != signs[0]).any() or (before != before[0])[:, signs[0] != 0].any():
                continue
            ends = np.hstack([b["q_after"], b["qd_after"]]).reshape(3 * nv, 4, 2 * nv)
            expected = ((8 * (ends[:, 0] - ends[:, 1]) - (ends[:, 2] - ends[:, 3])) / 6e-4).T
            got = np.hstack([a["state_matrix"], a["input_matrix"]])
            self.assertClose(got.tolist(), expected.tolist(), 1e-7)
            self.assertLess(np.abs(W[signs[0] == 0] @ got[nv:]).max(initial=0), 1e-12)
            compared += (signs[0][-2:] == 0).any()
        self.assertGreater(compared, 6)

    def curved(self):
        """The robot with transmissions, whose motors have Stribeck's friction."""
        document = copy.deepcopy(self.documents["tx40"])
        for motor in document["transmissions"][0]["motors"]:
            coulomb = motor["friction"]["coulomb"]
            motor["friction"] |= {"breakaway": 1.5 * coulomb, "stribeck_velocity": 0.4} if not isinstance(coulomb, dict) else {
                "breakaway": {side: 1.5 * value for side, value in coulomb.items()}, "stribeck_velocity": 0.4}
        return document

    def test_other_columns_beside_motors(self):
        """While motors stick, a wrench W has the effect of its efforts J^T W, and parameters that of the regressor's efforts. Single rows
        have the bits of a batch."""
        rng, outputs, stuck = np.random.default_rng(10), ["q_after", "qd_after", "state_matrix", "input_matrix", "wrench_matrix", "parameter_matrix", "sticking"], 0
        rows = [self.draw("tx40", rng, 1) for _ in range(9)]
        request = {**{name: [row[name] for row in rows] for name in rows[0]}, **STICK, "step": H, "outputs": outputs,
                   "wrenches": [{"link": "link6", "force": [0.1, -0.2, 0.3], "torque": [0.02, 0.03, -0.01]}]}
        batch = self.ask("tx40", "step", request)
        for i, row in enumerate(rows):
            alone = self.ask("tx40", "step", {**request, **row})
            self.assertEqual(alone, {name: values[i] for name, values in batch.items()})
            W, B = self.rows("tx40", row["q"], np.zeros(6))[0], np.array(alone["input_matrix"])
            rests = np.abs(W @ alone["qd_after"]) < 1e-12
            for name in ("wrench_matrix", "parameter_matrix"):
                columns = np.array(alone[name][0] if name == "wrench_matrix" else alone[name])
                self.assertLess(np.abs(W[rests] @ columns[6:]).max(initial=0), 1e-10)
            J = np.array(self.ask("tx40", "kinematics", {"q": row["q"], "frame": "link6", "outputs": ["jacobian"]})["jacobian"])
            self.assertClose(alone["wrench_matrix"][0], (B @ J.T).tolist(), 1e-9)
            at = {"q": row["q"], "qd": row["qd"], "qdd": ((np.array(alone["qd_after"]) - row["qd"]) / H).tolist()}
            regressor = np.array(self.ask("tx40", "regressor", at)["regressor"])[:, :len(alone["parameter_matrix"][0])]
            self.assertClose(alone["parameter_matrix"], (-B @ regressor).tolist(), 1e-9)
            stuck += rests[-2:].sum()
        self.assertGreater(stuck, 3)

    def test_motors_rest(self):
        """A robot whose joints are all driven by sharp friction comes to rest and stays: joints that two motors drive rest with them."""
        rng = np.random.default_rng(2)
        state = self.draw("tx40", rng, 0)
        gravity = self.ask("tx40", "bias", {"q": state["q"], "outputs": ["gravity"]})["gravity"]
        a = self.ask("tx40", "rollout", {"q": state["q"], "qd": [0.2, -0.1, 0.3, 0.2, -0.4, 0.5], "torques": [gravity] * 200, "step": H, **STICK,
                                         "outputs": ["q_after", "qd_after"]})
        self.assertGreater(np.abs(a["qd_after"][0][4:]).min(), 0.01)
        self.assertLess(np.abs(a["qd_after"][-1]).max(), 1e-9)
        self.assertLess(np.abs(np.subtract(a["q_after"][-1], a["q_after"][-30])).max(), 1e-9)

    def test_rollout_in_phases(self):
        """A quadruped lifts two feet: frames of the previous phase are released, and no impact starts the phase."""
        rng = np.random.default_rng(7)
        state = self.draw("plain", rng, 0)
        torques = [state["tau"]] * 6
        phases = [{"steps": 3, "held": FEET}, {"steps": 3, "held": FEET[:2]}]
        a = self.ask("plain", "rollout", {"q": state["q"], "torques": torques, "step": H, **STICK, "phases": phases,
                                          "outputs": ["q_after", "qd_after", "sticking"]})
        b = self.ask("plain", "step", {"q": a["q_after"][3], "qd": a["qd_after"][3], "tau": state["tau"], "step": H, **STICK,
                                       "held": FEET[:2], "outputs": ["q_after", "qd_after", "sticking"]})
        self.assertEqual(b, {name: values[4] for name, values in a.items()})
        back = self.client.post("/v1/models/plain/rollout", {"q": state["q"], "torques": torques, "step": H, **STICK,
                                                             "phases": phases[::-1]})
        self.assertIn("impact", self.assertProblem(back, 422, "/friction_at_rest")["detail"])

    def test_refusals(self):
        """Steps do not stop passive joints of loops."""
        answer = self.client.post("/v1/models/five_bar/step", {"q": [2, 1.1], "tau": [0, 0], **STICK, "step": H})
        problem = self.assertProblem(answer, 422, "/friction_at_rest")
        self.assertEqual(problem["code"], "not-supported")
        self.assertIn("left_elbow", problem["detail"])


if __name__ == "__main__":
    tap.main()
