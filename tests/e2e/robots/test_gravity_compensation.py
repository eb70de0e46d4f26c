"""Tests the compensation of gravity by links: closed forms of a double pendulum, links that fixed joints connect, payloads and
parameters, files of MuJoCo, SDF and URDF, and locked joints."""
import math

import numpy as np
import tap
from harness import ServerCase
from samples import body

G, L = 9.81, 0.7
# mass (kg), distance of the centre of mass from the joint (m), compensated part of gravity
UPPER, LOWER, PLATE = (1.7, 0.31, 0.4), (0.9, 0.22, -0.3), (0.6, 0.15, 1.3)


def link(name, parent, figures, joint, x):
    mass, far, share = figures
    return {"name": name, "parent": parent, "inertial": body(mass, (far, 0, 0)), "gravity_compensation": share,
            "joint": {"name": f"{name}.joint", **joint, "origin": {"xyz": [x, 0, 0]}}}


def pendulum(plate=PLATE[2], **more):
    """Returns two links on horizontal axes, the second with a plate on a fixed joint."""
    hinge = {"type": "revolute", "axis": [0, 1, 0]}
    return {"links": [link("upper", "base", UPPER, hinge, 0), link("lower", "upper", LOWER, hinge, L),
                      link("plate", "lower", (*PLATE[:2], plate), {"type": "fixed"}, 0.2)], "gravity": [0, 0, -G], **more}


def weights(q, plate=PLATE[2], lower=LOWER[2], added=0.0):
    """Returns g(q) and the potential energy of the weights that are not compensated. `added` is a mass at the origin of the plate's frame."""
    parts = [(UPPER[0] * (1 - UPPER[2]), UPPER[1], None), (LOWER[0] * (1 - lower), L, LOWER[1]),
             (PLATE[0] * (1 - plate), L, 0.2 + PLATE[1]), (added * (1 - plate), L, 0.2)]
    first = sum(m * (a * math.cos(q[0]) + (0 if b is None else b * math.cos(q[0] + q[1]))) for m, a, b in parts)
    second = sum(m * b * math.cos(q[0] + q[1]) for m, _, b in parts if b is not None)
    height = -sum(m * (a * math.sin(q[0]) + (0 if b is None else b * math.sin(q[0] + q[1]))) for m, a, b in parts)
    return [-G * first, -G * second], G * height


Q, QD, QDD = [0.4, -0.9], [1.1, 0.6], [0.7, -2.3]


