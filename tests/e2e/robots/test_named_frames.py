"""Tests payloads and wrenches given at frames, wrenches in the axes of frames, and messages that list the existing
names. The reference is the same load moved to its link, or rotated into other axes, by hand."""
import numpy as np
import tap
from harness import ServerCase
from samples import branched, chain, states


def rpy(r, p, y):
    def turn(angle, i, j):
        R = np.eye(3)
        R[i, i] = R[j, j] = np.cos(angle)
        R[i, j], R[j, i] = -np.sin(angle), np.sin(angle)
        return R
    return turn(y, 0, 1) @ turn(p, 2, 0) @ turn(r, 1, 2)


TOOL, MOUNT, STAND = rpy(0.3, 0.2, -0.4), rpy(0, 1.2, 0), rpy(0.5, -0.7, 1.1)
TOOL_AT, MOUNT_AT = np.array([0, 0.05, 0.1]), np.array([0.01, 0, 0.25])


def arm(base="fixed"):
    """Returns an arm whose frame `tool` is on the gripper, which is merged into `fore`, and whose frame `stand` is on
    the base."""
    document = branched(base)
    document["frames"].append({"name": "stand", "link": "torso", "xyz": [1, 2, 3], "rpy": [0.5, -0.7, 1.1]})
    return document


def tensor(inertia):
    return np.array([[inertia["".join(sorted(a + b))] for a in "xyz"] for b in "xyz"])


def listed(tensor):
    return {a + b: tensor["xyz".index(a), "xyz".index(b)] for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}


