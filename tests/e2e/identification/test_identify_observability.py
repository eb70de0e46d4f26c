"""Tests identify with rows and robots that determine only part of the unknowns. The estimated combinations and the
listed ones are compared with rank and null space of the regressor's columns by NumPy. The server accepts the estimated
payload, and it predicts the torques."""
import json
import struct

import cbor2
import numpy as np
import tap
from actuated import FLYER, SPRINGY
from closed import MOTION, Closed, only
from harness import Server
from identification import PARAMETERS
from samples import body

SCARA = {"links": [
    {"name": "l1", "parent": "base", "joint": {"name": "j1", "type": "revolute", "axis": [0, 0, 1]}, "inertial": body(5, (0.15, 0, 0))},
    {"name": "l2", "parent": "l1", "joint": {"name": "j2", "type": "revolute", "axis": [0, 0, 1], "origin": {"xyz": [0.3, 0, 0]}},
     "inertial": body(3, (0.12, 0.01, 0))},
    {"name": "l3", "parent": "l2", "joint": {"name": "j3", "type": "prismatic", "axis": [0, 0, -1], "origin": {"xyz": [0.25, 0, 0.2]}},
     "inertial": body(1, (0.01, 0, 0.1))},
    {"name": "l4", "parent": "l3", "joint": {"name": "j4", "type": "revolute", "axis": [0, 0, -1]}, "inertial": body(0.3, (0, 0.01, 0))}],
    "frames": [{"name": "tool", "link": "l4", "xyz": [0.03, 0.02, -0.1]}]}
GRIPPER = {"links": [  # two fingers that share one coordinate, on a wrist
    {"name": "palm", "parent": "base", "joint": {"name": "wrist", "type": "revolute", "axis": [1, 0, 0]}, "inertial": body(1)},
    {"name": "left", "parent": "palm", "inertial": body(0.2), "joint": {
        "name": "grasp", "type": "prismatic", "axis": [0, 1, 0], "friction": {"viscous": 0.3, "coulomb": 0.2}}},
    {"name": "right", "parent": "palm", "inertial": body(0.1), "joint": {
        "name": "follow", "type": "prismatic", "axis": [0, 1, 0], "friction": {"viscous": 0.1, "coulomb": {"positive": 0.1, "negative": 0.3}},
        "mimic": {"joint": "grasp", "multiplier": -1.5, "offset": 0.1}}}]}
INERTIA = {"xx": 0.012, "yy": 0.01, "zz": 0.008, "xy": 0.001, "xz": -0.0005, "yz": 0.0008}


def load(link, mass=2.0, com=(0.02, -0.03, 0.08), inertia=None):
    return {"link": link, "mass": mass, "com": list(com), "inertia": inertia or INERTIA}


def figures(payload):
    """Returns the ten inertial parameters of a payload about the origin of its link."""
    m, c = payload["mass"], np.array(payload["com"])
    tensor = payload.get("inertia", {})
    I = np.array([[tensor.get(min(a, b) + max(a, b), 0) for b in "xyz"] for a in "xyz"]) + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


def plain(value):
    """Converts CBOR's typed arrays to lists."""
    if isinstance(value, cbor2.CBORTag):
        return list(struct.unpack(f"<{len(value.value) // 8}d", value.value))
    if isinstance(value, dict):
        return {key: plain(x) for key, x in value.items()}
    return [plain(x) for x in value] if isinstance(value, list) else value


def is_real(payload):
    """True if the pseudo-inertia is positive definite."""
    p = figures(payload)
    I = np.array([[p[4], p[5], p[7]], [p[5], p[6], p[8]], [p[7], p[8], p[9]]])
    J = np.block([[np.trace(I) / 2 * np.eye(3) - I, p[1:4, None]], [p[None, 1:4], np.array([[p[0]]])]])
    return np.linalg.eigvalsh(J)[0] > 0


