"""Tests trajectory of mechanisms with closed loops: samples against other operations, gradients against differences,
and that a motion keeps its assembly however far it goes."""
import numpy as np
import tap
from closed import Closed

TURNS = [[x] for x in np.linspace(0.1, 20, 9)]  # control points of the four-bar's crank: three turns
SWING = [[2.2, 1.0], [2.1, 1.1], [2.0, 1.2], [2.3, 0.9], [2.2, 1.0]]


class Motions(Closed):
    def move(self, model, points, samples=9, duration=2.0, outputs=("tau",), **more):
        return self.ask(model, "trajectory", {"degree": 3, "duration": duration, "control_points": np.array(points).tolist(),
                                              "samples": samples, "outputs": list(outputs), **more})

    def test_as_other_operations(self):
        for model, points in (("four_bar", TURNS), ("five_bar", SWING)):
            a = self.move(model, points, outputs=["q", "qd", "qdd", "qddd", "tau", "tau_dot", "joint_wrenches"])
            b = self.ask(model, "torque-derivative", {**{name: a[name] for name in ("q", "qd", "qdd", "qddd")},
                                                      "outputs": ["tau", "tau_dot", "joint_wrenches"]})
            for name, rows in b.items():
                self.near(a[name], rows, 1e-10, f"{model} {name}")

    def test_gradients(self):
        points, h = np.array(SWING), 1e-4
        names = {"tau": "dtau", "joint_wrenches": "d_joint_wrenches"}
        given = self.move("five_bar", points, dense=True, outputs=[f"{d}_d{by}" for d in names.values()
                                                                   for by in ("control_points", "duration")])
        for name, d in names.items():
            of = lambda points=points, duration=2.0, name=name: np.array(
                self.move("five_bar", points, duration=duration, outputs=[name])[name])
            for k, j in np.ndindex(points.shape):
                step = np.zeros(points.shape)
                step[k, j] = h
                slope = (8 * (of(points + step) - of(points - step)) - (of(points + 2 * step) - of(points - 2 * step))) / (12 * h)
                self.near(np.array(given[d + "_dcontrol_points"])[..., k, j], slope, 1e-7, f"{name} {k} {j}", least=1)
            slope = (8 * (of(duration=2 + h) - of(duration=2 - h)) - (of(duration=2 + 2 * h) - of(duration=2 - 2 * h))) / (12 * h)
            self.near(given[d + "_dduration"], slope, 1e-7, name, least=1)

    def test_assemblies(self):
        """A motion that starts in the second assembly keeps it through whole turns: the coupler is the mirror image about the line from the
        crank's end to the rocker's pivot."""
        names = self.ok(self.client.get("/v1/models/four_bar"))["passive_names"]
        home = self.full("four_bar", {"q": [0.1]})
        turned = self.full("four_bar", {"q": [0.1], "guess": [-x for x in self.passive(home, names)]})
        guess = dict(zip(names, self.passive(turned, names)))
        self.assertGreater(np.abs(np.subtract(home["q"], turned["q"])).max(), 0.1)
        a = self.move("four_bar", TURNS, samples=120, outputs=["q", "qd", "qdd", "tau"], guess=guess)
        for q, qd, qdd, tau in zip(a["q"], a["qd"], a["qdd"], a["tau"]):
            state = {"q": q, "qd": qd, "qdd": qdd, "guess": guess}
            self.near(self.ask("four_bar", "inverse-dynamics", state)["tau"], tau, 1e-10, least=1e-3)
            # the guess for the next state: the passive coordinates of this one
            guess = dict(zip(names, self.passive(self.full("four_bar", state), names)))

    def passive(self, full, names):
        return [full["q"][full["position_names"].index(name)] for name in names]

    def test_alone_and_in_a_batch(self):
        back = [[x] for x in np.linspace(0.5, -9, 9)]
        both = self.move("four_bar", [TURNS, back], samples=40, outputs=["tau", "tau_dot"])
        for row, points in enumerate((TURNS, back)):
            alone = self.move("four_bar", points, samples=40, outputs=["tau", "tau_dot"])
            self.assertEqual([both[name][row] for name in alone], list(alone.values()))

    def test_out_of_reach(self):
        points = [[0.98] * 6, [0.98] * 6, [1.0] * 6, [0.3] * 6, [0.3] * 6]
        answer = self.client.post("/v1/models/stewart/trajectory", {
            "degree": 3, "duration": 1, "control_points": points, "samples": 5, "outputs": ["tau"]})
        self.assertIn("sample 4", self.refused(answer, "loop-crossing", "/control_points"))


if __name__ == "__main__":
    tap.main()