class Compensation(ServerCase):
    def gravity(self, name="pendulum", **more):
        return self.ask(name, "bias", {"q": Q, "outputs": ["gravity"], **more})["gravity"]

    def test_gravity_and_energy_are_those_of_the_weights_left(self):
        self.put_model("pendulum", pendulum())
        expected, energy = weights(Q)
        self.assertClose(self.gravity(), expected)
        self.assertClose([self.ask("pendulum", "energy", {"q": Q})["potential"]], [energy])
        by_gravity = self.ask("pendulum", "sensitivity", {"q": Q, "outputs": ["dtau_dgravity", "dtau_dq"]})
        self.assertClose([row[2] for row in by_gravity["dtau_dgravity"]], [x / -G for x in expected])
        h = 1e-6
        for k in range(2):
            ends = [weights([x + s * h * (i == k) for i, x in enumerate(Q)])[0] for s in (1, -1)]
            self.assertClose([row[k] for row in by_gravity["dtau_dq"]], [(a - b) / 2 / h for a, b in zip(*ends)], 1e-7)

    def test_inertia_and_velocity_terms_stay(self):
        self.put_model("pendulum", pendulum())
        self.put_model("plain", {**pendulum(), "links": [{k: v for k, v in entry.items() if k != "gravity_compensation"} for entry in pendulum()["links"]]})
        state = {"q": Q, "qd": QD, "qdd": QDD, "gravity": [0, 0, 0]}
        self.assertEqual(self.ask("pendulum", "inverse-dynamics", state)["tau"], self.ask("plain", "inverse-dynamics", state)["tau"])
        self.assertEqual(self.ask("pendulum", "mass-matrix", {"q": Q}), self.ask("plain", "mass-matrix", {"q": Q}))

    def test_the_force_passes_through_fixed_joints(self):
        """The fixed joint of a plate at rest must transmit the part of the plate's weight that is not compensated."""
        self.put_model("pendulum", pendulum())
        answer = self.ask("pendulum", "sensors", {"q": Q, "force_torque": [{"joint": "plate.joint"}], "payload": {"link": "plate", "mass": 0.5}})
        force, left = np.array(answer["wrenches"])[0], 1 - PLATE[2]
        turn = Q[0] + Q[1]
        up = np.array([-math.sin(turn), 0, math.cos(turn)])
        self.assertClose(force[:3].tolist(), ((PLATE[0] + 0.5) * left * G * up).tolist())
        self.assertClose(force[3:].tolist(), np.cross([PLATE[1], 0, 0], PLATE[0] * left * G * up).tolist())

    def test_payloads_and_parameters_have_the_share_of_their_link(self):
        self.put_model("pendulum", pendulum())
        self.assertClose(self.gravity(payload={"link": "plate", "mass": 0.8}), weights(Q, added=0.8)[0])
        self.put_model("alike", pendulum(LOWER[2]))
        regressed = self.ask("alike", "regressor", {"q": Q, "qd": QD, "qdd": QDD})["regressor"]
        ten = [[1.1, 0.2, 0.03, -0.04, 0.2, 0.01, 0.3, 0.02, 0.005, 0.25], [0.7, 0.11, -0.02, 0.05, 0.1, 0.004, 0.16, 0.01, 0.002, 0.12]]
        tau = self.ask("alike", "inverse-dynamics", {"q": Q, "qd": QD, "qdd": QDD, "parameters": {"upper": ten[0], "lower": ten[1]}})["tau"]
        self.assertClose((np.array(regressed) @ np.ravel(ten)).tolist(), tau)

    def test_links_of_one_body_that_differ_have_no_regressor(self):
        self.put_model("pendulum", pendulum())
        state = {"q": Q, "qd": QD, "qdd": QDD}
        for operation, request in (("regressor", {}), ("sensitivity", {"outputs": ["dtau_dparameters"]}),
                                   ("inverse-dynamics", {"parameters": {"lower": [1, 0, 0, 0, 1, 0, 1, 0, 0, 1]}})):
            answer = self.client.post(f"/v1/models/pendulum/{operation}", {**state, **request})
            self.assertEqual((answer.status, answer.json()["code"]), (422, "not-supported"), answer.body)

    def test_files(self):
        self.put_model("pendulum", pendulum(1))
        for form, lost in (("mjcf", 0), ("sdf", 2), ("urdf", 3)):
            file = self.ok(self.client.get(f"/v1/models/pendulum/export/{form}"))
            said = [entry["text"] for entry in file["report"] if "gravity_compensation" in entry["text"]]
            self.assertEqual(len(said), lost, said)
            put = self.client.request("PUT", "/v1/models/again", file["text"].encode(), {"Content-Type": f"application/{form}+xml"})
            self.assertIn(put.status, (200, 201), put)
            if not lost:
                self.assertClose(self.gravity("again"), weights(Q, 1)[0])
            elif form == "sdf":
                links = self.client.get("/v1/models/again/document").json()["links"]
                self.assertEqual({entry["name"]: entry.get("gravity_compensation", 0) for entry in links}["plate"], 1)

    def test_locked_joints(self):
        self.put_model("pendulum", pendulum())
        answer = self.ask("pendulum", "bias", {"q": Q[:1], "locked": {"lower.joint": Q[1]}, "outputs": ["gravity"]})
        self.assertClose(answer["gravity"], weights(Q)[0][:1])

    def test_what_is_no_number_is_refused(self):
        for value in ("1", [1]):
            document = pendulum()
            document["links"][0]["gravity_compensation"] = value
            answer = self.client.put("/v1/models/bad", document)
            self.assertEqual((answer.status, answer.json()["pointer"]), (422, "/links/0/gravity_compensation"), answer.body)


if __name__ == "__main__":
    tap.main()
