"""Tests gradient and forward-gradient: products of multipliers and the matrices of sensitivity and forward-sensitivity, sums over a batch, free
coordinates, the same bits in single requests, in batches and in CBOR, and refusals."""
import json
import subprocess

import cbor2
import numpy as np
import tap
from harness import BINARY, ServerCase
from python_client import torqued

CBOR = {"Content_Type": "application/cbor", "Accept": "application/json"}
INVERSE = {f"gradient_{x}": f"dtau_d{x}" for x in ("q", "qd", "qdd", "parameters", "gravity")}
FORWARD = {f"gradient_{x}": f"dqdd_d{x}" for x in ("q", "qd", "tau", "parameters")}
LOADS = {"panda": {"gravity": [1, -2, -9], "payload": {"link": "panda_link7", "mass": 2, "com": [0, 0, 0.1]}},
         "solo12": {"wrenches": [{"link": "FR_FOOT", "force": [1, 2, 9], "torque": [0.3, 0, 0.2], "point": [0, 0.1, 0]}]},
         "hua": {}, "prismatic_revolute": {}, "humanoid": {}}
def rubbing(change=(0, "viscous", 0.0)):
    """An arm of two joints with every friction parameter. One parameter can be changed by a small amount, for differences. The second joint
    moves in the negative direction."""
    friction = [{"viscous": 0.3, "coulomb": {"positive": 0.5, "negative": 0.4}, "coulomb_velocity": 0.2, "breakaway": {"positive": 0.9, "negative": 0.7},
                 "stribeck_velocity": 0.6, "load": 0.12},
                {"viscous": 0.2, "coulomb": {"positive": 0.3, "negative": 0.6}, "coulomb_velocity": 0.3, "breakaway": {"positive": 0.5, "negative": 0.8},
                 "stribeck_velocity": 0.5, "load": 0.07}]
    joint, name, amount = change
    part, _, side = name.partition(" ")
    if side:
        friction[joint][part][side] += amount
    else:
        friction[joint][part] += amount
    inertial = lambda m: {"mass": m, "com": [0.1, 0.02, 0.25], "inertia": {"xx": 0.03, "yy": 0.04, "zz": 0.01, "xy": 0, "xz": 0, "yz": 0}}
    return {"gravity": [0, 0, -9.81], "base": {"type": "fixed", "link": "base"}, "links": [
        {"name": "upper", "parent": "base", "joint": {"name": "a", "type": "revolute", "axis": [0, 1, 0], "friction": friction[0]}, "inertial": inertial(2)},
        {"name": "lower", "parent": "upper", "joint": {"name": "b", "type": "revolute", "axis": [1, 0, 0], "origin": {"xyz": [0, 0, 0.5]},
                                                       "friction": friction[1]}, "inertial": inertial(1)}]}


FIGURES = ("viscous", "coulomb positive", "coulomb negative", "coulomb_velocity", "breakaway positive", "breakaway negative", "stribeck_velocity", "load")
FREE = ["base.vx", "base.vy", "base.vz", "base.wx", "base.wy", "base.wz"]


