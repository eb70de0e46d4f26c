"""Tests inverse dynamics with held frames: torques and contact wrenches of random robots against least norms, quadratic
programs and certificates of optimality in NumPy and SciPy; standing robots within their friction cones; closed forms of a
block on a slope; and the reasons of refusals."""
import math
import re

import cbor2
import numpy as np
import tap
from contacts import UPRIGHT, ContactCase
from held_robots import HeldMotion, certificate, least_distance, limits, random_held, random_robot, random_state
from parallel_robots import quaternion

XYZ = ["x", "y", "z"]
FEET = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
SOLO = [0, 0, 0.25, 0, 0, 0, 1] + [0.05, 0.8, -1.6] * 4
SOLE = [[0.13, 0.05, 0], [0.13, -0.05, 0], [-0.06, -0.05, 0], [-0.06, 0.05, 0]]
BLOCK = {"base": {"type": "floating", "link": "block", "inertial": {"mass": 3, "com": [0, 0, 0.2], "inertia": {
    "xx": 0.04, "yy": 0.05, "zz": 0.03}}}, "links": [], "frames": [{"name": "under", "link": "block"}]}
QUADRUPED = {  # the legs of a quadruped of 12 kg with links of 0.2 m: hip, thigh and calf
    "base": {"type": "floating", "link": "trunk", "inertial": {"mass": 6, "com": [0.01, 0.002, 0], "inertia": {
        "xx": 0.016, "yy": 0.038, "zz": 0.046}}},
    "links": [{"name": f"{leg}_{part}", "parent": parent and f"{leg}_{parent}" or "trunk",
               "joint": {"name": f"{leg}_{part}_joint", "type": "revolute", "axis": axis, "origin": {"xyz": origin},
                         "limits": {"position": [-3, 3]}},
               "inertial": {"mass": mass, "com": com, "inertia": {"xx": 0.005, "yy": 0.005, "zz": 0.001}}}
              for leg, x, y in (("FR", 1, -1), ("FL", 1, 1), ("RR", -1, -1), ("RL", -1, 1))
              for part, parent, axis, origin, mass, com in (
                  ("hip", None, [1, 0, 0], [0.1805 * x, 0.047 * y, 0], 0.7, [0, 0.003 * y, 0]),
                  ("thigh", "hip", [0, 1, 0], [0, 0.0838 * y, 0], 1.0, [-0.003, -0.02 * y, -0.03]),
                  ("calf", "thigh", [0, 1, 0], [0, 0, -0.2], 0.2, [0.006, 0, -0.1]))],
    "frames": [{"name": f"{leg}_foot", "link": f"{leg}_calf", "xyz": [0, 0, -0.2]} for leg in ("FR", "FL", "RR", "RL")]}


def points(names, **more):
    return [{"frame": name, "axes": XYZ, **more} for name in names]


