"""Tests identification from raw measurements by the programs of api/clients/identification: states from encoder
readings and noisy torques, and the model identified from a robot that this test simulates."""
import json
import math
import os
import re
import sys

import numpy as np
import tap
from client_programs import ClientPrograms, folder_of
from closed import Closed

sys.path.insert(0, folder_of("identification"))
sys.dont_write_bytecode = True
import measurements  # noqa: E402

PAYLOAD = {"link": "wrist_3_link", "mass": 2, "com": [0.02, -0.03, 0.08], "inertia": {"xx": 0.012, "yy": 0.01, "zz": 0.008}}


def series(period, harmonics, joints, seed, size):
    """Draws Fourier coefficients in the order of a motion's file, for a motion that does not start at rest: offset,
    sines, cosines."""
    choose = np.random.default_rng(seed)
    decay = np.tile(1 / np.arange(1, harmonics + 1), 2)
    return np.vstack([choose.uniform(-1, 1, (1, joints)), size * decay[:, None] * choose.uniform(-1, 1, (2 * harmonics, joints))])


def sampled(coefficients, period, times):
    h = len(coefficients) // 2
    w = 2 * math.pi / period * np.arange(1, h + 1)
    s, c = np.sin(np.outer(times, w)), np.cos(np.outer(times, w))
    sine, cosine = coefficients[1:h + 1], coefficients[h + 1:]
    return {"q": coefficients[0] + s @ sine + c @ cosine, "qd": (w * c) @ sine - (w * s) @ cosine,
            "qdd": -(w ** 2 * s) @ sine - (w ** 2 * c) @ cosine}


class Identification(ClientPrograms, Closed):
    client_folder = "identification"

    def test_states_of_a_record(self):
        """Quantised encoder readings give the true states without a phase lag; the torque noise is estimated without a
        model."""
        period, rate = 4.0, 500
        coefficients = series(period, 3, 2, 1, 0.5)
        true = sampled(coefficients, period, np.arange(2000) / rate)
        choose, step = np.random.default_rng(2), 1e-4
        tau = np.tile(np.sign(true["qd"]), (9, 1)) + choose.normal(0, [0.3, 0.1], (9 * 2000, 2))
        record = measurements.Record(rate, step * np.round(np.tile(true["q"], (9, 1)) / step), tau)
        period_of = measurements.periodic(record, period, cutoff=8)
        for name, tolerance in (("q", 1e-4), ("qd", 1e-3), ("qdd", 1e-2)):
            self.near(period_of.states[name], true[name], tolerance, name)
        self.near(period_of.noise, np.array([0.3, 0.1]) / np.sqrt(8), 0.05)
        self.near(period_of.tau.mean(axis=0), tau[2000:].mean(axis=0), 1e-9, least=1)
        by_differences = measurements.periodic(record, period, cutoff=8, differences=True)
        self.near(by_differences.states["qd"], true["qd"], 2e-3)

    def test_files(self):
        record = measurements.Record(1000.0, np.arange(6).reshape(3, 2) / 7, -np.arange(6).reshape(3, 2) / 3)
        measurements.write(self.path("r.csv"), ["a", "b"], record)
        with open(self.path("r.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline(), "t,q.a,q.b,tau.a,tau.b\n")
        back = measurements.read(self.path("r.csv"), ["b", "a"])
        self.near(back.q, record.q[:, ::-1], 1e-8)
        self.near(back.tau, record.tau[:, ::-1], 1e-8)
        self.assertAlmostEqual(back.rate, 1000, delta=1e-6)
        self.assertRaisesRegex(ValueError, "no column q.c", measurements.read, self.path("r.csv"), ["a", "c"])

    def write_motion(self, name, coefficients, period):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump({"model": "ur5", "period": period, "coefficients": coefficients.tolist()}, file)

    def test_payload(self):
        """Identifies a payload of 2 kg on a known arm with 0.3 N m of torque noise."""
        period, rate = 5.0, 400
        coefficients = series(period, 4, 6, 3, 1.0)
        true = sampled(coefficients, period, np.arange(2000) / rate)
        names = self.ok(self.client.get("/v1/models/ur5"))["velocity_names"]
        tau = self.ask("ur5", "inverse-dynamics", {**{k: x.tolist() for k, x in true.items()}, "payload": PAYLOAD})["tau"]
        tau = np.tile(tau, (4, 1)) + np.random.default_rng(4).normal(0, 0.3, (8000, 6))
        measurements.write(self.path("record.csv"), names, measurements.Record(rate, np.tile(true["q"], (4, 1)), tau))
        self.write_motion("motion.json", coefficients, period)
        out = self.run_program("identification.py", "--model", "ur5", "--record", "record.csv", "--motion", "motion.json",
                               "--unknown", "payload", "--frame", "tool0", "--every", "4", "--plot", "i.png")
        mass, deviation = map(float, re.search(r"payload on wrist_3_link: ([\d.]+) \+- ([\d.]+) kg", out).groups())
        self.assertAlmostEqual(mass, 2, delta=0.02)
        self.assertLess(deviation, 0.01)
        residual = float(re.search(r"residual ([\d.]+) of the noise", out)[1])
        self.assertTrue(0.8 < residual < 1.2, residual)
        self.assertNotIn("ur5-found", [m["name"] for m in self.ok(self.client.get("/v1/models"))["models"]])
        self.assertGreater(os.path.getsize(self.path("i.png")), 10000)

    def test_example(self):
        """The example goes from excitation to a model whose parameters are 20 times closer to the robot than those
        before."""
        out = self.run_program("example.py", "--model", "ur5", "--folder", "example", "--period", "4", "--periods", "4",
                               "--iterations", "2")
        before, after = map(float, re.search(r"differ by ([\d.]+) % of the effort limit before, ([\d.]+) % after", out).groups())
        self.assertLess(20 * after, before)
        found, noise = map(float, re.search(r"all joints: before [\d.]+, found ([\d.]+), noise ([\d.]+)", out).groups())
        self.assertLess(found, 1.5 * noise)
        document = self.ok(self.client.get("/v1/models/ur5-identified/document"))
        self.assertTrue(all("friction" in link["joint"] for link in document["links"]))
        self.assertEqual(sorted(os.listdir(self.path("example"))), ["identification.png", "motion.csv", "motion.json", "motion.png",
                                                                    "other.csv", "other.json", "other.png"])

    def test_refusals(self):
        self.write_motion("motion.json", series(1.0, 2, 6, 5, 0.1), 1.0)
        with open(self.path("short.csv"), "w", encoding="utf-8") as file:
            names = self.ok(self.client.get("/v1/models/ur5"))["velocity_names"]
            file.write(",".join(measurements.header(names)) + "\n" + "".join(f"{i / 100},{','.join(['0.1'] * 12)}\n" for i in range(150)))
        record = ["--model", "ur5", "--record", "short.csv", "--motion", "motion.json"]
        self.check_refusals(
            "identification.py", (record, 1, "have no second period of 100 rows"),
            ([*record, "--validation", "short.csv"], 2, "belong together"),
            ([*record, "--unknown", "payload", "--rotor"], 2, "names all that is unknown"),
            (["--record", "none.csv", "--motion", "motion.json"], 1, "none.csv"))


if __name__ == "__main__":
    tap.main()
