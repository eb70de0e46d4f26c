"""What tests of simulate share: a pendulum, an arm of three joints, bodies that fly, and how they are asked for."""
from harness import ServerCase

ROD = {"name": "rod", "parent": "base", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0]},
       "inertial": {"solid": "box", "size": [0.1, 0.1, 1], "mass": 2, "xyz": [0, 0, -0.5]}}
BODY = {"mass": 2, "com": [0.1, 0.2, 0.05], "inertia": {"xx": 1, "yy": 2, "zz": 2.5, "xy": 0.1}}
ARM = {"links": [
    {"name": "a", "parent": "base", "joint": {
        "name": "turn", "type": "revolute", "axis": [0, 1, 1], "rotor_inertia": 0.3,
        "friction": {"viscous": 0.4, "coulomb": {"positive": 0.5, "negative": 0.7}, "coulomb_velocity": 0.6}},
     "inertial": {"solid": "box", "size": [0.1, 0.2, 0.5], "mass": 3, "xyz": [0.1, 0, 0.2]}},
    {"name": "b", "parent": "a", "joint": {
        "name": "slide", "type": "prismatic", "axis": [1, 0, 0.5], "origin": {"xyz": [0, 0.1, 0.4], "rpy": [0.3, 0.2, 0.1]},
        "spring": {"stiffness": 40, "damping": 3, "rest": 0.1}},
     "inertial": {"solid": "box", "size": [0.3, 0.1, 0.1], "mass": 2}},
    {"name": "c", "parent": "a", "joint": {
        "name": "branch", "type": "revolute", "axis": [1, 0, 0], "origin": {"xyz": [0, -0.2, 0.3]},
        "friction": {"viscous": 0.2}},
     "inertial": {"solid": "cylinder", "size": [0.05, 0.4], "mass": 1, "xyz": [0, 0, 0.2]}}]}


class Simulated(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        floating = {"base": {"type": "floating", "link": "hull", "inertial": BODY}, "links": []}
        swimmer = {"base": floating["base"], "links": [{**ROD, "parent": "hull"}]}
        damped = {**ROD, "joint": {**ROD["joint"], "friction": {"viscous": 200}}}
        for name, document in {"pendulum": {"links": [ROD]}, "body": floating, "swimmer": swimmer, "arm": ARM,
                               "thick": {"links": [damped]}}.items():
            assert cls.client.put(f"/v1/models/{name}", document).status == 201

    def simulate(self, model, request, *outputs, **more):
        if outputs:
            more["outputs"] = list(outputs)
        return self.ask(model, "simulate", {**request, **more})
