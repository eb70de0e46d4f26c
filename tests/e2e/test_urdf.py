"""URDF files: the figures of an independent library, the reports, and the files that must be refused.

The robots and the tables lie beside the checkout, where they lie at all; what needs them is skipped elsewhere.
"""
import collections
import concurrent.futures
import math
import os
import unittest
import xml.etree.ElementTree as ElementTree

import tap
import test_oracle
from arrays import add, cross, flatten, rotation
from harness import ROOT, ServerCase

ROBOTS = os.path.join(os.path.dirname(ROOT), "shared", "robots")
FILES = sorted(name[:-5] for name in os.listdir(ROBOTS) if name.endswith(".urdf")) if os.path.isdir(ROBOTS) else []
EXACT, FORWARD = 1e-12, 1e-10


def read(name):
    with open(os.path.join(ROBOTS, name + ".urdf"), "rb") as file:
        return file.read()


class UrdfCase(ServerCase):
    def put_urdf(self, name, text, query=""):
        return self.client.put(f"/v1/models/{name}{query}", text.encode() if isinstance(text, str) else text,
                               Content_Type="application/xml")

    def take(self, name, text, query=""):
        answer = self.put_urdf(name, text, query)
        self.assertIn(answer.status, (200, 201), answer)
        return answer.json()

    def refuse(self, text, status, code, *words, query=""):
        problem = self.assertProblem(self.put_urdf("refused", text, query), status)
        self.assertEqual(problem["code"], code, problem)
        for word in words:
            self.assertIn(word, problem["detail"])
        self.assertNotIn("pointer", problem)     # there is no JSON to point into
        return problem


