"""Tests robots whose equations are solved by hand, and the longest chain that the server accepts."""
import copy
import math

import tap
from harness import ServerCase
from samples import branched, chain, pendulum


class Elementary(ServerCase):
    """Compares robots with one or two joints with closed forms."""

    def test_pendulum(self):
        self.put_model("pendulum", pendulum(2, 0.5))
        for angle in (0, 0.3, -2, 3.1):
            answer = self.ask("pendulum", "inverse-dynamics", {"q": [angle], "qdd": [1.5]})
            self.assertClose(answer["tau"], [2 * 9.81 * 0.5 * math.sin(angle) + 2 * 0.25 * 1.5], 1e-14, 10)
            energy = self.ask("pendulum", "energy", {"q": [angle], "qd": [3]})
            self.assertClose(energy["kinetic"], 0.5 * 2 * 0.25 * 9, 1e-15)
            self.assertClose(energy["potential"], -2 * 9.81 * 0.5 * math.cos(angle), 1e-14, 10)

    def test_forward_dynamics_keeps_a_pendulum_s_energy(self):
        """A frictionless pendulum, integrated by RK4 over one second with forward-dynamics, keeps its energy."""
        self.put_model("pendulum", pendulum(2, 0.5))

        def rate(q, qd):
            return self.ask("pendulum", "forward-dynamics", {"q": [q], "qd": [qd], "tau": [0]})["qdd"][0]

        def energy(q, qd):
            answer = self.ask("pendulum", "energy", {"q": [q], "qd": [qd]})
            return answer["kinetic"] + answer["potential"]

        q, qd, h = 2.0, 0.0, 0.01
        start = energy(q, qd)
        for _ in range(100):
            a1 = rate(q, qd)
            a2 = rate(q + h / 2 * qd, qd + h / 2 * a1)
            a3 = rate(q + h / 2 * qd + h * h / 4 * a1, qd + h / 2 * a2)
            a4 = rate(q + h * qd + h * h / 2 * a2, qd + h * a3)
            q, qd = q + h * qd + h * h / 6 * (a1 + a2 + a3), qd + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        self.assertAlmostEqual(energy(q, qd), start, delta=1e-6)

    def test_five_hundred_and_twelve_joints(self):
        self.put_model("longest", chain(512))
        q, qd, qdd = [0.1] * 512, [0.01] * 512, [0.02] * 512
        tau = self.ask("longest", "inverse-dynamics", {"q": q, "qd": qd, "qdd": qdd})["tau"]
        back = self.ask("longest", "forward-dynamics", {"q": q, "qd": qd, "tau": tau})["qdd"]
        self.assertClose(back, qdd, 1e-6)

    def test_a_branch_does_not_feel_its_sibling(self):
        document = branched()
        self.put_model("whole", document)
        alone = copy.deepcopy(document)
        alone["links"] = [link for link in document["links"] if link["name"] == "thigh"]
        del alone["frames"]
        self.put_model("leg", alone)
        state = {"q": [0.5], "qd": [0.7], "qdd": [-0.3]}
        names = self.ok(self.client.get("/v1/models/whole"))["velocity_names"]
        row = names.index("hip")
        whole = self.ask_texts("whole", "inverse-dynamics",
                               {k: [v[0] if i == row else 0.4 for i in range(4)] for k, v in state.items()})["tau"]
        self.assertEqual(whole[row], self.ask_texts("leg", "inverse-dynamics", state)["tau"][0])


if __name__ == "__main__":
    tap.main()
