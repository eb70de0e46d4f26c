"""Tests the query parameters inertia and density of URDF: inertias from collisions, and bodies that are truly indefinite."""
import json
import math
import os
import struct
import tempfile

import command_line
import numpy as np
import tap
from urdf import UrdfCase, joint, link, robot

HINGE = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="2"/>'


def collision(shape, origin='<origin xyz="0.1 0.2 0.3"/>'):
    return f"<collision>{origin}<geometry>{shape}</geometry></collision>"


def arm(inside):
    return robot(link("base"), link("arm", inside), joint("lift", "base", "arm", HINGE))


def inertial(mass, T, com="0.1 0 0"):
    return (f'<inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia ' + " ".join(f'{k}="{v}"' for k, v in zip(
        ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), (*T, 0, 0, 0)[:6])) + "/></inertial>")


class Collisions(UrdfCase):
    def inertial(self, text, query):
        report = self.take("m", text, query)["report"]
        return self.client.get("/v1/models/m/document").json()["links"][-1].get("inertial"), report

    def test_shapes(self):
        r, L = .2, .5
        ball, tube = 4 / 3 * math.pi * r ** 3, math.pi * r * r * L
        half = 2 * (ball / 2) * (2 / 5 * r * r + L * L / 4 + 3 / 8 * L * r)
        for shape, V, I in (('<box size=".2 .3 .5"/>', .03, [.03 / 12 * x for x in (.34, .29, .13)]),
                            ('<sphere radius=".2"/>', ball, [.4 * ball * r * r] * 3),
                            ('<cylinder radius=".2" length=".5"/>', tube, [tube * (3 * r * r + L * L) / 12] * 2 + [tube * r * r / 2]),
                            ('<capsule radius=".2" length=".5"/>', tube + ball,
                             [tube * (3 * r * r + L * L) / 12 + half] * 2 + [tube * r * r / 2 + .4 * ball * r * r])):
            for query, density in (("?inertia=collision", 1000), ("?inertia=collision&density=2.5e2", 250), ("?density=30&inertia=collision", 30)):
                with self.subTest(shape=shape, query=query):
                    read, report = self.inertial(arm(collision(shape)), query)
                    self.assertClose(read["mass"], density * V, 1e-12)
                    self.assertClose(read["com"], [.1, .2, .3], 1e-12)
                    self.assertClose([read["inertia"][k] for k in ("xx", "yy", "zz")], [density * x for x in I], 1e-12)
                    said = [entry["text"] for entry in report if entry["code"] == "assumed" and "collisions" in entry["text"]]
                    self.assertEqual(len(said), 1, report)
                    self.assertIn(f"{density:g} kg/m^3", said[0])

    def test_stated_inertias_stay_and_nothing_changes_without_the_parameter(self):
        shape = collision('<box size=".2 .3 .5"/>')
        stated = inertial(2, (.1, .2, .25))
        for query in ("", "?inertia=stated", "?inertia=collision"):
            self.assertEqual(self.inertial(arm(stated + shape), query)[0]["mass"], 2)
        for query in ("", "?inertia=stated"):
            read, report = self.inertial(arm(shape), query)
            self.assertIsNone(read)
            self.assertTrue(any("<collision>" in entry["text"] for entry in report), report)

    def test_origins_turn_the_tensor_and_collisions_add_up(self):
        two = collision('<box size=".2 .3 .5"/>', '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>') + collision('<sphere radius=".1"/>', '<origin xyz="-1 0 0"/>')
        read, _ = self.inertial(arm(two), "?inertia=collision")
        a, b = 30, 4000 / 3 * math.pi * .001
        x = (a - b) / (a + b)
        self.assertClose(read["com"], [x, 0, 0], 1e-12, scale=1)
        self.assertClose(read["inertia"]["xx"], a / 12 * .29 + .4 * b * .01, 1e-12)
        self.assertClose(read["inertia"]["yy"], a / 12 * .34 + .4 * b * .01 + a * (1 - x) ** 2 + b * (1 + x) ** 2, 1e-12)

    def test_meshes_are_read_beside_the_file(self):
        corners = [(x, y, z) for x in (0, .25) for y in (0, .5) for z in (0, .75)]
        faces = [t for a, b, c, d in [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)] for t in ((a, b, c), (a, c, d))]
        data = bytes(80) + struct.pack("<I", 12) + b"".join(struct.pack("<12fH", 0, 0, 0, *(v for i in f for v in corners[i]), 0) for f in faces)
        for name, scale, status, word in (("box.stl", "", 0, ""), ("box.stl", 'scale="2 1 1"', 0, ""), ("no.stl", "", 1, "did not come"), ("box.stl", 'scale="2 1"', 1, "expected 3")):
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "box.stl"), "wb") as file:
                    file.write(data)
                with open(os.path.join(folder, "m.urdf"), "w") as file:
                    file.write(arm(collision(f'<mesh filename="{name}" {scale}/>', "")))
                done = command_line.torqued("convert", "--inertia", "collision", "--density", "100", os.path.join(folder, "m.urdf"))
            self.assertEqual(done.returncode, status, done)
            self.assertIn(word, done.stderr.decode())
            if status == 0:
                read = json.loads(done.stdout)["links"][0]["inertial"]
                self.assertClose(read["mass"], 100 * .25 * .5 * .75 * (2 if scale else 1), 1e-12)

    def test_refusals(self):
        self.refuse(arm(collision('<drake:ellipsoid a="1" b="1" c="1"/>')), 422, "not-supported", "not computed", query="?inertia=collision")
        self.refuse(arm(collision('<sphere radius="0"/>')), 422, "bad-inertia", "above 0", query="?inertia=collision")
        self.refuse(arm("<collision/>"), 422, "missing-field", "<geometry>", query="?inertia=collision")
        for query, code, word in (("?density=100", "bad-value", "inertia=collision"), ("?inertia=collision&density=0", "bad-value", "above 0"),
                                  ("?inertia=collision&density=x", "bad-value", "above 0"), ("?inertia=all", "bad-value", "stated, collision or accept"),
                                  ("?inertia=collision&density=", "bad-value", "above 0"), ("?weight=1", "unknown-parameter", "density")):
            self.refuse(arm(""), 422, code, word, query=query)


