"""Dynamics against reference values of an independent rigid-body library, where its tables lie beside the checkout.

Each robot is put to the server and asked; answers are compared by joint name. Twice: joints in the tables' order, and
siblings reversed, so that coordinates are numbered otherwise.
"""
import os
import unittest

import tap
from arrays import add, cross, dot, matvec, rotation, transpose
from harness import ServerCase
from oracle import EXACT, FORWARD, ORACLE, ROBOTS, State, document, load


@unittest.skipUnless(os.path.isdir(ORACLE), "no reference tables beside the checkout")
class Oracle(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tables = {name: load(name) for name in ROBOTS}

    def states(self):
        """(model name, table, state) of every robot and state, in both joint orders."""
        for name, table in self.tables.items():
            for order, reverse in (("forward", False), ("reversed", True)):
                model = f"{name}-{order}"
                self.put_model(model, document(table, reverse))
                names = self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]
                for values in table["states"]:
                    yield model, table, State(table, values, names)

    def compare(self, what, actual, expected, tolerance=EXACT):
        self.assertClose(actual, expected, tolerance, what=what)

    def test_model(self):
        for model, table, _ in self.states():
            served = self.ok(self.client.get(f"/v1/models/{model}"))
            self.assertEqual((served["nq"], served["nv"]), (table["nv"] + (table["base"] == "floating"), table["nv"]))
            self.compare(f"{model} mass", served["mass"], table["total_mass_moving"])
            self.assertEqual(len(served["bodies"]), table["njoints"])

    def test_inverse_dynamics(self):
        for model, table, s in self.states():
            motion = {"q": s.q, "qd": s.vector("v"), "qdd": s.vector("a")}
            where = f"{model} state {s['id']}"
            answer = self.ask(model, "inverse-dynamics", {**motion, "outputs": ["tau", "joint_wrenches"]})
            self.compare(f"{where} rnea", answer["tau"], s.vector("rnea"))
            self.check_joint_wrenches(where, model, table, s, answer)
            for wrench in self.wrenches(model, s):
                answer = self.ask(model, "inverse-dynamics", {**motion, "wrenches": [wrench]})
                self.compare(f"{where} rnea_with_fext {wrench}", answer["tau"], s.vector("rnea_with_fext"))

    def check_joint_wrenches(self, where, model, table, s, answer):
        """The joint's motion axis, in the axes of the link it carries, sees just its torque; a base all of it."""
        bodies = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"]
        rnea = s["rnea"]
        for joint in table["model"]:
            row = answer["joint_wrenches"][bodies.index("base" if joint["nv"] == 6 else joint["name"] + ".link")]
            seen = [dot(column, row) for column in joint["S_columns"]]
            expected = rnea[joint["idx_v"]:joint["idx_v"] + joint["nv"]]
            scale = max(map(abs, rnea)) + max(map(abs, row))
            self.assertClose(seen, expected, EXACT, scale, f"{where} joint wrench of {joint['name']}")

    def wrenches(self, model, s):
        """The table's wrench in link axes, in world axes at the joint, and in world axes at the world's origin."""
        link = "base" if s["fext_joint"] == "root_joint" else s["fext_joint"] + ".link"
        pose = self.ask(model, "kinematics", {"q": s.q, "frames": [link]})["poses"][link]
        to_world_origin = [-x for x in matvec(transpose(rotation(pose["orientation"])), pose["position"])]
        local, at_joint, at_world = (s[key] for key in ("fext_local", "fext_world_axes_at_joint_origin",
                                                        "fext_world_axes_at_world_origin"))
        yield {"link": link, "force": local[:3], "torque": local[3:], "frame": "link"}
        yield {"link": link, "force": at_joint[:3], "torque": at_joint[3:]}
        yield {"link": link, "force": at_world[:3], "torque": at_world[3:], "frame": "world", "point": to_world_origin}

    def test_forward_dynamics(self):
        for model, table, s in self.states():
            request = {"q": s.q, "qd": s.vector("v"), "tau": s.vector("tau_in")}
            where = f"{model} state {s['id']}"
            self.compare(f"{where} aba", self.ask(model, "forward-dynamics", request)["qdd"], s.vector("aba"), FORWARD)
            for wrench in self.wrenches(model, s):
                answer = self.ask(model, "forward-dynamics", {**request, "wrenches": [wrench]})
                self.compare(f"{where} aba_with_fext", answer["qdd"], s.vector("aba_with_fext"), FORWARD)

    def test_rotor_inertia(self):
        """The tables' armature, one figure a coordinate; a document has rotors at joints only, none at a base."""
        for name, table in self.tables.items():
            for values in table["states"]:
                joints = [joint for joint in table["model"] if joint["nv"] == 1]
                rotors = {joint["name"]: values["armature"][joint["idx_v"]] for joint in joints}
                self.put_model("armed", document(table, rotors=rotors))
                s = State(table, values, self.ok(self.client.get("/v1/models/armed"))["velocity_names"])
                where = f"{name} state {s['id']}"
                motion = {"q": s.q, "qd": s.vector("v"), "qdd": s.vector("a")}
                tau = self.ask("armed", "inverse-dynamics", motion)["tau"]
                base = 6 if s.floating else 0
                expected = s.vector("rnea")[:base] + s.vector("rnea_with_armature")[base:]
                self.compare(f"{where} rnea_with_armature", tau, expected)
                if not s.floating:
                    request = {"q": s.q, "qd": s.vector("v"), "tau": s.vector("tau_in")}
                    qdd = self.ask("armed", "forward-dynamics", request)["qdd"]
                    self.compare(f"{where} aba_with_armature", qdd, s.vector("aba_with_armature"), FORWARD)

    def test_mass_matrix(self):
        for model, table, s in self.states():
            answer = self.ask(model, "mass-matrix", {"q": s.q, "outputs": ["mass_matrix", "inverse"]})
            where = f"{model} state {s['id']}"
            self.compare(f"{where} crba", answer["mass_matrix"], s.square("crba"))
            self.compare(f"{where} inverse", answer["inverse"], s.square("ddq_dtau"), FORWARD)

    def test_bias(self):
        for model, table, s in self.states():
            answer = self.ask(model, "bias", {"q": s.q, "qd": s.vector("v"),
                                              "outputs": ["bias", "coriolis", "gravity", "friction"]})
            where = f"{model} state {s['id']}"
            nle, gravity = s.vector("nle"), s.vector("gravity_torque")
            self.compare(f"{where} nle", answer["bias"], nle)
            self.compare(f"{where} gravity", answer["gravity"], gravity)
            self.assertClose(answer["coriolis"], add(nle, gravity, -1), EXACT, max(map(abs, nle)), f"{where} coriolis")
            self.assertEqual(answer["friction"], [0] * len(nle))

    def test_energy(self):
        for model, table, s in self.states():
            answer = self.ask(model, "energy", {"q": s.q, "qd": s.vector("v"), "outputs": [
                "kinetic", "potential", "mass", "com", "com_velocity", "com_jacobian", "momentum", "momentum_matrix"]})
            where = f"{model} state {s['id']}"
            self.compare(f"{where} kinetic", answer["kinetic"], s["kinetic_energy"])
            self.compare(f"{where} potential", answer["potential"], s["potential_energy"])
            self.compare(f"{where} com", answer["com"], s["com"])
            self.compare(f"{where} com_velocity", answer["com_velocity"], s["com_velocity"])
            momentum_matrix = s.columns("centroidal_momentum_matrix")
            self.compare(f"{where} momentum_matrix", answer["momentum_matrix"], momentum_matrix)
            self.compare(f"{where} momentum", answer["momentum"], s["centroidal_momentum"])
            self.compare(f"{where} mass", answer["mass"], table["total_mass_moving"])
            self.compare(f"{where} com_jacobian", answer["com_jacobian"],
                         [[x / table["total_mass_moving"] for x in row] for row in momentum_matrix[:3]])

    def test_kinematics_in_world_axes(self):
        for model, table, s in self.states():
            answer = self.kinematics(model, s, "world")
            where = f"{model} state {s['id']}"
            placement = s["frame_placement_3x4"]
            self.assertEqual(list(answer["poses"]), ["probe"])
            pose = answer["poses"]["probe"]
            self.compare(f"{where} position", pose["position"], [row[3] for row in placement])
            self.compare(f"{where} orientation", rotation(pose["orientation"]), [row[:3] for row in placement])
            self.assertGreaterEqual(pose["orientation"][3], 0)
            R = [row[:3] for row in placement]
            velocity = s["frame_velocity_LOCAL"]
            turned = matvec(R, velocity[:3]) + matvec(R, velocity[3:])
            self.compare(f"{where} velocity", answer["velocity"], turned)
            self.compare(f"{where} jacobian", answer["jacobian"], s.columns("frame_jacobian_LOCAL_WORLD_ALIGNED"))
            self.compare(f"{where} jacobian_dot", answer["jacobian_dot"],
                         s.columns("frame_jacobian_dot_LOCAL_WORLD_ALIGNED"))
            self.compare(f"{where} acceleration", answer["acceleration"],
                         s["frame_classical_acceleration_LOCAL_WORLD_ALIGNED"])

    def test_kinematics_in_frame_axes(self):
        """The tables' spatial acceleration of the frame is the classical one less w x v."""
        for model, table, s in self.states():
            answer = self.kinematics(model, s, "frame")
            where = f"{model} state {s['id']}"
            v, a = s["frame_velocity_LOCAL"], s["frame_acceleration_LOCAL"]
            self.compare(f"{where} velocity", answer["velocity"], v)
            self.compare(f"{where} jacobian", answer["jacobian"], s.columns("frame_jacobian_LOCAL"))
            classical = add(a[:3], cross(v[3:], v[:3])) + a[3:]
            self.compare(f"{where} acceleration", answer["acceleration"], classical)

    def kinematics(self, model, s, reference):
        return self.ask(model, "kinematics", {
            "q": s.q, "qd": s.vector("v"), "qdd": s.vector("a"), "frame": "probe", "frames": ["probe"],
            "reference": reference, "outputs": ["poses", "jacobian", "jacobian_dot", "velocity", "acceleration"]})


if __name__ == "__main__":
    tap.main()
