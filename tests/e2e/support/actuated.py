"""Robots with passive joints and effort limits, and their equation of motion solved in NumPy with M and the bias that
the server answers."""
import numpy as np
from samples import body
from simulated import Simulated


def rod(name, parent, **joint):
    origin = {"origin": {"xyz": [0, 0, -1]}} if parent != "base" else {}
    return {"name": name, "parent": parent, "inertial": {"mass": 2, "com": [0, 0, -0.5], "inertia": {"xx": 0.2, "yy": 0.17, "zz": 0.01}},
            "joint": {"name": name + "_joint", "type": "revolute", "axis": [0, 1, 0], **origin, **joint}}


ACROBOT = {"links": [rod("upper", "base", actuated=False, friction={"viscous": 0.3}), rod("lower", "upper")]}
# An arm of three joints: one rigid, one elastic, one passive.
SPRINGY = {"links": [rod("upper", "base", rotor_inertia=0.1, elastic={"stiffness": 400, "damping": 2}), rod("lower", "upper"),
                     rod("tail", "lower", actuated=False, friction={"viscous": 1})]}
LIMITED = {"links": [rod("upper", "base", limits={"effort": 40, "velocity": 1.5, "position": [-1, 1]}),
                     rod("lower", "upper", limits={"effort": 8})]}
# A floating body that carries an arm of two driven joints and a ball on a passive spherical joint.
FLYER = {"base": {"type": "floating", "link": "hull", "inertial": body(4, (0.1, 0, -0.05), 0.3, 0.4, 0.5)},
         "links": [rod("upper", "hull"), rod("lower", "upper", axis=[1, 0, 0]),
                   {"name": "ball", "parent": "hull", "inertial": body(1, (0, 0, -0.4)), "joint": {
                       "name": "ball_joint", "type": "spherical", "actuated": False, "origin": {"xyz": [0.3, 0, 0]}}}]}


class Actuated(Simulated):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("acrobot", ACROBOT), ("springy", SPRINGY), ("limited", LIMITED), ("flyer", FLYER)):
            answer = cls.client.put("/v1/models/" + name, document)
            assert answer.status == 201, answer

    def dynamics(self, model, q, qd, **more):
        """Returns the mass matrix M, the bias h and the gravity torques g of a state."""
        state = {"q": list(q), "qd": list(qd), **more}
        M = self.ask(model, "mass-matrix", {"q": list(q), **{k: v for k, v in more.items() if k == "payload"}})["mass_matrix"]
        terms = self.ask(model, "bias", {**state, "outputs": ["bias", "gravity"]})
        return np.array(M), np.array(terms["bias"]), np.array(terms["gravity"])
