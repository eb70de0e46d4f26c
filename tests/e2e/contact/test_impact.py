"""Tests impacts of frames: momentum, restitution and energy, and an impact solved by hand."""
import numpy as np
import tap
from contacts import UPRIGHT, ContactCase
from samples import states, tilted_crank


class Impact(ContactCase):
    HITS = [("arm", [{"frame": "tool", "axes": ["x", "z"]}]), ("mimicking", [{"frame": "l3", "axes": ["y", "rz"]}]),
            ("flying", [{"frame": "tool"}, {"frame": "thigh", "axes": ["x", "y"], "reference": "frame"}]),
            ("humanoid", [{"frame": "left_sole"}, {"frame": "left_foot"}, {"frame": "right_sole"}]), ("table", [
                {"frame": f"leg{i}", "axes": ["x", "y", "z"]} for i in range(4)])]

    def hit(self, model, held, seed, **more):
        names = self.ok(self.client.get(f"/v1/models/{model}"))
        s = states(1, names["nv"], names["nq"] > names["nv"], seed)
        state = {"q": s["q"][0], "qd": s["qd"][0]}
        return state, self.ask(model, "impact", {**state, "held": held, "outputs": [
            "qd_after", "contact_impulses", "energy_loss"], **more})

    def test_equations(self):
        """Checks M (qd+ - qd) = J^T p and J qd+ = -e J qd, and that the lost energy agrees with the operation energy."""
        for model, held in self.HITS:
            for restitution in (0, 0.4, 1):
                with self.subTest(model=model, restitution=restitution):
                    state, answer = self.hit(model, held, 3, restitution=restitution)
                    J, _ = self.jacobians(model, state["q"], state["qd"], held)
                    M = np.array(self.ask(model, "mass-matrix", {"q": state["q"]})["mass_matrix"])
                    before, after = np.array(state["qd"]), np.array(answer["qd_after"])
                    impulse = self.chosen(held, answer["contact_impulses"])
                    self.assertClose(list(J @ after), list(-restitution * (J @ before)), 1e-9, np.abs(J @ before).max())
                    self.assertClose(list(M @ (after - before)), list(J.T @ impulse), 1e-9)
                    least = np.linalg.lstsq(J.T, J.T @ impulse, rcond=1e-9)[0]
                    self.assertClose(list(impulse), list(least), 1e-8)
                    lost = [self.ask(model, "energy", {"q": state["q"], "qd": list(v)})["kinetic"] for v in (before, after)]
                    self.assertClose(answer["energy_loss"], lost[0] - lost[1], 1e-10, lost[0])
                    self.assertGreaterEqual(answer["energy_loss"], 0)
                    if restitution == 1:
                        self.assertEqual(answer["energy_loss"], 0)

    def test_momentum(self):
        """Without other constraints, the body's momentum changes by the impulses, and its angular momentum about the
        centre of mass by their moments."""
        for model, held in self.HITS[2:4]:
            held = [{k: v for k, v in entry.items() if k != "reference"} for entry in held]
            state, answer = self.hit(model, held, 8)
            energy = [self.ask(model, "energy", {"q": state["q"], "qd": qd, "outputs": ["momentum", "com"]})
                      for qd in (state["qd"], answer["qd_after"])]
            poses = self.ask(model, "kinematics", {"q": state["q"], "frames": [entry["frame"] for entry in held]})["poses"]
            change = np.zeros(6)
            for entry, p in zip(held, np.array(answer["contact_impulses"])):
                arm = np.array(poses[entry["frame"]]["position"]) - energy[0]["com"]
                change += [*p[:3], *(p[3:] + np.cross(arm, p[:3]))]
            self.assertClose(list(np.array(energy[1]["momentum"]) - energy[0]["momentum"]), list(change), 1e-10)

    def test_a_stick_falls_on_one_end(self):
        """A slender stick falls flat with velocity v and hits with one end, where its effective mass is m/4."""
        for e in (0, 0.5, 1):
            answer = self.ask("stick", "impact", {
                "q": UPRIGHT, "qd": [0, 0, -2, 0, 0, 0], "held": [{"frame": "right", "axes": ["z"]}], "restitution": e,
                "payload": {"link": "stick", "mass": 0, "com": [0, 0, 0], "inertia": {"xx": 1, "yy": 0, "zz": 0}},
                "outputs": ["qd_after", "contact_impulses", "energy_loss"]})
            p = (1 + e) * 3 / 4 * 2
            self.assertClose(answer["contact_impulses"], [[0, 0, p, 0, 0, 0]], 1e-13)
            self.assertClose(answer["qd_after"], [0, 0, -2 + p / 3, 0, -0.5 * p / (3 / 12), 0], 1e-13)
            self.assertClose(answer["energy_loss"], (1 - e * e) / 2 * 3 / 4 * 4, 1e-13, 1)

    def test_where_nothing_moves_nothing_hits(self):
        self.client.put("/v1/models/tilted", tilted_crank())
        for held in ([{"frame": "tip", "axes": ["x"]}], [{"frame": "tip", "axes": ["x", "rz"]}, {"frame": "rod", "axes": ["x"]}]):
            request = {"q": [0.4, 1.1], "qd": [2, -3], "held": held}
            answer = self.ask("tilted", "impact", {**request, "outputs": ["qd_after", "contact_impulses", "energy_loss"]})
            self.assertEqual(answer, {"qd_after": [2, -3], "contact_impulses": [[0] * 6] * len(held), "energy_loss": 0})
            answer = self.ask("tilted", "forward-dynamics", {**request, "tau": [1, 1]})
            free = {name: value for name, value in request.items() if name != "held"}
            self.assertEqual(answer["contact_wrenches"], [[0] * 6] * len(held))
            self.assertEqual(answer["qdd"], self.ask("tilted", "forward-dynamics", {**free, "tau": [1, 1]})["qdd"])

    def test_what_stands_still_stays(self):
        answer = self.ask("humanoid", "impact", {"q": UPRIGHT + [0] * 33, "qd": [0] * 39, "held": self.HITS[3][1]})
        self.assertEqual(list(answer), ["qd_after", "contact_impulses"])
        self.assertEqual(answer["qd_after"], [0] * 39)


if __name__ == "__main__":
    tap.main()