class Indefinite(UrdfCase):
    # The principal moments are about -0.0027, 0.0395 and 0.0540; the moment about the axis of the joint stays positive.
    MILD = inertial(4.7, (0.039, 0.0395, 0.0123, 0, 0.025))
    WILD = inertial(1, (0.2, -0.5, 0.3), "0 0 0")      # the moment about the joint's axis y, and thus the mass matrix, is -0.5 kg m^2

    def test_a_refusal_names_the_parameter(self):
        self.refuse(arm(self.MILD), 422, "bad-inertia", "inertia=accept", "accept_indefinite")
        self.refuse(robot(link("base", self.WILD), link("arm", inertial(2, (.1, .2, .25))), joint("lift", "base", "arm", HINGE)), 422, "bad-inertia",
                    query="?base=floating")

    def accepted(self, text, query="?inertia=accept"):
        report = self.take("m", text, query)["report"]
        said = [entry for entry in report if entry["code"] == "suspicious" and "accepted as asked" in entry["text"]]
        self.assertEqual(len(said), 1, report)
        self.assertEqual(said[0]["severity"], "warning")

    def test_it_loads_with_a_warning_and_its_document_loads_again(self):
        self.accepted(arm(self.MILD))
        first = self.client.get("/v1/models/m").json()["revision"]
        document = self.client.get("/v1/models/m/document").json()
        self.assertIs(document["accept_indefinite"], True)
        self.put_model("again", document)
        self.assertEqual(self.client.get("/v1/models/again").json()["revision"], first)
        del document["accept_indefinite"]
        problem = self.assertProblem(self.client.put("/v1/models/again", json.dumps(document).encode(), Content_Type="application/json"), 422)
        self.assertEqual(problem["code"], "bad-inertia")

    def test_its_mass_matrix_and_torques_are_those_of_the_figures(self):
        self.accepted(arm(self.MILD))
        M = 0.0395 + 4.7 * 0.01
        self.assertClose(self.ask("m", "mass-matrix", {"q": [0.4]})["mass_matrix"], [[M]], 1e-13)
        gravity = -4.7 * 9.81 * 0.1 * math.cos(0.4)
        self.assertClose(self.ask("m", "inverse-dynamics", {"q": [0.4], "qd": [0.5], "qdd": [2]})["tau"], [2 * M + gravity], 1e-13)
        self.assertClose(self.ask("m", "forward-dynamics", {"q": [0.4], "qd": [0.5], "tau": [3]})["qdd"], [(3 - gravity) / M], 1e-12)

    def test_a_floating_base(self):
        text = robot(link("base", self.WILD), link("arm", inertial(2, (.1, .2, .25))), joint("lift", "base", "arm", HINGE))
        self.accepted(text, "?base=floating&inertia=accept")

    def test_operations_are_finite_or_refused_by_name(self):
        """Where the mass matrix is negative, operations that solve with it are refused; all others answer finite numbers."""
        self.accepted(arm(self.WILD))
        self.assertClose(self.ask("m", "mass-matrix", {"q": [0.4]})["mass_matrix"], [[-0.5]], 1e-13)
        state = {"q": [0.4], "qd": [0.5], "qdd": [0.6], "tau": [0.7]}
        solving = {"forward-dynamics", "forward-sensitivity", "forward-hessian", "simulate", "impact", "task-inertia", "step"}
        described = [operation["name"] for operation in self.client.get("/v1").json()["operations"]]
        tried = 0
        for name in described:
            for fields in (("q",), ("q", "qd"), ("q", "qd", "qdd"), ("q", "qd", "tau"), ("q", "qd", "qdd", "tau")):
                body = {key: state[key] for key in fields} | ({"duration": .1, "interval": .05} if name == "simulate" else {})
                answer = self.client.post(f"/v1/models/m/{name}", body)
                if answer.status == 200:
                    self.assertNotIn(name, solving, answer.json())
                    self.assertTrue(np.isfinite(list(numbers(answer.json()))).all(), name)
                    tried += 1
                elif name in ("forward-dynamics", "forward-sensitivity") and "tau" in fields and "qdd" not in fields:
                    self.assertEqual((answer.status, answer.json()["code"]), (422, "singular-mass-matrix"), answer)
                    tried += 1
        self.assertGreater(tried, 8)

    def test_the_inertia_matrix_must_be_definite_in_each_direction(self):
        """A mass matrix [[1.5, c], [c, 0.1]] of two hinges about different axes may be indefinite with a positive diagonal: the server must find
        this too."""
        body = inertial(1, (0.1, 0.1, 0.3, 0.4), "0 0 0")
        text = robot(link("base"), link("arm", inertial(1, (.01, .01, .01), "0 0 0")), link("hand", body), joint("j", "base", "arm", '<axis xyz="1 0 0"/>', "continuous"),
                     joint("k", "arm", "hand", '<axis xyz="0 1 0"/>', "continuous"))
        self.accepted(text)
        M = np.array(self.ask("m", "mass-matrix", {"q": [0, 0]})["mass_matrix"])
        self.assertLess(np.linalg.eigvalsh(M)[0], 0)
        self.assertGreater(min(np.diag(M)), 0)
        answer = self.client.post("/v1/models/m/forward-dynamics", {"q": [0, 0], "qd": [0, 0], "tau": [1, 2]})
        self.assertEqual((answer.status, answer.json()["code"]), (422, "singular-mass-matrix"), answer)


def numbers(value):
    """Yields all numbers in an answer."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from numbers(entry)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


if __name__ == "__main__":
    tap.main()