@unittest.skipUnless(FILES and os.path.isdir(test_oracle.ORACLE), "no robots and reference tables beside the checkout")
class Figures(UrdfCase):
    """Entries are off by no more than a fraction of the robot's largest entry of that quantity over its states."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tables = {name: test_oracle.load(name) for name in test_oracle.ROBOTS}

    def robots(self):
        for name, table in self.tables.items():
            self.take(name, read(name), "?base=floating" if table["base"] == "floating" else "")
            names = self.ok(self.client.get(f"/v1/models/{name}"))["velocity_names"]
            yield name, table, [test_oracle.State(table, values, names) for values in table["states"]]

    def compare(self, name, operation, states, request, quantities, tolerance=EXACT):
        """quantities: the answer's field to what it should be, of a state."""
        expected = {field: [value(s) for s in states] for field, value in quantities.items()}
        for i, s in enumerate(states):
            answer = self.ask(name, operation, {**request(s), "outputs": list(quantities)})
            for field in quantities:
                scale = max(abs(x) for x in flatten(expected[field]))
                limit = tolerance if field != "inverse" else FORWARD
                self.assertClose(answer[field], expected[field][i], limit, scale, f"{name} {operation} {field} state {i}")

    def wrench(self, table, s):
        joint = next(j for j in table["model"] if j["name"] == s["fext_joint"])
        if joint["nv"] == 6:
            link = "base"
        else:
            root = ElementTree.fromstring(read(table["urdf"].split("/")[-1].removesuffix(".urdf")))
            link = next(j for j in root.findall("joint") if j.get("name") == joint["name"]).find("child").get("link")
        return {"link": link, "force": s["fext_local"][:3], "torque": s["fext_local"][3:], "frame": "link"}

    def test_inverse_dynamics(self):
        for name, table, states in self.robots():
            def motion(s):
                return {"q": s.q, "qd": s.vector("v"), "qdd": s.vector("a"), "friction": False}
            self.compare(name, "inverse-dynamics", states, motion, {"tau": lambda s: s.vector("rnea")})
            self.compare(name, "inverse-dynamics", states, lambda s: {**motion(s), "wrenches": [self.wrench(table, s)]},
                         {"tau": lambda s: s.vector("rnea_with_fext")})

    def test_forward_dynamics(self):
        for name, table, states in self.robots():
            def push(s):
                return {"q": s.q, "qd": s.vector("v"), "tau": s.vector("tau_in"), "friction": False}
            self.compare(name, "forward-dynamics", states, push, {"qdd": lambda s: s.vector("aba")}, FORWARD)
            self.compare(name, "forward-dynamics", states, lambda s: {**push(s), "wrenches": [self.wrench(table, s)]},
                         {"qdd": lambda s: s.vector("aba_with_fext")}, FORWARD)

    def test_mass_matrix_and_bias(self):
        for name, _, states in self.robots():
            self.compare(name, "mass-matrix", states, lambda s: {"q": s.q},
                         {"mass_matrix": lambda s: s.square("crba"), "inverse": lambda s: s.square("ddq_dtau")})
            self.compare(name, "bias", states, lambda s: {"q": s.q, "qd": s.vector("v"), "friction": False},
                         {"bias": lambda s: s.vector("nle"), "gravity": lambda s: s.vector("gravity_torque")})

    def test_energy(self):
        for name, _, states in self.robots():
            self.compare(name, "energy", states, lambda s: {"q": s.q, "qd": s.vector("v")},
                         {"kinetic": lambda s: s["kinetic_energy"], "potential": lambda s: s["potential_energy"],
                          "com": lambda s: s["com"], "com_velocity": lambda s: s["com_velocity"],
                          "momentum": lambda s: s["centroidal_momentum"],
                          "momentum_matrix": lambda s: s.columns("centroidal_momentum_matrix")})

    def test_kinematics(self):
        """The tables' spatial acceleration of the frame is the classical one less w x v."""
        for name, table, states in self.robots():
            frame = table["frame"]["name"]

            def motion(s):
                return {"q": s.q, "qd": s.vector("v"), "qdd": s.vector("a"), "frame": frame}
            for s in states:
                pose = self.ask(name, "kinematics", {"q": s.q, "frames": [frame]})["poses"][frame]
                placement = s["frame_placement_3x4"]
                self.assertClose(pose["position"], [row[3] for row in placement], EXACT, 1, name)
                self.assertClose(rotation(pose["orientation"]), [row[:3] for row in placement], EXACT, 1, name)
            self.compare(name, "kinematics", states, motion, {
                "jacobian": lambda s: s.columns("frame_jacobian_LOCAL_WORLD_ALIGNED"),
                "jacobian_dot": lambda s: s.columns("frame_jacobian_dot_LOCAL_WORLD_ALIGNED"),
                "acceleration": lambda s: s["frame_classical_acceleration_LOCAL_WORLD_ALIGNED"]})
            self.compare(name, "kinematics", states, lambda s: {**motion(s), "reference": "frame"}, {
                "jacobian": lambda s: s.columns("frame_jacobian_LOCAL"),
                "velocity": lambda s: s["frame_velocity_LOCAL"],
                "acceleration": lambda s: add(s["frame_acceleration_LOCAL"][:3],
                                              cross(s["frame_velocity_LOCAL"][3:], s["frame_velocity_LOCAL"][:3])) +
                s["frame_acceleration_LOCAL"][3:]})

    def test_derivatives(self):
        for name, _, states in self.robots():
            def motion(s):
                return {"q": s.q, "qd": s.vector("v"), "qdd": s.vector("a"), "friction": False}
            self.compare(name, "torque-derivative", states, lambda s: {**motion(s), "qddd": s.vector("jerk")},
                         {"tau_dot": lambda s: s.vector("tau_dot")})
            self.compare(name, "sensitivity", states, motion,
                         {"dtau_dq": lambda s: s.square("dtau_dq"), "dtau_dqd": lambda s: s.square("dtau_dv"),
                          "dtau_dqdd": lambda s: s.square("crba")})
            self.compare(name, "forward-sensitivity", states,
                         lambda s: {"q": s.q, "qd": s.vector("v"), "tau": s.vector("tau_in"), "friction": False},
                         {"dqdd_dq": lambda s: s.square("ddq_dq"), "dqdd_dqd": lambda s: s.square("ddq_dv"),
                          "dqdd_dtau": lambda s: s.square("ddq_dtau")}, FORWARD)


class Robot:
    """What a file says, read independently: who moves, what is fixed, what weighs."""

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


