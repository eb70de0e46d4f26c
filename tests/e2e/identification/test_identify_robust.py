"""Tests identify with noise that differs widely between coordinates, with outliers and with priors, against the
contract's equations in NumPy."""
import numpy as np
import tap
from closed import MOTION, Closed
from identification import bundled, inertial_parameters, PARAMETERS
from samples import body, chain

BOX = {"solid": "box", "size": [0.1, 0.05, 0.04]}


def gantry(mass):
    """Returns a gantry: a heavy carriage, an arm and a light tool."""
    return {"links": [
        {"name": "rail", "parent": "base", "joint": {"name": "g", "type": "prismatic", "axis": [1, 0, 0]}, "inertial": {**BOX, "mass": mass, "xyz": [0, 0, 0]}},
        {"name": "arm", "parent": "rail", "joint": {"name": "a", "type": "revolute", "axis": [0, 0, 1]}, "inertial": {**BOX, "mass": 2, "xyz": [0.1, 0.02, 0.03]}},
        {"name": "tool", "parent": "arm", "joint": {"name": "b", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0.01, 0, 0]}},
         "inertial": {"mass": 0.01, "com": [0.02, 0, 0.01], "inertia": {"xx": 1e-5, "yy": 1.2e-5, "zz": 1.1e-5}}}]}


def numbers(answer, key):
    return np.array([entry[key] for entry in answer["base_parameters"]])


class Rows(Closed):
    def motion(self, nv, rows, seed):
        choose = np.random.default_rng(seed)
        return {name: choose.uniform(-size, size, (rows, nv)).tolist() for name, size in zip(MOTION, (1.5, 2, 4))}

    def torques(self, model, motion, **more):
        return np.array(self.ask(model, "inverse-dynamics", {**motion, **more})["tau"])

    def found(self, model, motion, tau, **more):
        return self.ask(model, "identify", {**motion, "tau": np.asarray(tau).tolist(), **more})


class Uneven(Rows):
    def test_errors_are_as_large_as_stated(self):
        """With efforts as different as 1400 N, 0.5 N m and 0.002 N m, and with a carriage ten times heavier, the estimate is as precise as with
        the true weights."""
        for mass, runs in ((500, 60), (5000, 60)):
            self.put_model("gantry", gantry(mass))
            motion = self.motion(3, 300, 1)
            tau = self.torques("gantry", motion)
            sigma = 1e-3 * np.abs(tau).max(axis=0)
            truth = numbers(self.found("gantry", motion, tau, weights=(1 / sigma).tolist()), "value")
            errors, precise = [], []
            for run in range(runs):
                noisy = tau + np.random.default_rng(run).normal(0, 1, tau.shape) * sigma
                answer = self.found("gantry", motion, noisy)
                errors.append((numbers(answer, "value") - truth) / numbers(answer, "deviation"))
                precise.append((numbers(self.found("gantry", motion, noisy, weights=(1 / sigma).tolist()), "value") - truth)
                               / numbers(answer, "deviation"))
                self.near(answer["noise"] / sigma, np.ones(3), 0.2)
            each = np.sqrt(np.mean(np.square(errors), axis=0))
            # three standard deviations of 60 runs are 0.27
            self.assertTrue((0.7 < each).all() and (each < 1.35).all(), each)
            self.assertLess(abs(np.sqrt(np.mean(np.square(errors))) - 1), 0.1)
            self.near(each, np.sqrt(np.mean(np.square(precise), axis=0)), 0.05)


