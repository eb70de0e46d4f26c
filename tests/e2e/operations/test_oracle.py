"""Tests the dynamics against reference values of 80 digits (oracle.py).

Answers are compared by joint name, once with links in the documents' order and once in reverse, so that coordinates
have other numbers."""
import subprocess
import sys

import tap
from arrays import add, cross, dot, matvec, rotation, transpose
from harness import ServerCase
from oracle import DATA, EXACT, FORWARD, ROBOTS, State, document, load

ENERGY = ["kinetic", "potential", "mass", "com", "com_velocity", "com_jacobian", "momentum", "momentum_matrix"]


class Oracle(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tables = {name: load(name) for name in ROBOTS}

    def states(self):
        """Yields (model name, state) of every robot and state, in both orders of links."""
        for name, table in self.tables.items():
            for order, reverse in (("forward", False), ("reversed", True)):
                model = f"{name}-{order}"
                self.put_model(model, document(table, reverse))
                names = self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]
                for values in table["states"]:
                    yield model, State(table, values, names)

    def compare(self, s, operation, answer, names, tolerance=EXACT, of=State.vector):
        for name in names:
            self.assertClose(answer[name], of(s, operation, name), tolerance, what=f"{s.name} {operation} {name}")

    def test_tables_are_what_the_program_computes(self):
        """Recomputes the tables of two robots; each takes seconds."""
        done = subprocess.run([sys.executable, f"{DATA}/references.py", "--check", "double_pendulum", "ur5"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_model(self):
        for model, s in self.states():
            served = self.ok(self.client.get(f"/v1/models/{model}"))
            nv = len(s.table["velocity_names"])
            self.assertEqual((served["nq"], served["nv"]), (nv + s.floating, nv))
            self.assertEqual(len(served["bodies"]), len(s.table["bodies"]))
            self.assertClose(served["mass"], s.value("energy", "mass"), EXACT)

    def test_inverse_dynamics(self):
        for model, s in self.states():
            motion = s.motion("qd", "qdd")
            answer = self.ask(model, "inverse-dynamics", {**motion, "outputs": ["tau", "joint_wrenches"]})
            self.compare(s, "inverse-dynamics", answer, ["tau"])
            self.check_joint_wrenches(model, s, answer)
            for wrench in self.wrenches(model, s):
                tau = self.ask(model, "inverse-dynamics", {**motion, "wrenches": [wrench]})["tau"]
                self.compare(s, "inverse-dynamics", {"tau_with_wrench": tau}, ["tau_with_wrench"])

    def check_joint_wrenches(self, model, s, answer):
        """Checks that the component of the joint wrench along the joint's axis, in the axes of the moved link, is the
        torque; for a floating base all six components are."""
        bodies = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"]
        tau = s.value("inverse-dynamics", "tau")
        joints = {link["name"]: link["joint"] for link in document(s.table)["links"]}
        for body, row in zip(bodies, answer["joint_wrenches"]):
            if body == "base":
                seen, expected = row, tau[:6]
            else:
                axis, joint = joints[body]["axis"], s.table["velocity_names"].index(joints[body]["name"])
                seen, expected = [dot(axis, row[3:] if joints[body]["type"] != "prismatic" else row[:3])], [tau[joint]]
            self.assertClose(seen, expected, EXACT, max(map(abs, tau)) + max(map(abs, row)), f"{s.name} {body}")

    def wrenches(self, model, s):
        """Returns the table's wrench in link axes, in world axes at the link, and in world axes at the world's origin."""
        link, force, torque = s.wrench["link"], s.wrench["force"], s.wrench["torque"]
        pose = self.ask(model, "kinematics", {"q": s.q, "frames": [link]})["poses"][link]
        R = rotation(pose["orientation"])
        force, torque = matvec(R, force), matvec(R, torque)
        yield s.wrench
        yield {"link": link, "force": force, "torque": torque}
        yield {"link": link, "force": force, "torque": add(torque, cross(pose["position"], force)), "frame": "world",
               "point": [-x for x in matvec(transpose(R), pose["position"])]}

    def test_forward_dynamics(self):
        for model, s in self.states():
            request = s.motion("qd", "tau")
            self.compare(s, "forward-dynamics", self.ask(model, "forward-dynamics", request), ["qdd"], FORWARD)
            for wrench in self.wrenches(model, s):
                qdd = self.ask(model, "forward-dynamics", {**request, "wrenches": [wrench]})["qdd"]
                self.compare(s, "forward-dynamics", {"qdd_with_wrench": qdd}, ["qdd_with_wrench"], FORWARD)

    def test_rotor_inertia(self):
        for table in self.tables.values():
            for values in table["states"]:
                rotors = dict(zip(table["velocity_names"], values["given"]["rotor_inertia"]))
                self.put_model("armed", document(table, rotors=rotors))
                s = State(table, values, self.ok(self.client.get("/v1/models/armed"))["velocity_names"])
                tau = self.ask("armed", "inverse-dynamics", s.motion("qd", "qdd"))["tau"]
                self.compare(s, "inverse-dynamics", {"tau_with_rotors": tau}, ["tau_with_rotors"])
                qdd = self.ask("armed", "forward-dynamics", s.motion("qd", "tau"))["qdd"]
                self.compare(s, "forward-dynamics", {"qdd_with_rotors": qdd}, ["qdd_with_rotors"], FORWARD)

    def test_mass_matrix(self):
        for model, s in self.states():
            answer = self.ask(model, "mass-matrix", {"q": s.q, "outputs": ["mass_matrix", "inverse"]})
            self.compare(s, "mass-matrix", answer, ["mass_matrix"], of=State.square)
            self.compare(s, "mass-matrix", answer, ["inverse"], FORWARD, State.square)

    def test_bias(self):
        for model, s in self.states():
            answer = self.ask(model, "bias", {**s.motion("qd"), "outputs": ["bias", "coriolis", "gravity", "friction"]})
            self.compare(s, "bias", answer, ["bias", "gravity"])
            bias, gravity = s.vector("bias", "bias"), s.vector("bias", "gravity")
            self.assertClose(answer["coriolis"], add(bias, gravity, -1), EXACT, max(map(abs, bias)), f"{s.name} coriolis")
            self.assertEqual(answer["friction"], [0] * len(bias))

    def test_energy(self):
        for model, s in self.states():
            answer = self.ask(model, "energy", {**s.motion("qd"), "outputs": ENERGY})
            self.compare(s, "energy", answer, ["com_jacobian", "momentum_matrix"], of=State.columns)
            self.compare(s, "energy", answer, [name for name in ENERGY if name not in ("com_jacobian", "momentum_matrix")],
                         of=State.value)

    def kinematics(self, model, s, reference):
        frame = s.table["frame"]
        return self.ask(model, "kinematics", {
            **s.motion("qd", "qdd"), "frame": frame, "frames": [frame], "reference": reference,
            "outputs": ["poses", "jacobian", "jacobian_dot", "velocity", "acceleration"]})

    def test_kinematics_in_world_axes(self):
        for model, s in self.states():
            answer = self.kinematics(model, s, "world")
            (name, pose), = answer["poses"].items()
            self.assertEqual(name, s.table["frame"])
            expected = s.value("kinematics", "pose")
            self.assertClose(pose["position"], [row[3] for row in expected], EXACT, what=s.name)
            self.assertClose(rotation(pose["orientation"]), [row[:3] for row in expected], EXACT, what=s.name)
            self.assertGreaterEqual(pose["orientation"][3], 0)
            self.compare(s, "kinematics", answer, ["velocity", "acceleration"], of=State.value)
            self.compare(s, "kinematics", answer, ["jacobian", "jacobian_dot"], of=State.columns)

    def test_kinematics_in_frame_axes(self):
        for model, s in self.states():
            answer = self.kinematics(model, s, "frame")
            self.compare(s, "kinematics", {name + "_in_frame": answer[name] for name in answer},
                         ["velocity_in_frame", "acceleration_in_frame"], of=State.value)
            self.assertClose(answer["jacobian"], s.columns("kinematics", "jacobian_in_frame"), EXACT, what=s.name)

    def test_sensitivity(self):
        for model, s in self.states():
            motion = s.motion("qd", "qdd")
            d = self.ask(model, "sensitivity", motion)
            self.compare(s, "sensitivity", d, ["dtau_dq", "dtau_dqd"], FORWARD, State.square)
            self.assertClose(d["dtau_dqdd"], s.square("mass-matrix", "mass_matrix"), EXACT, what=s.name)
            d = self.ask(model, "sensitivity", {**motion, "wrenches": [s.wrench], "outputs": ["dtau_dq"]})
            self.compare(s, "sensitivity", {"dtau_dq_with_wrench": d["dtau_dq"]}, ["dtau_dq_with_wrench"], FORWARD,
                         State.square)

    def test_forward_sensitivity(self):
        for model, s in self.states():
            request = s.motion("qd", "tau")
            f = self.ask(model, "forward-sensitivity", request)
            self.compare(s, "forward-sensitivity", f, ["dqdd_dq", "dqdd_dqd"], FORWARD, State.square)
            self.assertClose(f["dqdd_dtau"], s.square("mass-matrix", "inverse"), FORWARD, what=s.name)
            f = self.ask(model, "forward-sensitivity", {**request, "wrenches": [s.wrench], "outputs": ["dqdd_dq"]})
            self.compare(s, "forward-sensitivity", {"dqdd_dq_with_wrench": f["dqdd_dq"]}, ["dqdd_dq_with_wrench"], FORWARD,
                         State.square)

    def test_torque_derivative(self):
        for model, s in self.states():
            rate = self.ask(model, "torque-derivative", s.motion("qd", "qdd", "qddd"))
            self.compare(s, "torque-derivative", rate, ["tau_dot"], FORWARD)

    def test_coriolis_matrix(self):
        for model, s in self.states():
            C = self.ask(model, "coriolis", s.motion("qd"))
            if any(s.given("qd")):
                self.compare(s, "coriolis", C, ["coriolis_matrix"], FORWARD, State.square)
            else:
                self.assertFalse(any(map(any, C["coriolis_matrix"])), C)

    def test_regressor(self):
        for model, s in self.states():
            bodies = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"]
            Y = self.ask(model, "regressor", s.motion("qd", "qdd"))["regressor"]
            columns = [10 * s.table["bodies"].index(body) + k for body in bodies for k in range(10)]
            theirs = s.value("regressor", "regressor")
            self.assertClose(Y, [[theirs[i][k] for k in columns] for i in s.order], FORWARD, what=s.name)


if __name__ == "__main__":
    tap.main()
