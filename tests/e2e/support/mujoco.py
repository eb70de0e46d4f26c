"""Runs MuJoCo as a reference: tests/oracle/mujoco.c evaluates a model file, and this module converts the numbers to the
conventions of the product.

MuJoCo's quaternions are w x y z. The velocity of its free joints is linear in world axes and angular in the axes of the
body. The product has both in the axes of the body, so that with R the rotation of the body

    qd = T qvel,  qdd = T qacc + d,  tau = T^-T qfrc,    T = diag(R^T, 1),  d = [-w x R^T v; 0]."""
import json
import os
import random
import subprocess

from harness import ROOT

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
ORACLE = os.path.abspath(os.path.join(BUILD, "tests", "oracle", "mujoco"))
FREE, BALL, SLIDE, HINGE = range(4)
POSITIONS, VELOCITIES = {FREE: 7, BALL: 4, SLIDE: 1, HINGE: 1}, {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}
SKIP = None if os.access(ORACLE, os.X_OK) else "no MuJoCo here"


def rotation(w, x, y, z):
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


class Model:
    """A model file as MuJoCo compiles it."""

    def __init__(self, path):
        self.path = path
        self.about = self.run("")[0]
        self.types = self.about["types"]
        self.nv = self.about["nv"]

    def run(self, states):
        done = subprocess.run([ORACLE, self.path], input=states, capture_output=True, text=True, timeout=120,
                              cwd=os.path.dirname(self.path))
        if done.returncode:
            raise AssertionError(f"MuJoCo: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def draw(self, rng, spread=1.0):
        """Draws a state in MuJoCo's coordinates: positions, velocities, accelerations."""
        qpos, first = [], 0
        for kind in self.types:
            now = [rng.uniform(-spread, spread) for _ in range(POSITIONS[kind])]
            if kind in (FREE, BALL):
                quaternion = [rng.gauss(0, 1) for _ in range(4)]
                norm = sum(x * x for x in quaternion) ** 0.5
                now[-4:] = [x / norm for x in quaternion]
            elif kind == HINGE or kind == SLIDE:
                now[0] += self.about["qpos0"][first]
            qpos += now
            first += POSITIONS[kind]
        return qpos, *([rng.uniform(-2, 2) for _ in range(self.nv)] for _ in range(2))

    def answer(self, states):
        """Returns MuJoCo's results for these states."""
        lines = [" ".join(repr(x) for part in state for x in part) for state in states]
        return self.run("\n".join(lines) + "\n")[1:]

    def convert(self, state):
        """Converts a state to the product's coordinates: q, qd, qdd."""
        qpos, qvel, qacc = state
        q, qd, qdd, p, v = [], [], [], 0, 0
        for kind in self.types:
            now, rate, change = qpos[p:p + POSITIONS[kind]], qvel[v:v + VELOCITIES[kind]], qacc[v:v + VELOCITIES[kind]]
            if kind in (FREE, BALL):
                now = now[:-4] + now[-3:] + now[-4:-3]
            if kind == FREE:
                R = rotation(*qpos[p + 3:p + 7])
                linear, pushed = ([sum(R[i][j] * u[i] for i in range(3)) for j in range(3)] for u in (rate, change))
                turned = cross(rate[3:], linear)
                rate, change = linear + rate[3:], [a - b for a, b in zip(pushed, turned)] + change[3:]
            q, qd, qdd = q + now, qd + rate, qdd + change
            p, v = p + POSITIONS[kind], v + VELOCITIES[kind]
        return q, qd, qdd

    def columns(self, state):
        """Returns T^T, which converts the product's forces to MuJoCo's, as rows of nv numbers."""
        turn = [[float(i == j) for j in range(self.nv)] for i in range(self.nv)]
        p, v = 0, 0
        for kind in self.types:
            if kind == FREE:
                R = rotation(*state[0][p + 3:p + 7])
                for i in range(3):
                    turn[v + i][v:v + 3] = R[i]
            p, v = p + POSITIONS[kind], v + VELOCITIES[kind]
        return turn


def multiply(A, B):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


def apply(A, x):
    return [sum(a * b for a, b in zip(row, x)) for row in A]


def states(model, count, seed):
    rng = random.Random(seed)
    return [model.draw(rng) for _ in range(count)]
