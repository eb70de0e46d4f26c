"""Reference values of four robots, computed with 80 digits from equations that differ from the product's.

tests/data/robots holds the robots as documents; tests/data/references holds the values that tests/data/references.py
computed for some states. A State reorders the values to the coordinate order of a served model."""
import json
import os

from harness import ROOT

DATA = os.path.join(ROOT, "tests", "data")
ROBOTS = ("double_pendulum", "ur5", "panda_arm", "anymal_b")
EXACT, FORWARD = 1e-12, 1e-10  # tolerances relative to the largest entry; FORWARD for results that need the inverse of the mass matrix


def read(name):
    """Reads a robot of tests/data/robots as a document."""
    with open(os.path.join(DATA, "robots", name + ".json")) as file:
        return json.load(file)


def load(name):
    with open(os.path.join(DATA, "references", name + ".json")) as file:
        return json.load(file)


def document(table, reverse_siblings=False, rotors=None):
    """Returns the robot of a table as a document without friction. `rotors` is {joint: inertia}; links can be listed in
    reverse."""
    robot = read(table["robot"])
    robot["base"]["type"] = table["base"]
    for link in robot["links"]:
        link["joint"].pop("friction", None)
        link["joint"].pop("limits", None)
        if rotors and link["joint"]["type"] != "fixed":
            link["joint"]["rotor_inertia"] = rotors[link["joint"]["name"]]
    if reverse_siblings:
        robot["links"].reverse()
    return robot


class State:
    """A state of a table, reordered to the coordinates of the served model."""

    def __init__(self, table, values, velocity_names):
        self.table, self.values = table, values
        self.floating = table["base"] == "floating"
        self.order = [table["velocity_names"].index(name) for name in velocity_names]
        q = values["given"]["q"]
        self.q = q[:7] + [q[i + 1] for i in self.order[6:]] if self.floating else [q[i] for i in self.order]
        wrench = values["given"]["wrench"]
        self.wrench = {"link": table["wrench_link"], "force": wrench[:3], "torque": wrench[3:], "frame": "link"}
        self.name = f"{table['robot']} state {table['states'].index(values)}"

    def given(self, name):
        """Returns an input of the state: qd, qdd, qddd, tau or rotor_inertia."""
        return [self.values["given"][name][i] for i in self.order]

    def motion(self, *names):
        return {"q": self.q, **{name: self.given(name) for name in names}}

    def value(self, operation, name):
        return self.values[operation][name]

    def vector(self, operation, name):
        return [self.value(operation, name)[i] for i in self.order]

    def columns(self, operation, name):
        return [[row[i] for i in self.order] for row in self.value(operation, name)]

    def square(self, operation, name):
        rows = self.value(operation, name)
        return [[rows[i][j] for j in self.order] for i in self.order]