class Huber(Rows):
    def solve(self, A, y, k, weights=None):
        """Minimises the contract's robust loss by iteratively reweighted least squares, starting at the least-squares
        solution."""
        rows, nv, n = A.shape
        w = np.ones((rows, nv)) if weights is None else np.broadcast_to(weights, (rows, nv))
        A, y = A * w[..., None], y * w
        sigma = np.ones(nv)
        for _ in range(100):  # updates the weights by the noise of each coordinate
            flat = (A / sigma[:, None]).reshape(-1, n)
            x = np.linalg.lstsq(flat, (y / sigma).reshape(-1), rcond=None)[0]
            held = np.einsum("rvi,ij,rvj->v", A / sigma[:, None], np.linalg.inv(flat.T @ flat), A / sigma[:, None])
            free = rows - held
            if weights is not None:
                break
            sigma = np.sqrt(((y - A @ x) ** 2).sum(axis=0) / free)
        for _ in range(300):
            left = np.abs(y - A @ x)
            scale = np.median(left, axis=0) / 0.6744897501960817 * np.sqrt(rows / free)
            if weights is not None:
                scale = np.full(nv, np.sqrt(np.mean(scale ** 2)))
            by = np.sqrt(np.minimum(1, k * scale / left)) / scale
            x = np.linalg.lstsq((A * by[..., None]).reshape(-1, n), (y * by).reshape(-1), rcond=None)[0]
        u = np.abs(y - A @ x) / scale
        inside, N, p = np.mean(u <= k), rows * nv, rows * nv - free.sum()
        s = (1 + p / N * (1 - inside) / inside) * np.sqrt((np.minimum(u, k) ** 2).sum() / (N - p)) / inside
        flat = (A / scale[:, None]).reshape(-1, n)
        inverse = np.linalg.inv(flat.T @ flat)
        share = (np.einsum("ki,rvi->rvk", inverse, A / scale[:, None]) ** 2).sum(axis=0) / np.diag(inverse)
        growth = 1 + 4 * (share * (1 - share) / (0.37 * free[:, None])).sum(axis=0) if weights is None else 1
        return x, s * np.sqrt(np.diag(inverse) * growth), scale, np.sqrt(np.mean((y - A @ x) ** 2))

    def outliers(self, model, motion, seed, share):
        choose = np.random.default_rng(seed)
        tau = self.torques(model, motion)
        return tau + choose.normal(0, 0.1, tau.shape) + (choose.uniform(0, 1, tau.shape) < share) * choose.normal(3, 5, tau.shape)

    def test_against_the_equations(self):
        self.put_model("arm", chain(3))
        motion = self.motion(3, 150, 2)
        A = np.array(self.ask("arm", "regressor", {**motion, "outputs": ["base_regressor"]})["base_regressor"])
        tau = self.outliers("arm", motion, 3, 0.1)
        for k, weights in ((1.345, None), (2.5, None), (1.345, [1, 3, 0.5])):
            answer = self.found("arm", motion, tau, huber=k, **({"weights": weights} if weights else {}))
            x, deviation, noise, residual = self.solve(A, tau, k, weights)
            self.assertLess(np.abs((numbers(answer, "value") - x) / deviation).max(), 2e-3)
            self.near(numbers(answer, "deviation"), deviation, 1e-3)
            self.near(answer["noise"], noise, 1e-3)
            self.near(answer["residual"], residual, 1e-3)

    def test_outliers(self):
        """With five outliers of several N m in a hundred torques, the errors must be about a tenth of those of least squares, and agree with the
        stated deviations."""
        motion = self.motion(6, 400, 4)
        truth = numbers(self.found("ur5", motion, self.torques("ur5", motion)), "value")
        errors, squares, robust = [], [], []
        for seed in range(8):
            tau = self.outliers("ur5", motion, seed, 0.05)
            plain, answer = self.found("ur5", motion, tau), self.found("ur5", motion, tau, huber=1.345)
            squares.append(numbers(plain, "value") - truth)
            robust.append(numbers(answer, "value") - truth)
            errors.append(robust[-1] / numbers(answer, "deviation"))
            self.assertLess(max(answer["noise"]), 0.2)
            self.assertGreater(answer["residual"], 0.5)  # the residual includes the outliers
        self.assertLess(np.sqrt(np.mean(np.square(robust))), 0.15 * np.sqrt(np.mean(np.square(squares))))
        self.assertLess(abs(np.sqrt(np.mean(np.square(errors))) - 1.05), 0.2)

    def test_normal_noise(self):
        """With normal noise the robust estimate loses 5 % of precision, with a wide threshold nothing."""
        motion = self.motion(6, 400, 5)
        exact = self.torques("ur5", motion)
        truth = numbers(self.found("ur5", motion, exact), "value")
        errors = []
        for seed in range(8):
            tau = exact + np.random.default_rng(seed).normal(0, 0.1, exact.shape)
            answer, plain, wide = (self.found("ur5", motion, tau, **more) for more in ({"huber": 1.345}, {}, {"huber": 100}))
            errors.append((numbers(answer, "value") - truth) / numbers(answer, "deviation"))
            self.assertLess(np.abs((numbers(wide, "value") - numbers(plain, "value")) / numbers(plain, "deviation")).max(), 0.6)
            self.near(numbers(answer, "deviation"), numbers(plain, "deviation"), 0.15)
        self.assertLess(abs(np.sqrt(np.mean(np.square(errors))) - 1), 0.15)

    def test_payload_friction_and_order(self):
        motion = self.motion(6, 200, 6)
        payload = {"link": "wrist_3_link", "mass": 2, "com": [0.02, -0.03, 0.08], "inertia": {"xx": 0.012, "yy": 0.01, "zz": 0.008}}
        tau = self.torques("ur5", motion, payload=payload)
        tau[::17] += 40
        unknown = {"unknown": ["payload"], "frame": "tool0"}
        found = self.found("ur5", motion, tau, huber=1.345, **unknown)["payload"]
        self.near([found["mass"], *found["com"]], [2, 0.02, -0.03, 0.08], 1e-4)
        self.assertGreater(abs(self.found("ur5", motion, tau, **unknown)["payload"]["mass"] - 2), 0.05)
        turned = {name: np.array(rows)[:, ::-1].tolist() for name, rows in motion.items()}
        joints = [link["joint"]["name"] for link in bundled("ur5")["links"] if link["joint"]["type"] != "fixed"][::-1]
        again = self.found("ur5", turned, tau[:, ::-1], huber=1.345, joints=joints, **unknown)["payload"]
        self.assertEqual(again, found)

    def test_weight_zero_and_few_states(self):
        self.put_model("arm", chain(3))
        motion = self.motion(3, 80, 7)
        tau = self.outliers("arm", motion, 8, 0.1)
        more = {name: rows + rows[:1] for name, rows in motion.items()}
        padded = self.found("arm", more, [*tau.tolist(), [1e5] * 3], huber=1.5, weights=[[1, 1, 1]] * 80 + [[0, 0, 0]])
        self.assertEqual(padded, self.found("arm", motion, tau, huber=1.5, weights=[1, 1, 1]))
        few = {name: rows[:8] for name, rows in motion.items()}
        self.found("arm", few, tau[:8], huber=1.345)

    def test_exact_torques(self):
        """The iterations converge on torques with rounding errors only, with outliers or without; a deadline ends them.
        """
        motion = self.motion(6, 300, 10)
        exact = self.torques("ur5", motion)
        truth = numbers(self.found("ur5", motion, exact), "value")
        for share in (0, 0.1):
            tau = exact + 20 * (np.random.default_rng(1).uniform(0, 1, exact.shape) < share)
            self.near(numbers(self.found("ur5", motion, tau, huber=1.345), "value"), truth, 1e-9)
        many = self.motion(6, 8000, 11)
        tau = self.outliers("ur5", many, 2, 0.2).tolist()
        answer = self.client.request("POST", "/v1/models/ur5/identify", {**many, "tau": tau, "huber": 1.345}, {"Request-Timeout": "0.1"})
        self.assertEqual(answer.status, 504, answer)

    def test_refusals(self):
        self.put_model("arm", chain(3))
        motion = self.motion(3, 80, 9)
        tau = self.torques("arm", motion).tolist()
        for change, code, pointer in (({"huber": 0}, "bad-value", "/huber"), ({"huber": -1}, "bad-value", "/huber"), ({"huber": "1"}, "wrong-type", "/huber"),
                                      ({"huber": 1.345, "unknown": ["friction", "load"]}, "bad-value", "/huber")):
            self.refused(self.client.post("/v1/models/arm/identify", {**motion, "tau": tau, **change}), code, pointer)


