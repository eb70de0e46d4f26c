"""Provokes every error of the contract that evaluations and PUT of models can give; after each the server must still
answer."""
import json

import tap
from errors import ErrorCase, whole_run_shows
from samples import branched, chain

INF = "1e999"


def tearDownModule():
    whole_run_shows("test_errors.py")


class Requests(ErrorCase):
    Q = [0.1, 0.2, 0.3, 0.4]

    def test_numbers_in_details_are_the_shortest(self):
        """Details print a number with the fewest digits that read back as the same double, as answers do, not with 17
        digits."""
        for damping in ("-0.1", "-1e-7", "-123456789.1"):
            self.bad(f'{{"q":[0.1,0.2,0.3,0.4],"frame":"tool","damping":{damping}}}', "/damping", operation="task-space",
                     says=f"{damping} given")
        self.bad({"q": [0.1, 100000.1, 0.3, 0.4]}, "/q/1", says="is 100000.1;")

    def bad(self, request, pointer=None, row=None, operation="inverse-dynamics", model="arm", **more):
        return self.refused(f"/v1/models/{model}/{operation}", request, pointer=pointer, row=row, **more)

    def test_shapes(self):
        q = self.Q
        self.bad({"q": q[:3]}, "/q", says=("3", "4"))
        self.bad({"q": q + [1]}, "/q", says=("5", "4"))
        self.bad({"q": [[]]}, "/q/0", 0, says=("0", "4"))
        self.bad({"q": 1}, "/q")
        self.bad({"q": "1"}, "/q")
        self.bad({"q": None}, "/q")
        self.bad({"q": True}, "/q")
        self.bad({"q": [q, q[:3]]}, "/q/1", 1, says=("3", "4"))
        self.bad({"q": [q, 7]}, "/q/1", 1)
        self.bad({"q": [1, q]}, "/q/1")
        self.bad({"q": [[q]]}, "/q/0/0", 0)
        self.bad({"q": [0.1, "x", 0.3, 0.4]}, "/q/1")
        self.bad({"q": [q, q, [0, 1, None, 0]]}, "/q/2/2", 2)
        self.bad({"q": q, "qd": [1, 2]}, "/qd", says=("2", "4"))
        self.bad({"q": q, "qdd": [[1, 2, 3]]}, "/qdd/0", 0)
        self.bad({"q": [q, q], "qd": [q, q, q]}, says=("2", "3"))
        self.bad({"q": q, "tau": q}, "/tau")
        self.bad({"q": [0] * 10}, "/q", model="free", says=("10", "11"))

    def test_simulations(self):
        request = {"q": [0], "duration": 1, "samples": 2}
        self.bad({**request, "step": 1e-9}, "/step", operation="simulate", model="slider", status=413, says="limit")
        self.bad({**request, "q": [1e200], "qd": [1e200], "duration": 1e200, "step": 1e199}, operation="simulate",
                 model="slider", says="shorter steps")

    def test_missing_fields(self):
        for operation in ("inverse-dynamics", "forward-dynamics", "mass-matrix", "bias", "kinematics", "energy"):
            self.bad({}, operation=operation, says="q")
        self.bad({"q": self.Q}, operation="forward-dynamics", says="tau")
        self.bad({"q": self.Q}, operation="evaluate", says="operations")
        self.bad({"q": self.Q, "outputs": ["jacobian"]}, operation="kinematics", says="frame")

    def test_unknown_fields(self):
        self.bad({"q": self.Q, "gravty": [0, 0, 1]}, "/gravty", says="gravty")
        self.bad({"q": self.Q, "": 1}, "/")
        self.bad({"q": self.Q, "a/b~c": 1}, "/a~1b~0c")
        self.bad({"q": self.Q, "tau": self.Q}, "/tau", operation="mass-matrix")
        self.bad({"q": self.Q, "operations": {"bias": {"q": self.Q}}}, "/operations/bias/q", operation="evaluate")
        self.bad({"q": self.Q, "wrenches": [{"link": "fore", "forces": [1, 2, 3]}]}, "/wrenches/0/forces")
        self.bad({"q": self.Q, "payload": {"link": "fore", "mass": 1, "colour": 2}}, "/payload/colour")

    def test_unknown_names(self):
        q = self.Q
        self.bad({"q": q, "outputs": ["tau", "tua"]}, "/outputs/1", says="tua")
        self.bad({"q": q, "outputs": "tua"}, "/outputs", says="tua")
        self.bad({"q": q, "outputs": {"tau": True}}, "/outputs")
        self.bad({"q": q, "outputs": [1]}, "/outputs/0")
        self.bad({"q": q, "frames": ["tool", "tol"]}, "/frames/1", operation="kinematics", says="tol")
        self.bad({"q": q, "frame": "tol", "outputs": ["jacobian"]}, "/frame", operation="kinematics", says="tol")
        self.bad({"q": q, "frame": "tool", "outputs": ["jacobian"], "reference": "wrld"}, "/reference",
                 operation="kinematics", says="wrld")
        self.bad({"q": q, "wrenches": [{"link": "fore"}, {"link": "for"}]}, "/wrenches/1/link", says="for")
        self.bad({"q": q, "wrenches": [{"link": "fore", "frame": "earth"}]}, "/wrenches/0/frame", says="earth")
        self.bad({"q": q, "payload": {"link": "for", "mass": 1}}, "/payload/link", says="for")
        self.bad({"q": q, "payload": [{"link": "fore", "mass": 1}, {"link": 3, "mass": 1}]}, "/payload/1/link")
        self.bad({"q": q, "operations": {"bias": {}, "bais": {}}}, "/operations/bais", operation="evaluate",
                 says="bais")
        self.bad({"q": q, "operations": {"bias": {"outputs": ["x"]}}}, "/operations/bias/outputs/0",
                 operation="evaluate")
        self.bad({"q": q, "operations": {"evaluate": {"operations": {}}}}, operation="evaluate")
        self.bad({"q": q, "operations": []}, "/operations", operation="evaluate")
        for name in ("simulate", "trajectory", "trajectory-hessian", "path-timing", "identify"):
            self.bad({"q": q, "operations": {name: {}}}, "/operations/" + name, operation="evaluate", says="not combined")

    def test_named_states(self):
        names = ["shoulder", "elbow", "grasp", "hip"]
        named = dict(zip(names, self.Q))
        self.bad({"q": {n: 1 for n in names[:3]}}, says="hip")
        self.bad({"q": {**named, "knee": 1}}, "/q/knee", says="knee")
        self.bad({"q": {**named, "elbow": "x"}}, "/q/elbow")
        self.bad({"q": {**named, "elbow": [1]}}, "/q/elbow")
        self.bad({"q": named, "qd": [self.Q, self.Q]})
        self.bad({"q": [named, named]})
        self.refused("/v1/models/arm/mass-matrix", '{"q":{"elbow":1,"elbow":1}}', 400)

    def test_permutations(self):
        self.bad({"q": self.Q, "joints": ["shoulder", "elbow", "grasp"]})
        self.bad({"q": self.Q, "joints": ["shoulder", "elbow", "grasp", "grasp"]}, "/joints/3", says="grasp")
        self.bad({"q": self.Q, "joints": ["shoulder", "elbow", "grasp", "knee"]}, "/joints/3", says="knee")
        self.bad({"q": self.Q, "joints": "shoulder"}, "/joints")
        free = self.client.get("/v1/models/free").json()["velocity_names"]
        q = [0] * 6 + [1] + self.Q
        self.bad({"q": q, "joints": free[:3] + free[7:]}, "/joints", model="free", says="without the 6")
        self.bad({"q": q, "joints": free[6:] + free[:6]}, "/joints/0", model="free", says="stay first")
        self.bad({"q": q, "joints": [free[1], free[0], *free[2:]]}, "/joints/0", model="free", says="stay first")
        self.bad({"q": q, "joints": [*free[7:], free[0]]}, f"/joints/{len(free) - 7}", model="free", says="stay first")
        self.bad({"q": q, "joints": [*free[7:], free[7]]}, f"/joints/{len(free) - 7}", model="free", says="twice")

    def test_numbers_out_of_range(self):
        def raw(text, **more):
            return self.bad(text, **more)

        raw(f'{{"q":[0,0,{INF},0]}}', pointer="/q/2")
        raw(f'{{"q":[[0,0,0,0],[0,0,0,-{INF}]]}}', pointer="/q/1/3", row=1)
        raw(f'{{"q":[0,0,0,0],"gravity":[0,0,{INF}]}}', pointer="/gravity/2")
        raw(f'{{"q":[0,0,0,0],"qdd":[0,0,0,1{"0" * 400}]}}', pointer="/qdd/3")
        self.bad({"q": [1e9, 0, 0, 0]}, "/q/0")
        self.bad({"q": [self.Q] * 17 + [[0, 0, 0, 1e9]]}, "/q/17/3", 17)
        self.assertEqual(self.client.post("/v1/models/arm/inverse-dynamics", {"q": [1e5, -1e5, 1e9, 0]}).status, 200,
                         "the limit is for angles, and 1e5 rad is within")

    def test_quaternions(self):
        turned = [0, 0, 0, 0, 0, 0, 1.00001] + self.Q
        for q in (turned, [0] * 7 + self.Q, [0, 0, 0, 1, 1, 1, 1] + self.Q):
            self.bad({"q": q}, model="free")
        good = [0, 0, 0, 0, 0, 0, 1] + self.Q
        self.bad({"q": [good, good, turned]}, row=2, model="free")
        self.assertEqual(self.client.post("/v1/models/free/mass-matrix", {"q": good}).status, 200)

    def test_surroundings(self):
        q = self.Q
        self.bad({"q": q, "gravity": [0, 0]}, "/gravity")
        self.bad({"q": [q] * 3, "gravity": [[0, 0, 1], [0, 0, 2]]}, "/gravity")
        self.bad({"q": q, "gravity": 9.81}, "/gravity")
        self.bad({"q": q, "friction": 0}, "/friction")
        self.bad({"q": q, "wrenches": {"link": "fore"}}, "/wrenches")
        self.bad({"q": q, "wrenches": [{"force": [1, 2, 3]}]}, says="link")
        self.bad({"q": q, "wrenches": [{"link": "fore", "force": [1, 2]}]}, "/wrenches/0/force")
        self.bad({"q": q, "wrenches": [{"link": "fore", "torque": [1, 2, "3"]}]}, "/wrenches/0/torque/2")
        self.bad({"q": [q, q], "wrenches": [{"link": "fore", "force": [[1, 2, 3]] * 3}]})
        self.bad({"q": q, "wrenches": [{"link": "fore", "force": [[1, 2, 3], [1, 2]]}]}, "/wrenches/0/force/1", 1)
        self.bad({"q": q, "payload": {"link": "fore", "mass": -1}})
        self.bad({"q": q, "payload": {"link": "fore", "mass": 1, "inertia": {"xx": -1, "yy": 1, "zz": 1}}})
        self.bad({"q": q, "payload": {"mass": 1}}, says="link")
        self.bad({"q": q, "payload": {"link": "fore", "mass": 1, "com": [1, 2]}}, "/payload/com")
        self.bad({"q": q, "payload": 3}, "/payload")

    def test_bodies_that_are_no_object(self):
        for text in ("[]", "1", '"q"', "null", "true"):
            self.refused("/v1/models/arm/inverse-dynamics", text, 422)

    def test_singular_mass_matrix(self):
        document = branched()
        document["links"][-1].pop("inertial")
        self.put_model("limp", document)
        q = self.Q
        self.bad({"q": q, "tau": q}, operation="forward-dynamics", model="limp", says="hip")
        self.bad({"q": [q, q, q], "tau": q}, operation="forward-dynamics", model="limp", row=0, says="hip")
        self.bad({"q": q, "outputs": ["inverse"]}, operation="mass-matrix", model="limp", says="hip")
        self.assertEqual(self.client.post("/v1/models/limp/mass-matrix", {"q": q}).status, 200)

    def test_free_coordinates(self):
        q, flying = self.Q, [0] * 6 + [1] + self.Q
        for free in (3, {"hip": True}):
            self.bad({"q": q, "free": free}, "/free", says="velocity names")
        self.bad({"q": q, "free": "knee"}, "/free", says="knee")
        self.bad({"q": q, "free": "base"}, "/free", says="fixed")
        self.bad({"q": [0] * 6, "free": "base"}, "/free", model="puma560", says="fixed")
        self.bad({"q": q, "free": ["hip", "knee"]}, "/free/1", says="knee")
        self.bad({"q": q, "free": ["hip", 1]}, "/free/1")
        self.bad({"q": flying, "free": ["base"]}, "/free/0", model="free", says="base")
        self.bad({"q": q, "free": ["hip", "elbow", "hip"]}, "/free/2", says="twice")
        self.bad({"q": q, "qdd": [1, 2, 0, 4], "free": ["grasp", "hip"]}, "/qdd/3", says=("hip", "free", "4"))
        self.bad({"q": q, "qdd": [[0] * 4, [0, 0, 0.1, 0]], "free": ["grasp"]}, "/qdd/1/2", 1,
                 says=("grasp", "0.1 given"))
        self.bad({"q": q, "tau": [1, 0, 0, 2], "free": ["hip"]}, "/tau/0", says=("shoulder", "not free"))
        self.bad({"q": q, "tau": [0, 0, -3, 2], "free": ["hip"]}, "/tau/2", says=("grasp", "-3 given"))
        self.bad({"q": q, "tau": [[0, 0, 0, 2], [0, 1, 0, 2]], "free": ["hip"]}, "/tau/1/1", 1, says="elbow")
        self.bad({"q": flying, "qdd": [0, 0, 1] + [0] * 7, "free": "base"}, "/qdd/2", model="free", says="base.vz")
        self.bad({"q": q, "outputs": ["tau", "qdd"]}, "/outputs/1", says="free")
        self.bad({"q": q, "free": ["hip"], "outputs": ["base_acceleration"]}, "/outputs/0", says="base")
        self.bad({"q": flying, "free": ["hip"], "outputs": ["base_acceleration"]}, "/outputs/0", model="free")
        self.bad({"q": q, "free": ["hip"]}, "/free", operation="forward-dynamics")
        self.bad({"q": q, "tau": q, "operations": {"inverse-dynamics": {}}}, "/tau", operation="evaluate")
        self.bad({"q": q, "operations": {"inverse-dynamics": {"free": ["knee"]}}}, "/operations/inverse-dynamics/free/0",
                 operation="evaluate")
        document = branched()
        document["links"][-1].pop("inertial")
        self.put_model("limp", document)
        self.bad({"q": q, "free": ["shoulder", "hip"]}, model="limp", says="hip")
        self.bad({"q": [q, q], "free": ["hip"]}, model="limp", row=0, says="hip")
        self.assertEqual(self.client.post("/v1/models/limp/inverse-dynamics", {"q": q, "free": ["shoulder"]}).status,
                         200)

    def test_singular_jacobian(self):
        """The task-space inertia of six directions is singular for a single joint."""
        self.bad({"q": [0.3], "frame": "bob"}, operation="task-space", model="pendulum")
        self.bad({"q": [[0.3], [0.4]], "frame": "bob"}, operation="task-space", model="pendulum", row=0)

    def test_loops(self):
        """Refused are loops that cannot close at the given coordinates, loops that cannot close in any position or only with all bars on one
        line, and outputs that models with loops lack."""
        self.bad({"q": [[0.98] * 6, [0.1] * 6]}, "/q/1", model="stewart", row=1, says="singular")
        bar = lambda name, parent, actuated, x, home: {"name": name, "parent": parent, "joint": {
            "name": name, "type": "revolute", "axis": [0, 0, 1], "actuated": actuated, "home": home, "origin": {"xyz": [x, 0, 0]}}}
        flat = {"links": [bar("left", "base", True, 0, 0.5), bar("rod", "left", False, 1, -0.5), bar("right", "base", False, 2, 0.5)],
                "frames": [{"name": "a", "link": "rod", "xyz": [2, 0, 0]}, {"name": "b", "link": "right", "xyz": [1, 0, 0]}],
                "loops": [{"name": "pin", "frame_a": "a", "frame_b": "b", "type": "spherical"}]}
        self.put_model("flat", flat)
        self.bad({"q": [0], "guess": [0, 0]}, "/q", model="flat", operation="mass-matrix", says="passive")
        flat["frames"][0]["xyz"] = [5, 0, 0]
        self.refused("/v1/models/flat", flat, pointer="/loops", method="PUT", says="home")
        self.bad({"degree": 3, "duration": 1, "samples": 2, "control_points": [[1]] * 5, "outputs": ["dtau_dot_dduration"]},
                 "/outputs/0", model="four_bar", operation="trajectory", says="loops")

    def test_points_of_rows(self):
        motion = {"degree": 3, "duration": 1, "samples": 2}
        for more in (4, 6):
            self.bad({**motion, "control_points": [[[0.1]] * 5, [[0.1]] * more]}, "/control_points/1", 1, model="pendulum",
                     operation="trajectory", says=(str(more), "5"))

    def test_ground(self):
        """ground-reaction refuses an arm with a fixed base. A body in free fall has no ground reaction, hence no
        resultant."""
        self.bad({"q": self.Q}, operation="ground-reaction", says=("floating", "prismatic"))
        self.put_model("hull", {"base": {"type": "floating", "link": "hull", "inertial": {
            "solid": "box", "size": [1, 1, 1], "mass": 1}}, "links": []})
        q, falls = [0, 0, 1, 0, 0, 0, 1], [0, 0, -9.81, 0, 0, 0]
        self.bad({"q": q, "qdd": falls, "outputs": ["resultant"]}, operation="ground-reaction", model="hull")
        self.bad({"q": [q, q], "qdd": [[0] * 6, falls], "outputs": ["resultant"]}, operation="ground-reaction", model="hull",
                 row=1)

    def test_out_of_reach(self):
        """inverse-kinematics refuses a goal that lies farther away than the arm is long."""
        self.bad({"frame": "tool0", "position": [5, 0, 0]}, operation="inverse-kinematics", model="ur5", says=("m and", "starts"))

    def test_rank_deficient(self):
        """Rows at rest determine almost no parameter, so identify refuses them."""
        rows = {name: [[0.3]] * 20 for name in ("q", "qd", "qdd", "tau")}
        self.bad(rows, operation="identify", model="pendulum", says=("bob.", "move"))
        self.bad({name: [0.3] for name in rows}, operation="identify", model="pendulum", says="states")

    def test_results_that_overflow(self):
        problem = self.bad({"q": self.Q, "qd": [1e200] * 4})
        self.assertNotIn("internal", problem["code"])
        self.bad({"q": [self.Q] * 3, "qd": [[0] * 4, [1e200] * 4, [0] * 4]}, row=1)
        self.bad({"q": self.Q, "qd": [0, 0, 0, 1e200]}, operation="regressor", says="regressor[3][30]")
        still, fast = [self.Q] * 5, [[0.1, 0.2, 1e200 * k * k, 0.4] for k in range(5)]
        self.bad({"degree": 3, "duration": 1e-60, "samples": 4, "control_points": [still, still, fast]}, row=2, says="of sample 0",
                 operation="trajectory")