@unittest.skipUnless(FILES, "no robots beside the checkout")
class Files(UrdfCase):
    def test_every_file_loads_as_it_is(self):
        for name in FILES:
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
        """Depth first, children in the order of the joints in the file."""
        for name in FILES:
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
        for name in FILES:
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
                text = next((t for t in told["unknown"] if f"<{tag}>" in t), "")
                self.assertEqual(bool(text), count > 0, (name, tag))
                if count > 1:
                    self.assertIn(f"; {count} of this kind", text)

    def is_turned(self, link):
        origin = link.find("inertial/origin")
        return origin is not None and any(float(x) for x in origin.get("rpy", "0").split())

    def test_document_gives_the_same_revision_and_bits(self):
        for name in FILES:
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
        """solo12: the same figures. panda: the same but for the hand, whose links weigh nothing in the bundled one."""
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
        """Romeo's 24 massless joints: torques are computed, accelerations do not exist."""
        taken = self.take("romeo", read("romeo"))
        zeros = [0] * taken["nv"]
        self.assertEqual(len(self.ask("romeo", "inverse-dynamics", {"q": zeros})["tau"]), 55)
        problem = self.assertProblem(self.client.post("/v1/models/romeo/forward-dynamics", {"q": zeros, "tau": zeros}),
                                     422)
        self.assertEqual(problem["code"], "singular-mass-matrix")
        self.assertRegex(problem["detail"], "(Finger|Thumb|Hand)")

    def test_coupled_mimics(self):
        """A gripper's torque is that of both fingers, through the multiplier; its motion moves both."""
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


def robot(*parts, name="r"):
    return f'<robot name="{name}">' + "".join(parts) + "</robot>"


def link(name, inside=""):
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, inside="", kind="revolute"):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


INERTIAL = ('<inertial><origin xyz="0 0 .1"/><mass value="1."/>'
            '<inertia ixx="+1e-1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="01e-1"/></inertial>')
ARM = (link("a"), link("b", INERTIAL), joint("j", "a", "b", '<axis xyz="0 0 1"/>'))