class Observability(Closed):
    def motion(self, model, rows, seed, still=False):
        choose = np.random.default_rng(seed)
        if model in self.MODELS:
            motion = only(self.states(model, rows, seed), *MOTION)
        else:
            described = self.ok(self.client.get(f"/v1/models/{model}"))
            q = choose.uniform(-1.5, 1.5, (rows, described["nq"]))
            for i, name in enumerate(described["position_names"]):
                if name.endswith("qx"):
                    q[:, i:i + 4] /= np.linalg.norm(q[:, i:i + 4], axis=1)[:, None]
            motion = {"q": q.tolist(), **{name: choose.uniform(-3, 3, (rows, described["nv"])).tolist() for name in ("qd", "qdd")}}
        return {**motion, **({name: np.zeros_like(motion[name]).tolist() for name in ("qd", "qdd")} if still else {})}

    def torques(self, model, motion, **more):
        return np.array(self.ask(model, "inverse-dynamics", {**motion, **more})["tau"])

    def columns(self, model, motion, link, **more):
        """Returns the ten columns of a link's body in the regressor, each scaled to unit length or zero, and their
        lengths."""
        row = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"].index(link)
        Y = np.array(self.ask(model, "regressor", {**motion, **more})["regressor"])
        Y = Y.reshape(-1, Y.shape[-1])[:, 10 * row:10 * row + 10]
        lengths = np.linalg.norm(Y, axis=0)
        return Y, lengths > 1e-11 * lengths.max()

    def check_shown(self, Y, effect, link, shown):
        """Checks `observability`: a parameter is determined by itself ("alone") if its column is independent of all others, and not at all if
        its column is zero."""
        unit = Y / np.where(effect, np.linalg.norm(Y, axis=0), 1)
        rank = lambda M: np.linalg.matrix_rank(M, 1e-7)
        for k, name in enumerate(PARAMETERS):
            others = np.delete(unit, k, axis=1)
            expected = "none" if not effect[k] else "alone" if rank(unit) > rank(others) else "combined"
            self.assertEqual(shown[f"{link}.{name}"], expected, name)
        return rank(unit)

    def check(self, model, frame, link, motion, payload=None, noise=0.0, **more):
        """Checks that the combinations in the answer are those of the columns and have the true values, and that the
        payload predicts the torques. Returns the answer."""
        payload = payload or load(link)
        tau = self.torques(model, motion, payload=payload, **more)
        tau = tau + np.random.default_rng(9).normal(0, noise, tau.shape)
        found = self.ask(model, "identify", {**motion, **more, "tau": tau.tolist(), "unknown": ["payload"], "frame": frame})
        shown = {entry["parameter"]: entry for entry in found["observability"]}
        Y, effect = self.columns(model, motion, link, **more)
        rank = self.check_shown(Y, effect, link, {name: entry["these_rows"] for name, entry in shown.items()})
        wide = self.motion(model, 60, 77)
        self.check_shown(*self.columns(model, wide, link, **more), link, {name: entry["any_motion"] for name, entry in shown.items()})
        self.assertEqual(sorted(found["unobservable"]), sorted(n for n, entry in shown.items() if entry["any_motion"] == "none"))
        self.assertEqual(len(found["base_parameters"]), rank)
        empty = self.ask(model, "identify", {**motion, **more, "tau": self.torques(model, motion, **more).tolist(), "unknown": ["payload"],
                                             "frame": frame})
        truth = {f"{link}.{name}": x for name, x in zip(PARAMETERS, figures(payload))}
        for entry, own in zip(found["base_parameters"], empty["base_parameters"]):
            group, true = entry["grouping"], own["value"] + truth[entry["grouping"]["parameter"]]
            self.assertEqual(group["parameter"], own["grouping"]["parameter"])
            for part in group["with"]:
                true += part["coefficient"] * truth[part["parameter"]]
            allowed = 1e-7 * max(abs(true), 1e-2) if not noise else 5 * entry["deviation"]
            self.assertAlmostEqual(entry["value"], true, delta=allowed, msg=group)
        self.check_payload(model, found, motion, tau, 1e-7 if not noise else None, **more)
        return found

    def check_payload(self, model, found, motion, tau, tolerance, **more):
        payload = {key: x for key, x in found["payload"].items() if key != "mass_deviation"}
        self.assertTrue(is_real(payload), payload)
        again = self.torques(model, motion, payload=payload, **more)
        if tolerance:
            self.near(again, tau, tolerance, model)
        self.near(np.sqrt(((again - tau) ** 2).mean()), found["fit"]["residual"], 1e-6, least=1e-6)
        self.near(np.sqrt(((again - tau) ** 2).mean(axis=0)), found["fit"]["coordinates"], 1e-6, least=1e-6)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("scara", SCARA), ("gripper", GRIPPER), ("springy", SPRINGY), ("flyer", FLYER)):
            assert cls.client.put(f"/v1/models/{name}", document).status == 201

    def test_scara(self):
        """No motion of a SCARA determines the height of the payload's centre of mass and its inertias about horizontal
        axes."""
        found = self.check("scara", "tool", "l4", self.motion("scara", 40, 1))
        self.assertEqual([p["grouping"]["parameter"] for p in found["base_parameters"]], ["l4.m", "l4.mcx", "l4.mcy", "l4.Izz"])
        self.near(found["payload"]["mass"], 2, 1e-10)
        # the height of the centre of mass is undetermined; the answer takes that of the frame
        self.near(found["payload"]["com"], [0.02, -0.03, -0.1], 1e-9)
        noisy = self.check("scara", "tool", "l4", self.motion("scara", 400, 2), noise=0.1)
        for key, truth in (("mass", 2), ("com", 0.02)):
            value = noisy["payload"][key] if key == "mass" else noisy["payload"][key][0]
            self.assertAlmostEqual(value / truth, 1, delta=0.01 if key == "mass" else 0.2)
        # also under tilted gravity the height stays undetermined
        tilted = self.check("scara", "tool", "l4", self.motion("scara", 40, 3), gravity=[3, 0, -9])
        self.assertEqual(len(tilted["base_parameters"]), 4)
        # a payload on the first link: its inertia, and under tilted gravity also its centre of mass
        for more, count in (({}, 1), ({"gravity": [3, 0, -9]}, 3)):
            first = self.check("scara", "l1", "l1", self.motion("scara", 40, 4), load("l1"), **more)
            self.assertEqual(len(first["base_parameters"]), count)

    def test_loops(self):
        for model, frame, count in (("delta", "platform", 1), ("five_bar", "right_rod", None), ("five_bar", "left_crank", None),
                                    ("four_bar", "rocker", None), ("stewart", "platform", 10)):
            with self.subTest(model=model, frame=frame):
                found = self.check(model, frame, frame, self.motion(model, 60, 4), load(frame, 0.5))
                if count:
                    self.assertEqual(len(found["base_parameters"]), count)
                noisy = self.check(model, frame, frame, self.motion(model, 300, 4), load(frame, 0.5), noise=0.005)
                if found["payload"]["mass_deviation"] is not None:
                    self.assertAlmostEqual(noisy["payload"]["mass"] / 0.5, 1, delta=0.01)

    def test_static_poses(self):
        """Static poses determine mass and centre of mass whatever the inertia; one pose determines the mass and two
        combinations."""
        for model, frame, link in (("ur5", "tool0", "wrist_3_link"), ("panda", "panda_flange", "panda_link7")):
            poses = self.motion(model, 30, 5, still=True)
            found = self.check(model, frame, link, poses, load(link))
            self.near(found["payload"]["mass"], 2, 1e-9)
            self.near(found["payload"]["com"], [0.02, -0.03, 0.08], 1e-8)
            self.assertEqual({entry["these_rows"] for entry in found["observability"]}, {"alone", "none"})
            self.assertEqual({entry["any_motion"] for entry in found["observability"]}, {"alone"})
            self.assertEqual(found["unobservable"], [])
            noisy = self.check(model, frame, link, self.motion(model, 300, 6, still=True), load(link), noise=0.2)
            self.assertAlmostEqual(noisy["payload"]["mass"] / 2, 1, delta=0.01)
            one = self.check(model, frame, link, {name: rows[:1] for name, rows in poses.items()}, load(link))
            self.assertEqual(len(one["base_parameters"]), 3)

    def test_other_robots(self):
        """Tries payloads on a floating base at rest and in motion, on a mimic joint, and on a link after an elastic joint."""
        for model, link, still in (("flyer", "lower", True), ("flyer", "hull", True), ("flyer", "lower", False), ("gripper", "right", False),
                                   ("gripper", "left", True), ("springy", "upper", False), ("springy", "tail", True), ("hua", "link1", False)):
            with self.subTest(model=model, link=link, still=still):
                self.check(model, link, link, self.motion(model, 50, 7, still), load(link, 0.7))

    def test_one_joint_moves(self):
        """One joint moves while the others rest: some parameters of the payload are determined alone, some in
        combinations, some not at all."""
        kinds = set()
        for joint in range(6):
            motion = self.motion("ur5", 60, 8)
            for name in MOTION:
                rows = np.array(motion[name])
                rows[:, [i for i in range(6) if i != joint]] = 0.4 if name == "q" else 0
                motion[name] = rows.tolist()
            kinds |= {entry["these_rows"] for entry in self.check("ur5", "tool0", "wrist_3_link", motion)["observability"]}
        self.assertEqual(kinds, {"alone", "combined", "none"})

    def test_parts_of_a_payload(self):
        """With mass and centre of mass as unknowns, only these are reported; an inertia that the rows determine is
        nevertheless not assumed to be zero."""
        parts = {"unknown": ["payload.mass", "payload.com"], "frame": "tool0"}
        for still in (True, False):
            motion = self.motion("ur5", 40, 9, still)
            tau = self.torques("ur5", motion, payload=load("wrist_3_link")).tolist()
            found = self.ask("ur5", "identify", {**motion, "tau": tau, **parts})["payload"]
            self.assertEqual(sorted(found), ["com", "link", "mass", "mass_deviation"])
            self.near([found["mass"], *found["com"]], [2, 0.02, -0.03, 0.08], 1e-8)
            del found["mass_deviation"]
            if still:
                self.near(self.torques("ur5", motion, payload=found), tau, 1e-9)
            every = {**parts, "unknown": [*parts["unknown"], "payload.inertia"]}
            self.assertEqual(self.ask("ur5", "identify", {**motion, "tau": tau, **every}),
                             self.ask("ur5", "identify", {**motion, "tau": tau, **parts, "unknown": ["payload"]}))
        for unknown, code in ((["payload.mass"], "bad-value"), (["payload.com"], "bad-value"), (["payload.inertia"], "bad-value"),
                              (["payload.mass", "payload.inertia"], "bad-value"), (["payload", "payload.mass"], "duplicate-name"),
                              (["payload.mass", "payload.com", "payload.mass"], "duplicate-name"), (["payload.weight"], "unknown-name")):
            answer = self.client.post("/v1/models/ur5/identify", {**motion, "tau": tau, **parts, "unknown": unknown})
            self.refused(answer, code, "/unknown/2" if code == "duplicate-name" and len(unknown) == 3 else
                         "/unknown/0" if code == "unknown-name" else "/unknown")
        self.refused(self.client.post("/v1/models/ur5/identify", {**motion, "tau": tau, "unknown": parts["unknown"]}), "missing-field", "/frame")

    def test_a_noisy_payload_could_be_built(self):
        """Where noise makes the estimated inertia physically impossible, the answer is the real body that fits nearly
        as well."""
        impossible, document = 0, self.ok(self.client.get("/v1/models/ur5/document"))
        own = figures(next(link["inertial"] for link in document["links"] if link["name"] == "wrist_3_link"))
        for seed in range(12):
            motion = self.motion("ur5", 40, 20 + seed)
            exact = self.torques("ur5", motion, payload=load("wrist_3_link", 1.3, (0, 0, 0.05), {"xx": 1e-3, "yy": 1e-3, "zz": 1e-3}))
            tau = exact + np.random.default_rng(seed).normal(0, 0.5, exact.shape)
            found = self.ask("ur5", "identify", {**motion, "tau": tau.tolist(), "unknown": ["payload"], "frame": "tool0",
                                                 "outputs": ["payload", "fit", "residual", "model", "base_parameters"]})
            extra = np.array([p["value"] for p in found["base_parameters"]]) - own
            com = extra[1:4] / extra[0]
            I = np.array([[extra[4], extra[5], extra[7]], [extra[5], extra[6], extra[8]], [extra[7], extra[8], extra[9]]])
            I -= extra[0] * (com @ com * np.eye(3) - np.outer(com, com))
            tensor = {a + b: I["xyz".index(a), "xyz".index(b)] for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}
            payload = {key: x for key, x in found["payload"].items() if key != "mass_deviation"}
            self.assertTrue(is_real(payload))
            if is_real({"mass": extra[0], "com": com.tolist(), "inertia": tensor}):
                self.near(figures(payload), extra, 1e-9)
            else:
                impossible += 1
                self.assertGreater(np.abs(figures(payload) - extra).max(), 1e-4)
            self.assertLess(found["fit"]["residual"], 1.1 * found["residual"])
            self.put_model("found", found["model"])
            again = self.torques("found", motion)
            self.near(np.sqrt(((again - tau) ** 2).mean()), found["fit"]["residual"], 1e-6)
        self.assertGreater(impossible, 4)

    def test_order_of_joints_encodings_and_rows(self):
        """The estimate is the same with another order of joints, in CBOR, with weights and with failing rows."""
        motion = self.motion("scara", 30, 11)
        tau = self.torques("scara", motion, payload=load("l4")) + np.random.default_rng(1).normal(0, 0.05, (30, 4))
        request = {**motion, "tau": tau.tolist(), "unknown": ["payload"], "frame": "tool"}
        straight = self.ask("scara", "identify", request)
        order = [2, 0, 3, 1]
        turned = {name: np.array(request[name])[:, order].tolist() for name in (*MOTION, "tau")}
        answer = self.ask("scara", "identify", {**request, **turned, "joints": [f"j{i + 1}" for i in order]})
        self.assertEqual(answer["noise"], [straight["noise"][i] for i in order])
        self.assertEqual(answer["fit"]["coordinates"], [straight["fit"]["coordinates"][i] for i in order])
        for name in ("base_parameters", "payload", "observability", "unobservable", "condition"):
            self.assertEqual(answer[name], straight[name])
        coded = self.client.request("POST", "/v1/models/scara/identify", cbor2.dumps(request),
                                    {"Content-Type": "application/cbor", "Accept": "application/cbor"})
        self.assertEqual(coded.status, 200, coded)
        decoded = cbor2.loads(coded.body)
        for name in ("base_parameters", "payload", "observability", "unobservable", "condition"):
            self.assertEqual(plain(decoded[name]), straight[name])
        bad = {**request, "q": [*request["q"], [1e300, 0, 0, 0]], "on_error": "row",
               **{name: [*request[name], [0, 0, 0, 0]] for name in ("qd", "qdd", "tau")}}
        failed = self.ask("scara", "identify", bad)
        self.assertEqual(len(failed.pop("errors")), 1)
        self.assertEqual(failed, straight)
        weighted = {**request, "tau": [*request["tau"], [1e4] * 4], "weights": [[1] * 4] * 30 + [[0] * 4],
                    **{name: [*request[name], [0.1] * 4] for name in MOTION}}
        self.assertEqual(self.ask("scara", "identify", weighted), self.ask("scara", "identify", {**request, "weights": [1] * 4}))
        every = self.ask("scara", "identify", {**bad, "q": [[1e300, 0, 0, 0]] * 31})
        self.assertIsNone(every["payload"])
        self.assertIsNone(every["observability"])

    def test_same_bits_on_every_target(self):
        requests = []
        for model, frame, link in (("scara", "tool", "l4"), ("delta", "platform", "platform"), ("ur5", "tool0", "wrist_3_link")):
            motion = self.motion(model, 51, 15, still=model == "ur5")
            tau = self.torques(model, motion, payload=load(link)) + np.random.default_rng(2).normal(0, 0.05, (51, len(motion["qd"][0])))
            requests.append((model, {**motion, "tau": tau.tolist(), "unknown": ["payload"], "frame": frame, "huber": 1.345}))
        motion = {name: np.array(rows) * [1, 0, 0, 0, 0, 0] for name, rows in self.motion("ur5", 51, 16).items()}
        requests.append(("ur5", {**{name: rows.tolist() for name, rows in motion.items()}, "friction": True, "rotor": True, "tau": tau.tolist(),
                                 "consistent": True, "prior": {"bodies": 0.1, "friction": 1, "rotors": 0.1}}))
        server = Server("--target", "scalar")
        try:
            client = server.client()
            self.ok(client.put("/v1/models/scara", SCARA), 201)
            for model, request in requests:
                widest = self.client.post(f"/v1/models/{model}/identify", request)
                self.assertEqual(widest.status, 200, widest)
                self.assertEqual(client.post(f"/v1/models/{model}/identify", request).body, widest.body, model)
            client.close()
        finally:
            self.assertIsNone(server.stop())

    def test_payload_with_rotors(self):
        """The inertia of a payload on the first link of a SCARA and the rotor inertia of that joint act as one
        parameter."""
        motion = self.motion("scara", 60, 12)
        tau = self.torques("scara", motion, payload=load("l1")).tolist()
        found = self.ask("scara", "identify", {**motion, "tau": tau, "unknown": ["payload", "rotors"], "frame": "l1"})
        groups = {p["grouping"]["parameter"]: [part["parameter"] for part in p["grouping"]["with"]] for p in found["base_parameters"]}
        shown = {entry["parameter"]: (entry["these_rows"], entry["any_motion"]) for entry in found["observability"]}
        self.assertIn("j1.rotor_inertia", groups["l1.Izz"])
        self.assertEqual(shown["j1.rotor_inertia"], ("combined", "combined"))
        self.assertEqual(shown["l1.Izz"], ("combined", "combined"))
        self.assertEqual(shown["j4.rotor_inertia"], ("alone", "alone"))
        # with tilted gravity and a constant state of joint 1, more parameters have proportional columns and join the group
        for name, x in zip(MOTION, (0.3, 0, 2)):
            motion[name] = [[x, *row[1:]] for row in motion[name]]
        slope = {"gravity": [3, 1, -9]}
        tau = self.torques("scara", motion, payload=load("l1"), **slope).tolist()
        found = self.ask("scara", "identify", {**motion, **slope, "tau": tau, "unknown": ["payload", "rotors"], "frame": "l1"})
        groups = {p["grouping"]["parameter"]: {part["parameter"]: part["coefficient"] for part in p["grouping"]["with"]}
                  for p in found["base_parameters"]}
        # -z . (R c x g) / qdd
        effect = {"l1.mcx": (np.cos(0.3) * -1 + np.sin(0.3) * 3) / 2, "l1.mcy": (np.sin(0.3) * 1 + np.cos(0.3) * 3) / 2}
        self.assertEqual(groups["l1.Izz"].keys(), {"j1.rotor_inertia", *effect})
        self.near([groups["l1.Izz"][name] for name in ("j1.rotor_inertia", *effect)], [1, *effect.values()], 1e-9)
        self.assertLess(found["fit"]["residual"], 1e-6)

    def test_no_motion_at_all(self):
        """A robot at rest without gravity determines nothing: the refusal says so."""
        poses = self.motion("ur5", 30, 13, still=True)
        answer = self.client.post("/v1/models/ur5/identify", {**poses, "tau": [[0] * 6] * 30, "gravity": [0, 0, 0], "unknown": ["payload"], "frame": "tool0"})
        self.refused(answer, "rank-deficient")
        few = {name: rows[:1] for name, rows in self.motion("two_link", 1, 1).items()}
        answer = self.client.post("/v1/models/two_link/identify", {**few, "tau": [[0, 0]], "unknown": ["payload"], "frame": "link2"})
        self.assertIn("more", self.refused(answer, "rank-deficient"))

    def test_all_bodies(self):
        """Without `unknown`, rows that determine less than the best motion are refused; `observability` is then that of
        the robot under any motion."""
        motion = self.motion("two_link", 40, 14)
        found = self.ask("two_link", "identify", {**motion, "tau": self.torques("two_link", motion).tolist(), "outputs": ["observability", "unobservable"]})
        shown = {entry["parameter"]: entry for entry in found["observability"]}
        self.assertEqual({name for name, entry in shown.items() if entry["any_motion"] == "none"}, set(found["unobservable"]))
        self.assertTrue(all(entry["these_rows"] == entry["any_motion"] for entry in shown.values()))
        self.assertEqual((shown["link2.mcy"]["any_motion"], shown["link2.m"]["any_motion"]), ("alone", "combined"))


