"""Tests URDF files of robots: against reference values of 80 digits (oracle.py), and their reports."""
import collections
import math
import xml.etree.ElementTree as ElementTree

import oracle
import tap
from arrays import flatten, rotation
from oracle import EXACT, FORWARD, State
from urdf import NAMES, UrdfCase, read


class Figures(UrdfCase):
    """Errors are relative to the robot's largest entry of the quantity over its states."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tables = {name: oracle.load(name) for name in oracle.ROBOTS}

    def robots(self):
        for name, table in self.tables.items():
            self.take(name, read(name), "?base=floating" if table["base"] == "floating" else "")
            names = self.ok(self.client.get(f"/v1/models/{name}"))["velocity_names"]
            yield name, [State(table, values, names) for values in table["states"]]

    def compare(self, name, operation, states, request, quantities, tolerance=EXACT):
        """`quantities` maps a field of the answer to a function of the state that returns its expected value."""
        expected = {field: [value(s) for s in states] for field, value in quantities.items()}
        for i, s in enumerate(states):
            answer = self.ask(name, operation, {**request(s), "outputs": list(quantities)})
            for field in quantities:
                scale = max(abs(x) for x in flatten(expected[field]))
                limit = tolerance if field != "inverse" else FORWARD
                self.assertClose(answer[field], expected[field][i], limit, scale, f"{name} {operation} {field} state {i}")

    def test_inverse_dynamics(self):
        for name, states in self.robots():
            def motion(s):
                return {**s.motion("qd", "qdd"), "friction": False}
            self.compare(name, "inverse-dynamics", states, motion, {"tau": lambda s: s.vector("inverse-dynamics", "tau")})
            self.compare(name, "inverse-dynamics", states, lambda s: {**motion(s), "wrenches": [s.wrench]},
                         {"tau": lambda s: s.vector("inverse-dynamics", "tau_with_wrench")})

    def test_forward_dynamics(self):
        for name, states in self.robots():
            def push(s):
                return {**s.motion("qd", "tau"), "friction": False}
            self.compare(name, "forward-dynamics", states, push, {"qdd": lambda s: s.vector("forward-dynamics", "qdd")}, FORWARD)
            self.compare(name, "forward-dynamics", states, lambda s: {**push(s), "wrenches": [s.wrench]},
                         {"qdd": lambda s: s.vector("forward-dynamics", "qdd_with_wrench")}, FORWARD)

    def test_mass_matrix_and_bias(self):
        for name, states in self.robots():
            self.compare(name, "mass-matrix", states, lambda s: {"q": s.q},
                         {field: lambda s, field=field: s.square("mass-matrix", field) for field in ("mass_matrix", "inverse")})
            self.compare(name, "bias", states, lambda s: {**s.motion("qd"), "friction": False},
                         {field: lambda s, field=field: s.vector("bias", field) for field in ("bias", "gravity")})

    def test_energy(self):
        for name, states in self.robots():
            fields = {field: lambda s, field=field: s.value("energy", field)
                      for field in ("kinetic", "potential", "com", "com_velocity", "momentum")}
            self.compare(name, "energy", states, lambda s: s.motion("qd"),
                         {**fields, "momentum_matrix": lambda s: s.columns("energy", "momentum_matrix")})

    def test_kinematics(self):
        for name, states in self.robots():
            frame = states[0].table["frame"]

            def motion(s):
                return {**s.motion("qd", "qdd"), "frame": frame}
            for s in states:
                pose = self.ask(name, "kinematics", {"q": s.q, "frames": [frame]})["poses"][frame]
                expected = s.value("kinematics", "pose")
                self.assertClose(pose["position"], [row[3] for row in expected], EXACT, 1, name)
                self.assertClose(rotation(pose["orientation"]), [row[:3] for row in expected], EXACT, 1, name)
            self.compare(name, "kinematics", states, motion, {
                "jacobian": lambda s: s.columns("kinematics", "jacobian"),
                "jacobian_dot": lambda s: s.columns("kinematics", "jacobian_dot"),
                "acceleration": lambda s: s.value("kinematics", "acceleration")})
            self.compare(name, "kinematics", states, lambda s: {**motion(s), "reference": "frame"}, {
                "jacobian": lambda s: s.columns("kinematics", "jacobian_in_frame"),
                "velocity": lambda s: s.value("kinematics", "velocity_in_frame"),
                "acceleration": lambda s: s.value("kinematics", "acceleration_in_frame")})

    def test_derivatives(self):
        for name, states in self.robots():
            def motion(s):
                return {**s.motion("qd", "qdd"), "friction": False}
            self.compare(name, "torque-derivative", states, lambda s: {**motion(s), "qddd": s.given("qddd")},
                         {"tau_dot": lambda s: s.vector("torque-derivative", "tau_dot")})
            self.compare(name, "sensitivity", states, motion,
                         {"dtau_dq": lambda s: s.square("sensitivity", "dtau_dq"),
                          "dtau_dqd": lambda s: s.square("sensitivity", "dtau_dqd"),
                          "dtau_dqdd": lambda s: s.square("mass-matrix", "mass_matrix")})
            self.compare(name, "forward-sensitivity", states, lambda s: {**s.motion("qd", "tau"), "friction": False},
                         {"dqdd_dq": lambda s: s.square("forward-sensitivity", "dqdd_dq"),
                          "dqdd_dqd": lambda s: s.square("forward-sensitivity", "dqdd_dqd"),
                          "dqdd_dtau": lambda s: s.square("mass-matrix", "inverse")}, FORWARD)


class Robot:
    """An independent reading of a file: moving joints, fixed joints, links with mass."""

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.links = {link.get("name"): link for link in self.root.findall("link")}
        self.joints = self.root.findall("joint")
        self.carrier = {joint.find("child").get("link"): joint for joint in self.joints}
        self.base = next(name for name in self.links if name not in self.carrier)

    def moved(self, link):
        while link != self.base:
            if self.carrier[link].get("type") != "fixed":
                return True
            link = self.carrier[link].find("parent").get("link")
        return False

    def mass(self, floating):
        weights = (link.find("inertial/mass") for name, link in self.links.items() if floating or self.moved(name))
        return math.fsum(float(mass.get("value")) for mass in weights if mass is not None)

    def of_type(self, *types):
        return [joint for joint in self.joints if joint.get("type") in types]


class Files(UrdfCase):
    def test_every_file_loads_as_it_is(self):
        for name in NAMES:
            robot = Robot(read(name))
            moving = [j.get("name") for j in robot.joints if j.get("type") != "fixed"]
            for base in ("fixed", "floating"):
                taken = self.take(name, read(name), f"?base={base}")
                model = self.ok(self.client.get(f"/v1/models/{name}"))
                free = base == "floating"
                self.assertEqual((taken["nq"], taken["nv"]), (len(moving) + 7 * free, len(moving) + 6 * free))
                self.assertEqual(sorted(model["velocity_names"][6 * free:]), sorted(moving))
                self.assertEqual(model["links"][0], robot.base)
                self.assertEqual(set(model["links"]), set(robot.links))
                self.assertClose([model["mass"]], [robot.mass(free)], what=name)

    def test_coordinates_are_in_the_order_of_joints(self):
        """Coordinates are depth-first, children in the order of the joints in the file."""
        for name in NAMES:
            robot = Robot(read(name))
            children = collections.defaultdict(list)
            for joint in robot.joints:
                children[joint.find("parent").get("link")].append(joint)

            def walk(link):
                for joint in children[link]:
                    yield from [joint.get("name")] if joint.get("type") != "fixed" else []
                    yield from walk(joint.find("child").get("link"))
            self.take(name, read(name))
            self.assertEqual(self.ok(self.client.get(f"/v1/models/{name}"))["velocity_names"], list(walk(robot.base)))

    def test_reports_tell_the_truth(self):
        for name in NAMES:
            robot = Robot(read(name))
            report = self.take(name, read(name))["report"]
            told = collections.defaultdict(list)
            for entry in report:
                told[entry["code"]].append(entry["text"])
            fixed = robot.of_type("fixed")
            self.assertEqual(len(told["merged"]), len(fixed), name)
            for joint in fixed:
                child, parent = (joint.find(end).get("link") for end in ("child", "parent"))
                self.assertTrue(any(f'"{child}" is fixed to "{parent}"' in text or f'"{child}" is fixed to the world' in
                                    text for text in told["merged"]), (name, child))
            mimics = [j for j in robot.joints if j.find("mimic") is not None and j.get("type") != "fixed"]
            self.assertEqual(len(told["independent"]), len(mimics), name)
            for joint in mimics:
                words = f'"{joint.get("name")}" mimics "{joint.find("mimic").get("joint")}"'
                self.assertTrue(any(words in text for text in told["independent"]), (name, words))
            transmissions = robot.root.findall("transmission")
            self.assertEqual(len(told["unused"]), len(transmissions), name)
            for transmission in transmissions:
                text = next(t for t in told["unused"] if f'"{transmission.get("name")}"' in t)
                self.assertIn(f'"{transmission.find("joint").get("name")}"', text)
                self.assertIn("reduction " + transmission.find("actuator/mechanicalReduction").text, text)
            self.assertEqual(len(told["turned"]), sum(self.is_turned(link) for link in robot.links.values()), name)
            massless = [j.get("name") for j in robot.joints if j.get("type") != "fixed"
                        and robot.links[j.find("child").get("link")].find("inertial") is None]
            self.assertEqual(sum("has no inertial" in text for text in told["assumed"]), len(massless), name)
            for tag in ("contact", "self_filter", "collision_checking"):
                count = len(robot.root.findall(f"link/{tag}"))
                text = next((t for t in told["dropped"] if f"<{tag}>" in t), "")
                self.assertEqual(bool(text), count > 0, (name, tag))
                if count > 1:
                    self.assertIn(f"; {count} of this kind", text)

    def is_turned(self, link):
        origin = link.find("inertial/origin")
        return origin is not None and any(float(x) for x in origin.get("rpy", "0").split())

    def test_document_gives_the_same_revision_and_bits(self):
        for name in NAMES:
            for query in ("?base=fixed", "?base=floating", "?mimic=coupled"):
                taken = self.take("original", read(name), query)
                document = self.ok(self.client.get("/v1/models/original/document"))
                again = self.put_model("copy", document)
                self.assertEqual(again["revision"], taken["revision"])
                names = self.ok(self.client.get("/v1/models/original"))
                self.assertEqual({**self.ok(self.client.get("/v1/models/copy")), "name": 0, "report": 0},
                                 {**names, "name": 0, "report": 0})
                q = [math.sin(i + 1) for i in range(taken["nq"])]
                if query == "?base=floating":
                    q[3:7] = [0.5, -0.5, 0.5, 0.5]
                request = {"q": q, "qd": [math.cos(i) for i in range(taken["nv"])]}
                self.assertEqual(self.ask_texts("original", "bias", request), self.ask_texts("copy", "bias", request))

    def test_bundled_robots_beside_their_urdf(self):
        """solo12 has the figures of its URDF; panda too, except for the hand, whose links are massless in the bundled
        robot."""
        self.take("urdf", read("solo12"), "?base=floating")
        q = [0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5] + [math.sin(i) for i in range(12)]
        self.same_torques("solo12", "urdf", {"q": q, "qd": [math.cos(i) for i in range(18)], "qdd": [1] * 18})
        self.take("urdf", read("panda_arm"))
        document = self.ok(self.client.get("/v1/models/urdf/document"))
        for one in document["links"]:
            if one["joint"]["type"] == "fixed":
                one.pop("inertial", None)
        self.put_model("urdf", document)
        q = [math.sin(i) for i in range(7)]
        self.same_torques("panda", "urdf", {"q": q, "qd": [1] * 7, "qdd": q[::-1], "friction": False})

    def same_torques(self, one, other, request):
        self.assertClose(*(self.ask(model, "inverse-dynamics", request)["tau"] for model in (one, other)), 1e-14)

    def test_massless_fingers(self):
        """Romeo has 24 massless joints: torques are computed, but accelerations do not exist."""
        taken = self.take("romeo", read("romeo"))
        zeros = [0] * taken["nv"]
        self.assertEqual(len(self.ask("romeo", "inverse-dynamics", {"q": zeros})["tau"]), 55)
        problem = self.assertProblem(self.client.post("/v1/models/romeo/forward-dynamics", {"q": zeros, "tau": zeros}),
                                     422)
        self.assertEqual(problem["code"], "singular-mass-matrix")
        self.assertRegex(problem["detail"], "(Finger|Thumb|Hand)")

    def test_coupled_mimics(self):
        """The torque of a coupled gripper is that of both fingers, through the multiplier, and its motion moves both."""
        self.take("free", read("baxter"), "?mimic=independent")
        self.take("coupled", read("baxter"), "?mimic=coupled")
        free, coupled = (self.ok(self.client.get(f"/v1/models/{m}")) for m in ("free", "coupled"))
        followers = {j["name"]: j["mimic"] for j in coupled["joints"] if "mimic" in j}
        self.assertEqual(set(free["velocity_names"]) - set(coupled["velocity_names"]), set(followers))
        self.assertEqual(coupled["bodies"], free["bodies"])
        motion = {key: {name: math.sin(k + i) for i, name in enumerate(coupled["velocity_names"])}
                  for k, key in enumerate(("q", "qd", "qdd"))}
        spread = {key: dict(values) for key, values in motion.items()}
        for name, m in followers.items():
            for key, values in spread.items():
                values[name] = m["multiplier"] * values[m["joint"]] + (m["offset"] if key == "q" else 0)
        tau = dict(zip(free["velocity_names"], self.ask("free", "inverse-dynamics", spread)["tau"]))
        for name, m in followers.items():
            tau[m["joint"]] += m["multiplier"] * tau.pop(name)
        expected = [tau[name] for name in coupled["velocity_names"]]
        self.assertClose(self.ask("coupled", "inverse-dynamics", motion)["tau"], expected)


if __name__ == "__main__":
    tap.main()