class Refused(UrdfCase):
    def tearDown(self):
        self.assertEqual(self.client.get("/v1/models/refused").status, 404)

    def test_not_xml(self):
        self.refuse("", 400, "bad-xml")
        self.refuse("{}", 400, "bad-xml")
        self.refuse("<robot", 400, "bad-xml", "line 1")
        self.refuse("<robot></link>", 400, "bad-xml")
        self.refuse(robot(*ARM) + "<more/>", 400, "bad-xml")
        self.refuse("<robot name='r'>&bomb;</robot>", 400, "bad-xml", "bomb")
        problem = self.refuse(robot(link("\u00e9")).encode("latin-1"), 400, "bad-xml", "not UTF-8")
        self.assertEqual(problem["offset"], robot(link("\u00e9")).index("\u00e9"))
        self.refuse(robot(*ARM).encode("utf-16"), 400, "bad-xml")
        self.refuse(robot(*ARM).encode() + b"\0", 400, "bad-xml")
        self.refuse("<robot " + " ".join(f'a{i}="1"' for i in range(101)) + "/>", 400, "bad-xml", "100 attributes")

    def test_a_declared_encoding_is_a_word(self):
        """Bytes are UTF-8; a text that is that, too, may say what it likes."""
        self.take("worded", '<?xml version="1.0" encoding="ISO-8859-1"?>' + robot(*ARM))
        self.take("marked", "\ufeff" + robot(*ARM))

    def test_entities_are_not_even_declared(self):
        bomb = "<!DOCTYPE r [" + '<!ENTITY a0 "ha">' + "".join(
            f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(30)) + "]>"
        outside = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        for doctype in (bomb, outside, '<!DOCTYPE robot SYSTEM "http://127.0.0.1:1/robot.dtd">', "<!DOCTYPE robot>"):
            self.refuse(doctype + robot(*ARM), 422, "not-supported", "document type declaration")
        self.refuse(bomb + "<robot name='&a30;'/>", 422, "not-supported")

    def test_deep_and_large(self):
        self.refuse("<robot>" + "<a>" * 100000, 400, "too-deep", "32")
        many = robot(link("l0"), *(link(f"l{i + 1}", INERTIAL) + joint(f"j{i}", f"l{i}", f"l{i + 1}")
                                   for i in range(10000)))
        self.refuse(many, 413, "model-too-large", "10001 links")
        self.refuse(robot(*(link(f"l{i}") for i in range(100000))), 413, "model-too-large")
        self.refuse(robot(link("l0"), *(link(f"l{i + 1}", INERTIAL) + joint(f"j{i}", f"l{i}", f"l{i + 1}")
                                        for i in range(600))), 413, "model-too-large", "degrees of freedom")

    def test_no_tree(self):
        self.refuse("<sdf/>", 422, "bad-model", "<sdf>")
        self.refuse(robot(), 422, "bad-model", "no <link>")
        self.refuse(robot(link("alone")), 422, "bad-model", "nothing moves")
        self.refuse(robot(*ARM, "\n", link("stray")), 422, "bad-model", 'line 2, link "stray"', "one root")
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")), 422, "bad-model",
                    "no root", "joint")
        self.refuse(robot(*ARM, link("c"), link("d"), joint("k", "c", "d"), "\n", joint("l", "d", "c")), 422,
                    "bad-model", "circle", "line")
        self.refuse(robot(*ARM, joint("k", "a", "b")), 422, "bad-model", 'joint "k"', 'child of joint "j"')
        self.refuse(robot(*ARM, joint("k", "b", "b")), 422, "bad-model", 'joint "k"')
        self.refuse(robot(*ARM, link("c"), joint("k", "ghost", "c")), 422, "unknown-name", 'joint "k"', '"ghost"')
        self.refuse(robot(*ARM, joint("k", "a", "ghost")), 422, "unknown-name", 'joint "k"', '"ghost"')

    def test_names(self):
        self.refuse(robot(*ARM, link("b")), 422, "duplicate-name", 'link "b"')
        self.refuse(robot(*ARM, link("c"), joint("j", "b", "c")), 422, "duplicate-name", 'joint "j"')
        self.refuse(robot(link("")), 422, "bad-name", "empty")
        self.refuse(robot(link("a"), link("b"), joint("", "a", "b")), 422, "bad-name", "empty")
        self.refuse(robot("<link/>"), 422, "missing-field", '"name"')
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b\n")), 422, "unknown-name")
        self.refuse(robot(link("a"), link("x" * 257), joint("j", "a", "x" * 257)), 422, "bad-name", "257")
        self.refuse(robot(link("a"), link("b"), '<joint name="j" type="fixed"><child link="b"/></joint>'), 422,
                    "missing-field", "<parent>", 'joint "j"')

    def test_numbers(self):
        for text in ("nan", "inf", "-Infinity", "0x10", "1,5", "1e", "e1", ".", "+", "--1", "1_0", "\u0661", "${pi}"):
            self.refuse(robot(link("a"), link("b"), "\n\n", joint("j", "a", "b", f'<origin xyz="0 {text} 0"/>')), 422,
                        "wrong-type", 'line 3, joint "j"', "not a decimal number")
        for text in ("", "1 2", "1 2 3 4"):
            self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", f'<axis xyz="{text}"/>')), 422, "wrong-shape",
                        "expected 3 numbers")
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", '<axis xyz="1e999 0 0"/>')), 422, "non-finite")
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", '<axis xyz="0 0 0"/>')), 422, "bad-value",
                    "direction", 'joint "j"')
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", '<axis/>')), 422, "missing-field", '"xyz"')

    def test_inertia(self):
        for change in (("1.", "-1"), ('"+1e-1"', '"-1"'), ('ixx="+1e-1"', ""), ('<mass value="1."/>', ""),
                       ('value="1."', "")):
            self.refuse(robot(*ARM).replace(*change), 422, "bad-inertia" if "-1" in change[1] else "missing-field",
                        'link "b"')

    def test_planar_joint(self):
        """Its axis is the normal; what is for one coordinate is reported and left out."""
        inside = '<axis xyz="0 0 1"/><dynamics damping="2"/><limit effort="1" velocity="1"/>'
        answer = self.put_urdf("planar", robot(link("a"), link("b", INERTIAL), joint("j", "a", "b", inside, "planar")))
        report = self.ok(answer, 201)["report"]
        for dropped in ("dynamics", "limit"):
            self.assertTrue(any(f"<{dropped}>" in entry["text"] for entry in report), report)
        model = self.ok(self.client.get("/v1/models/planar"))
        self.assertEqual(model["position_names"], ["j.x", "j.y", "j.angle"])

    def test_joint_types_that_come_later(self):
        for kind in ("floating",):
            answer = self.put_urdf("later", robot(link("a"), link("b", INERTIAL), joint("j", "a", "b", kind=kind)))
            if answer.status == 422:
                self.assertIn('joint "j"', answer.json()["detail"])
            else:
                self.assertIn(answer.status, (200, 201), answer)
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", kind="ball")), 422, "bad-value", '"ball"')

    def test_parameters(self):
        for query in ("?base=free", "?mimic=no", "?Base=fixed", "?base", "?mimic=coupled&mimic=coupled", "?x=1", "?&"):
            self.assertProblem(self.put_urdf("refused", robot(*ARM), query), 422)
        self.assertProblem(self.client.put("/v1/models/refused?base=fixed", {"links": []}), 422)
        self.assertProblem(self.client.get("/v1/models/puma560?base=fixed"), 422)
        mimic = robot(*ARM, link("c", INERTIAL), joint("k", "b", "c", '<mimic joint="j"/>'))
        self.refuse(mimic, 422, "not-supported", "mimic=refuse", query="?mimic=refuse")
        self.refuse(mimic.replace('mimic joint="j"', 'mimic joint="x"'), 422, "unknown-name", '"x"',
                    query="?mimic=coupled")
        self.refuse(mimic.replace('mimic joint="j"', 'mimic joint="k"'), 422, "bad-model", "in turn",
                    query="?mimic=coupled")

    def test_media_types(self):
        text = robot(*ARM).encode()
        for kind in ("text/xml", "application/xml; charset=UTF-8", "Application/XML"):
            answer = self.client.put("/v1/models/typed", text, Content_Type=kind)
            self.assertIn(answer.status, (200, 201), answer)
            self.assertEqual(answer.headers.get_content_type(), "application/json")
        for kind in ("application/xml; charset=latin-1", "application/urdf+xml", "image/svg+xml"):
            self.assertProblem(self.client.put("/v1/models/refused", text, Content_Type=kind), 415)
        self.assertProblem(self.client.post("/v1/models/puma560/bias", text, Content_Type="application/xml"), 415)
        self.assertProblem(self.client.put("/v1/models/refused", text, Content_Type="application/xml",
                                           Accept="application/xml"), 406)

    def test_a_bad_file_never_replaces_a_good_one(self):
        good = self.take("steady", robot(*ARM))
        for bad in ("<robot", robot(), robot(*ARM).replace("1.", "nan")):
            self.assertGreaterEqual(self.put_urdf("steady", bad).status, 400)
            self.assertEqual(self.ok(self.client.get("/v1/models/steady"))["revision"], good["revision"])