class Gradient(ServerCase):
    def state(self, model, seed, rows=None):
        about = self.ok(self.client.get(f"/v1/models/{model}"))
        choose = np.random.default_rng(seed)
        s = {name: choose.uniform(-1, 1, (rows or 1, about["nq" if name == "q" else "nv"]))
             for name in ("q", "qd", "qdd", "tau", "multipliers")}
        if about["nq"] != about["nv"]:
            s["q"][:, 3:7] /= np.linalg.norm(s["q"][:, 3:7], axis=1)[:, None]
        return {name: (x if rows else x[0]).tolist() for name, x in s.items()}

    def compare(self, model, operation, matrices, pairs, request):
        got = self.ask(model, operation, {**request, "outputs": [*pairs, *(["gradient_wrenches"] if "wrenches" in request else [])]})
        plain = {name: value for name, value in request.items() if name != "multipliers"}
        derivative = {"gradient": "dtau_dwrench", "forward-gradient": "dqdd_dwrench"}[operation]
        given = self.ask(model, matrices, {**plain, "outputs": [*pairs.values(), *([derivative] if "wrenches" in request else [])]})
        weights = np.array(request["multipliers"])
        for name, matrix in pairs.items():
            D = np.array(given[matrix])
            size = (abs(weights) @ abs(D)).max()
            self.assertLess(abs(np.array(got[name]) - weights @ D).max(), (1e-13 if operation == "gradient" else 1e-10) * size, (model, name))
        for k in range(len(request.get("wrenches", ()))):
            D = np.array(given[derivative][k])
            self.assertLess(abs(np.array(got["gradient_wrenches"][k]) - weights @ D).max(), 1e-11 * (abs(weights) @ abs(D)).max(), model)

    def test_gradients_are_products_of_multipliers_and_matrices(self):
        for seed, (model, load) in enumerate(LOADS.items()):
            s = self.state(model, seed)
            with self.subTest(model=model):
                self.compare(model, "gradient", "sensitivity", INVERSE, {**{n: s[n] for n in ("q", "qd", "qdd", "multipliers")}, **load})
                self.compare(model, "forward-gradient", "forward-sensitivity", FORWARD,
                             {**{n: s[n] for n in ("q", "qd", "tau", "multipliers")}, **load})

    def test_tau_and_qdd_have_the_bits_of_their_operations(self):
        for model in LOADS:
            s = self.state(model, 3)
            motion, forced = {n: s[n] for n in ("q", "qd", "qdd")}, {n: s[n] for n in ("q", "qd", "tau")}
            more = {"multipliers": s["multipliers"]}
            self.assertEqual(self.ask(model, "gradient", {**motion, **more, "outputs": ["tau"]})["tau"], self.ask(model, "inverse-dynamics", motion)["tau"])
            self.assertEqual(self.ask(model, "forward-gradient", {**forced, **more, "outputs": ["qdd"]})["qdd"],
                             self.ask(model, "forward-dynamics", forced)["qdd"])

    def test_sums_are_those_of_the_rows_in_their_order(self):
        """The sum over a batch must have the bits of the sum of single answers in the order of rows. A row that fails is left out."""
        s = self.state("panda", 5, 300)
        each = {n: s[n] for n in ("q", "qd", "qdd", "multipliers")}
        request = {**each, "outputs": ["gradient_parameters", "gradient_gravity", "sum_parameters", "sum_gravity"]}
        answer = self.ask("panda", "gradient", request)
        alone = self.ask("panda", "gradient", {**each, "outputs": ["sum_parameters", "sum_gravity"]})
        for name in ("parameters", "gravity"):
            total = np.zeros(len(answer[f"sum_{name}"]))
            for row in answer[f"gradient_{name}"]:
                total = total + np.array(row)
            self.assertEqual(answer[f"sum_{name}"], total.tolist())
            self.assertEqual(alone[f"sum_{name}"], total.tolist())
        bad = dict(each, q=[[1e9] * 7 if i == 7 else q for i, q in enumerate(s["q"])])
        lost = self.ask("panda", "gradient", {**bad, "on_error": "row", "outputs": ["gradient_gravity", "sum_gravity"]})
        self.assertEqual([error["row"] for error in lost["errors"]], [7])
        total = np.zeros(3)
        for row in lost["gradient_gravity"]:
            total = total if row is None else total + np.array(row)
        self.assertEqual(lost["sum_gravity"], total.tolist())

    def test_free_coordinates(self):
        """The coordinates of the humanoid's base are free. Compares with the matrices of sensitivity for the same free coordinates."""
        s = self.state("humanoid", 11)
        base = lambda x, keep: [v if (i < 6) == keep else 0 for i, v in enumerate(x)]
        request = {"q": s["q"], "qd": s["qd"], "qdd": base(s["qdd"], False), "tau": base(s["tau"], True), "free": FREE}
        pairs = {f"gradient_{x}": f"dtau_d{x}" for x in ("q", "qd", "qdd")}
        got = self.ask("humanoid", "gradient", {**request, "multipliers": s["multipliers"], "outputs": [*pairs, "gradient_tau", "qdd", "tau"]})
        given = self.ask("humanoid", "sensitivity", {**request, "outputs": [*pairs.values(), "dqdd_dqdd", "qdd", "tau"]})
        weights = np.array(s["multipliers"])
        for name, matrix in pairs.items():
            D = np.array(given[matrix])
            self.assertLess(abs(np.array(got[name]) - weights @ D).max(), 1e-11 * (abs(weights) @ abs(D)).max(), name)
        by_tau = weights[:6] - weights[6:] @ np.array(given["dqdd_dqdd"])[:6, 6:].T
        self.assertLess(abs(np.array(got["gradient_tau"][:6]) - by_tau).max(), 1e-11 * abs(by_tau).max())
        self.assertEqual(got["gradient_tau"][6:], [0] * 33)
        self.assertEqual((got["qdd"], got["tau"]), (given["qdd"], given["tau"]))

    def test_friction(self):
        """Compares derivatives by friction parameters with differences between models whose parameters differ by 1e-6; hua has motors."""
        motion = {"q": [0.4, -0.3], "qd": [0.25, -0.35], "qdd": [1.5, -2], "multipliers": [0.7, -0.6]}
        forced = {"q": [0.4, -0.3], "qd": [0.25, -0.35], "tau": [1.5, -2], "multipliers": [0.7, -0.6]}
        h = 1e-6
        self.ok(self.client.put("/v1/models/rubbing", rubbing()), 201)
        for operation, plain, request, value in (("gradient", "inverse-dynamics", motion, "tau"), ("forward-gradient", "forward-dynamics", forced, "qdd")):
            got = np.array(self.ask("rubbing", operation, {**request, "outputs": ["gradient_friction"]})["gradient_friction"])
            self.assertEqual(got.shape, (2, 8))
            expected = np.zeros((2, 8))
            state = {name: x for name, x in request.items() if name != "multipliers"}
            for joint in range(2):
                for k, name in enumerate(FIGURES):
                    ends = []
                    for sign in (1, -1):
                        self.ok(self.client.put("/v1/models/rubbed", rubbing((joint, name, sign * h))), 201 if not (joint or k or ends) and value == "tau" else 200)
                        ends.append(np.array(self.ask("rubbed", plain, state)[value]) @ request["multipliers"])
                    expected[joint, k] = (ends[0] - ends[1]) / (2 * h)
            self.assertLess(abs(got - expected).max(), 1e-7 * abs(expected).max(), operation)
            self.assertEqual((got[0, [2, 5]].tolist(), got[1, [1, 4]].tolist()), ([0, 0], [0, 0]))
            without = self.ask("rubbing", operation, {**request, "friction": False, "outputs": ["gradient_friction"]})["gradient_friction"]
            self.assertEqual(without, np.zeros((2, 8)).tolist())
        s = self.state("hua", 3, 9)
        request = {n: s[n] for n in ("q", "qd", "qdd", "multipliers")}
        given = self.ask("hua", "regressor", {"q": s["q"], "qd": s["qd"], "qdd": s["qdd"], "outputs": ["joint_regressor"]})["joint_regressor"]
        got = np.array(self.ask("hua", "gradient", {**request, "outputs": ["gradient_friction"]})["gradient_friction"])
        by_viscous = np.einsum("rv,rvk->rk", np.array(s["multipliers"]), np.array(given))[:, 1::3]
        self.assertLess(abs(got[..., 0] - by_viscous).max(), 1e-12)
        one = self.ask("hua", "gradient", {**{n: x[4] for n, x in request.items()}, "outputs": ["gradient_friction"]})
        self.assertEqual(one["gradient_friction"], got[4].tolist())

    def test_friction_of_motors(self):
        """The friction of a motor acts at the rate of the motor's coordinate: a gear that reverses the spin changes none of its derivatives,
        which are differences of those rates' efforts."""
        friction = {"viscous": 0.3, "coulomb": {"positive": 0.5, "negative": 0.4}, "coulomb_velocity": 0.2, "breakaway": {"positive": 0.9, "negative": 0.7}, "stribeck_velocity": 0.6}
        document = rubbing()
        document["links"][1]["joint"] |= {"elastic": {"stiffness": 90}, "friction": {"viscous": 0.1}}
        for rate in (0.35, -0.45):
            request = {"q": [0.4, -0.3, -0.25], "qd": [0.25, -0.3, rate], "qdd": [1.5, -2, 0.7], "multipliers": [0.7, -0.6, 1.3]}
            for ratio in (20, -20):
                document["motors"] = [{"joint": "b", "link": "upper", "axis": [1, 0, 0], "gear_ratio": ratio, "spin_inertia": 1e-4, "friction": friction}]
                self.put_model("geared", document)
                got = self.ask("geared", "gradient", {**request, "outputs": ["gradient_friction"]})["gradient_friction"]
                self.assertEqual(len(got), 3)
                way = "positive" if rate > 0 else "negative"
                t, fall, c = np.tanh(rate / 0.2), np.exp(-(rate / 0.6) ** 2), friction["coulomb"][way]
                excess = friction["breakaway"][way] - c
                sides = lambda x: [x, 0] if rate > 0 else [0, x]
                expected = [rate, *sides(t * (1 - fall)), -(c + excess * fall) * (1 - t * t) * rate / 0.2 ** 2, *sides(t * fall),
                            2 * excess * fall * t * rate ** 2 / 0.6 ** 3]
                self.assertClose(got[2][:7], (1.3 * np.array(expected)).tolist(), 1e-12, what=(rate, ratio))

    def test_equal_bits_alone_in_batches_and_in_cbor(self):
        for operation, third in (("gradient", "qdd"), ("forward-gradient", "tau")):
            s = self.state("humanoid", 7, 19)
            names = ("q", "qd", third, "multipliers")
            batch = self.ask("humanoid", operation, {n: s[n] for n in names})
            for row in (0, 7, 18):
                one = self.ask("humanoid", operation, {n: s[n][row] for n in names})
                for name, value in one.items():
                    self.assertEqual(value, batch[name][row], (operation, name, row))
            reply = self.client.post(f"/v1/models/humanoid/{operation}", cbor2.dumps({n: s[n] for n in names}), **CBOR)
            self.assertEqual(self.ok(reply), batch)

    def test_clients_that_cut_batches_refuse_sums(self):
        """The Python client divides large batches into several requests. Here it must refuse to, since each request would answer the sum over
        its own rows only."""
        panda = torqued.Client(f"http://127.0.0.1:{self.server.port}").model("panda")
        rows = np.ones((3, 7))
        with self.assertRaisesRegex(ValueError, "sum_gravity"):
            panda.batch(panda.gradient, q=rows, multipliers=rows, outputs=["sum_gravity"], progress=False)
        self.assertEqual(panda.gradient(rows, multipliers=rows, outputs=["sum_parameters"]).sum_parameters.shape, (70,))
        states = "".join(json.dumps({"q": [0.1 * i] * 7, "multipliers": [1] * 7}) + "\n" for i in range(3))
        done = subprocess.run([BINARY, "call", "--url", f"http://127.0.0.1:{self.server.port}", "--from", "jsonl", "panda", "gradient", "-",
                               'outputs=["sum_gravity"]'], input=states, capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("sum_", done.stderr)

    def test_refusals(self):
        s = self.state("panda", 2)
        motion = {"q": s["q"], "multipliers": s["multipliers"]}
        refuse = lambda model, operation, request, pointer: self.assertProblem(self.client.post(f"/v1/models/{model}/{operation}", request), 422, pointer)
        refuse("panda", "gradient", {"q": s["q"]}, "/multipliers")
        refuse("panda", "gradient", {**motion, "tau": s["tau"]}, "/tau")
        refuse("panda", "gradient", {**motion, "outputs": ["gradient_tau"]}, "/outputs/0")
        refuse("panda", "gradient", {**motion, "held": []}, "/held")
        refuse("panda", "forward-gradient", motion, "/tau")
        answer = refuse("four_bar", "gradient", {"q": [0.1], "multipliers": [1]}, None)
        self.assertEqual(answer["code"], "not-for-loops")


if __name__ == "__main__":
    tap.main()