class HeldEfforts(ContactCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("block", BLOCK), ("quadruped", QUADRUPED)):
            cls.client.put("/v1/models/" + name, document)

    def held_motion(self, seed):
        """Returns a motion of a new random robot, "random", that holds frames, and the list of these frames."""
        choose, document = np.random.default_rng(1000 + seed), random_robot(seed)
        self.client.put("/v1/models/random", document)
        nv = self.client.get("/v1/models/random").json()["nv"]
        q, held = random_state(choose, nv), random_held(choose, document["frames"])
        return HeldMotion(self, "random", q, choose.normal(size=nv), held, choose), held, choose

    def wrenches(self, model, request):
        answer = self.ask(model, "inverse-dynamics", request)
        return self.chosen(request["held"], answer["contact_wrenches"]), answer

    # --- random robots ----------------------------------------------------------------------------------------------

    def test_least_norm_and_torques_equal_a_pseudo_inverse(self):
        for seed in range(30):
            motion, held, choose = self.held_motion(seed)
            l, answer = self.wrenches("random", {**motion.state, "held": held})
            self.assertClose(list(l), list(motion.least()), 1e-11, np.abs(l).max())
            expected = motion.free - motion.J.T @ motion.least()
            self.assertClose(answer["tau"][6:], list(expected[6:]), 1e-11, np.abs(expected).max())
            self.assertEqual(answer["tau"][:6], [0] * 6)
            weights = choose.uniform(0.1, 10, len(l))
            parts = np.split(weights, np.cumsum([len(entry.get("axes", "012345")) for entry in held])[:-1])
            weighted = [{**entry, "weight": list(part)} for entry, part in zip(held, parts)]
            l, _ = self.wrenches("random", {**motion.state, "held": weighted})
            self.assertClose(list(l), list(motion.least(weights)), 1e-11, np.abs(l).max())

    def limited(self, held, choose, facets):
        """Returns the held frames with random limits of all kinds."""
        made = []
        for entry in held:
            entry = {**entry, "normal": list(choose.normal(size=3)), "friction_coefficient": choose.uniform(0.3, 1.5)}
            complete = "axes" not in entry
            if facets:
                entry["facets"] = facets
            if choose.random() < 0.3:
                entry["least_normal_force"] = choose.uniform(0, 10)
            if complete and choose.random() < 0.5:
                entry["torsional_friction_coefficient"] = choose.uniform(0.5, 2)
            if complete and entry["reference"] == "frame" and choose.random() < 0.7:
                z = choose.uniform(-0.1, 0.1)
                entry.update(normal=[0, 0, float(choose.choice([-1, 1]))], sole=[[x, y, z] for x, y in (
                    (0.9, 0.5), (-0.7, 0.6), (-0.8, -0.6), (0.8, -0.7))])
            made.append(entry)
        return made

    def test_limits_equal_a_quadratic_program_and_an_optimal_cone_program(self):
        """With facets the program is quadratic, and SciPy's solution tells whether there is one. With cones the multipliers prove that the
        answer is the optimum; where no wrench satisfies the cones, none satisfies a pyramid inside the cones either."""
        found = {"fit": 0, "none": 0}
        for seed in range(40):
            motion, held, choose = self.held_motion(seed)
            for facets in (int(choose.integers(3, 9)), None):
                entries = self.limited(held, choose, facets)
                G, h, cones = limits(entries)
                root = np.ones(len(motion.J))
                answer = self.client.post("/v1/models/random/inverse-dynamics", {**motion.state, "held": entries})
                inside = least_distance(motion.A, motion.b, *limits([{**e, "facets": facets or 8} for e in entries])[:2], root)
                found["fit" if answer.status == 200 else "none"] += 1
                if answer.status != 200:
                    self.assertEqual((answer.status, answer.json()["code"]), (422, "infeasible-contacts"))
                    self.assertIsNone(inside)
                    continue
                l = self.chosen(entries, answer.json()["contact_wrenches"])
                if facets:
                    self.assertClose(list(l), list(inside), 1e-10, np.abs(l).max())
                outside, unexplained = certificate(motion.A, motion.b, G, h, cones, root, l)
                self.assertLess(outside, 1e-11, (seed, facets))
                self.assertLess(unexplained, 1e-10, (seed, facets))
        self.assertGreater(min(found.values()), 20, found)

    def test_forward_dynamics_with_these_torques_moves_as_given(self):
        """Contact wrenches under different weights must differ only by wrenches that cause no effort at the base."""
        for seed in range(10):
            motion, held, _ = self.held_motion(seed)
            l, answer = self.wrenches("random", {**motion.state, "held": held})
            state = {"q": motion.state["q"], "qd": motion.state["qd"], "tau": answer["tau"], "held": held}
            back = self.ask("random", "forward-dynamics", state)
            self.assertClose(back["qdd"], motion.state["qdd"], 1e-8, 1 + np.abs(motion.qdd).max())
            other = self.chosen(held, back["contact_wrenches"])
            self.assertClose(list(motion.J.T @ other), list(motion.J.T @ l), 1e-8, np.abs(motion.free).max())

    # --- standing robots ----------------------------------------------------------------------------------------------

    def check_inside(self, held, answer, weight):
        """Checks that contact wrenches are within the limits of `held`, and bear a weight."""
        l = self.chosen(held, answer["contact_wrenches"])
        G, h, cones = limits(held)
        slack = list(G @ l - h) + [n @ l - math.hypot(s @ l, t @ l) for n, s, t in cones]
        self.assertGreater(min(slack), -1e-9 * weight)
        self.assertEqual(answer["tau"][:6], [0] * 6)

    def test_quadrupeds_on_four_and_three_feet_stay_within_their_cones(self):
        weights = {"solo12": 2.5 * 9.81, "quadruped": 13.6 * 9.81}
        poses = {"solo12": (SOLO, FEET), "quadruped": ([0, 0, 0.3, 0, 0, 0, 1] + [0.02, 0.9, -1.8] * 4,
                                                       [f"{leg}_foot" for leg in ("FL", "FR", "RL", "RR")])}
        found = []
        for model, (q, feet) in poses.items():
            still = {"q": q, "held": points(feet, friction_coefficient=0.5, least_normal_force=0.5)}
            self.check_inside(still["held"], self.ask(model, "inverse-dynamics", still), weights[model])
            for lifted in feet:  # the weight is borne by three feet, or the answer names the foot that would have to pull
                held = points([foot for foot in feet if foot != lifted], friction_coefficient=0.9)
                answer = self.client.post(f"/v1/models/{model}/inverse-dynamics", {"q": q, "held": held})
                opposite = feet[3 - feet.index(lifted)]
                if answer.status == 200:
                    self.check_inside(held, answer.json(), weights[model])
                else:
                    self.assertIn(f" of {opposite}", answer.json()["detail"])
                found.append(answer.status)
        self.assertEqual(sorted(set(found)), [200, 422])

    def test_a_quadruped_that_brakes_within_its_friction(self):
        """The feet cause all of the trunk's deceleration a, so mu = a / g is the least friction coefficient with which they can."""
        J, _ = self.jacobians("solo12", SOLO, [0] * 18, points(FEET))
        for a, code in ((3, 200), (4.85, 200), (4.95, 422)):
            qdd = np.zeros(18)
            qdd[0] = -a
            qdd[6:] = np.linalg.solve(J[:, 6:], J[:, 0] * a)
            held = points(FEET, friction_coefficient=0.5)
            answer = self.client.post("/v1/models/solo12/inverse-dynamics", {"q": SOLO, "qdd": list(qdd), "held": held})
            force = np.array(self.ask("solo12", "inverse-dynamics", {"q": SOLO, "qdd": list(qdd)})["tau"][:3])
            needed = math.hypot(*force[:2]) / force[2]
            self.assertEqual(answer.status, 200 if needed <= 0.5 else 422, needed)
            if answer.status == 200:
                self.check_inside(held, answer.json(), 25)

    def test_a_humanoid_keeps_the_centre_of_pressure_in_its_soles(self):
        foot = {"reference": "frame", "friction_coefficient": 0.7, "torsional_friction_coefficient": 0.05, "sole": SOLE}
        both = [{"frame": f"{side}_sole", **foot} for side in ("left", "right")]
        q = [0, 0, 1, 0, 0, 0, 1] + [0] * (self.client.get("/v1/models/humanoid").json()["nq"] - 7)
        mass = self.ask("humanoid", "energy", {"q": q, "outputs": ["mass"]})["mass"]
        request = {"q": q, "held": both}
        self.check_inside(both, self.ask("humanoid", "inverse-dynamics", request), 9.81 * mass)
        one = self.client.post("/v1/models/humanoid/inverse-dynamics", {"q": q, "held": both[:1]})
        self.assertEqual(one.status, 422)  # the centre of mass is between the feet
        self.assertIn("sole of left_sole", one.json()["detail"])
        com = self.ask("humanoid", "energy", {"q": q, "outputs": ["com"]})["com"]
        place = self.ask("humanoid", "kinematics", {"q": q, "frames": ["left_sole"]})["poses"]["left_sole"]["position"]
        wide = [{**both[0], "sole": [[x, y + com[1] - place[1], 0] for x, y, _ in SOLE]}]
        self.check_inside(wide, self.ask("humanoid", "inverse-dynamics", {"q": q, "held": wide}), 9.81 * mass)

    def test_a_foot_without_load_is_at_the_apex_of_its_cone(self):
        """A foot whose wrench has a large weight in the sum of squares carries nothing as long as the three other feet can bear the robot."""
        held = points(FEET[:3], friction_coefficient=0.6) + points(FEET[3:], friction_coefficient=0.6, weight=1e4)
        G, h, cones = limits(held)
        l, _ = self.wrenches("solo12", {"q": SOLO, "held": held})
        J, _ = self.jacobians("solo12", SOLO, [0] * 18, held)
        free = np.array(self.ask("solo12", "inverse-dynamics", {"q": SOLO})["tau"])
        root = np.array([1] * 9 + [1e-2] * 3)
        outside, unexplained = certificate(J[:, :6].T, free[:6], G, h, cones, root, l)
        self.assertLess(max(outside, unexplained), 1e-10)

    def test_a_block_on_a_slope_rests_by_friction(self):
        """On a slope of angle s the force of the ground is m g upwards: m g cos s along the normal and m g sin s up the
        slope, and it holds the block if mu >= tan s. The centre of pressure is h tan s from the frame's origin, down the
        slope."""
        slope, height, weight = 0.3, 0.2, 3 * 9.81
        state = {"q": [0, 0, 0, *quaternion([0, slope, 0])]}
        for mu, status in ((math.tan(slope) + 1e-9, 200), (math.tan(slope) - 1e-6, 422)):
            held = [{"frame": "under", "reference": "frame", "friction_coefficient": mu}]
            answer = self.client.post("/v1/models/block/inverse-dynamics", {**state, "held": held})
            self.assertEqual(answer.status, status, answer.text)
        expected = [-weight * math.sin(slope), 0, weight * math.cos(slope), 0, -weight * math.sin(slope) * height, 0]
        wrench = self.ask("block", "inverse-dynamics", {**state, "held": [{"frame": "under", "reference": "frame"}]})
        self.assertClose(wrench["contact_wrenches"][0], expected, 1e-12, weight)
        reach = height * math.tan(slope)
        for x, status in ((reach + 1e-6, 200), (reach - 1e-6, 422)):
            sole = [[x, 0.1, 0], [-0.1, 0.1, 0], [-0.1, -0.1, 0], [x, -0.1, 0]]
            held = [{"frame": "under", "reference": "frame", "sole": sole}]
            answer = self.client.post("/v1/models/block/inverse-dynamics", {**state, "held": held})
            self.assertEqual(answer.status, status, answer.text)
        self.assertIn("the motion alone breaks sole of under", answer.json()["detail"])

    def test_a_grip_that_friction_barely_allows_is_still_the_optimum(self):
        """Just above the least friction coefficient with which the motion is possible, contact wrenches and multipliers are thousands of times
        the weight; the answer must be the optimum all the same."""
        motion, held, choose = self.held_motion(24)
        held = [{**entry, "normal": list(choose.normal(size=3))} for entry in held]
        grip = lambda mu: self.client.post("/v1/models/random/inverse-dynamics", {
            **motion.state, "held": [{**entry, "friction_coefficient": mu} for entry in held]})
        low, high = 1e-3, 1e3
        for _ in range(40):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if grip(middle).status == 200 else (middle, high)
        for part in (1e-1, 1e-2, 1e-3, 1e-4):
            entries = [{**entry, "friction_coefficient": high * (1 + part)} for entry in held]
            l = self.chosen(entries, grip(high * (1 + part)).json()["contact_wrenches"])
            outside, unexplained = certificate(motion.A, motion.b, *limits(entries), np.ones(len(l)), l)
            self.assertLess(outside, 1e-10)
            self.assertLess(unexplained, 1e-9)

    def test_an_arm_on_a_fixed_base_presses_as_much_as_it_is_told(self):
        """This robot needs no contact force, since its base is fixed; so the contact force of least norm is the least normal force that the
        request demands."""
        held = [{"frame": "tip", "axes": ["x", "z"], "normal": [1, 0, 0], "least_normal_force": 7.5}]
        free = self.ask("rod", "inverse-dynamics", {"q": [0]})["tau"][0]
        answer = self.ask("rod", "inverse-dynamics", {"q": [0], "held": held})
        self.assertClose(answer["contact_wrenches"], [[7.5, 0, 0, 0, 0, 0]], 1e-12, 1)
        self.assertClose(answer["tau"], [free + 7.5], 1e-12, 10)  # the tip is 1 m below the hinge about y: J_x = -1

    # --- refusals -----------------------------------------------------------------------------------------------------

    def refused(self, model, request, code, *words):
        answer = self.client.post(f"/v1/models/{model}/inverse-dynamics", request)
        self.assertEqual((answer.status, answer.json()["code"]), (422, code), answer.text)
        for word in words:
            self.assertIn(word, answer.json()["detail"])
        return answer.json()

    def test_a_held_frame_that_accelerates_is_named_with_its_residual(self):
        self.refused("solo12", {"q": SOLO, "qdd": [0.5] + [0] * 17, "held": points(FEET)}, "held-frame-accelerates", "FL_FOOT",
                     "0.5 m/s^2 along x")
        for a, status in ((9e-6, 200), (1.1e-5, 422)):  # the limit of accelerations that count as zero is about 1e-6 of 9.81 m/s^2
            answer = self.client.post("/v1/models/solo12/inverse-dynamics", {"q": SOLO, "qdd": [a] + [0] * 17, "held": points(FEET)})
            self.assertEqual(answer.status, status)
        spin = {"q": UPRIGHT, "qd": [0, 0, 0, 0, 0, 2], "held": [{"frame": "leg1", "axes": XYZ}]}
        self.refused("table", spin, "held-frame-accelerates", "leg1", "1.2 m/s^2 along x")  # -w^2 r with r = -0.3 m

    def test_axes_of_a_frame_turn_with_it(self):
        """A block that slides and turns at constant velocity keeps the components of its velocity in its own axes, as a skate
        does, but not those in the world's. The force divided by the mass is the acceleration w x v."""
        state = {"q": UPRIGHT, "qd": [1.5, 0.4, 0, 0, 0, 2]}
        held = [{"frame": "under", "reference": "frame"}]
        for operation in ("inverse-dynamics", "torque-derivative"):
            answer = self.ask("block", operation, {**state, "held": held})
            self.assertClose(answer["contact_wrenches"][0][:2], [3 * -2 * 0.4, 3 * 2 * 1.5], 1e-13, 10)
        self.assertClose(answer["contact_wrench_rates"], [[0] * 6], 1e-13, 10)
        self.refused("block", {**state, "held": [{"frame": "under"}]}, "held-frame-accelerates", "under", "-0.8 m/s^2 along x")

    def test_an_effort_that_no_held_axis_bears_is_named(self):
        self.refused("solo12", {"q": SOLO, "held": points(FEET[:2])}, "infeasible-contacts", "base.wy", "no actuator moves")
        self.refused("solo12", {"q": SOLO, "held": [{"frame": "FL_FOOT", "axes": ["x"]}]}, "infeasible-contacts", "base.")

    def test_the_effort_that_remains_is_that_of_the_named_coordinate(self):
        """A turned block on two points: the first row of J^T that depends on those before, combined with these to zero, leaves an effort,
        which is given at the coordinate that takes most part in the combination."""
        self.put_model("cornered", {**BLOCK, "frames": [
            {"name": "corner", "link": "block", "xyz": [0.3, -0.2, 0.1]}, {"name": "other", "link": "block", "xyz": [-0.4, 0.1, 0.05]}]})
        for seed in range(8):
            choose = np.random.default_rng(seed)
            q = [*choose.uniform(-1, 1, 3), *(x := choose.normal(size=4)) / np.linalg.norm(x)]
            problem = self.refused("cornered", {"q": q, "held": points(["corner", "other"])}, "infeasible-contacts", "no actuator moves")
            left, name = re.search(r"motion: (\S+) N or N m remain at (base\.\S+),", problem["detail"]).groups()
            A = np.vstack([np.array(self.ask("cornered", "kinematics", {"q": q, "frame": frame, "outputs": ["jacobian"]})["jacobian"])[:3]
                           for frame in ("corner", "other")]).T
            efforts = np.array(self.ask("cornered", "inverse-dynamics", {"q": q})["tau"])
            u = next(i for i in range(6) if np.linalg.matrix_rank(A[:i + 1], tol=1e-9) == i)
            z = np.append(-np.linalg.lstsq(A[:u].T, A[u], rcond=None)[0], 1)
            at = ["base.vx", "base.vy", "base.vz", "base.wx", "base.wy", "base.wz"].index(name)
            self.assertEqual(at, 3 + np.abs(z[3:]).argmax())
            self.assertNotEqual(at, u)
            self.assertClose([float(left)], [z @ efforts[:u + 1] / z[at]], 1e-3)

    def test_limits_that_contradict_each_other_are_named(self):
        held = points(FEET, friction_coefficient=0.5)
        held[1]["least_normal_force"] = 1000
        problem = self.refused("solo12", {"q": SOLO, "held": held}, "infeasible-contacts", "least_normal_force of FR_FOOT")
        self.assertNotIn("friction_coefficient of FR_FOOT", problem["detail"].split("least_normal_force of FR_FOOT")[0])

    def test_limits_of_the_wrong_form_are_refused_where_they_stand(self):
        base = {"frame": "under", "reference": "frame"}
        for member, value, code, pointer in (
                ("facets", 4, "bad-value", "/held/0/facets"), ("friction_coefficient", 0, "bad-value", "/held/0/friction_coefficient"),
                ("friction_coefficient", "high", "wrong-type", "/held/0/friction_coefficient"),
                ("least_normal_force", -1, "bad-value", "/held/0/least_normal_force"),
                ("least_normal_force", 1e300, "bad-value", "/held/0/least_normal_force"), ("weight", 1e-30, "bad-value", "/held/0/weight"),
                ("friction_coefficient", 1e300, "bad-value", "/held/0/friction_coefficient"), ("normal", [0, 0, 0], "bad-value", "/held/0/normal"),
                ("normal", [0, 1], "wrong-shape", "/held/0/normal"), ("weight", 0, "bad-value", "/held/0/weight"),
                ("weight", [1, 2], "wrong-shape", "/held/0/weight"), ("torsional_friction_coefficient", 0, "bad-value",
                                                                      "/held/0/torsional_friction_coefficient"),
                ("sole", [[0, 0, 0], [1, 0, 0]], "wrong-shape", "/held/0/sole"),
                ("sole", [[0, 0, 0], [1, 0, 0], [0, 1, 0.1]], "bad-value", "/held/0/sole"),
                ("sole", [[1, 1, 0], [-1, 1, 0], [1, -1, 0], [-1, -1, 0]], "bad-value", "/held/0/sole"),
                ("sole", [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "bad-value", "/held/0/sole"),
                ("roughness", 1, "unknown-field", "/held/0/roughness")):
            answer = self.client.post("/v1/models/block/inverse-dynamics", {"q": UPRIGHT, "held": [{**base, member: value}]})
            problem = answer.json()
            self.assertEqual((problem.get("code"), problem.get("pointer")), (code, pointer), (member, value, answer.text))
        for entry, pointer in (({"frame": "under", "sole": SOLE}, "/held/0/sole"),
                               ({"frame": "under", "axes": ["x", "rz"], "friction_coefficient": 1}, "/held/0/normal"),
                               ({**base, "friction_coefficient": 0.5, "facets": 2.5}, "/held/0/facets")):
            answer = self.client.post("/v1/models/block/inverse-dynamics", {"q": UPRIGHT, "held": [entry]})
            self.assertEqual((answer.json().get("code"), answer.json().get("pointer")), ("bad-value", pointer), answer.text)

    def test_numbers_that_are_too_large_are_no_contact_problem(self):
        for more in ({"gravity": [0, 0, -1e300]}, {"qd": [1e200] * 18}, {"qdd": [1e308] * 18}):
            self.refused("solo12", {"q": SOLO, "held": points(FEET), **more}, "result-not-finite")

    def test_a_force_that_no_weight_gives_is_infeasible(self):
        held = points(FEET, friction_coefficient=0.5, least_normal_force=1e9)
        self.refused("solo12", {"q": SOLO, "held": held}, "infeasible-contacts", "least_normal_force")

    def test_fields_that_do_not_go_with_held_are_refused(self):
        held = points(FEET)
        self.refused("solo12", {"q": SOLO, "held": held, "free": "base"}, "bad-value", "free")
        self.refused("solo12", {"q": SOLO, "held": held, "qd_reference": [0] * 18}, "bad-value", "held")
        self.refused("solo12", {"q": SOLO, "held": held, "tau": [0] * 18}, "unknown-field", "free coordinates")
        self.refused("solo12", {"q": SOLO, "outputs": ["contact_wrenches"]}, "bad-value", "held")
        self.refused("solo12", {"q": SOLO, "held": held, "contact_damping": 1}, "unknown-field")
        limited = points(FEET, friction_coefficient=1)
        answer = self.client.post("/v1/models/solo12/forward-dynamics", {"q": SOLO, "tau": [0] * 18, "held": limited})
        self.assertEqual(answer.json()["code"], "unknown-field")
        self.assertEqual(self.ask("solo12", "inverse-dynamics", {"q": SOLO, "held": []}),
                         self.ask("solo12", "inverse-dynamics", {"q": SOLO}))

    # --- rows -----------------------------------------------------------------------------------------------------------

    def rows(self, n):
        choose = np.random.default_rng(5)
        return [SOLO[:7] + list(np.array(SOLO[7:]) + choose.uniform(-0.3, 0.3, 12)) for _ in range(n)]

    def test_rows_have_the_bits_of_single_states_in_every_encoding(self):
        for more in ({}, {"friction_coefficient": 0.4}, {"friction_coefficient": 0.4, "facets": 6, "weight": [1, 2, 3]}):
            request = {"q": self.rows(13), "held": points(FEET, **more), "on_error": "row", "outputs": ["tau", "contact_wrenches", "joint_wrenches"]}
            answer = self.ask("solo12", "inverse-dynamics", request)
            failed = {error["row"] for error in answer.get("errors", [])}
            for row, q in enumerate(request["q"]):
                single = self.client.post("/v1/models/solo12/inverse-dynamics", {**request, "q": q, "on_error": "request"})
                self.assertEqual(single.status, 422 if row in failed else 200)
                for name in request["outputs"]:
                    self.assertEqual(answer[name][row], None if row in failed else single.json()[name])
            coded = self.client.request("POST", "/v1/models/solo12/inverse-dynamics", cbor2.dumps(request),
                                        {"Content-Type": "application/cbor", "Accept": "application/cbor"})
            self.assertEqual(cbor2.loads(coded.body), answer)
            inside = self.ask("solo12", "evaluate", {"q": request["q"], "on_error": "row", "operations": {"inverse-dynamics": {
                "held": request["held"], "outputs": request["outputs"]}, "energy": {}}})
            self.assertEqual(inside["inverse-dynamics"]["tau"], answer["tau"])
            if not more:
                self.assertEqual(failed, set())

    def test_rows_that_no_wrench_bears_fail_alone(self):
        rows = self.rows(9)
        rows[4] = SOLO[:7] + [0.05, 1.9, -0.3] * 4  # all feet are behind the centre of mass, so that the front feet would have to pull
        held = points(FEET, friction_coefficient=0.9)
        answer = self.ask("solo12", "inverse-dynamics", {"q": rows, "held": held, "on_error": "row"})
        self.assertEqual([(error["row"], error["code"]) for error in answer["errors"]], [(4, "infeasible-contacts")])
        self.assertIsNone(answer["contact_wrenches"][4])


tap.main()
