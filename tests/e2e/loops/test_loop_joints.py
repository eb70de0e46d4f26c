"""Tests universal and cylindrical cut joints against the same mechanisms with one more massless body, in which a tree
joint and a revolute cut joint replace the cut joint. Also tests frames of cut joints given by modified
Denavit-Hartenberg parameters."""
import copy
import math

import numpy as np
import tap
from assemblies import Assemblies
from continuation import CROSSED, Guess, Line
from linkages import link, loop
from samples import body
from tree_kinematics import Mechanism, about, from_quaternions, from_rpy

A, B = [0, 0.6, 0.8], [0, 0.8, -0.6]  # axes of a universal joint, perpendicular at home
RAIL = [6 / 7, 2 / 7, 3 / 7]
OPERATIONS = {
    "inverse-dynamics": ("q qd qdd", ["tau", "joint_wrenches", "full"]),
    "forward-dynamics": ("q qd tau", ["qdd", "joint_wrenches"]),
    "mass-matrix": ("q", ["mass_matrix", "inverse"]),
    "bias": ("q qd", ["bias", "coriolis", "gravity"]),
    "energy": ("q qd", ["kinetic", "potential", "momentum"]),
    "torque-derivative": ("q qd qdd qddd", ["tau", "tau_dot", "joint_wrench_rates"]),
    "sensitivity": ("q qd qdd", ["dtau_dq", "dtau_dqd", "dtau_dqdd", "d_joint_wrenches_dq", "d_joint_wrenches_dqd",
                                 "d_joint_wrenches_dqdd"]),
    "forward-sensitivity": ("q qd tau", ["dqdd_dq", "dqdd_dqd", "dqdd_dtau"]),
    "coriolis": ("q qd", ["coriolis_matrix", "christoffel"]),
    "kinematics": ("q qd qdd qddd", ["jacobian", "jacobian_dot", "velocity", "acceleration", "jerk"])}


def crank_and_arm(*closing, frames=(), loops=()):
    """A crank, a coupler on a spherical joint at the crank's end, and an arm on a driven carriage. At home the ends of
    coupler and arm coincide."""
    return {"links": [
        link("crank", "base", "revolute", [0, 0, 1], body(1, (0.05, 0, 0)), True, origin={"xyz": [0, 0, 0], "rpy": [0, 0, 1.1]}),
        link("coupler", "crank", "spherical", None, body(0.8, (0.2, 0.01, 0)), origin={"xyz": [0.1, 0, 0], "rpy": [0, 0, -1.1]}),
        *closing,
        link("carriage", "base", "prismatic", [1, 0, 0], body(2), True,
             origin={"xyz": [0.1 * math.cos(1.1) + 0.4, 0.1 * math.sin(1.1), -0.2]}),
        link("arm", "carriage", "revolute", [0.1, 1, -0.2], body(0.7, (0, 0, 0.1)))],
        "frames": [{"name": "coupler_end", "link": "coupler", "xyz": [0.4, 0, 0], "rpy": [0.3, 0.2, -0.1]},
                   {"name": "arm_end", "link": "arm", "xyz": [0, 0, 0.2], "rpy": [0.3, 0.2, -0.1]}, *frames],
        "loops": list(loops)}


def without_axis(document):
    """Removes `axis` from spherical joints, which have none."""
    for entry in document["links"]:
        if entry["joint"]["axis"] is None:
            del entry["joint"]["axis"]
    return document


def universal():
    """The mechanism closed by a universal joint with axis A in the coupler and axis B in the arm."""
    return without_axis(crank_and_arm(loops=[loop("coupler_end", "arm_end", "universal", A, axis_b=B)]))


def universal_in_the_tree():
    end = {"xyz": [0.4, 0, 0], "rpy": [0.3, 0.2, -0.1]}
    return without_axis(crank_and_arm(link("extra", "coupler", "revolute", A, origin=end),
                                      loops=[loop("extra", "arm_end", "revolute", B)]))


def cylindrical():
    return without_axis(crank_and_arm(loops=[loop("coupler_end", "arm_end", "cylindrical", RAIL)]))


