"""Tests CSV columns with unusual joint names: `call` reads every CSV that it writes, and so does any reader of RFC
4180."""
import csv
import io
import itertools

import numpy as np
import tap
from command_line import torqued
from harness import ServerCase

NAMES = ("plain", "semi;colon", "com,ma", 'quo"te', "trail ", " lead", "a;b,c", '"', "two  blanks", "\u00a0no-break", "#hash", "q.1", "7", "dot.ted", "é")


def arm(names):
    return {"links": [{"name": f"link{i}", "parent": f"link{i - 1}" if i else "base",
                       "joint": {"name": name, "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0.1, 0, 0.3]}},
                       "inertial": {"mass": 1 + i, "com": [0.1, 0, 0.2], "inertia": {"xx": 1, "yy": 2, "zz": 1.5, "xy": 0, "xz": 0, "yz": 0}}}
                      for i, name in enumerate(names)]}


class Names(ServerCase):
    def call(self, *arguments, given=None):
        done = torqued("call", "named", *arguments, url=self.server.url(), given=given)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done)
        return done.stdout.decode()

    def back_and_forth(self, names):
        """Computes torques of positions and then accelerations of these torques; the columns keep their names."""
        self.put_model("named", arm(names))
        q = np.random.default_rng(1).uniform(-1, 1, (3, len(names)))
        expected = np.array(self.ask("named", "inverse-dynamics", {"q": q.tolist()})["tau"])
        head = io.StringIO()
        csv.writer(head).writerow([f"q.{name}" for name in reversed(names)])
        given = head.getvalue() + "".join(",".join(map(repr, row[::-1].tolist())) + "\n" for row in q)
        text = self.call("inverse-dynamics", "--from", "csv", given=given)
        table = list(csv.reader(io.StringIO(text)))
        for name in names:
            if name.endswith(" "):  # some readers strip trailing blanks outside quotes
                self.assertIn(f'"tau.{name}"', text)
        self.assertEqual(table[0], [f"tau.{name}" for name in names])
        self.assertEqual(np.array(table[1:], float).tolist(), expected.tolist())
        again = self.call("forward-dynamics", "--from", "csv", f"q={q[0].tolist()}", given="\n".join(text.splitlines()[:2]) + "\n")
        self.assertEqual(next(csv.reader(io.StringIO(again))), [f"qdd.{name}" for name in names])
        self.assertClose([float(x) for x in again.splitlines()[1].split(",")], [0.0] * len(names), 1e-9)

    def test_one(self):
        for name in NAMES:
            with self.subTest(name):
                self.back_and_forth([name])

    def test_pairs(self):
        for names in itertools.combinations(NAMES, 2):
            with self.subTest(names):
                self.back_and_forth(list(names))

    def test_all(self):
        self.back_and_forth(list(NAMES))


if __name__ == "__main__":
    tap.main()
