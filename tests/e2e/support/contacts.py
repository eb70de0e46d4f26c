"""Robots with held frames or impacts at frames, and their equations of motion with constraints, solved as a dense system from M, the bias and
the Jacobians that other operations answer."""
import numpy as np
from harness import ServerCase
from samples import branched, mimicking

AXES = ["x", "y", "z", "rx", "ry", "rz"]
ROD = {"links": [{"name": "rod", "parent": "base", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0]},
                  "inertial": {"solid": "box", "size": [0.1, 0.1, 1], "mass": 2, "xyz": [0, 0, -0.5]}}],
       "frames": [{"name": "tip", "link": "rod", "xyz": [0, 0, -1]}]}
TABLE = {"base": {"type": "floating", "link": "top", "inertial": {"mass": 8, "com": [0, 0, 0], "inertia": {
             "xx": 0.3, "yy": 0.2, "zz": 0.4}}}, "links": [],
         "frames": [{"name": f"leg{i}", "link": "top", "xyz": [0.3 * (-1) ** i, 0.5 * (-1) ** (i // 2), -0.7]}
                    for i in range(4)]}
STICK = {"base": {"type": "floating", "link": "stick", "inertial": {"mass": 3, "com": [0, 0, 0], "inertia": {
             "xx": 0, "yy": 3 / 12, "zz": 3 / 12}}}, "links": [],
         "frames": [{"name": "left", "link": "stick", "xyz": [-0.5, 0, 0]}, {"name": "right", "link": "stick", "xyz": [0.5, 0, 0]}]}
UPRIGHT = [0, 0, 0, 0, 0, 0, 1]


class ContactCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("arm", branched()), ("flying", branched("floating")), ("mimicking", mimicking()),
                               ("rod", ROD), ("table", TABLE), ("stick", STICK)):
            cls.client.put("/v1/models/" + name, document)

    def jacobians(self, model, q, qd, held):
        """Returns the rows of the Jacobian J along the held axes, and their rates."""
        J, J_dot = [], []
        for entry in held:
            k = self.ask(model, "kinematics", {"q": q, "qd": qd, "frame": entry["frame"], "reference": entry.get("reference", "world"),
                                               "outputs": ["jacobian", "jacobian_dot"]})
            rows = [AXES.index(axis) for axis in entry.get("axes", AXES)]
            J += [k["jacobian"][row] for row in rows]
            J_dot += [k["jacobian_dot"][row] for row in rows]
        return np.array(J), np.array(J_dot)

    @staticmethod
    def chosen(held, wrenches):
        """Returns the components of contact wrenches along the held axes, and checks that all others are zero."""
        values = []
        for entry, wrench in zip(held, wrenches):
            rows = [AXES.index(axis) for axis in entry.get("axes", AXES)]
            values += [wrench[row] for row in rows]
            assert all(wrench[row] == 0 for row in range(6) if row not in rows)
        return np.array(values)

    def check_held(self, model, state, held, surroundings=None, tolerance=1e-9):
        surroundings = surroundings or {}
        answer = self.ask(model, "forward-dynamics", {**state, **surroundings, "held": held})
        self.assertEqual(list(answer), ["qdd", "contact_wrenches"])
        motion = {"q": state["q"], "qd": state["qd"]}
        M = np.array(self.ask(model, "mass-matrix", {"q": state["q"], **{k: v for k, v in surroundings.items()
                                                                         if k == "payload"}})["mass_matrix"])
        h = np.array(self.ask(model, "bias", {**motion, **surroundings})["bias"])
        J, J_dot = self.jacobians(model, state["q"], state["qd"], held)
        k, nv = J.shape
        drift = J_dot @ np.array(state["qd"])
        # Rows and columns are scaled by the size of M, so that both halves of the unknowns and of the equations have similar magnitude.
        size = np.abs(M).max()
        lhs = np.block([[M / size, -J.T], [J, np.zeros((k, k))]])
        rhs = np.concatenate([(np.array(state["tau"]) - h) / size, -drift])
        qdd = np.linalg.lstsq(lhs, rhs, rcond=1e-12)[0][:nv]
        force = np.linalg.lstsq(J.T, M @ qdd + h - np.array(state["tau"]), rcond=1e-9)[0]
        scale = max(1, np.abs(answer["qdd"]).max())
        self.assertClose(answer["qdd"], list(qdd), tolerance, scale, f"{model} {held}")
        self.assertClose(list(self.chosen(held, answer["contact_wrenches"])), list(force), tolerance,
                         max(1, np.abs(force).max()), f"{model} {held}")
        self.assertClose(list(J @ np.array(answer["qdd"]) + drift), [0.0] * k, tolerance, scale * max(1, np.abs(J).max()))
        return answer
