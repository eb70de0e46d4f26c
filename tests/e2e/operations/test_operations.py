"""Tests the physics of each operation by relations between answers, and the fields that change the robot's
surroundings."""
import math
import random

import tap
from arrays import add, cross, dot, flatten, matmul, matvec, rotation, transpose
from harness import ServerCase
from samples import body, branched

OUTPUTS = {
    "inverse-dynamics": ["tau", "joint_wrenches"],
    "forward-dynamics": ["qdd", "joint_wrenches"],
    "mass-matrix": ["mass_matrix", "inverse"],
    "bias": ["bias", "coriolis", "gravity", "friction"],
    "kinematics": ["poses", "jacobian", "jacobian_dot", "velocity", "acceleration", "jerk"],
    "energy": ["kinetic", "potential", "mass", "com", "com_velocity", "com_jacobian", "momentum", "momentum_matrix",
               "centroidal_inertia"]}
DEFAULTS = {"inverse-dynamics": ["tau"], "forward-dynamics": ["qdd"], "mass-matrix": ["mass_matrix"], "bias": ["bias"],
            "kinematics": ["poses"], "energy": ["kinetic", "potential"]}


def quaternion_product(a, b):
    return [*add(add([a[3] * x for x in b[:3]], a[:3], b[3]), cross(a[:3], b[:3])), a[3] * b[3] - dot(a[:3], b[:3])]


def moved(q, qd, qdd, t, floating):
    """Returns q and qd after the time t, to third order; the base turns with the mean angular velocity."""
    if not floating:
        return add(add(q, qd, t), qdd, t * t / 2), add(qd, qdd, t)
    mean = add(qd, qdd, t / 2)
    R = rotation(q[3:7])
    angle = math.sqrt(dot(mean[3:6], mean[3:6])) * t
    axis = [w * t / angle for w in mean[3:6]] if angle else [0, 0, 0]
    turn = [x * math.sin(angle / 2) for x in axis] + [math.cos(angle / 2)]
    half = rotation([x * math.sin(angle / 4) for x in axis] + [math.cos(angle / 4)])
    position = add(q[:3], matvec(matmul(R, half), mean[:3]), t)
    return position + quaternion_product(q[3:7], turn) + add(q[7:], mean[6:], t), add(qd, qdd, t)


