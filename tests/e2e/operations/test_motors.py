"""Tests motors and elastic joints: against Lagrange's equations of gyrostats, the inertia matrix by hand, forward
dynamics from the inverse model (Hua's algorithm 2), rigid robots as the limit of stiff ones, and energy balances."""
import json
import os
import random

import numpy as np
import tap
from gyrostat import Gyrostat
from harness import ROOT, ServerCase
from samples import body

with open(os.path.join(ROOT, "models", "hua.json")) as file:
    HUA = json.load(file)


def link(name, parent, kind, axis, origin, mass=1.0, **joint):
    return {"name": name, "parent": parent,
            "joint": {"name": "at_" + name, "type": kind, "axis": axis, "origin": origin, **joint},
            "inertial": body(mass, (0.05, -0.02, 0.1))}


def motor(joint, on, axis, ratio, inertia=3e-4, **more):
    return {"joint": joint, "link": on, "axis": axis, "gear_ratio": ratio, "spin_inertia": inertia, **more}


# Every joint type that may be elastic, with and without motors; motors before, on and beyond the link that they drive.
MIXED = {
    "links": [
        link("a", "base", "revolute", [0, 1, 1], {"xyz": [0.1, 0, 0.2], "rpy": [0.3, -0.2, 0.5]}, 3),
        link("b", "a", "prismatic", [1, 0, 0.5], {"xyz": [0, 0.1, 0.3], "rpy": [0, 1, 0]}, 2,
             elastic={"stiffness": 40, "damping": 0.5, "rest": 0.1}, rotor_inertia=0.8),
        link("c", "b", "revolute", [1, 2, -1], {"xyz": [0.2, 0, 0]}, 1.5,
             elastic={"stiffness": 30, "damping": 0.2, "rest": -0.3}),
        link("d", "a", "helical", [0, 0, -1], {"rpy": [1, 0, 0.2]}, 1.2, pitch=0.05),
        link("e", "d", "planar", [0.3, -0.2, 1], {"xyz": [0, 0, 0.2], "rpy": [0.1, 0.2, 0.3]}, 0.9),
        link("f", "e", "helical", [1, 1, 0], {"xyz": [0.1, 0, 0]}, 0.7, pitch=-0.1,
             elastic={"stiffness": 15, "rest": 0.2})],
    "motors": [
        motor("at_c", "a", [0.2, 0, 1], -40, inertial=body(0.5, (0, 0.1, 0.1))),
        motor("at_a", "base", [0, 0, 1], 50),
        motor("at_d", "b", [1, -1, 0], 30, 5e-4, inertial=body(0.4, (0.1, 0, 0))),
        motor("at_f", "f", [0, 2, 1], 25)]}
NAMES = ["at_a", "at_b", "at_c", "at_d", "at_e.x", "at_e.y", "at_e.angle", "at_f", "at_b.motor", "at_c.motor", "at_f.motor"]


def planar_two(elastic):
    """Two rods in a plane that turn about z; the second motor is mounted on the first rod."""
    def rod(name, parent, x):
        return {"name": name, "parent": parent,
                "joint": {"name": "at_" + name, "type": "revolute", "axis": [0, 0, 1], "origin": {"xyz": [x, 0, 0]},
                          **({"elastic": {"stiffness": 100}} if elastic else {})},
                "inertial": {"mass": 2, "com": [0.3, 0, 0], "inertia": {"xx": 0.01, "yy": 0.1, "zz": 0.11}}}
    return {"links": [rod("one", "base", 0), rod("two", "one", 0.5)],
            "motors": [motor("at_one", "base", [0, 0, 1], 20, 1e-3), motor("at_two", "one", [0, 0, 1], 30, 2e-3)]}


