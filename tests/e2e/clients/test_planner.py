"""The planning programs in api/clients/planner against a server: the motions that they write are evaluated again, with
splines of this file's own and inverse-dynamics at instants that the programs did not choose."""
import re
import sys

import tap
from client_programs import ClientPrograms, folder_of
from harness import ServerCase

BANG_BANG = 0.391854538900  # s, the optimum of two_link by shooting: no motion within the limits is faster
A_SPAN = 37                 # number of instants in each span between two knots, coprime to the programs' number so that the instants differ
ROUNDING = 1e-9             # tolerance as a share of a limit: rounding may move a velocity beyond its limit


def derivative(degree, knots, points):
    """Returns the derivative of a spline: one degree less, without the outer knots."""
    rows = [[degree * (b - a) / (knots[i + degree + 1] - knots[i + 1]) if knots[i + degree + 1] > knots[i + 1] else 0.0
             for a, b in zip(points[i], points[i + 1])] for i in range(len(points) - 1)]
    return degree - 1, knots[1:-1], rows


def value(degree, knots, points, u):
    """Evaluates a spline at u by de Boor's algorithm."""
    span = max(i for i in range(degree, len(points)) if knots[i] <= u)
    row = [list(points[span - degree + i]) for i in range(degree + 1)]
    for level in range(1, degree + 1):
        for i in range(degree, level - 1, -1):
            low, high = knots[span - degree + i], knots[span + 1 + i - level]
            share = (u - low) / (high - low)
            row[i] = [(1 - share) * a + share * b for a, b in zip(row[i - 1], row[i])]
    return row[degree]


def sampled(motion):
    """Returns fractions of the duration and the states there, as a request."""
    spline = motion["degree"], motion["knots"], motion["control_points"]
    spans = sorted(set(motion["knots"]))
    at = [low + (high - low) * i / A_SPAN for low, high in zip(spans, spans[1:]) for i in range(A_SPAN)] + [1.0]
    states = {}
    for order, name in enumerate(("q", "qd", "qdd", "qddd")):
        states[name] = [[x / motion["duration"] ** order for x in value(*spline, u)] for u in at]
        spline = derivative(*spline)
    return at, states