class OnTwoRobots(ServerCase):
    """Tests on the same branched robot with fixed and floating base, in random states from a seed."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for base in ("fixed", "floating"):
            cls.client.put(f"/v1/models/{base}", branched(base))

    def cases(self, count=4):
        random.seed(7)
        for model, nv in (("fixed", 4), ("floating", 10)):
            for _ in range(count):
                q, qd, qdd, qddd, tau = ([random.uniform(-2, 2) for _ in range(nv)] for _ in range(5))
                if model == "floating":
                    turn = [random.gauss(0, 1) for _ in range(4)]
                    q = q[:3] + [x / math.sqrt(dot(turn, turn)) for x in turn] + q[6:]
                yield model, {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd, "tau": tau}

    @staticmethod
    def pick(state, *names):
        return {name: state[name] for name in names}


class Dynamics(OnTwoRobots):
    def test_default_and_chosen_outputs(self):
        for model, s in self.cases(1):
            for operation, outputs in OUTPUTS.items():
                needed = self.pick(s, "q", "tau") if operation == "forward-dynamics" else self.pick(s, "q")
                self.assertEqual(list(self.ask(model, operation, needed)), DEFAULTS[operation])
                frame = {"frame": "tool"} if operation == "kinematics" else {}
                for output in outputs:
                    answer = self.ask(model, operation, {**needed, **frame, "outputs": [output]})
                    self.assertEqual(list(answer), [output])
                everything = self.ask(model, operation, {**needed, **frame, "outputs": outputs})
                self.assertEqual(sorted(everything), sorted(outputs))

    def test_shapes(self):
        for model, s in self.cases(1):
            nv, bodies = len(s["qd"]), 4 + (model == "floating")
            answer = self.ask(model, "evaluate", {**self.pick(s, "q", "tau"), "operations": {
                name: {"outputs": outputs, **({"frame": "tool"} if name == "kinematics" else {})}
                for name, outputs in OUTPUTS.items()}})
            shapes = {"tau": [nv], "joint_wrenches": [bodies, 6], "qdd": [nv], "mass_matrix": [nv, nv],
                      "inverse": [nv, nv], "bias": [nv], "coriolis": [nv], "gravity": [nv], "friction": [nv],
                      "jacobian": [6, nv], "jacobian_dot": [6, nv], "velocity": [6], "acceleration": [6], "jerk": [6],
                      "kinetic": [], "potential": [], "mass": [], "com": [3], "com_velocity": [3],
                      "com_jacobian": [3, nv], "momentum": [6], "momentum_matrix": [6, nv],
                      "centroidal_inertia": [3, 3]}
            for operation, values in answer.items():
                for output, value in values.items():
                    if output != "poses":
                        size = 1
                        for n in shapes[output]:
                            size *= n
                        self.assertEqual(len(flatten(value)), size, f"{operation} {output}")

    def test_equation_of_motion(self):
        """tau = M qdd + bias, and bias = coriolis + gravity + friction + springs."""
        for model, s in self.cases():
            state = self.pick(s, "q", "qd")
            tau = self.ask(model, "inverse-dynamics", {**state, "qdd": s["qdd"]})["tau"]
            M = self.ask(model, "mass-matrix", {"q": s["q"]})["mass_matrix"]
            b = self.ask(model, "bias", {**state, "outputs": OUTPUTS["bias"]})
            self.assertClose(tau, add(matvec(M, s["qdd"]), b["bias"]), 1e-13)
            springs = add(add(add(b["bias"], b["coriolis"], -1), b["gravity"], -1), b["friction"], -1)
            names = self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]
            grasp = names.index("grasp")
            expected = [0.0] * len(names)
            expected[grasp] = 30 * (s["q"][grasp - len(names)] - 0.01) + 2 * s["qd"][grasp]
            self.assertClose(springs, expected, 1e-13, max(map(abs, b["bias"])))

    def test_forward_undoes_inverse(self):
        for model, s in self.cases():
            tau = self.ask(model, "inverse-dynamics", self.pick(s, "q", "qd", "qdd"))["tau"]
            qdd = self.ask(model, "forward-dynamics", {**self.pick(s, "q", "qd"), "tau": tau})["qdd"]
            self.assertClose(qdd, s["qdd"], 1e-10)

    def test_both_directions_give_the_same_joint_wrenches(self):
        for model, s in self.cases():
            state = self.pick(s, "q", "qd")
            forward = self.ask(model, "forward-dynamics", {**state, "tau": s["tau"],
                                                           "outputs": ["qdd", "joint_wrenches"]})
            inverse = self.ask(model, "inverse-dynamics", {**state, "qdd": forward["qdd"],
                                                           "outputs": ["tau", "joint_wrenches"]})
            self.assertClose(forward["joint_wrenches"], inverse["joint_wrenches"], 1e-10)
            if model == "floating":
                self.assertClose(inverse["joint_wrenches"][0], inverse["tau"][:6], 1e-14)

    def test_mass_matrix_is_symmetric_and_inverts(self):
        for model, s in self.cases():
            answer = self.ask(model, "mass-matrix", {"q": s["q"], "outputs": ["mass_matrix", "inverse"]})
            M, inverse = answer["mass_matrix"], answer["inverse"]
            self.assertEqual(M, transpose(M))
            n = len(M)
            identity = [[float(i == j) for j in range(n)] for i in range(n)]
            self.assertClose(matmul(M, inverse), identity, 1e-10)

    def test_missing_rates_are_zero(self):
        for model, s in self.cases(1):
            zero = [0] * len(s["qd"])
            self.assertEqual(self.ask_texts(model, "inverse-dynamics", {"q": s["q"]}),
                             self.ask_texts(model, "inverse-dynamics", {"q": s["q"], "qd": zero, "qdd": zero}))
            self.assertEqual(self.ask_texts(model, "forward-dynamics", self.pick(s, "q", "tau")),
                             self.ask_texts(model, "forward-dynamics", {**self.pick(s, "q", "tau"), "qd": zero}))

    def test_friction(self):
        """Viscous, Coulomb and smoothed (tanh) friction by hand; `"friction": false` removes exactly these."""
        for model, s in self.cases():
            names = self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]
            rate = dict(zip(names, s["qd"]))
            expected = {name: 0.0 for name in names}
            expected["shoulder"] = 0.3 * rate["shoulder"] + 0.4 * (1 if rate["shoulder"] > 0 else -1)
            magnitude = 0.2 if rate["elbow"] > 0 else 0.35
            expected["elbow"] = 0.1 * rate["elbow"] + magnitude * math.tanh(rate["elbow"] / 0.05)
            friction = self.ask(model, "bias", {**self.pick(s, "q", "qd"), "outputs": ["friction"]})["friction"]
            self.assertClose(friction, list(expected.values()), 1e-13)
            state = self.pick(s, "q", "qd", "qdd")
            rough, smooth = (self.ask(model, "inverse-dynamics", {**state, **extra})["tau"]
                             for extra in ({}, {"friction": False}))
            self.assertClose(add(rough, smooth, -1), friction, 1e-12, max(map(abs, rough)))

    def test_gravity_of_the_request(self):
        for model, s in self.cases():
            g = [1.5, -2, 4]
            weight = [self.ask(model, "bias", {"q": s["q"], "gravity": v, "outputs": ["gravity"]})["gravity"]
                      for v in (g, [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0])]
            summed = [g[0] * x + g[1] * y + g[2] * z for x, y, z in zip(*weight[1:4])]
            self.assertClose(weight[0], summed, 1e-13)
            self.assertEqual(weight[4], [0] * len(summed))
            default = self.ask_texts(model, "inverse-dynamics", self.pick(s, "q", "qd"))
            self.assertEqual(default, self.ask_texts(model, "inverse-dynamics", {**self.pick(s, "q", "qd"),
                                                                                 "gravity": [0, 0, -9.81]}))

    def test_payload_is_a_heavier_robot(self):
        """Two payloads, one of them on a link that is merged into its parent, have the effect of fixed links added to the document in the same
        places."""
        loads = [{"link": "gripper", "mass": 1.2, "com": [0.1, 0.2, 0.3], "inertia": body(1)["inertia"]},
                 {"link": "thigh", "mass": 0.7, "com": [0, -0.1, -0.3]}]
        for base in ("fixed", "floating"):
            heavier = branched(base)
            for i, load in enumerate(loads):
                heavier["links"].append({"name": f"load{i}", "parent": load["link"],
                                         "joint": {"name": f"grip{i}", "type": "fixed"},
                                         "inertial": {k: v for k, v in load.items() if k != "link"}})
            self.put_model("heavier-" + base, heavier)
        for model, s in self.cases():
            for operation, state in (("inverse-dynamics", self.pick(s, "q", "qd", "qdd")),
                                     ("forward-dynamics", self.pick(s, "q", "qd", "tau")),
                                     ("mass-matrix", self.pick(s, "q")), ("energy", self.pick(s, "q", "qd"))):
                edited = self.ask("heavier-" + model, operation, state)
                loaded = self.ask(model, operation, {**state, "payload": loads})
                for output, value in edited.items():
                    self.assertClose(loaded[output], value, 1e-10 if operation == "forward-dynamics" else 1e-12,
                                     what=f"{operation} {output}")
            single = self.ask_texts(model, "mass-matrix", {"q": s["q"], "payload": loads[0]})
            self.assertEqual(single, self.ask_texts(model, "mass-matrix", {"q": s["q"], "payload": loads[:1]}))

    def test_energy(self):
        for model, s in self.cases():
            e = self.ask(model, "energy", {**self.pick(s, "q", "qd"), "outputs": OUTPUTS["energy"]})
            M = self.ask(model, "mass-matrix", {"q": s["q"]})["mass_matrix"]
            self.assertClose(e["kinetic"], dot(s["qd"], matvec(M, s["qd"])) / 2, 1e-13)
            self.assertClose(e["momentum"], matvec(e["momentum_matrix"], s["qd"]), 1e-13)
            self.assertClose(e["com_velocity"], matvec(e["com_jacobian"], s["qd"]), 1e-13)
            self.assertClose([e["mass"] * x for x in e["com_velocity"]], e["momentum"][:3], 1e-13)
            self.assertClose(e["mass"], 7.1 + (8 if model == "floating" else 0), 1e-15)
            spring = 15 * (s["q"][-2] - 0.01) ** 2
            self.assertClose(e["potential"], 9.81 * e["mass"] * e["com"][2] + spring, 1e-13, abs(e["potential"]) + 10)

    def test_centroidal_inertia_is_the_momentum_of_a_turning_base(self):
        """If only the floating base moves and rotates at w, in its own axes, the momentum about the centre of mass is I R w."""
        for model, s in self.cases():
            if model != "floating":
                continue
            answer = self.ask(model, "energy", {"q": s["q"], "outputs": ["momentum_matrix", "centroidal_inertia"]})
            turning = [row[3:6] for row in answer["momentum_matrix"][3:]]
            self.assertClose(matmul(answer["centroidal_inertia"], rotation(s["q"][3:7])), turning, 1e-13)
            self.assertEqual(answer["centroidal_inertia"], transpose(answer["centroidal_inertia"]))

    def test_power_balance(self):
        """The power tau qd plus the power of the springs' dampers must be the rate of kinetic + potential, by central differences."""
        h = 1e-5
        for model, s in self.cases():
            state = self.pick(s, "q", "qd", "qdd")
            tau = self.ask(model, "inverse-dynamics", {**state, "friction": False})["tau"]
            rows = [moved(s["q"], s["qd"], s["qdd"], t, model == "floating") for t in (-h, h)]
            e = self.ask(model, "energy", {"q": [r[0] for r in rows], "qd": [r[1] for r in rows]})
            total = add(e["kinetic"], e["potential"])
            power = dot(tau, s["qd"]) - 2 * s["qd"][-2] ** 2
            self.assertAlmostEqual((total[1] - total[0]) / (2 * h), power, delta=1e-6 * (10 + abs(power)))