class Prior(Rows):
    SHARE = 0.2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        arm = chain(3)
        for i, link in enumerate(arm["links"]):
            link["joint"] |= {"friction": {"viscous": 0.3, "coulomb": {"positive": 0.5, "negative": 0.4}}, "rotor_inertia": 0.02 + 0.01 * i}
        assert cls.client.put("/v1/models/arm", arm).status == 201
        cls.arm = arm

    def spread(self, prior):
        """Returns the prior standard deviations of all parameters, and the model's values."""
        deviation, own = {}, {}
        for link in self.arm["links"]:
            p = inertial_parameters(link["inertial"])
            square = (p["Ixx"] + p["Iyy"] + p["Izz"]) / 2 / p["m"]
            for name in PARAMETERS:
                size = 1 if name == "m" else np.sqrt(square) if name.startswith("mc") else square
                deviation[f"{link['name']}.{name}"] = prior.get("bodies", np.inf) * p["m"] * size
                own[f"{link['name']}.{name}"] = p[name]
            joint = link["joint"]
            f = joint["friction"]
            for name, x in (("rotor_inertia", joint["rotor_inertia"]), ("viscous", f["viscous"]), ("coulomb_positive", f["coulomb"]["positive"]),
                            ("coulomb_negative", f["coulomb"]["negative"])):
                deviation[f"{joint['name']}.{name}"] = prior.get("rotors" if name == "rotor_inertia" else "friction", np.inf)
                own[f"{joint['name']}.{name}"] = x
        return deviation, own

    def expected(self, answer, A, y, prior, weights):
        """Returns values and deviations by the normal equations: (A^T A / s^2 + C^-1) x = A^T y / s^2 + C^-1 x0, C = P
        D P^T."""
        deviation, own = self.spread(prior)
        names = sorted(deviation)
        P = np.zeros((len(answer["base_parameters"]), len(names)))
        for row, entry in zip(P, answer["base_parameters"]):
            row[names.index(entry["grouping"]["parameter"])] = 1
            for part in entry["grouping"]["with"]:
                row[names.index(part["parameter"])] += part["coefficient"]
        D = np.array([deviation[name] for name in names])
        has = np.array([np.isfinite(D[row != 0]).all() for row in P])
        C = (P[has] * np.where(np.isfinite(D), D, 0) ** 2) @ P[has].T
        N = np.zeros((len(P), len(P)))
        N[np.ix_(has, has)] = np.linalg.inv(C)
        x0 = P @ np.array([own[name] for name in names])
        scale = np.array(answer["noise"]) if weights is None else np.full(A.shape[1], None)
        w = 1 / scale if weights is None else np.array(weights, float)
        rows = (A * w[:, None]).reshape(-1, A.shape[-1])
        right = (y * w).reshape(-1)
        s = 1.0
        for _ in range(100):
            normal = rows.T @ rows / s ** 2 + N
            x = np.linalg.solve(normal, rows.T @ right / s ** 2 + N @ x0)
            if weights is None:
                break
            settled = np.trace(np.linalg.solve(normal, rows.T @ rows)) / s ** 2
            s = np.sqrt(((right - rows @ x) ** 2).sum() / (len(right) - settled))
        return x, np.sqrt(np.diag(np.linalg.inv(normal)))

    def rows(self, rows, seed, still=(), one_way=False):
        motion = self.motion(3, rows, seed)
        for name in MOTION:
            values = np.array(motion[name])
            values[:, list(still)] = 0.3 if name == "q" else 0
            motion[name] = (np.abs(values) if one_way and name == "qd" else values).tolist()
        return motion

    def columns(self, motion, answer):
        """Returns the columns of the base parameters, from the regressor of bodies and joints."""
        found = self.ask("arm", "regressor", {**motion, "outputs": ["regressor", "joint_regressor"]})
        names = [f"{link['name']}.{p}" for link in self.arm["links"] for p in PARAMETERS]
        Y, J, qd = np.array(found["regressor"]), np.array(found["joint_regressor"]), np.array(motion["qd"])
        columns = []
        for entry in answer["base_parameters"]:
            name = entry["grouping"]["parameter"]
            if name in names:
                columns.append(Y[..., names.index(name)])
                continue
            joint, kind = name.rsplit(".", 1)
            j = [link["joint"]["name"] for link in self.arm["links"]].index(joint)
            column = J[..., 3 * j + ("rotor_inertia", "viscous").index(kind) if not kind.startswith("coulomb") else 3 * j + 2]
            if kind.startswith("coulomb"):
                column = column * ((qd[:, j] > 0) if kind.endswith("positive") else (qd[:, j] < 0))[:, None]
            columns.append(column)
        return np.stack(columns, axis=-1)

    def test_against_the_equations(self):
        """Compares with the normal equations: all joints in motion, one at rest, one in motion, motion in one direction
        only; kinds of parameters with and without a prior; weights."""
        for prior, options, still, one_way in (
                ({"bodies": 0.2}, {}, (), False), ({"bodies": 0.2}, {}, (0, 1), False), ({"bodies": 0.05}, {}, (0, 2), False),
                ({"bodies": 0.2, "friction": 0.3, "rotors": 0.01}, {"friction": True, "rotor": True}, (2,), False),
                ({"friction": 0.1}, {"friction": True}, (), True),
                ({"bodies": 0.1, "friction": 0.2}, {"friction": True}, (1,), False)):
            for weights in (None, [2, 1, 5]):
                motion = self.rows(100, 11, still, one_way)
                tau = self.torques("arm", motion) + np.random.default_rng(3).normal(0, 1, (100, 3)) * [0.1, 0.2, 0.04]
                more = {"weights": weights} if weights else {}
                answer = self.found("arm", motion, tau, prior=prior, **options, **more)
                A = self.columns(motion, answer)
                known = self.torques("arm", motion, friction=not options.get("friction", False))
                own = np.array([sum([self.spread(prior)[1][part["parameter"]] * part["coefficient"] for part in p["grouping"]["with"]],
                                    self.spread(prior)[1][p["grouping"]["parameter"]]) for p in answer["base_parameters"]])
                own *= [options.get("friction", False) is False or not p["grouping"]["parameter"].split(".")[1].startswith(("viscous", "coulomb"))
                        for p in answer["base_parameters"]]
                y = tau - known + A @ own
                x, deviation = self.expected(answer, A, y, prior, weights)
                self.assertLess(np.abs((numbers(answer, "value") - x) / deviation).max(), 2e-2, (prior, still, weights))
                self.assertLess(np.abs(numbers(answer, "deviation") / deviation - 1).max(), 2e-2, (prior, still, weights))

    def test_the_limits(self):
        """A wide prior does not change an estimate that the rows determine; a narrow prior keeps the model's values."""
        motion = self.rows(150, 12)
        tau = self.torques("arm", motion) * 1.1 + np.random.default_rng(4).normal(0, 0.1, (150, 3))
        plain, wide, narrow = (self.found("arm", motion, tau, **more) for more in ({}, {"prior": {"bodies": 1e4}}, {"prior": {"bodies": 1e-7}}))
        self.assertLess(np.abs((numbers(wide, "value") - numbers(plain, "value")) / numbers(plain, "deviation")).max(), 1e-2)
        own = numbers(self.found("arm", motion, self.torques("arm", motion)), "value")
        self.near(numbers(narrow, "value"), own, 1e-5)
        self.assertNotIn("observability", plain)
        self.assertEqual({entry["these_rows"] for entry in narrow["observability"]}, {entry["any_motion"] for entry in narrow["observability"]})

    def test_one_joint_of_a_panda(self):
        """Only the elbow moves: with a prior, estimates stay near the model and determined ones approach the robot;
        without a prior the request is refused."""
        real = bundled("panda")
        choose = np.random.default_rng(5)
        for link in real["links"]:
            if "mass" in link.get("inertial", {}):
                link["inertial"]["mass"] *= choose.uniform(0.9, 1.1)
        self.put_model("real", real)
        t = np.linspace(0, 10, 200)[:, None]
        shape = np.eye(7)[3]
        motion = {"q": (np.array([0, -0.3, 0, -1.5, 0, 1.5, 0.3]) + 0.5 * np.sin(2 * t) * shape).tolist(),
                  "qd": (np.cos(2 * t) * shape).tolist(), "qdd": (-2 * np.sin(2 * t) * shape).tolist()}
        tau = self.torques("real", motion) + choose.normal(0, 0.05, (200, 7))
        detail = self.refused(self.client.post("/v1/models/panda/identify", {**motion, "tau": tau.tolist()}), "rank-deficient")
        self.assertIn("prior", detail)
        answer = self.found("panda", motion, tau, prior={"bodies": 0.1}, outputs=[
            "base_parameters", "observability", "model", "fit", "residual", "noise"])
        self.assertEqual(len(answer["base_parameters"]), 43)
        excite = self.motion(7, 200, 6)
        own, truth = (numbers(self.found("panda", excite, self.torques(model, excite)), "value") for model in ("panda", "real"))
        self.assertLess(np.abs((numbers(answer, "value") - truth) / numbers(answer, "deviation")).max(), 4)
        self.assertLess(np.abs((numbers(answer, "value") - own) / numbers(answer, "deviation")).max(), 40)
        shown = {entry["parameter"]: entry["these_rows"] for entry in answer["observability"]}
        self.assertTrue({"none", "combined", "alone"} <= set(shown.values()))
        for entry, x in zip(answer["base_parameters"], own):
            names = [entry["grouping"]["parameter"], *(part["parameter"] for part in entry["grouping"]["with"])]
            if all(shown[name] == "none" for name in names):
                self.assertLess(abs(entry["value"] - x), 0.2 * entry["deviation"], entry)
        self.put_model("found", answer["model"])
        error = self.torques("found", motion) - tau
        self.near(np.sqrt((error ** 2).mean()), answer["fit"]["residual"], 1e-6)
        self.assertLess(answer["fit"]["residual"], 1.2 * answer["residual"])

    def test_with_unknowns(self):
        """Static poses determine the payload but no friction: with a prior, friction keeps the model's values."""
        motion = self.rows(40, 13, (0, 1, 2))
        motion["q"] = self.motion(3, 40, 14)["q"]
        payload = {"link": self.arm["links"][2]["name"], "mass": 1.5, "com": [0.1, 0.02, 0.03]}
        tau = self.torques("arm", motion, payload=payload)
        unknown = {"unknown": ["payload", "friction"], "frame": payload["link"]}
        self.refused(self.client.post("/v1/models/arm/identify", {**motion, "tau": tau.tolist(), **unknown}), "rank-deficient")
        found = self.found("arm", motion, tau, prior={"friction": 0.5}, **unknown)
        value = {p["grouping"]["parameter"]: (p["value"], p["deviation"]) for p in found["base_parameters"]}
        for link in self.arm["links"]:
            self.near(value[f"{link['joint']['name']}.coulomb_positive"], [0.5, 0.5], 1e-6)
        shown = {entry["parameter"]: (entry["these_rows"], entry["any_motion"]) for entry in found["observability"]}
        self.assertEqual(shown[f"{self.arm['links'][0]['joint']['name']}.viscous"], ("none", "alone"))
        self.near(found["payload"]["mass"], 1.5, 1e-4)

    def test_exact_torques(self):
        """Without noise and with any prior, determined parameters are the robot's, all others the model's."""
        motion = self.rows(80, 17, (1, 2))
        tau = self.torques("arm", motion, payload={"link": self.arm["links"][1]["name"], "mass": 0.3})
        for size in (1e-4, 1, 1e4):
            answer = self.found("arm", motion, tau, prior={"bodies": size, "friction": size}, friction=True, outputs=["base_parameters", "observability", "residual"])
            self.assertLess(answer["residual"], 0.1 if size < 1 else 1e-6)
            shown = {entry["parameter"]: entry["these_rows"] for entry in answer["observability"]}
            for p in answer["base_parameters"]:
                if p["grouping"]["parameter"].endswith("viscous"):
                    self.assertAlmostEqual(p["value"], 0.3, delta=1e-3)
                    if size >= 1:
                        self.assertEqual(shown[p["grouping"]["parameter"]] == "none", p["deviation"] > 0.5 * size)

    def test_with_outliers(self):
        motion = self.rows(150, 15, (0,))
        tau = self.torques("arm", motion) + np.random.default_rng(6).normal(0, 0.05, (150, 3))
        clean = self.found("arm", motion, tau, prior={"bodies": 0.1})
        tau[::13] += 30
        robust = self.found("arm", motion, tau, prior={"bodies": 0.1}, huber=1.345)
        self.assertLess(np.abs((numbers(robust, "value") - numbers(clean, "value")) / numbers(robust, "deviation")).max(), 2)

    def test_robots(self):
        """Robots with loops, a floating base, mimic joints, an elastic joint and massless links: with a prior one pose
        is enough."""
        loaded = chain(4)
        del loaded["links"][1]["inertial"]
        self.put_model("massless", loaded)
        for model in ("delta", "solo12", "robotiq_2f_85", "hua", "massless", "gait55"):
            described = self.ok(self.client.get(f"/v1/models/{model}"))
            reference = described.get("reference", {}).get("q") or [float(name.endswith("qw")) for name in described["position_names"]]
            rows = 400 // described["nv"] + 1
            motion = {"q": [reference] * rows, "qd": [[0] * described["nv"]] * rows, "qdd": [[0] * described["nv"]] * rows}
            tau = self.torques(model, motion)
            noise = np.random.default_rng(7).normal(0, 0.1, tau.shape)
            with self.subTest(model=model):
                answer = self.found(model, motion, tau + noise, prior={"bodies": 0.1})
                self.assertLess(answer["residual"], 0.12)
                self.assertTrue((numbers(answer, "deviation") > 0).all())

    def test_refusals(self):
        motion = self.rows(60, 16)
        request = {**motion, "tau": self.torques("arm", motion).tolist()}
        for change, code, pointer in (
                ({"prior": {}}, "missing-field", "/prior"), ({"prior": 0.1}, "wrong-type", "/prior"), ({"prior": {"mass": 1}}, "unknown-field", "/prior/mass"),
                ({"prior": {"bodies": 0}}, "bad-value", "/prior/bodies"), ({"prior": {"bodies": "1"}}, "wrong-type", "/prior/bodies"),
                ({"prior": {"friction": 1}}, "bad-value", "/prior/friction"), ({"prior": {"rotors": 1}, "friction": True}, "bad-value", "/prior/rotors"),
                ({"prior": {"bodies": 1}, "unknown": ["friction"]}, "bad-value", "/prior/bodies")):
            self.refused(self.client.post("/v1/models/arm/identify", {**request, **change}), code, pointer)
        still = {**request, "qd": [[0] * 3] * 60, "friction": True, "prior": {"bodies": 0.1}}  # friction has no prior
        self.assertIn("coulomb", self.refused(self.client.post("/v1/models/arm/identify", still), "rank-deficient"))


if __name__ == "__main__":
    tap.main()