class Mimics(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/gripper", GRIPPER)

    def motion(self, rows, nv, seed):
        choose = np.random.default_rng(seed)
        return {name: choose.uniform(-2, 2, (rows, nv)).tolist() for name in MOTION}

    def groups(self, answer):
        return {p["grouping"]["parameter"]: {part["parameter"]: part["coefficient"] for part in p["grouping"]["with"]}
                for p in answer["base_parameters"]}

    def check(self, model, motion, unknown):
        """Checks combinations ("groups") of friction parameters: their values are those of the real robot, and the identified model predicts the
        torques."""
        tau = self.ask(model, "inverse-dynamics", motion)["tau"]
        found = self.ask(model, "identify", {**motion, "tau": tau, "unknown": unknown, "outputs": ["base_parameters", "model", "fit", "unobservable"]})
        self.put_model("found", found["model"])
        self.near(self.ask("found", "inverse-dynamics", motion)["tau"], tau, 1e-6)
        self.assertLess(found["fit"]["residual"], 1e-6)
        return found

    def test_friction(self):
        found = self.check("gripper", self.motion(60, 2, 1), ["friction"])
        groups, value = self.groups(found), {p["grouping"]["parameter"]: p["value"] for p in found["base_parameters"]}
        self.assertEqual(groups["grasp.viscous"], {"follow.viscous": 2.25})
        self.assertEqual(groups["grasp.coulomb_positive"], {"follow.coulomb_negative": 1.5})
        self.near(value["grasp.viscous"], 0.3 + 2.25 * 0.1, 1e-10)
        self.near(value["grasp.coulomb_positive"], 0.2 + 1.5 * 0.3, 1e-10)
        self.near(value["grasp.coulomb_negative"], 0.2 + 1.5 * 0.1, 1e-10)
        links = {link["name"]: link["joint"]["friction"] for link in found["model"]["links"]}
        # the answer is the solution closest to the model's values
        self.near(links["right"]["coulomb"]["negative"], 0.3, 1e-5)
        whole = self.groups(self.ask("gripper", "identify", {
            **self.motion(60, 2, 1), "tau": self.ask("gripper", "inverse-dynamics", self.motion(60, 2, 1))["tau"], "friction": True}))
        for name, group in groups.items():
            self.assertEqual(group, whole[name])

    def test_rotors_load_and_both(self):
        for unknown in (["rotors"], ["friction", "rotors"], ["rotors", "friction"]):
            found = self.check("gripper", self.motion(60, 2, 2), unknown)
            self.assertEqual(self.groups(found)["grasp.rotor_inertia"], {"follow.rotor_inertia": 2.25})
        motion = self.motion(60, 2, 3)
        tau = self.ask("gripper", "inverse-dynamics", motion)["tau"]
        found = self.ask("gripper", "identify", {**motion, "tau": tau, "unknown": ["friction", "load"], "outputs": ["base_parameters", "model", "fit"]})
        self.assertLess(found["fit"]["residual"], 1e-6)
        self.put_model("found", found["model"])
        self.near(self.ask("found", "inverse-dynamics", motion)["tau"], tau, 1e-6)

    def test_a_bundled_gripper(self):
        motion = self.motion(60, 1, 4)
        found = self.check("robotiq_2f_85", motion, ["friction"])
        self.assertEqual(len(found["base_parameters"]), 3)
        self.assertTrue(all(len(group) == 5 for group in self.groups(found).values()))

    def test_passive_joints_of_loops(self):
        states = only(self.states("four_bar", 80, 5), *MOTION)
        document = json.loads(json.dumps(self.documents["four_bar"]))
        for i, link in enumerate(document["links"]):
            link["joint"]["friction"] = {"viscous": 0.1 + 0.1 * i, "coulomb": 0.2}
        self.put_model("rubbing", document)
        tau = self.ask("rubbing", "inverse-dynamics", states)["tau"]
        for model in ("four_bar", "rubbing"):
            found = self.ask(model, "identify", {**states, "tau": tau, "unknown": ["friction"], "outputs": ["base_parameters", "fit"]})
            self.assertLess(found["fit"]["residual"], 1e-6)

    def test_one_way_is_still_refused(self):
        """If another motion would determine some of the parameters, the request is refused, also when other parameters form groups that no
        motion separates."""
        motion = self.motion(60, 2, 6)
        motion["qd"] = np.abs(motion["qd"]).tolist()
        tau = self.ask("gripper", "inverse-dynamics", motion)["tau"]
        detail = self.refused(self.client.post("/v1/models/gripper/identify", {**motion, "tau": tau, "unknown": ["friction"]}), "rank-deficient")
        self.assertIn("grasp.coulomb_negative", detail)


if __name__ == "__main__":
    tap.main()
