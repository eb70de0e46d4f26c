"""Sends robots and requests in which one number is huge: a product of such numbers overflows somewhere. The server refuses
each of them by name (422) or answers with finite numbers; it never answers 5xx."""
import copy
import json
import os
import re
import unittest

import tap
from harness import ROOT, ServerCase

DATA = os.path.join(ROOT, "tests", "data")
HUGE = (1e100, -1e155, 1e308)
NUMBER = re.compile(r'(?<=[" >])-?\d+\.?\d*(?:e-?\d+)?(?=[" <])')
URDF = """<robot name="r"><link name="w"/><link name="a"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><mass value="2"/>
<inertia ixx="0.1" ixy="0.01" ixz="0.02" iyy="0.12" iyz="0.03" izz="0.15"/></inertial></link><link name="b"><inertial><mass
value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="j" type="revolute"><parent link="w"/><child link="a"/><origin xyz="0.1 0 0.2" rpy="0 0.3 0"/><axis xyz="0 0.6 0.8"/>
<limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.2"/></joint>
<joint name="k" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0.2"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="2" effort="30" velocity="4"/><mimic joint="j" multiplier="0.5" offset="0.1"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j"/><actuator name="m">
<mechanicalReduction>50</mechanicalReduction><motorInertia>0.001</motorInertia></actuator></transmission></robot>"""
SPRING = """<mujoco><worldbody><body><joint name="j" type="hinge" stiffness="2" springref="30" ref="10" range="-90 90"/><geom
size="0.1"/><body pos="0.1 0.2 0.3"><joint name="k" type="slide" armature="0.1" frictionloss="0.3"/><geom type="box" size=
"0.1 0.2 0.3" density="800"/></body></body></worldbody></mujoco>"""
POINTS = [[0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [0.1, 0.3, 0.2], [0.2, 0.2, 0.3], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]
STATE = {"q": [0.39, 0.45, 0.42], "qd": [0.1, 0.2, 0.3], "qdd": [0.3, 0.2, 0.1]}
PD = {"controller": "pd_gravity", "kp": 10, "kd": 1, "reference": [0.4, 0.4, 0.4]}
REQUESTS = (
    ("delta/inverse-dynamics", {**STATE, "wrenches": [{"link": "platform", "force": [1, 2, 3]}]}),
    ("delta/forward-dynamics", {"q": STATE["q"], "qd": STATE["qd"], "tau": [1, 2, 3]}),
    ("delta/simulate", {"q": STATE["q"], "duration": 0.05, "step": 0.01, "samples": 3, "input": PD}),
    ("delta/simulate", {"q": STATE["q"], "duration": 0.05, "step": 0.01, "samples": 3, "input": PD,
                        "outputs": ["limits", "least_margins"]}),
    ("delta/step", {"q": STATE["q"], "qd": STATE["qd"], "tau": [1, 2, 3], "step": 0.01}),
    ("delta/margins", STATE),
    ("delta/trajectory", {"control_points": POINTS, "degree": 3, "duration": 1, "samples": 3, "outputs": ["tau", "limits", "least_margins"]}),
    ("panda_arm/inverse-kinematics", {"frame": "panda_link7", "position": [0.3, 0.2, 0.5]}),
    ("panda_arm/path", {"q": [0.1] * 7, "qd": [0.2] * 7, "qdd": [0.3] * 7, "friction": True}),
    ("panda_arm/kinematics", {"frame": "panda_link7", "q": [0.1] * 7, "qd": [0.2] * 7, "qdd": [0.3] * 7}),
)


def replaced(tree, place, value):
    """Returns a copy of a JSON value in which the number at `place`, a list of keys and indices, is `value`."""
    other = copy.deepcopy(tree)
    part = other
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    return other


def places(tree, so_far=()):
    """Yields the places of all numbers in a JSON value."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    if isinstance(tree, (int, float)) and not isinstance(tree, bool):
        yield so_far
    for step, part in inner:
        yield from places(part, (*so_far, step))


def some(all_of_them, most):
    """Returns at most about `most` items, spread evenly."""
    items = list(all_of_them)
    return items[::1 + len(items) // most]


class HugeFigures(ServerCase):
    def put(self, body, kind, what):
        """Puts a robot, and evaluates it if it is accepted. Returns the code of the refusal or None."""
        answer = self.client.put("/v1/models/huge", body, Content_Type=kind)
        self.assertIn(answer.status, (200, 201, 422), f"{what}: {answer}")
        if answer.status == 422:
            return answer.json()["code"]
        model = self.ok(self.client.get("/v1/models/huge"))
        state = {"q": [0.1] * model["nq"], "qd": [0.1] * model["nv"], "qdd": [0.2] * model["nv"]}
        answer = self.client.post("/v1/models/huge/inverse-dynamics", state)
        self.assertIn(answer.status, (200, 422), f"{what}: {answer}")
        return None

    def put_texts(self, text, kind, what):
        codes = set()
        for i, found in enumerate(some(NUMBER.finditer(text), 50)):
            other = text[:found.start()] + repr(HUGE[i % 3]) + text[found.end():]
            codes.add(self.put(other, kind, f"{what}, {found.group()} at {found.start()}"))
        return codes

    def test_xml_files(self):
        codes = self.put_texts(URDF, "application/xml", "urdf") | self.put_texts(SPRING, "application/xml", "springs")
        for folder in ("mjcf", "sdf"):
            for name in sorted(os.listdir(os.path.join(DATA, folder))):
                path = os.path.join(DATA, folder, name)
                if not os.path.isfile(path):
                    continue
                with open(path, encoding="utf-8") as file:
                    codes |= self.put_texts(file.read(), "application/xml", name)
        self.assertIn("non-finite", codes)

    def test_a_product_that_overflows(self):
        """A product overflows: springref, converted from degrees, times a stiffness, or the volume of a huge body times its density."""
        for old, new in (('springref="30"', 'springref="1e308"'), ('size="0.1"', 'size="1e150"'), ('ref="10"', 'ref="1e308"')):
            code = self.put(SPRING.replace(old, new, 1), "application/xml", new)
            self.assertIn(code, ("non-finite", "angle-too-large"), new)

    def test_documents(self):
        for name in ("kinova", "romeo", "double_pendulum"):
            with open(os.path.join(DATA, "robots", name + ".json"), encoding="utf-8") as file:
                document = json.load(file)
            for i, place in enumerate(some(places(document), 60)):
                self.put(replaced(document, place, HUGE[i % 3]), "application/json", f"{name} {place}")

    def test_requests(self):
        with open(os.path.join(DATA, "robots", "panda_arm.json"), encoding="utf-8") as file:
            self.put_model("panda_arm", json.load(file))
        for path, request in REQUESTS:
            self.ok(self.client.post("/v1/models/" + path, request))
            for place in some(places(request), 30):
                for huge in HUGE:
                    answer = self.client.post("/v1/models/" + path, replaced(request, place, huge))
                    self.assertIn(answer.status, (200, 413, 422), f"{path} {place} {huge}: {answer}")

    def test_one_row_alone(self):
        """In a batch, a controller's reference with which the torque overflows fails only its own row."""
        def ask(reference):
            return {"q": [STATE["q"]] * 3, "duration": 0.05, "step": 0.01, "samples": 3, "on_error": "row",
                    "input": {**PD, "reference": reference}}

        answer = self.ask("delta", "simulate", ask([[0.4] * 3, [0, -1e308, 0], [0.4] * 3]))
        alone = self.ask("delta", "simulate", {**ask([0.4] * 3), "q": [STATE["q"]]})
        self.assertEqual([answer["q"][0], answer["q"][2]], [alone["q"][0]] * 2)
        self.assertIsNone(answer["limits"][1])
        self.assertEqual([(e["row"], e["code"]) for e in answer["errors"]], [(1, "result-not-finite")])


if __name__ == "__main__":
    tap.main()