class Wrenches(OnTwoRobots):
    def sites(self):
        yield {"link": "fore", "force": [1, -2, 3], "torque": [0.4, 0.5, -0.6]}, "fore"
        yield {"link": "gripper", "force": [5, 1, -3], "point": [0.1, -0.2, 0.3]}, "gripper"
        yield {"link": "thigh", "torque": [1, 2, 3], "frame": "link"}, "thigh"
        yield {"link": "finger", "force": [-4, 2, 1], "torque": [1, 0, 2], "point": [0, 0.1, 0.2],
               "frame": "link"}, "finger"
        yield {"link": "torso", "force": [7, 8, 9], "torque": [1, 2, 3]}, "torso"

    def generalized(self, model, q, wrench, link):
        """Returns J^T W from the link's pose and Jacobian; the point of application moves with the link."""
        k = self.ask(model, "kinematics", {"q": q, "frame": link, "frames": [link], "outputs": ["poses", "jacobian"]})
        R = rotation(k["poses"][link]["orientation"])
        force, torque = wrench.get("force", [0] * 3), wrench.get("torque", [0] * 3)
        if wrench.get("frame") == "link":
            force, torque = matvec(R, force), matvec(R, torque)
        torque = add(torque, cross(matvec(R, wrench.get("point", [0] * 3)), force))
        return matvec(transpose(k["jacobian"]), force + torque)

    def test_a_wrench_enters_as_its_jacobian_says(self):
        for model, s in self.cases(2):
            state = self.pick(s, "q", "qd", "qdd")
            free = self.ask(model, "inverse-dynamics", state)["tau"]
            together, wrenches = free, []
            for wrench, link in self.sites():
                pushed = self.ask(model, "inverse-dynamics", {**state, "wrenches": [wrench]})["tau"]
                share = self.generalized(model, s["q"], wrench, link)
                self.assertClose(pushed, add(free, share, -1), 1e-12, max(map(abs, free)) + 20, str(wrench))
                together, wrenches = add(together, share, -1), [*wrenches, wrench]
            everything = self.ask(model, "inverse-dynamics", {**state, "wrenches": wrenches})["tau"]
            self.assertClose(everything, together, 1e-12, max(map(abs, together)) + 50)
            bias = self.ask(model, "bias", {**self.pick(s, "q", "qd"), "wrenches": wrenches})["bias"]
            self.assertClose(bias, self.ask(model, "inverse-dynamics", {**self.pick(s, "q", "qd"),
                                                                        "wrenches": wrenches})["tau"], 1e-12)

    def test_forward_dynamics_feels_them_too(self):
        for model, s in self.cases(2):
            wrenches = [wrench for wrench, _ in self.sites()]
            tau = self.ask(model, "inverse-dynamics", {**self.pick(s, "q", "qd", "qdd"), "wrenches": wrenches})["tau"]
            qdd = self.ask(model, "forward-dynamics",
                           {**self.pick(s, "q", "qd"), "tau": tau, "wrenches": wrenches})["qdd"]
            self.assertClose(qdd, s["qdd"], 1e-10)

    def test_a_wrench_on_the_fixed_base_moves_nothing(self):
        request = {"q": [0.1] * 4}
        answer = self.ask_texts("fixed", "inverse-dynamics", {**request, "wrenches": [{"link": "torso", "force": [1, 2, 3]}]})
        self.assertEqual([warning["code"] for warning in answer.pop("warnings")], ["no-effect"])
        self.assertEqual(answer, self.ask_texts("fixed", "inverse-dynamics", request))

    def test_components_may_be_batched(self):
        q = [0.3, -0.2, 0.1, 0.5]
        forces = [[1, 2, 3], [4, 5, 6], [-7, 8, 9]]
        request = {"q": q, "wrenches": [{"link": "fore", "force": forces, "point": [0.1, 0, 0]}]}
        rows = self.ask_texts("fixed", "inverse-dynamics", request)["tau"]
        alone = [self.ask_texts("fixed", "inverse-dynamics",
                                {"q": q, "wrenches": [{"link": "fore", "force": f, "point": [0.1, 0, 0]}]})["tau"]
                 for f in forces]
        self.assertEqual(rows, alone)


