"""Tests mechanisms with closed loops by identities: forward dynamics as the inverse of inverse dynamics, and equations between the answers of
different operations."""
import numpy as np
import tap
from arrays import rotation
from closed import LOADS, MOTION, Closed, only
from lagrange import differences
from parallel_robots import about_centre


class Identities(Closed):
    def test_inverse_and_forward(self):
        for model in self.MODELS:
            s = self.states(model, 50, 31)
            moving = {**only(s, "q", "qd"), **LOADS[model]}
            qdd = self.ask(model, "forward-dynamics", {**moving, "tau": s["tau"]})["qdd"]
            self.near(self.ask(model, "inverse-dynamics", {**moving, "qdd": qdd})["tau"], s["tau"], 1e-9, model)
            tau = self.ask(model, "inverse-dynamics", {**moving, "qdd": s["qdd"]})["tau"]
            self.near(self.ask(model, "forward-dynamics", {**moving, "tau": tau})["qdd"], s["qdd"], 1e-9, model)

    def test_equation_of_motion(self):
        """tau = M qdd + C qd + g + friction, kinetic = qd' M qd / 2, M' - 2 C is skew, and tau = Y p."""
        for model in self.MODELS:
            s = self.state(model, 32)
            q, qd, qdd = (np.array(s[name]) for name in MOTION)
            mass = self.ask(model, "mass-matrix", {"q": s["q"], "outputs": ["mass_matrix", "inverse"]})
            M = np.array(mass["mass_matrix"])
            bias = self.ask(model, "bias", {**only(s, "q", "qd"), "outputs": ["bias", "coriolis", "gravity", "friction"]})
            C = np.array(self.ask(model, "coriolis", only(s, "q", "qd"))["coriolis_matrix"])
            tau = self.ask(model, "inverse-dynamics", only(s, *MOTION))["tau"]
            self.near(M @ qdd + bias["bias"], tau, 1e-11, model)
            self.near(np.add(bias["coriolis"], bias["gravity"]) + bias["friction"], bias["bias"], 1e-11, model)
            self.near(C @ qd, bias["coriolis"], 1e-10, model)
            self.near(np.array(mass["inverse"]) @ M, np.eye(len(q)), 1e-10, model)
            self.assertEqual(mass["mass_matrix"], M.T.tolist(), model)
            energy = self.ask(model, "energy", {**only(s, "q", "qd"), "outputs": ["kinetic", "com_jacobian", "com_velocity",
                                                                                   "mass", "momentum", "momentum_matrix"]})
            self.near(energy["kinetic"], qd @ M @ qd / 2, 1e-11, model)
            self.near(np.array(energy["com_jacobian"]) @ qd, energy["com_velocity"], 1e-11, model)
            self.near(np.array(energy["momentum_matrix"]) @ qd, energy["momentum"], 1e-11, model)
            self.near(np.multiply(energy["com_velocity"], energy["mass"]), energy["momentum"][:3], 1e-11, model)

    def test_coriolis(self):
        """Christoffel's symbols against differences of the mass matrix."""
        for model in self.MODELS:
            s = only(self.state(model, 34), "q", "qd")
            answer = self.ask(model, "coriolis", {**s, "outputs": ["coriolis_matrix", "christoffel"]})
            d = differences(lambda rows: self.ask(model, "mass-matrix", rows)["mass_matrix"], only(s, "q"), "q")
            expected = (d + d.transpose(0, 2, 1) - d.transpose(2, 1, 0)) / 2
            self.near(answer["christoffel"], expected, 1e-8, model)
            self.near(answer["coriolis_matrix"], expected @ s["qd"], 1e-8, model)

    def test_regressor(self):
        """tau is linear in the bodies' parameters: Y p, with p from the solids of the document."""
        for model in self.MODELS:
            links = {link["name"]: link for link in self.documents[model]["links"]}
            parameters = []
            for body in self.ok(self.client.get(f"/v1/models/{model}"))["bodies"]:
                solid = links[body].get("inertial")
                if not solid:
                    parameters += [0] * 10
                    continue
                m, c = solid["mass"], np.array(solid.get("xyz", [0, 0, 0]))
                I = about_centre(solid) + m * (c @ c * np.eye(3) - np.outer(c, c))
                parameters += [m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
            s = only(self.state(model, 35), *MOTION)
            Y = self.ask(model, "regressor", {**s, "outputs": ["regressor"]})["regressor"]
            joints = [link["joint"] for link in links.values()]
            rotors = [joint.get("rotor_inertia", 0) for joint in joints if joint.get("actuated", True)]
            tau = self.ask(model, "inverse-dynamics", {**s, "friction": False})["tau"]
            self.near(np.array(Y) @ parameters + np.multiply(rotors, s["qdd"]), tau, 1e-10, model)
            self.near(self.ask(model, "sensitivity", {**s, "outputs": ["dtau_dparameters"]})["dtau_dparameters"], Y, 1e-12, model)

    def test_centroidal_inertia(self):
        """The inertia about the centre of mass is the sum over the solids of the document, by the parallel-axis theorem."""
        for model in self.MODELS:
            solids = {link["name"]: link["inertial"] for link in self.documents[model]["links"] if "inertial" in link}
            q = self.state(model, 36)["q"]
            poses = self.ask(model, "kinematics", {"q": q, "frames": list(solids)})["poses"]
            got = self.ask(model, "energy", {"q": q, "outputs": ["com", "centroidal_inertia"]})
            total = np.zeros((3, 3))
            for link, solid in solids.items():
                R = np.array(rotation(poses[link]["orientation"]))
                d = np.array(poses[link]["position"]) + R @ solid.get("xyz", [0, 0, 0]) - got["com"]
                total += R @ about_centre(solid) @ R.T + solid["mass"] * (d @ d * np.eye(3) - np.outer(d, d))
            self.near(got["centroidal_inertia"], total, 1e-11, model)

    def test_wrenches_by_jacobians(self):
        """A wrench at a frame changes tau by -J^T W."""
        for model, link in (("four_bar", "coupler"), ("delta", "rod2b"), ("stewart", "cylinder3")):
            s, W = only(self.state(model, 33), *MOTION), [3, -2, 1, 0.3, 0.2, -0.4]
            J = self.ask(model, "kinematics", {"q": s["q"], "frame": link, "outputs": ["jacobian"]})["jacobian"]
            loaded = self.ask(model, "inverse-dynamics", {**s, "wrenches": [{"link": link, "force": W[:3], "torque": W[3:]}]})["tau"]
            self.near(np.subtract(self.ask(model, "inverse-dynamics", s)["tau"], loaded), np.transpose(J) @ W, 1e-9, model)


if __name__ == "__main__":
    tap.main()
