"""Runs the programs in api/clients/identification against a server. The output is evaluated again, with Fourier series of this
file's own, at instants that the programs did not choose."""
import math
import re

import tap
from client_programs import ClientPrograms
from closed import Closed


def sampled(motion, count):
    """Returns the states of a motion at `count` instants of a period, from its beginning on."""
    h = (len(motion["coefficients"]) - 1) // 2
    offset, sine, cosine = motion["coefficients"][0], motion["coefficients"][1:h + 1], motion["coefficients"][h + 1:]
    states = {"q": [], "qd": [], "qdd": []}
    for i in range(count):
        rows = [list(offset), [0.0] * len(offset), [0.0] * len(offset)]
        for k in range(1, h + 1):
            w, angle = 2 * math.pi * k / motion["period"], 2 * math.pi * k * i / count
            s, c = math.sin(angle), math.cos(angle)
            for j, (a, b) in enumerate(zip(sine[k - 1], cosine[k - 1])):
                rows[0][j] += a * s + b * c
                rows[1][j] += w * (a * c - b * s)
                rows[2][j] -= w * w * (a * s + b * c)
        for name, row in zip(states, rows):
            states[name].append(row)
    return states


class Identification(ClientPrograms, Closed):
    client_folder = "identification"

    def condition(self, model, motion):
        """Returns the condition number by `identify` of the equations, with each row divided by the effort limit of its
        joint."""
        limits = [joint["limits"]["effort"] for joint in self.ok(self.client.get(f"/v1/models/{model}"))["joints"]]
        states = sampled(motion, 97)
        tau = [[x + math.sin(i) for i, x in enumerate(row)] for row in self.ask(model, "inverse-dynamics", states)["tau"]]
        return self.ask(model, "identify", {**states, "tau": tau, "weights": [1 / limit for limit in limits],
                                            "outputs": ["condition"]})["condition"]

    def within(self, model, motion, share):
        """Checks the limits along the motion, and that it starts at rest. The program checks 400 instants or more;
        between these a third harmonic exceeds its samples by at most 0.03 %."""
        joints = self.ok(self.client.get(f"/v1/models/{model}"))["joints"]
        states = sampled(motion, 1201)
        states["tau"] = self.ask(model, "inverse-dynamics", states)["tau"]
        for j, joint in enumerate(joints):
            limits = joint["limits"]
            low, high = limits["position"]
            middle, half = (low + high) / 2, (high - low) / 2
            for name, about, limit in (("q", middle, half), ("qd", 0, limits["velocity"]), ("tau", 0, limits["effort"])):
                largest = max(abs(row[j] - about) for row in states[name])
                self.assertLessEqual(largest, share * limit * (1 + 3e-4), (joint["name"], name))
        for name in ("qd", "qdd"):
            self.near(states[name][0], [0] * len(joints), 1e-12)

    def test_excitation(self):
        """The optimisation lowers the condition number, the program prints that of `identify`, and the motion keeps the
        limits between samples, too."""
        out = self.run_program("excitation.py", "--model", "ur5", "--period", "6", "--harmonics", "3", "--starts", "2",
                               "--iterations", "8", "--samples", "40", "--share", "0.8", "--samples-csv", "samples.csv")
        before, after, load = map(float, re.search(r"condition ([\d.]+) -> ([\d.]+); at most ([\d.]+) of a limit", out).groups())
        self.assertLess(after, 0.8 * before)
        self.assertLessEqual(load, 0.8)
        motion = self.read_json("motion.json")
        self.assertEqual((motion["model"], motion["period"], len(motion["coefficients"])), ("ur5", 6, 7))
        self.assertAlmostEqual(self.condition("ur5", motion), after, delta=0.03 * after)
        self.within("ur5", motion, 0.8)
        with open(self.path("samples.csv"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0].split(",")[:2], ["t", "q.shoulder_pan_joint"])
        self.assertEqual(len(lines), 1 + 6001)
        expected = sampled(motion, 6000)
        for i in (0, 1234, 5999):
            self.near([float(x) for x in lines[1 + i].split(",")],
                      [i / 1000, *expected["q"][i], *expected["qd"][i], *expected["qdd"][i]], 1e-7)

    def test_determinant(self):
        """A D-optimal motion reaches the allowed share of some limit; with friction the regressor has more columns."""
        out = self.run_program("excitation.py", "--model", "ur5", "--harmonics", "3", "--starts", "2", "--iterations", "5",
                               "--samples", "40", "--criterion", "determinant", "--friction", "--plot", "e.png")
        criteria = [float(x) for x in re.findall(r"criterion (-?[\d.]+)", out)]
        self.assertLess(criteria[-1], criteria[0])
        self.within("ur5", self.read_json("motion.json"), 0.9)

    def test_refusals(self):
        self.check_refusals(
            "excitation.py", (["--model", "puma560"], 1, "has no limit of its velocity: give one with --velocity"),
            (["--model", "solo12"], 1, "expected a model whose coordinates are those of its joints"),
            (["--model", "nobody"], 1, "no-such-model"),
            (["--harmonics", "1"], 2, "expected at least 2"),
            (["--share", "1.5"], 2, "expected a number above 0, at most 1"))


if __name__ == "__main__":
    tap.main()