class NamedFrames(ServerCase):
    REQUESTS = {
        "inverse-dynamics": (("q", "qd", "qdd"), ["tau", "joint_wrenches"]),
        "forward-dynamics": (("q", "qd", "tau"), ["qdd"]),
        "bias": (("q", "qd"), ["bias"]),
        "torque-derivative": (("q", "qd", "qdd", "qddd"), ["tau_dot", "joint_wrench_rates"]),
        "sensitivity": (("q", "qd", "qdd"), ["dtau_dq", "dtau_dqd", "d_joint_wrenches_dq"]),
        "forward-sensitivity": (("q", "qd", "tau"), ["dqdd_dq"])}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for base in ("fixed", "floating"):
            assert cls.client.put(f"/v1/models/{base}", arm(base)).status == 201
        assert cls.client.put("/v1/models/chain", chain(90)).status == 201

    def rows(self, base, n=3):
        return states(n, 10 if base == "floating" else 4, base == "floating")

    def same(self, base, one, other, operations=REQUESTS):
        """Checks that both sets of loads give the same answers."""
        state = self.rows(base)
        for operation in operations:
            fields, outputs = self.REQUESTS[operation]
            request = {**{field: state[field] for field in fields}, "outputs": outputs}
            answers = [self.ask(base, operation, {**request, **load}) for load in (one, other)]
            for output in outputs:
                self.assertClose(answers[0][output], answers[1][output], 1e-12, what=f"{base} {operation} {output}")

    def test_payload_at_a_frame(self):
        at_tool = {"link": "tool", "mass": 0.7, "com": [0.1, 0.2, 0.3],
                   "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.04, "xy": 0.001, "xz": -0.002, "yz": 0.003}}
        at_link = {"link": "gripper", "mass": 0.7, "com": (TOOL_AT + TOOL @ at_tool["com"]).tolist(),
                   "inertia": listed(TOOL @ tensor(at_tool["inertia"]) @ TOOL.T)}
        for base in ("fixed", "floating"):
            self.same(base, {"payload": at_tool}, {"payload": [at_link]})

    def wrench(self, link, frame=None, R=np.eye(3), **more):
        """Returns a wrench with its rates; R rotates the components into the requested axes."""
        parts = {"force": [3.0, -2, 1], "torque": [0.3, 0.2, 0.1], "force_rate": [1.0, 5, -3], "torque_rate": [-0.4, 0.2, 2]}
        turned = {name: (R @ value).tolist() for name, value in parts.items()}
        return {"link": link, **({"frame": frame} if frame else {}), **turned, **more}

    def same_wrench(self, base, one, other):
        without = [{"wrenches": [{k: v for k, v in wrench.items() if not k.endswith("_rate")}]} for wrench in (one, other)]
        self.same(base, *without, [name for name in self.REQUESTS if name != "torque-derivative"])
        self.same(base, {"wrenches": [one]}, {"wrenches": [other]}, ["torque-derivative"])

    def test_wrench_at_a_frame(self):
        point = np.array([0.1, 0, -0.2])
        there = (TOOL_AT + TOOL @ point).tolist()
        for base in ("fixed", "floating"):
            self.same_wrench(base, self.wrench("tool", point=point.tolist()), self.wrench("gripper", point=there))
            self.same_wrench(base, self.wrench("tool", "link", point=point.tolist()),
                             self.wrench("gripper", "link", TOOL, point=there))
            self.same_wrench(base, self.wrench("tool", "link"), self.wrench("tool", "tool"))

    def test_axes_of_a_frame(self):
        """Axes of frames on the same body, merged links included, and of frames fixed in the world."""
        point = [0.1, 0, -0.2]
        for base in ("fixed", "floating"):
            self.same_wrench(base, self.wrench("gripper", "tool", point=point), self.wrench("gripper", "link", TOOL, point=point))
            self.same_wrench(base, self.wrench("fore", "tool", point=point),
                             self.wrench("fore", "link", MOUNT @ TOOL, point=point))
            self.same_wrench(base, self.wrench("tool", "fore", point=point),
                             self.wrench("tool", "link", (MOUNT @ TOOL).T, point=point))
        self.same_wrench("fixed", self.wrench("finger", "stand"), self.wrench("finger", "world", STAND))
        self.same_wrench("fixed", self.wrench("finger", "torso"), self.wrench("finger", "world"))
        self.same_wrench("floating", self.wrench("torso", "stand"), self.wrench("torso", "link", STAND))

    def test_derivatives_by_the_components_given(self):
        state = {name: rows[0] for name, rows in self.rows("fixed").items()}
        for axes, other, R in (("tool", "link", MOUNT @ TOOL), ("stand", "world", STAND)):
            for operation, output, fields in (("sensitivity", "dtau_dwrench", ("q", "qd", "qdd")),
                                              ("forward-sensitivity", "dqdd_dwrench", ("q", "qd", "tau"))):
                request = {**{field: state[field] for field in fields}, "outputs": [output]}
                given, turned = (np.array(self.ask("fixed", operation, {**request, "wrenches": [self.plain(w)]})[output][0])
                                 for w in (self.wrench("fore", axes), self.wrench("fore", other, R)))
                expected = np.hstack([turned[:, :3] @ R, turned[:, 3:] @ R])
                self.assertClose(given.tolist(), expected.tolist(), 1e-12, what=f"{axes} {output}")

    @staticmethod
    def plain(wrench):
        return {key: value for key, value in wrench.items() if not key.endswith("_rate")}

    def test_motions(self):
        """Simulations and trajectories with a force that changes in time."""
        sine = {"amplitude": [3.0, 0, 0], "angular_frequency": [2.0, 1, 1]}
        flip = {"name": "flip", "link": "fore", "rpy": [0, 0, np.pi / 2]}  # x of the frame is y of the link
        document = arm()
        document["frames"].append(flip)
        self.put_model("flipped", document)
        turned = {"amplitude": [0, 3.0, 0], "angular_frequency": [1, 2.0, 1]}
        motion = {"degree": 2, "duration": 1, "control_points": [[0] * 4, [0.3, 0.1, 0, 0.2], [0.5] * 4, [1, 0, 1, 0]],
                  "samples": 4, "outputs": ["tau", "tau_dot", "dtau_dcontrol_points", "dtau_dduration"]}
        fall = {"q": [0.1] * 4, "duration": 0.2, "step": 0.01, "samples": 3, "outputs": ["q", "qd", "wrench_work"]}
        for operation, request in (("trajectory", motion), ("simulate", fall)):
            answers = [self.ask("flipped", operation, {**request, "wrenches": [{"link": "fore", "frame": axes, "force": force}]})
                       for axes, force in (("flip", sine), ("link", turned))]
            for output in request["outputs"]:
                self.assertClose(answers[0][output], answers[1][output], 1e-12, what=f"{operation} {output}")

    # --- messages ------------------------------------------------------------------------------------------------

    def detail(self, model, operation, request, pointer):
        return self.assertProblem(self.client.post(f"/v1/models/{model}/{operation}", request), 422, pointer)["detail"]

    def test_axes_that_move(self):
        q = [0] * 4
        for link, frame in (("fore", "upper"), ("tool", "finger")):
            detail = self.detail("fixed", "bias", {"q": q, "wrenches": [{"link": link, "frame": frame}]}, "/wrenches/0/frame")
            self.assertIn("moves against", detail)
        detail = self.detail("floating", "bias", {"q": [0, 0, 0, 0, 0, 0, 1, *q], "wrenches": [{"link": "fore", "frame": "stand"}]},
                             "/wrenches/0/frame")
        self.assertIn("moves against", detail)

    def test_a_few_names_are_listed(self):
        q, names = [0] * 4, "there are: torso, upper, fore, gripper, finger, thigh, tool, stand"
        for operation, request, pointer in (
                ("bias", {"wrenches": [{"link": "Tol"}]}, "/wrenches/0/link"),
                ("bias", {"wrenches": [{"link": "fore", "frame": "earth"}]}, "/wrenches/0/frame"),
                ("bias", {"payload": {"link": "too", "mass": 1}}, "/payload/link"),
                ("kinematics", {"frames": ["tip"]}, "/frames/0"),
                ("kinematics", {"frame": "tip", "outputs": ["jacobian"]}, "/frame"),
                ("task-space", {"frame": "tip"}, "/frame"),
                ("forward-dynamics", {"tau": q, "held": [{"frame": "tip"}]}, "/held/0/frame")):
            self.assertIn(names, self.detail("fixed", operation, {"q": q, **request}, pointer))
        detail = self.detail("fixed", "bias", {"q": q, "joints": ["shoulder", "elbo", "grasp", "hip"]}, "/joints/1")
        self.assertIn("there are: shoulder, elbow, grasp, hip", detail)
        detail = self.detail("fixed", "bias", {"q": {"shoulder": 0, "elbo": 0, "grasp": 0, "hip": 0}}, "/q/elbo")
        self.assertIn("there are: shoulder, elbow, grasp, hip", detail)

    def test_of_many_names_the_nearest(self):
        def nearest(name):
            detail = self.detail("chain", "bias", {"q": [0] * 90, "wrenches": [{"link": name}]}, "/wrenches/0/link")
            self.assertIn("; the nearest are: ", detail)
            return detail.split("; the nearest are: ")[1].split(", ")
        self.assertEqual(nearest("L37")[0], "l37")
        self.assertEqual(nearest("link37")[0], "l37")
        self.assertEqual(nearest("7")[0], "l7")
        self.assertEqual(len(nearest("x" * 5000)), 5)
        problem = self.assertProblem(self.client.put("/v1/models/broken", {**chain(90), "frames": [{"name": "f", "link": "L5"}]}), 422)
        self.assertIn("; the nearest are: l5, ", problem["detail"])

    def test_names_of_documents(self):
        document = arm()
        for change, pointer, name in (
                (lambda d: d["links"][1].update(parent="uper"), "/links/1/parent", "upper"),
                (lambda d: d["frames"][0].update(link="griper"), "/frames/0/link", "gripper"),
                (lambda d: d.update(motors=[{"joint": "hp", "link": "fore", "axis": [0, 0, 1], "gear_ratio": 2,
                                             "spin_inertia": 0}]), "/motors/0/joint", "hip"),
                (lambda d: d["links"][3]["joint"].update(mimic={"joint": "elbw"}), "/links/3/joint/mimic/joint", "elbow")):
            document = arm()
            change(document)
            problem = self.assertProblem(self.client.put("/v1/models/broken", document), 422, pointer)
            self.assertIn("there are: ", problem["detail"])
            self.assertIn(name, problem["detail"].split("there are: ")[1])


if __name__ == "__main__":
    tap.main()