class Documents(ErrorCase):
    def bad(self, change, pointer=None, status=422, says=()):
        """Checks that branched(), changed by `change` in place, is refused."""
        document = branched()
        change(document)
        problem = self.refused("/v1/models/bad", document, status, pointer, method="PUT", says=says)
        self.assertEqual(self.client.get("/v1/models/bad").status, 404)
        return problem

    @staticmethod
    def joint(**fields):
        def change(document):
            document["links"][0]["joint"].update(fields)
        return change

    @staticmethod
    def inertial(**fields):
        def change(document):
            document["links"][0]["inertial"].update(fields)
        return change

    def test_structure(self):
        self.bad(lambda d: d.pop("links"), says="links")
        self.bad(lambda d: d.update(links={}), "/links")
        self.bad(lambda d: d.update(links=[1]), "/links/0")
        self.bad(lambda d: d.update(colour=1), "/colour", says="colour")
        self.bad(lambda d: d["links"][1].update(colour=1), "/links/1/colour")
        self.bad(lambda d: d["links"][1]["joint"].update(colour=1), "/links/1/joint/colour")
        self.bad(lambda d: d["links"][1]["inertial"].update(colour=1), "/links/1/inertial/colour")
        self.bad(lambda d: d["links"][1].pop("name"), says="name")
        self.bad(lambda d: d["links"][1].pop("parent"), says="parent")
        self.bad(lambda d: d["links"][1].pop("joint"), says="joint")
        self.bad(lambda d: d["links"][1]["joint"].pop("type"), says="type")
        self.bad(lambda d: d["links"][1]["joint"].pop("name"), says="name")
        self.bad(lambda d: d["links"][1]["joint"].pop("axis"), says="axis")
        self.bad(lambda d: d.update(gravity=[0, 0]), "/gravity")
        self.bad(lambda d: d.update(name=3), "/name")
        self.bad(lambda d: d.update(base={"type": "flying", "link": "torso"}), "/base/type", says="flying")
        self.bad(lambda d: d.update(frames=[{"name": "f", "link": "nowhere"}]), "/frames/0/link", says="nowhere")
        self.bad(lambda d: d.update(frames=[{"name": "f", "link": "fore", "xyz": [1]}]), "/frames/0/xyz")

    def test_the_tree(self):
        self.bad(lambda d: d["links"][1].update(parent="nobody"), "/links/1/parent", says="nobody")
        self.bad(lambda d: d["links"][1].update(parent="fore"))
        self.bad(lambda d: d["links"][0].update(parent="fore"))
        self.bad(lambda d: d["links"][1].update(name="upper"), says="upper")
        self.bad(lambda d: d["links"][1].update(name="torso"), says="torso")
        self.bad(lambda d: d["links"][1]["joint"].update(name="shoulder"), says="shoulder")
        self.bad(lambda d: d["frames"].append(dict(d["frames"][0])), "/frames/1/name", says="tool")
        self.bad(lambda d: d["frames"][0].update(name="fore"), says="fore")
        self.bad(lambda d: d["links"][1].update(name=""), "/links/1/name")
        self.bad(lambda d: d["links"][1].update(name=7), "/links/1/name")

    def test_joints(self):
        self.bad(self.joint(type="ball"), "/links/0/joint/type", says="ball")
        self.bad(self.joint(axis=[0, 0, 0]), "/links/0/joint/axis")
        self.bad(self.joint(axis=[0, 1]), "/links/0/joint/axis")
        self.bad(self.joint(origin={"xyz": [0, 0]}), "/links/0/joint/origin/xyz")
        self.bad(self.joint(origin={"xzy": [0, 0, 0]}), "/links/0/joint/origin/xzy")
        self.bad(self.joint(origin={"dh": {"theta": 0, "d": 0, "a": 0, "alpha": 0}}))  # `axis` together with `dh`
        self.bad(self.joint(origin={"matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]}),
                 "/links/0/joint/origin/matrix")
        self.bad(self.joint(origin={"matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1]]}))
        self.bad(self.joint(origin={"matrix": [[1, 0.1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}))
        self.bad(self.joint(origin={"matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]}))
        self.bad(self.joint(friction={"viscous": "much"}), "/links/0/joint/friction/viscous")
        self.bad(self.joint(rotor_inertia=[1]), "/links/0/joint/rotor_inertia")

    def test_inertias(self):
        self.bad(self.inertial(mass=-1), "/links/0/inertial/mass")
        self.bad(self.inertial(mass="1"), "/links/0/inertial/mass")
        self.bad(self.inertial(com=[0, 0]), "/links/0/inertial/com")
        self.bad(self.inertial(inertia={"xx": -1, "yy": 1, "zz": 1}))
        self.bad(self.inertial(inertia={"xx": 1, "yy": 1, "zz": 1, "xy": 2}))
        self.bad(self.inertial(inertia={"xx": 1, "yy": 1, "zz": 1, "yx": 2}), "/links/0/inertial/inertia/yx")
        for solid in ({"solid": "cone", "size": [1], "mass": 1}, {"solid": "box", "size": [1, 2], "mass": 1},
                      {"solid": "box", "size": [1, 2, -3], "mass": 1}, {"solid": "box", "mass": 1},
                      {"solid": "box", "size": [1, 2, 3]},
                      {"solid": "box", "size": [1, 2, 3], "mass": 1, "density": 2}):
            self.bad(lambda d, solid=solid: d["links"][0].update(inertial=solid))

    def test_numbers_out_of_range(self):
        text = json.dumps(branched()).replace("0.15", INF, 1)
        self.refused("/v1/models/bad", text, 422, method="PUT")

    def test_screws(self):
        unit = [[float(i == j) for j in range(4)] for i in range(4)]
        G = [[float(i == j) for j in range(6)] for i in range(6)]
        good = {"M": [unit], "G": [G], "S": [[0, 0, 1, 0, 0, 0]]}
        self.assertEqual(self.client.put("/v1/models/screwed", {"screws": good}).status, 201)
        self.client.delete("/v1/models/screwed")
        for change in ({"S": [[0] * 6]}, {"S": []}, {"G": [G, G]}, {"M": [unit] * 3},
                       {"S": [[0, 0, 1, 0, 0]]}, {"G": [G[:5]]}, {"M": [unit[:3]]}, {"X": 1}):
            self.refused("/v1/models/screwed", {"screws": {**good, **change}}, 422, method="PUT")
        self.refused("/v1/models/screwed", {"screws": good, "links": []}, 422, method="PUT")
        motor = {"joint": "joint1", "link": "base", "axis": [0, 0, 1], "gear_ratio": 10, "spin_inertia": 1e-4}
        self.refused("/v1/models/screwed", {"screws": good, "motors": [motor]}, 422, "/motors", method="PUT")

    def test_what_comes_later_is_refused_by_name(self):
        """Fields of models that exist only in some versions of the server are either accepted or refused with a pointer, never silently
        ignored."""
        changes = [self.joint(mimic={"joint": "elbow"}), self.joint(elastic={"stiffness": 1e4}),
                   lambda d: d.update(motors=[{"joint": "elbow", "link": "torso", "axis": [0, 0, 1], "gear_ratio": 100,
                                               "spin_inertia": 1e-4}]),
                   lambda d: d.update(loops=[{"name": "l", "frame_a": "tool", "frame_b": "thigh", "type": "revolute",
                                              "axis": [0, 0, 1]}])]
        for change in changes:
            document = branched()
            change(document)
            answer = self.client.put("/v1/models/later", document)
            if answer.status == 422:
                self.assertTrue(answer.json().get("pointer"), answer)
            else:
                self.assertEqual(answer.status, 201, answer)
                self.client.delete("/v1/models/later")

    def test_too_large(self):
        self.refused("/v1/models/bad", chain(513), 413, method="PUT", says="512")

    def test_deep_and_wide_trees(self):
        """Chains and stars of fixed links up to the server's limit, and beyond it."""
        for count in (500, 5000, 60000):
            for deep in (True, False):
                links = [{"name": f"l{i}", "parent": f"l{i - 1}" if deep and i else "base",
                          "joint": {"name": f"j{i}", "type": "fixed"}} for i in range(count)]
                links[-1]["joint"] = {"name": "last", "type": "revolute", "axis": [0, 0, 1]}
                answer = self.client.put("/v1/models/big", {"links": links})
                self.assertIn(answer.status, (200, 201, 413), answer)
        self.client.delete("/v1/models/big")


if __name__ == "__main__":
    tap.main()