def cylindrical_in_the_tree():
    end = {"xyz": [0.4, 0, 0], "rpy": [0.3, 0.2, -0.1]}
    return without_axis(crank_and_arm(link("extra", "coupler", "prismatic", RAIL, origin=end),
                                      loops=[loop("extra", "arm_end", "revolute", RAIL)]))


def khalil(document, frame, axis):
    """Returns a cut joint's frame, with the joint axis as its z, by (gamma, b, alpha, d, theta, r): z = (sin g sin a,
    -cos g sin a, cos a), p = b e_z + d (cos g, sin g, 0) + r z."""
    place = next(entry for entry in document["frames"] if entry["name"] == frame)
    z = from_rpy(place["rpy"]) @ axis
    gamma, alpha = math.atan2(z[0], -z[1]), math.acos(z[2])
    b, d, r = np.linalg.solve(np.stack([[0, 0, 1], [math.cos(gamma), math.sin(gamma), 0], z], 1), place["xyz"])
    return {"link": place["link"], "modified_dh": {"gamma": gamma, "b": b, "alpha": alpha, "d": d, "theta": 0.7, "r": r}}


def by_khalil(document, sides="ab"):
    """Returns the mechanism with the cut joint's frames given as modified Denavit-Hartenberg parameters of the loop."""
    document = copy.deepcopy(document)
    entry = document["loops"][0]
    axis = entry["axis"]
    if "a" in sides:
        entry["frame_a"] = khalil(document, "coupler_end", entry.pop("axis"))
    if "b" in sides:
        entry["frame_b"] = khalil(document, "arm_end", entry.pop("axis_b", axis))
    return document


class Moved(Assemblies):
    def states(self, rows, seed=1):
        choose = np.random.default_rng(seed)
        scale = {"q": (0.4, 0.05), "qd": (2, 1), "qdd": (5, 4), "qddd": (20, 10), "tau": (3, 10)}
        return {name: (choose.uniform(-1, 1, (rows, 2)) * size).tolist() for name, size in scale.items()}