class Motors(ServerCase):
    MODELS = {"hua": HUA, "mixed": MIXED}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in {"mixed": MIXED, "elastic_two": planar_two(True), "rigid_two": planar_two(False)}.items():
            assert cls.client.put(f"/v1/models/{name}", document).status == 201

    def states(self, name, rows=4):
        source, n = random.Random(name), Gyrostat(self.MODELS[name]).n
        return {key: [[source.uniform(-size, size) for _ in range(n)] for _ in range(rows)]
                for key, size in (("q", 1), ("qd", 2), ("qdd", 3))}

    # --- against Lagrange ----------------------------------------------------------------------------------------

    def test_inverse_dynamics(self):
        for name, document in self.MODELS.items():
            s, reference = self.states(name), Gyrostat(document)
            expected = [reference.efforts(*row).tolist() for row in zip(s["q"], s["qd"], s["qdd"])]
            self.assertClose(self.ask(name, "inverse-dynamics", s)["tau"], expected, 1e-12, what=name)

    def test_mass_matrix_and_energies(self):
        for name, document in self.MODELS.items():
            s, reference = self.states(name), Gyrostat(document)
            M = [reference.mass_matrix(np.array(q)).tolist() for q in s["q"]]
            self.assertClose(self.ask(name, "mass-matrix", {"q": s["q"]})["mass_matrix"], M, 1e-13, what=name)
            energy = self.ask(name, "energy", {"q": s["q"], "qd": s["qd"]})
            self.assertClose(energy["kinetic"], [reference.kinetic(*x) for x in zip(s["q"], s["qd"])], 1e-13, what=name)
            self.assertClose(energy["potential"], [reference.potential(np.array(q)) for q in s["q"]], 1e-13, what=name)

    def test_forward_dynamics_undoes_inverse_dynamics(self):
        for name in self.MODELS:
            s = self.states(name)
            tau = self.ask(name, "inverse-dynamics", s)["tau"]
            back = self.ask(name, "forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": tau})["qdd"]
            self.assertClose(back, s["qdd"], 1e-10, what=name)

    # --- by hand -------------------------------------------------------------------------------------------------

    def test_blocks_of_the_inertia_matrix(self):
        """Two rods in a plane: M of the links with whole motors, S = [J2 r2; 0] of the second motor, B = r^2 J."""
        q = 0.7
        one, two, cross = 0.11 + 2 * 0.09, 0.11 + 2 * 0.09, 2 * 0.5 * 0.3 * np.cos(q)
        M = np.array([[one + two + 2 * 0.25 + 2 * cross, two + cross], [two + cross, two]])
        S, B = np.array([[0, 2e-3 * 30], [0, 0]]), np.diag([1e-3 * 400, 2e-3 * 900])
        whole = np.block([[M, S], [S.T, B]])
        answer = self.ask("elastic_two", "mass-matrix", {"q": [0.3, q, -1, 2]})
        self.assertClose(answer["mass_matrix"], whole.tolist(), 1e-14)
        rigid = M + S + S.T + B
        self.assertClose(self.ask("rigid_two", "mass-matrix", {"q": [0.3, q]})["mass_matrix"], rigid.tolist(), 1e-14)

    def test_motor_angles_have_the_limit_of_angles(self):
        """Motor coordinates of revolute joints have the limit of angles; at_b is prismatic, so its motor coordinate has
        no such limit."""
        limit = self.client.get("/v1").json()["limits"]["angle"]
        q = [0.1] * 11
        for name, value, good in (("at_c.motor", -limit, True), ("at_c.motor", 1.01 * limit, False), ("at_f.motor", -1e300, False),
                                  ("at_b.motor", 1e9, True)):
            place = NAMES.index(name)
            request = {"q": [q, q[:place] + [value] + q[place + 1:]]}
            answer = self.client.post("/v1/models/mixed/inverse-dynamics", request)
            if good:
                self.assertEqual(answer.status, 200, (name, answer))
                continue
            problem = self.assertProblem(answer, 422, f"/q/1/{place}", 1)
            self.assertEqual(problem["code"], "angle-too-large")
            self.assertIn(name, problem["detail"])

    def test_elastic_efforts(self):
        """At rest without gravity the effort is R = k (q - theta - rest)."""
        q = {"at_one": 0.3, "at_two": -0.2, "at_one.motor": 0.25, "at_two.motor": 0.1}
        answer = self.ask("elastic_two", "bias", {"q": q, "gravity": [0, 0, 0], "outputs": ["bias", "gravity", "friction"]})
        self.assertClose(answer["bias"], [5, -30, -5, 30], 1e-14)
        self.assertEqual(answer["gravity"], [0, 0, 0, 0])
        self.assertEqual(answer["friction"], [0, 0, 0, 0])

    def test_friction_of_a_motor_acts_on_what_it_turns(self):
        rough = {"viscous": 0.3, "coulomb": {"positive": 2, "negative": 5}}
        for elastic in (False, True):
            document = planar_two(elastic)
            for m, ratio in zip(document["motors"], (20, -30)):
                m.update(friction=rough, gear_ratio=ratio)
            self.put_model("rough", document)
            for one, two in ((1, -2), (-1, 2), (0.5, 0.7), (-3, -0.2)):
                qd = [one, two] if not elastic else [7, 7, one, two]
                friction = self.ask("rough", "bias", {"q": [0] * len(qd), "qd": qd, "outputs": ["friction"]})["friction"]
                self.assertClose(friction, [0] * (len(qd) - 2) + [0.3 * v + (2 if v > 0 else -5) for v in (one, two)], 1e-14)

    # --- by the inverse model ------------------------------------------------------------------------------------

    def test_forward_dynamics_by_A_and_zeta(self):
        """Columns of A by unit accelerations at rest without gravity and springs, zeta by zero accelerations: A qdd =
        tau - zeta."""
        for name, document in self.MODELS.items():
            s, n = self.states(name), Gyrostat(document).n
            tau = [[random.Random(n).uniform(-20, 20) for _ in range(n)] for _ in s["q"]]
            found = self.ask(name, "forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": tau})["qdd"]
            zeta = self.ask(name, "inverse-dynamics", {"q": s["q"], "qd": s["qd"]})["tau"]
            for r, q in enumerate(s["q"]):
                rest = np.array(self.ask(name, "inverse-dynamics", {"q": q})["tau"])
                unit = self.ask(name, "inverse-dynamics", {"q": q, "qdd": np.eye(n).tolist()})["tau"]
                A = (np.array(unit) - rest).T
                expected = np.linalg.solve(A, np.array(tau[r]) - zeta[r])
                self.assertClose(found[r], expected.tolist(), 1e-9, what=name)

    def test_elastic_coordinates_free(self):
        """At elastic joints, the accelerations of the motors are given and those of the links follow (Khalil 2010, 6.3). Tests also an
        elastic joint without a motor."""
        for name, free in (("hua", ["joint3"]), ("mixed", ["at_b", "at_c", "at_f"]), ("mixed", ["at_d", "at_f.motor"])):
            s = self.states(name)
            names = self.ok(self.client.get(f"/v1/models/{name}"))["velocity_names"]
            at = [names.index(f) for f in free]
            tau = self.ask(name, "inverse-dynamics", s)["tau"]
            request = {"q": s["q"], "qd": s["qd"], "free": free,
                       "qdd": [[0 if v in at else x for v, x in enumerate(row)] for row in s["qdd"]],
                       "tau": [[x if v in at else 0 for v, x in enumerate(row)] for row in tau]}
            answer = self.ask(name, "inverse-dynamics", request)
            self.assertClose(answer["qdd"], s["qdd"], 1e-9, what=f"{name} {free}")
            self.assertClose(answer["tau"], tau, 1e-9, what=f"{name} {free}")

    # --- in time -------------------------------------------------------------------------------------------------

    def test_stiff_joints_become_rigid(self):
        """The difference between elastic and rigid robot falls as 1 / stiffness."""
        start = {"q": [0.2, -0.4, 0.3], "qd": [0.5, 0.2, -0.3]}
        rigid = json.loads(json.dumps(HUA))
        del rigid["links"][2]["joint"]["elastic"]
        self.put_model("rigid", rigid)
        how = {"duration": 0.3, "tolerance": 1e-10, "stiff": True, "times": [0, 0.3], "outputs": ["q"]}
        end = np.array(self.ask("rigid", "simulate", {**start, **how})["q"][-1])
        errors = []
        for stiffness in (1e4, 1e5, 1e6):
            stiff = json.loads(json.dumps(HUA))
            stiff["links"][2]["joint"]["elastic"] = {"stiffness": stiffness, "damping": stiffness * 1e-3}
            self.put_model("stiff", stiff)
            both = {key: [*value, value[2]] for key, value in start.items()}
            q = np.array(self.ask("stiff", "simulate", {**both, **how})["q"][-1])
            self.assertLess(abs(q[3] - q[2]), 20 / stiffness)
            errors.append(abs(q[:3] - end).max())
        self.assertLess(errors[0], 1e-2)
        for coarse, fine in zip(errors, errors[1:]):
            self.assertTrue(5 < coarse / fine < 20, errors)

    def test_balance_of_energy(self):
        """The change of energy is the work of actuators, friction and dampers, those of elastic joints included."""
        for name, document in self.MODELS.items():
            n = Gyrostat(document).n
            request = {"q": [0.1] * n, "qd": [0.3] * n, "duration": 0.5, "tolerance": 1e-10, "samples": 3,
                       "input": {"tau": [1.0] * n},
                       "outputs": ["kinetic", "potential", "actuator_work", "friction_work"]}
            answer = self.ask(name, "simulate", request)
            energy = np.array(answer["kinetic"]) + answer["potential"]
            brought = np.array(answer["actuator_work"]) + answer["friction_work"]
            self.assertClose((energy - energy[0]).tolist(), brought.tolist(), 1e-8, scale=float(abs(energy).max()))
            if name == "mixed":
                self.assertLess(answer["friction_work"][-1], -1e-3)

    # --- the same bits -------------------------------------------------------------------------------------------

    def test_same_bits_alone_and_in_a_batch(self):
        for name in self.MODELS:
            s = self.states(name, 11)
            for operation, request in (("inverse-dynamics", s), ("forward-dynamics", {"q": s["q"], "qd": s["qd"], "tau": s["qdd"]}),
                                       ("sensitivity", s), ("energy", {"q": s["q"], "qd": s["qd"]})):
                batch = self.ask(name, operation, request)
                for r in (0, 4, 10):
                    alone = self.ask(name, operation, {key: rows[r] for key, rows in request.items()})
                    self.assertEqual({key: value[r] for key, value in batch.items()}, alone)

    # --- derivatives ---------------------------------------------------------------------------------------------

    def test_sensitivity(self):
        """Derivatives against fourth-order differences of the equations of Lagrange."""
        for name, document in self.MODELS.items():
            s, reference = self.states(name, 1), Gyrostat(document)
            state = {key: s[key][0] for key in ("q", "qd", "qdd")}
            answer = self.ask(name, "sensitivity", state)
            for key, output in (("q", "dtau_dq"), ("qd", "dtau_dqd"), ("qdd", "dtau_dqdd")):
                columns, h = [], 1e-3
                for k in range(reference.n):
                    at = [{**state, key: [x + (i == k) * f * h for i, x in enumerate(state[key])]} for f in (-2, -1, 1, 2)]
                    t = [reference.efforts(x["q"], x["qd"], x["qdd"]) for x in at]
                    columns.append((t[0] - 8 * t[1] + 8 * t[2] - t[3]) / (12 * h))
                self.assertClose(answer[output], np.array(columns).T.tolist(), 1e-9, what=f"{name} {output}")

    def test_torque_derivative(self):
        for name in self.MODELS:
            s = self.states(name, 1)
            q, qd, qdd = (np.array(s[key][0]) for key in ("q", "qd", "qdd"))
            h, times = 1e-3, (-2, -1, 1, 2)
            rows = [[(q + qd * t + qdd * t * t / 2).tolist(), (qd + qdd * t).tolist(), qdd.tolist()]
                    for t in (h * f for f in times)]
            tau = np.array(self.ask(name, "inverse-dynamics", {key: [row[i] for row in rows]
                                                               for i, key in enumerate(("q", "qd", "qdd"))})["tau"])
            expected = (tau[0] - 8 * tau[1] + 8 * tau[2] - tau[3]) / (12 * h)
            answer = self.ask(name, "torque-derivative", {key: s[key][0] for key in ("q", "qd", "qdd")})
            self.assertClose(answer["tau_dot"], expected.tolist(), 1e-9, what=name)

    # --- parameters ----------------------------------------------------------------------------------------------

    def test_regressor(self):
        """For each row tau = regressor * parameters + joint_regressor * joint parameters, with rotors locked in the
        links' parameters."""
        document = json.loads(json.dumps(HUA))
        document["links"][1]["joint"]["friction"] = {"viscous": 0.7}
        document["motors"][1]["friction"] = {"viscous": 0.2}
        document["motors"][2]["friction"] = {"viscous": 0.4}
        self.put_model("regressed", document)
        s = self.states("hua")
        answer = self.ask("regressed", "regressor", {**s, "outputs": ["regressor", "joint_regressor"]})
        springs = [[0, 0, 100 * (q[2] - q[3]), -100 * (q[2] - q[3])] for q in s["q"]]
        parameters = np.concatenate([self.parameters(document, name) for name in ("link1", "link2", "link3")])
        joints = [0.004, 0, 0, 0.004, 0.9, 0, 0, 0, 0, 0.004, 0.4, 0]
        tau = np.array(answer["regressor"]) @ parameters + np.array(answer["joint_regressor"]) @ joints + springs
        self.assertClose(tau.tolist(), self.ask("regressed", "inverse-dynamics", s)["tau"], 1e-12)

    def parameters(self, document, name):
        """Returns m, m c and the tensor about the link's origin, of the link with all whole motors on it."""
        total = np.zeros(10)
        for owner, inertial in Gyrostat(document).bodies():
            if owner != name:
                continue
            m, c = inertial["mass"], np.array(inertial.get("com", [0, 0, 0]), float)
            I = inertial.get("inertia", {})
            T = np.array([[I.get("xx", 0), I.get("xy", 0), I.get("xz", 0)], [I.get("xy", 0), I.get("yy", 0), I.get("yz", 0)],
                          [I.get("xz", 0), I.get("yz", 0), I.get("zz", 0)]]) + m * (c @ c * np.eye(3) - np.outer(c, c))
            total += [m, *(m * c), T[0, 0], T[0, 1], T[1, 1], T[0, 2], T[1, 2], T[2, 2]]
        return total

    def test_identify(self):
        """From torques without noise, identify finds the model's own base parameters, those of motors included."""
        s = self.states("hua", 60)
        tau = self.ask("hua", "inverse-dynamics", s)["tau"]
        answer = self.ask("hua", "identify", {**s, "tau": tau, "rotor": True, "friction": True})
        own = dict(zip((f"link{i}.{p}" for i in (1, 2, 3) for p in
                        ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")),
                       np.concatenate([self.parameters(HUA, f"link{i}") for i in (1, 2, 3)])))
        own.update({"joint1.rotor_inertia": 0.004, "joint2.rotor_inertia": 0.004, "joint3.motor.rotor_inertia": 0.004})
        self.assertIn("joint3.motor.rotor_inertia", json.dumps(answer["base_parameters"]))
        for base in answer["base_parameters"]:
            grouping = base["grouping"]
            value = own.get(grouping["parameter"], 0) + sum(part["coefficient"] * own.get(part["parameter"], 0)
                                                            for part in grouping["with"])
            self.assertLess(abs(base["value"] - value), 1e-8, base)

    # --- the document --------------------------------------------------------------------------------------------

    def test_names_and_figures(self):
        model = self.ok(self.client.get("/v1/models/mixed"))
        self.assertEqual(model["position_names"], NAMES)
        self.assertEqual(model["velocity_names"], NAMES)
        self.assertEqual(model["bodies"], ["a", "b", "c", "d", "e", "f"])
        self.assertEqual([m["joint"] for m in model["motors"]], ["at_c", "at_a", "at_d", "at_f"])
        self.assertEqual([m["link"] for m in model["motors"]], ["a", "base", "b", "f"])
        self.assertAlmostEqual(model["motors"][3]["axis"][1], 2 / 5 ** 0.5)
        joints = {j["name"]: j for j in model["joints"]}
        self.assertEqual(joints["at_b"]["elastic"], {"stiffness": 40, "damping": 0.5, "rest": 0.1})
        self.assertEqual(joints["at_f"]["pitch"], -0.1)
        self.assertNotIn("elastic", joints["at_a"])
        self.assertAlmostEqual(model["mass"], 3 + 2 + 1.5 + 1.2 + 0.9 + 0.7 + 0.5 + 0.4)

    def test_joint_wrenches_are_of_the_links(self):
        """joint_wrenches has one row for each body. Its component along a rigid joint without a motor is that joint's
        effort."""
        s = self.states("mixed")
        answer = self.ask("mixed", "inverse-dynamics", {**s, "outputs": ["tau", "joint_wrenches"]})
        self.assertEqual(np.array(answer["joint_wrenches"]).shape, (4, 6, 6))
        axis = np.array(MIXED["links"][4]["joint"]["axis"]) / np.linalg.norm(MIXED["links"][4]["joint"]["axis"])
        moment = np.array(answer["joint_wrenches"])[:, 4, 3:] @ axis
        self.assertClose(moment.tolist(), [tau[6] for tau in answer["tau"]], 1e-11)

    def test_joint_wrenches_are_rates_of_momentum(self):
        """The first joint transmits the rate of momentum of all bodies and spinning rotors, minus their weight. A rotor
        on the base is not part of this."""
        document = json.loads(json.dumps(MIXED))
        del document["motors"][1]
        self.put_model("free_of_base", document)
        gravity, h = np.array([1.0, -2.0, -9.0]), 1e-3
        state = {key: np.array(value) for key, value in self.states("mixed", 1).items()}
        q, qd, qdd = (state[key][0] for key in ("q", "qd", "qdd"))
        t = np.array([-2, -1, 0, 1, 2])[:, None] * h
        along = {"q": (q + t * qd + t * t / 2 * qdd).tolist(), "qd": (qd + t * qdd).tolist()}
        seen = self.ask("free_of_base", "energy", {**along, "outputs": ["mass", "com", "momentum"]})
        poses = self.ask("free_of_base", "kinematics", {"q": along["q"], "frames": ["a"]})["poses"]["a"]
        arm = np.array(seen["com"]) - poses["position"]
        p, about_com = np.split(np.array(seen["momentum"]), 2, axis=1)
        momentum = np.hstack([p, about_com + np.cross(arm, p)])  # the momentum about the first joint, whose origin is at rest
        rate = (momentum[0] - 8 * momentum[1] + 8 * momentum[3] - momentum[4]) / (12 * h)
        weight = seen["mass"][2] * gravity
        expected = rate - np.concatenate([weight, np.cross(arm[2], weight)])
        answer = self.ask("free_of_base", "inverse-dynamics", {
            "q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist(), "gravity": gravity.tolist(), "outputs": ["joint_wrenches"]})
        x, y, z, w = poses["orientation"][2]
        R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                      [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                      [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
        wrench = np.concatenate([R @ part for part in np.split(np.array(answer["joint_wrenches"][0]), 2)])
        self.assertClose(wrench.tolist(), expected.tolist(), 1e-8)

    def test_document_comes_back(self):
        for name in ("hua", "mixed"):
            revision = self.ok(self.client.get(f"/v1/models/{name}"))["revision"]
            document = self.ok(self.client.get(f"/v1/models/{name}/document"))
            self.assertEqual(self.put_model("again", document)["revision"], revision)

    def test_payload_is_a_heavier_link(self):
        s, load = self.states("mixed"), {"link": "c", "mass": 0.5, "com": [0.1, 0, 0], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.2}}
        document = json.loads(json.dumps(MIXED))
        document["links"].append({"name": "load", "parent": "c", "joint": {"name": "grip", "type": "fixed"},
                                  "inertial": {key: load[key] for key in ("mass", "com", "inertia")}})
        self.put_model("loaded", document)
        self.assertClose(self.ask("mixed", "inverse-dynamics", {**s, "payload": load})["tau"],
                         self.ask("loaded", "inverse-dynamics", s)["tau"], 1e-13)
        energies = {"q": s["q"], "qd": s["qd"], "outputs": ["kinetic", "potential", "mass", "com", "momentum"]}
        borne, fixed = self.ask("mixed", "energy", {**energies, "payload": load}), self.ask("loaded", "energy", energies)
        for name in energies["outputs"]:
            self.assertClose(borne[name], fixed[name], 1e-13, what=name)

    def test_spinning_rotor_turns_the_floating_body(self):
        """A flywheel in free flight: the momentum includes its spin, and accelerating the wheel turns the hull the
        other way."""
        flywheel = {"base": {"type": "floating", "link": "hull", "inertial": {"mass": 5, "inertia": {"xx": 1, "yy": 2, "zz": 2.5}}},
                    "links": [{"name": "wheel", "parent": "hull", "joint": {"name": "axle", "type": "revolute", "axis": [0, 0, 1]},
                               "inertial": {"mass": 1, "inertia": {"zz": 0.01}}}],
                    "motors": [motor("axle", "hull", [0, 0, 1], 10, 0.02)]}
        self.put_model("flywheel", flywheel)
        still = {"q": [0, 0, 0, 0, 0, 0, 1, 0], "gravity": [0, 0, 0]}
        momentum = self.ask("flywheel", "energy", {**still, "qd": [0] * 6 + [3], "outputs": ["momentum"]})["momentum"]
        self.assertClose(momentum, [0, 0, 0, 0, 0, 0.01 * 3 + 0.02 * 30], 1e-15)
        qdd = self.ask("flywheel", "forward-dynamics", {**still, "tau": [0] * 6 + [1]})["qdd"]
        self.assertClose(2.51 * qdd[5] + (0.01 + 0.2) * qdd[6], 0, 1e-14, scale=1)
        # gyroscopic torque: with the wheel's spin s and the hull's rate w about x, the torque about y is J s w
        tau = self.ask("flywheel", "inverse-dynamics", {**still, "qd": [0, 0, 0, 0.5, 0, 0, 3]})["tau"]
        self.assertClose(tau, [0, 0, 0, 0, -0.5 * (0.01 * 3 + 0.02 * 30), 0, 0], 1e-15)

    def test_motor_weighs_with_the_floating_base(self):
        hull = {"type": "floating", "link": "hull", "inertial": {"mass": 5, "inertia": {"xx": 1, "yy": 2, "zz": 2.5}}}
        wheel = {"name": "wheel", "parent": "hull", "joint": {"name": "axle", "type": "revolute", "axis": [0, 0, 1]},
                 "inertial": {"mass": 1, "inertia": {"zz": 0.01}}}
        heavy = motor("axle", "hull", [0, 0, 1], 10, 0.02, inertial={"mass": 0.5, "com": [1, 0, 0]})
        self.put_model("drone", {"base": hull, "links": [wheel], "motors": [heavy]})
        answer = self.ask("drone", "energy", {"q": [0, 0, 0, 0, 0, 0, 1, 0], "outputs": ["mass", "com"]})
        self.assertEqual(answer["mass"], 6.5)
        self.assertClose(answer["com"], [0.5 / 6.5, 0, 0], 1e-15)

    def test_rotor_heavier_than_its_motor(self):
        document = planar_two(False)
        document["motors"][1]["inertial"] = {"mass": 0.1, "inertia": {"xx": 1e-3, "yy": 1e-3, "zz": 1.9e-3}}
        report = self.put_model("odd", document)["report"]
        self.assertIn("/motors/1/spin_inertia", [entry["where"] for entry in report])
        document["motors"][1]["inertial"]["inertia"]["zz"] = 2e-3
        report = self.put_model("odd", document)["report"]
        self.assertNotIn("/motors/1/spin_inertia", [entry["where"] for entry in report])

    def test_what_is_suspicious(self):
        document = planar_two(True)
        document["motors"].pop()
        report = self.put_model("weightless", document)["report"]
        self.assertIn("/links/1/joint/elastic", [entry["where"] for entry in report])
        problem = self.assertProblem(
            self.client.post("/v1/models/weightless/forward-dynamics", {"q": [0] * 4, "tau": [0] * 4}), 422)
        self.assertEqual(problem["code"], "singular-mass-matrix")
        self.assertIn("at_two.motor", problem["detail"])


if __name__ == "__main__":
    tap.main()