class Planner(ClientPrograms, ServerCase):
    client_folder = "planner"

    def plan(self, program, *arguments):
        """Runs a program. Returns its output, the motion that it wrote, and the texts in its plot."""
        printed = self.run_program(program + ".py", "--motion", "motion.json", "--output", "plot.svg", *arguments)
        requests, states = re.search(r"^(\d+) requests, (\d+) states", printed, re.M).groups()
        self.assertGreater(int(states), int(requests))
        return printed, self.read_json("motion.json"), self.picture("plot.svg")[1]

    def tables(self, out):
        """Returns the tables in the output: for each a list of rows {column: number}."""
        found = []
        for line in out.splitlines():
            cells = re.split(r"\s{2,}", line.strip())
            if cells[0] == "points":
                found.append((cells, []))
            elif found and len(cells) == len(found[-1][0]) and cells[0].isdigit():
                found[-1][1].append(dict(zip(found[-1][0], map(float, cells))))
        return [rows for _, rows in found]

    def assertEnds(self, states, start, end, resting):
        for row, expected in ((0, start), (-1, end)):
            self.assertClose(states["q"][row], list(expected), 1e-12)
            for name in resting:
                self.assertClose(states[name][row], [0.0] * len(start), 1e-9, scale=1, what=name)

    def assertWithin(self, rows, limits, what):
        worst = max(abs(x) / limit for row in rows for x, limit in zip(row, limits))
        self.assertLessEqual(worst, 1 + ROUNDING, what)
        return worst

    def test_two_link_minimum_time(self):
        out, motion, texts = self.plan("two_link_minimum_time")
        rows = self.tables(out)[0]
        durations = [row["T / s"] for row in rows]
        self.assertEqual(durations, sorted(durations, reverse=True))
        self.assertEqual(len(set(durations)), len(rows))
        self.assertLessEqual(min(row["T / s"] for row in rows if row["points"] <= 30), 0.3935)
        self.assertLessEqual(durations[-1], 0.3921)
        self.assertGreater(motion["duration"], BANG_BANG)
        self.assertAlmostEqual(motion["duration"], durations[-1], delta=1e-6)
        _, states = sampled(motion)
        self.assertEnds(states, (0, -2), (1, -1), ("qd",))
        del states["qddd"]
        tau = self.ask("two_link", "inverse-dynamics", states)["tau"]
        self.assertGreater(self.assertWithin(tau, (10, 10), "torques"), 0.999)
        self.assertLessEqual({"torques", "internal forces", "joint positions", "motion", "joint1", "joint2"}, texts)

    def test_prismatic_revolute(self):
        """The published table allows two readings; for both the program finds the independently computed optimum."""
        out, motion, texts = self.plan("prismatic_revolute")
        for rows, duration, cost in zip(self.tables(out), (0.6462, 0.5858), (0.8531, 0.7732), strict=True):
            self.assertAlmostEqual(rows[-1]["T / s"], duration, delta=2e-4)
            self.assertAlmostEqual(rows[-1]["cost"], cost, delta=1e-4)
        self.assertIn("0.5585", out)
        at, states = sampled(motion)
        self.assertEnds(states, (0.1, 0.6), (0.7853981633974483, -0.7853981633974483), ("qd",))
        del states["qddd"]
        tau = self.ask("prismatic_revolute", "inverse-dynamics", states)["tau"]
        self.assertWithin(tau, (10, 10), "force and torque")
        squares = [sum(x * x for x in row) for row in tau]
        mean = sum((b - a) * (x + y) / 2 for a, b, x, y in zip(at, at[1:], squares, squares[1:]))
        cost = motion["duration"] * (0.99 + 0.01 * mean)
        self.assertAlmostEqual(cost, self.tables(out)[0][-1]["cost"], delta=1e-5)
        self.assertLessEqual({"internal forces", "joint positions", "motion"}, texts)

    def test_panda_minimum_time(self):
        out, motion, texts = self.plan("panda_minimum_time")
        durations = [row["T / s"] for row in self.tables(out)[0]]
        self.assertLess(durations[-1], durations[0])
        published = self.ok(self.client.get("/v1/models/panda"))["joints"]
        limits = [joint["limits"] for joint in published]
        _, states = sampled(motion)
        self.assertEnds(states, motion["control_points"][0], motion["control_points"][-1], ("qd", "qdd"))
        moved = [abs(b - a) for a, b in zip(states["q"][0], states["q"][-1])]
        self.assertGreater(motion["duration"], max(d / joint["velocity"] for d, joint in zip(moved, limits)))
        answer = self.ask("panda", "torque-derivative", states)
        loads = [self.assertWithin(answer["tau"], [joint["effort"] for joint in limits], "torques"),
                 self.assertWithin(answer["tau_dot"], [1000] * 7, "torque rates"),
                 self.assertWithin(states["qd"], [joint["velocity"] for joint in limits], "velocities")]
        self.assertGreater(max(loads), 0.99)
        for row in states["q"]:
            for x, joint in zip(row, limits):
                self.assertTrue(joint["position"][0] <= x <= joint["position"][1], (x, joint))
        self.assertLessEqual({"torques", "torque rates", "velocities", "joint positions", "internal forces", "motion"},
                             texts)

    def test_limits_of_mimic_joints(self):
        """A mimic joint's limits narrow the position range and the speed of its leader; other limits of joints without a coordinate are
        refused."""
        sys.path.insert(0, folder_of("planner"))
        self.addCleanup(sys.path.remove, folder_of("planner"))
        from problem import Limits      # pylint: disable=import-outside-toplevel
        own = {"position": [-1, 1], "velocity": 2, "effort": 9}
        follower = {"name": "b", "mimic": {"joint": "a", "multiplier": -2, "offset": 0.05}, "limits": {"position": [-0.1, 0.2], "velocity": 1}}
        model = {"velocity_names": ["a"], "joints": [{"name": "a", "limits": own}, follower]}
        limits = Limits.published(model)
        self.assertClose(limits.position.tolist(), [[-0.075, 0.075]], 1e-15)
        self.assertEqual((limits.velocity.tolist(), limits.effort.tolist()), ([0.5], [9]))
        for change in ({"limits": {"effort": 3}}, {"mimic": None}, {"mimic": {**follower["mimic"], "joint": "passive"}}):
            with self.assertRaisesRegex(ValueError, "limits of b .* margins"):
                Limits.published({**model, "joints": [model["joints"][0], {**follower, **change}]})
        del own["position"], follower["limits"]["velocity"]
        self.assertEqual(Limits.published(model).velocity.tolist(), [2])

    def test_png(self):
        self.run_program("two_link_minimum_time.py", "--rounds", "1", "--output", "it.png")
        with open(self.path("it.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_what_goes_wrong_is_said(self):
        self.check_refusals(
            "two_link_minimum_time.py", (("--output", "plot.gif"), 2, "plot.gif"),
            (("--rounds", "0"), 2, "--rounds 0"),
            (("--control-points", "4"), 1, "4 control points"),
            (("--server", "http://127.0.0.1:1"), 1, "refused"),
            (("--server", "ftp://somewhere"), 1, "ftp://somewhere"))

    def test_help(self):
        for program in ("two_link_minimum_time.py", "prismatic_revolute.py", "panda_minimum_time.py"):
            self.check_help(program, "--server", "--control-points", "--rounds", "--samples", "--output", "--motion")


if __name__ == "__main__":
    tap.main()