class SameMechanism(Moved):
    def without_extra(self, output, value):
        """Removes the massless body's entries from outputs that have an axis over bodies."""
        bodies = {"joint_wrenches": 1, "joint_wrench_rates": 1, "d_joint_wrenches_dq": 1, "d_joint_wrenches_dqd": 1,
                  "d_joint_wrenches_dqdd": 1}
        return np.delete(value, 2, bodies[output]) if output in bodies else np.array(value)

    def check(self, cut, tree):
        self.put_model("cut", cut)
        self.put_model("tree", tree)
        s = self.states(12)
        wrenches = [{"link": "coupler", "force": [3, -2, 1], "torque": [0.3, 0.2, 0.4], "point": [0.2, 0.1, 0]},
                    {"link": "arm", "force": [-1, 2, 4], "torque": [0.1, -0.3, 0.2], "frame": "link"}]
        for operation, (fields, outputs) in OPERATIONS.items():
            request = {**{name: s[name] for name in fields.split()}, "outputs": outputs}
            if operation in ("inverse-dynamics", "forward-dynamics", "torque-derivative", "sensitivity", "forward-sensitivity"):
                request["wrenches"] = wrenches
            if operation == "kinematics":
                request["frame"] = "arm_end"
            given, expected = (self.ask(name, operation, request) for name in ("cut", "tree"))
            for output in outputs:
                if output == "full":
                    self.check_full(given["full"], expected["full"])
                else:
                    self.near(given[output], self.without_extra(output, expected[output]), 1e-9, f"{operation} {output}")

    def check_full(self, given, expected):
        """Compares `full` without the additional coordinate; for the force and moment between coupler and arm it compares only the norms, since
        both models give them in different axes."""
        columns = [expected["position_names"].index(name) for name in given["position_names"]]
        self.near(given["q"], np.array(expected["q"])[:, columns], 1e-12)
        columns = [expected["velocity_names"].index(name) for name in given["velocity_names"]]
        self.near(given["qdd"], np.array(expected["qdd"])[:, columns], 1e-10)
        self.near(given["G"], np.array(expected["G"])[:, columns], 1e-10)
        for part in (slice(0, 3), slice(3, 6)):
            sizes = [np.linalg.norm(np.array(full["loop_wrenches"])[:, 0, part], axis=1) for full in (given, expected)]
            self.near(*sizes, 1e-9)
        self.near(given["residual"], np.zeros(len(given["q"])), 1, least=1e-13)

    def test_universal(self):
        self.check(universal(), universal_in_the_tree())

    def test_cylindrical(self):
        self.check(cylindrical(), cylindrical_in_the_tree())

    def test_directions_of_wrenches(self):
        """The moment of a universal joint is perpendicular to both axes; a cylindrical joint transmits no force along
        its axis and no moment about it."""
        s = self.states(6, 2)
        motion = {name: s[name] for name in ("q", "qd", "qdd")}
        self.put_model("cut", universal())
        full = self.full("cut", motion)
        m = Mechanism(universal())
        poses = m.forward(np.array(full["q"]))[0]
        _, Ra, _ = m.place(poses, "coupler_end")
        _, Rb, _ = m.place(poses, "arm_end")
        x = np.swapaxes(Ra, 1, 2) @ (Rb @ B)[..., None]
        moment = np.array(full["loop_wrenches"])[:, 0, 3:]
        self.assertGreater(np.linalg.norm(moment, axis=1).min(), 1e-3)
        self.assertLess(np.abs(moment @ A).max(), 1e-12)
        self.assertLess(np.abs((moment * x[..., 0]).sum(1)).max(), 1e-12)
        self.put_model("cut", cylindrical())
        wrench = np.array(self.full("cut", motion)["loop_wrenches"])[:, 0]
        self.assertLess(np.abs(wrench.reshape(-1, 2, 3) @ RAIL).max(), 1e-10)

    def published(self, name, document):
        self.put_model(name, document)
        m = Mechanism(document)
        reference = self.ok(self.client.get(f"/v1/models/{name}"))["reference"]
        m.name, m.passive_q, m.reference = name, np.setdiff1d(np.arange(m.nq), m.active_q), np.zeros(m.nq)
        m.reference[m.active_q], m.reference[m.passive_q] = reference["q"], reference["passive"]
        return m

    def test_assembly(self):
        """The server's assembly is that of continuation, from the reference and from guesses; a batch has the bits of single requests."""
        for name, document in (("universal", universal()), ("cylindrical", cylindrical())):
            m, choose = self.published(name, document), np.random.default_rng(8)
            goals = np.repeat(m.reference[None], 30, 0)
            goals[:, m.active_q] = choose.uniform([-3, -0.4], [3, 0.4], (30, 2))
            requests = [{"q": row.tolist()} for row in goals[:, m.active_q]]
            expected, reached, answers = self.compare(m, Line(m, m.reference, goals), requests)
            self.assertGreater(len(reached), 5)
            self.assertGreater((expected.outcome == CROSSED).sum(), 2)
            self.check_bits(m, [requests[r] for r in reached], answers)
            # only here both mechanisms have the same loop error at a guess: that of a spherical joint and one angle
            if name == "universal":
                away = choose.uniform(-1.2, 1.2, (len(reached), m.nv))
                away[:, m.active_v] = 0
                guesses = m.move(expected.q[reached], away)
                requests = [{"q": row[m.active_q].tolist(), "guess": row[m.passive_q].tolist()} for row in guesses]
                expected, reached, _ = self.compare(m, Guess(m, guesses), requests)
                self.assertGreater(len(reached), 5)
                self.assertGreater((expected.outcome == CROSSED).sum(), 2)