class Meaning(UrdfCase):
    """Small files whose dynamics are known."""

    def tau(self, name, request):
        return self.ask(name, "inverse-dynamics", request)["tau"]

    def test_defaults(self):
        """No axis: x. No origin, no limits. A point mass of 1 kg at 0.1 m along z, turned about x by a right angle."""
        text = robot(link("a"), link("b", INERTIAL.replace("+1e-1", "0").replace('"0.1"', '"0"').replace("01e-1", "0")),
                     joint("j", "a", "b"))
        report = self.take("plain", text)["report"]
        told = [entry["text"] for entry in report if entry["code"] == "assumed"]
        self.assertTrue(any("no axis" in t for t in told) and any("no limits" in t for t in told), told)
        self.assertClose(self.tau("plain", {"q": [math.pi / 2]}), [-9.81 * 0.1])

    def test_inertial_axes_of_its_own(self):
        """A rod whose tensor is given along its own x, turned by a right angle to lie along the link's y."""
        inertial = ('<inertial><origin rpy="0 0 1.5707963267948966"/><mass value="1"/>'
                    '<inertia ixx="0" ixy="0" ixz="0" iyy="2" iyz="0" izz="2"/></inertial>')
        for axis, expected in (("1 0 0", 2), ("0 1 0", 0), ("0 0 1", 2)):
            self.take("rod", robot(link("a"), link("b", inertial), joint("j", "a", "b", f'<axis xyz="{axis}"/>')))
            M = self.ask("rod", "mass-matrix", {"q": [0.3]})["mass_matrix"]
            self.assertClose(M, [[expected]], 1e-15, 2)

    def test_dynamics_and_limit(self):
        inside = ('<axis xyz="0 0 2"/><dynamics damping="0.5" friction="0.25"/>'
                  '<limit lower="-1" upper="2" velocity="3" effort="4"/>')
        report = self.take("rough", robot(*ARM[:2], joint("j", "a", "b", inside)))["report"]
        self.assertTrue(any("length 2" in entry["text"] for entry in report), report)
        self.assertClose(self.tau("rough", {"q": [0], "qd": [2]}), [0.5 * 2 + 0.25])
        joints = self.ok(self.client.get("/v1/models/rough"))["joints"]
        self.assertEqual(joints[0]["limits"], {"position": [-1, 2], "velocity": 3, "effort": 4})

    def test_odd_limits_are_reported(self):
        for limit, words in (('lower="2" upper="1"', "above"), ('velocity="-1"', "negative"),
                             ('upper="1"', "no lower limit"), ('lower="-1"', "no upper limit")):
            taken = self.take("odd", robot(*ARM[:2], joint("j", "a", "b", f'<axis xyz="0 0 1"/><limit {limit}/>')))
            self.assertTrue(any(words in entry["text"] for entry in taken["report"]), (limit, taken["report"]))

    def test_chain_of_mimics(self):
        """k at 2 q + 0.5, l at 3 k - 1: one coordinate for three bodies about one axis; inertia 0.1 (1, 3, 9)²."""
        chain = robot(*ARM, link("c", INERTIAL), link("d", INERTIAL),
                      joint("l", "c", "d", '<axis xyz="0 0 1"/><mimic joint="k" multiplier="3" offset="-1"/>'),
                      joint("k", "b", "c", '<axis xyz="0 0 1"/><mimic joint="j" multiplier="2" offset=".5"/>'))
        taken = self.take("chain", chain, "?mimic=coupled")
        self.assertEqual((taken["nq"], taken["nv"]), (1, 1))
        model = self.ok(self.client.get("/v1/models/chain"))
        self.assertEqual(model["velocity_names"], ["j"])
        self.assertEqual([j.get("mimic") for j in model["joints"]],
                         [None, {"joint": "j", "multiplier": 2, "offset": 0.5},
                          {"joint": "j", "multiplier": 6, "offset": 0.5}])
        self.assertClose(self.ask("chain", "mass-matrix", {"q": [0.2]})["mass_matrix"], [[0.1 * (1 + 9 + 81)]])
        angle = 0.2 + (2 * 0.2 + 0.5) + (6 * 0.2 + 0.5)
        pose = self.ask("chain", "kinematics", {"q": [0.2], "frames": ["d"]})["poses"]["d"]
        self.assertClose(pose["orientation"], [0, 0, math.sin(angle / 2), math.cos(angle / 2)], 1e-14)

    def test_what_is_not_used_is_told(self):
        text = robot(*ARM, '<material name="m"/>', '<transmission name="t"><type>x</type><joint name="j"/>'
                     '<actuator name="m"><mechanicalReduction> 50 </mechanicalReduction></actuator></transmission>',
                     '<xacro:macro xmlns:xacro="http://x"/>').replace('<axis', '<axes/><axis u="1"').replace(
                         "</inertial>", "</inertial><inertial/>")
        told = {(e["code"], e["text"]) for e in self.take("rich", text)["report"]}
        for code, words in (("dropped", "<material>"), ("unused", '"t" of joint "j", reduction  50 '),
                            ("unknown", "<macro>"), ("unknown", "<axes>"), ("unknown", "u in <axis>"),
                            ("repeated", "<inertial>")):
            self.assertTrue(any(c == code and words in text for c, text in told), (code, words, told))

    def test_many_at_once(self):
        """The parser of one file knows nothing of the others': each thread gets its own robot or its own refusal."""
        def put(number):
            client = self.server.client()
            text = robot(*ARM).replace("01e-1", str(1 + number))
            good = [client.put(f"/v1/models/many{number}", text.encode(), Content_Type="application/xml") for _ in range(20)]
            bad = [client.put(f"/v1/models/many{number}", "\n" * number + "<robot>", Content_Type="application/xml")
                   for _ in range(20)]
            client.close()
            return {a.json()["revision"] for a in good}, {a.json()["detail"] for a in bad}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            results = list(pool.map(put, range(8)))
        self.assertTrue(all(len(revisions) == 1 for revisions, _ in results), results)
        self.assertEqual(len(set().union(*(revisions for revisions, _ in results))), 8)
        for number, (_, details) in enumerate(results):
            self.assertEqual([detail.split(":")[0] for detail in details], [f"line {number + 1}"])

    def test_chain_of_fixed_links(self):
        """As deep as links may be many; merged into one body."""
        n = 2000
        text = robot(link("l0"), *(link(f"l{i + 1}", INERTIAL) + joint(
            f"j{i}", f"l{i}", f"l{i + 1}", '<axis xyz="0 0 1"/>', "fixed" if i else "continuous") for i in range(n)))
        self.assertEqual(self.take("deep", text)["nv"], 1)
        self.assertClose(self.ask("deep", "mass-matrix", {"q": [0]})["mass_matrix"], [[0.1 * n]])


if __name__ == "__main__":
    tap.main()
