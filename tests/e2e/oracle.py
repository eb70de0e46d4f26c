"""Reference values of an independent rigid-body library, where its tables lie beside the checkout.

The tables give each robot joint by joint (placement, axis, mass, centre of mass, inertia about it) and, for some
states, what an 80-bit evaluation of the same model gives. Here each robot is written as a model document.
"""
import json
import os

from harness import ROOT

ORACLE = os.path.join(os.path.dirname(ROOT), "shared", "oracle")
ROBOTS = ("double_pendulum", "ur5", "panda_arm", "anymal_b")
EXACT, FORWARD = 1e-12, 1e-10      # of the largest entry; the latter where the mass matrix is inverted


def load(name):
    with open(os.path.join(ORACLE, name + ".json")) as file:
        return json.load(file)


def matrix(placement):
    return [*placement, [0, 0, 0, 1]]


def axis_of(joint):
    """The motion axis and whether it turns, from the one column [linear; angular] of S."""
    column = joint["S_columns"][0]
    return ("revolute", column[3:]) if any(column[3:]) else ("prismatic", column[:3])


def inertial(joint):
    I = joint["inertia_about_com"]
    return {"mass": joint["mass"], "com": joint["com"],
            "inertia": {"xx": I[0][0], "yy": I[1][1], "zz": I[2][2], "xy": I[0][1], "xz": I[0][2], "yz": I[1][2]}}


def document(table, reverse_siblings=False, rotors=None):
    """The robot as a model document: one link `<joint>.link` a joint, and a fixed link `probe` at the table's frame."""
    floating = table["base"] == "floating"
    joints = table["model"]
    base = {"type": "floating" if floating else "fixed", "link": "base"}
    carried = {0: "base"}
    if floating:
        base["inertial"] = inertial(joints[0])
        carried[joints[0]["index"]] = "base"
    moving = joints[1:] if floating else joints
    carried.update({joint["index"]: joint["name"] + ".link" for joint in moving})
    links = []
    for joint in moving:
        kind, axis = axis_of(joint)
        links.append({"name": carried[joint["index"]], "parent": carried[joint["parent"]],
                      "joint": {"name": joint["name"], "type": kind, "axis": axis,
                                "origin": {"matrix": matrix(joint["placement_3x4"])},
                                "rotor_inertia": (rotors or {}).get(joint["name"], 0)},
                      "inertial": inertial(joint)})
    frame = table["frame"]
    index = next(joint["index"] for joint in joints if joint["name"] == frame["parent_joint"])
    probe = {"name": "probe", "parent": carried[index],
             "joint": {"name": "to_probe", "type": "fixed",
                       "origin": {"matrix": matrix(frame["placement_in_joint_3x4"])}}}
    return {"name": table["robot"], "gravity": table["gravity"], "base": base,
            "links": (links[::-1] if reverse_siblings else links) + [probe]}


class State:
    """One state of a table, seen through the coordinate order of the served model."""

    def __init__(self, table, values, velocity_names):
        self.table, self.values = table, values
        self.floating = table["base"] == "floating"
        order = {}
        for joint in table["model"]:
            names = [f"base.{c}" for c in ("vx", "vy", "vz", "wx", "wy", "wz")] if joint["nv"] == 6 else [joint["name"]]
            order.update({name: joint["idx_v"] + i for i, name in enumerate(names)})
        self.order = [order[name] for name in velocity_names]
        angles = self.vector("q_angles_nv")
        self.q = values["q"][:7] + angles[6:] if self.floating else angles

    def __getitem__(self, key):
        return self.values[key]

    def vector(self, key):
        return [self.values[key][i] for i in self.order]

    def columns(self, key):
        return [[row[i] for i in self.order] for row in self.values[key]]

    def square(self, key):
        rows = self.values[key]
        return [[rows[i][j] for j in self.order] for i in self.order]