class ModifiedDenavitHartenberg(Moved):
    def test_same_mechanism(self):
        """With z of the frames along the axes, theta has no effect on these joints."""
        s = self.states(6, 3)
        for document, sides in ((universal(), "ab"), (universal(), "a"), (universal(), "b"), (cylindrical(), "ab")):
            self.put_model("named", document)
            self.put_model("own", by_khalil(document, sides))
            for operation in ("inverse-dynamics", "sensitivity"):
                motion = {name: s[name] for name in ("q", "qd", "qdd")}
                named, own = (self.ask(name, operation, motion) for name in ("named", "own"))
                for output in named:
                    self.near(own[output], named[output], 1e-9, output)

    def test_frames(self):
        """The frames become frames of the model, named after the loop: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r).
        """
        document = by_khalil(universal())
        put = document["loops"][0]["frame_a"]["modified_dh"]
        self.put_model("own", document)
        frames = self.ok(self.client.get("/v1/models/own"))
        self.assertEqual([(f["name"], f["link"]) for f in frames["frames"]][-2:], [("loop.a", "coupler"), ("loop.b", "arm")])
        self.assertEqual([frames["loops"][0][key] for key in ("frame_a", "frame_b")], ["loop.a", "loop.b"])
        poses = self.ask("own", "kinematics", {"q": [0.3, 0.02], "frames": ["coupler", "loop.a", "loop.b"]})["poses"]
        R, own = (from_quaternions(np.array(poses[name]["orientation"])) for name in ("coupler", "loop.a"))
        turn = [about([0, 0, 1], np.float64(put["gamma"])), about([1, 0, 0], np.float64(put["alpha"])),
                about([0, 0, 1], np.float64(put["theta"]))]
        p = np.array([0, 0, put["b"]]) + turn[0] @ turn[1] @ (np.array([put["d"], 0, 0]) + turn[2] @ [0, 0, put["r"]])
        self.near(R.T @ own, turn[0] @ turn[1] @ turn[2], 1e-12)
        self.near(R.T @ np.subtract(poses["loop.a"]["position"], poses["coupler"]["position"]), p, 1e-12)
        self.near(poses["loop.a"]["position"], poses["loop.b"]["position"], 1e-12)

    def test_comes_back(self):
        """The document of the model leaves out parameters that are zero."""
        document = by_khalil(universal())
        for side in ("frame_a", "frame_b"):
            given = document["loops"][0][side]["modified_dh"]
            document["loops"][0][side]["modified_dh"] = {key: value for key, value in given.items() if value != 0}
        self.put_model("own", document)
        again = self.ok(self.client.get("/v1/models/own/document"))
        self.assertEqual(again["loops"], document["loops"])
        revision = self.put_model("own", again)["revision"]
        self.assertEqual(self.put_model("other", document)["revision"], revision)

    def test_refused(self):
        def refused(change, code, pointer, word):
            document = by_khalil(universal())
            change(document)
            problem = self.assertProblem(self.client.put("/v1/models/bad", document), 422, pointer)
            self.assertEqual(problem["code"], code, problem)
            self.assertIn(word, problem["detail"])

        def put(value, *path):
            def change(document):
                at = document["loops"][0]
                for key in path[:-1]:
                    at = at[key]
                at[path[-1]] = value
            return change
        refused(put([0, 0, 1], "axis"), "bad-value", "/loops/0/axis", "z")
        refused(put([0, 0, 1], "axis_b"), "bad-value", "/loops/0/axis_b", "z")
        refused(put("nobody", "frame_a", "link"), "unknown-name", "/loops/0/frame_a/link", "nobody")
        refused(put(1, "frame_b", "xyz"), "unknown-field", "/loops/0/frame_b/xyz", "xyz")
        refused(put({"link": "arm"}, "frame_b"), "missing-field", "/loops/0/frame_b/modified_dh", "gamma")
        refused(put(3, "frame_a"), "wrong-type", "/loops/0/frame_a", "")
        refused(lambda d: d["frames"].append({"name": "loop.b", "link": "arm"}), "duplicate-name", "/loops/0/name", "loop.b")
        refused(put({"link": "coupler", "modified_dh": {}}, "frame_b"), "bad-model", "/loops/0", "one body")


if __name__ == "__main__":
    tap.main()