class Kinematics(OnTwoRobots):
    ALL = ["poses", "jacobian", "jacobian_dot", "velocity", "acceleration", "jerk"]

    def test_rates_follow_from_the_jacobian(self):
        for model, s in self.cases():
            state = self.pick(s, "q", "qd", "qdd", "qddd")
            k = self.ask(model, "kinematics", {**state, "frame": "tool", "outputs": self.ALL})
            self.assertClose(k["velocity"], matvec(k["jacobian"], s["qd"]), 1e-13)
            acceleration = add(matvec(k["jacobian"], s["qdd"]), matvec(k["jacobian_dot"], s["qd"]))
            self.assertClose(k["acceleration"], acceleration, 1e-12)

    def test_frame_axes_are_turned_world_vectors(self):
        for model, s in self.cases():
            state = {**self.pick(s, "q", "qd", "qdd", "qddd"), "frame": "tool", "outputs": self.ALL}
            world = self.ask(model, "kinematics", {**state, "reference": "world"})
            self.assertEqual(world, self.ask(model, "kinematics", state))
            frame = self.ask(model, "kinematics", {**state, "reference": "frame"})
            Rt = transpose(rotation(world["poses"]["tool"]["orientation"]))
            for output in ("velocity", "acceleration", "jerk"):
                turned = matvec(Rt, world[output][:3]) + matvec(Rt, world[output][3:])
                self.assertClose(frame[output], turned, 1e-13, what=output)
            jacobian = world["jacobian"]
            self.assertClose(frame["jacobian"], matmul(Rt, jacobian[:3]) + matmul(Rt, jacobian[3:]), 1e-13)
            self.assertEqual(frame["poses"], world["poses"])

    def test_rates_of_change(self):
        """Pose, Jacobian, velocity and acceleration against central differences."""
        h = 1e-4
        for model, s in self.cases(2):
            for reference in ("world", "frame"):
                request = {"frame": "tool", "reference": reference, "outputs": self.ALL}
                now = self.ask(model, "kinematics", {**self.pick(s, "q", "qd", "qdd", "qddd"), **request})
                rows = [moved(s["q"], add(s["qd"], s["qddd"], t * t / 2), s["qdd"], t, model == "floating")
                        for t in (-h, h)]
                near = self.ask(model, "kinematics", {
                    "q": [r[0] for r in rows], "qd": [r[1] for r in rows],
                    "qdd": [add(s["qdd"], s["qddd"], t) for t in (-h, h)], **request})
                rate = {name: [x / (2 * h) for x in add(flatten(near[name][1]), flatten(near[name][0]), -1)]
                        for name in ("jacobian", "velocity", "acceleration")}
                tolerance = 3e-6
                self.assertClose(rate["jacobian"], flatten(now["jacobian_dot"]), tolerance, what=f"{model} {reference}")
                if reference == "world":
                    self.assertClose(rate["velocity"], now["acceleration"], tolerance, what=model)
                    self.assertClose(rate["acceleration"], now["jerk"], tolerance, what=model)
                    position = [row for row in near["poses"]["tool"]["position"]]
                    self.assertClose([x / (2 * h) for x in add(position[1], position[0], -1)], now["velocity"][:3],
                                     tolerance, max(map(abs, now["velocity"])))

    def test_every_link_is_a_frame(self):
        for model, s in self.cases(1):
            names = ["torso", "upper", "fore", "gripper", "finger", "thigh", "tool"]
            poses = self.ask(model, "kinematics", {"q": s["q"]})["poses"]
            self.assertEqual(sorted(poses), sorted(names))
            for name in names:
                self.assertEqual(sorted(poses[name]), ["orientation", "position"])
                self.assertClose(dot(poses[name]["orientation"], poses[name]["orientation"]), 1.0, 1e-15)
                self.assertGreaterEqual(poses[name]["orientation"][3], 0)
            two = self.ask_texts(model, "kinematics", {"q": s["q"], "frames": ["tool", "upper"]})["poses"]
            self.assertEqual(sorted(two), ["tool", "upper"])
            self.assertEqual(two["tool"], self.ask_texts(model, "kinematics", {"q": s["q"]})["poses"]["tool"])

    def test_base_coordinates(self):
        """`q` of a floating base is its position and quaternion, `qd` its velocity in the base's axes."""
        for model, s in self.cases():
            if model == "floating":
                k = self.ask(model, "kinematics", {**self.pick(s, "q", "qd"), "frame": "torso", "reference": "frame",
                                                   "outputs": ["poses", "velocity"]})
                pose = k["poses"]["torso"]
                self.assertClose(pose["position"], s["q"][:3], 1e-15)
                self.assertClose(rotation(pose["orientation"]), rotation(s["q"][3:7]), 1e-14)
                self.assertClose(k["velocity"], s["qd"][:6], 1e-14)

    def test_quaternions_are_normalised(self):
        for model, s in self.cases(1):
            if model == "floating":
                longer = s["q"][:3] + [x * (1 + 9e-7) for x in s["q"][3:7]] + s["q"][7:]
                self.assertClose(self.ask(model, "inverse-dynamics", {"q": longer})["tau"],
                                 self.ask(model, "inverse-dynamics", {"q": s["q"]})["tau"], 1e-13)


if __name__ == "__main__":
    tap.main()
