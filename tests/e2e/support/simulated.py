"""Robots for the tests of simulate (a pendulum, an arm of three joints, flying bodies) and the requests for them."""
from harness import ServerCase
from samples import TURN_AND_SLIDE

ROD = {"name": "rod", "parent": "base", "joint": {"name": "hinge", "type": "revolute", "axis": [0, 1, 0]},
       "inertial": {"solid": "box", "size": [0.1, 0.1, 1], "mass": 2, "xyz": [0, 0, -0.5]}}
BODY = {"mass": 2, "com": [0.1, 0.2, 0.05], "inertia": {"xx": 1, "yy": 2, "zz": 2.5, "xy": 0.1}}
ARM = {"links": [*TURN_AND_SLIDE,
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
