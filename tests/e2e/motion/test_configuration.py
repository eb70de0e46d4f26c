"""Tests configuration: identities on the manifold, the exponential against a matrix, drawn configurations within
limits, and refusals."""
import numpy as np
import tap
from closed import Closed
from samples import body, branched
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

OUTPUTS = ["integrated", "difference", "interpolated", "normalised", "neutral", "random"]


def pose(q):
    """Returns the 4 x 4 matrix of (x y z qx qy qz qw)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_quat(q[3:7]).as_matrix(), q[:3]
    return T


def twist(u):
    """Returns the matrix [[w]x v; 0 0] of a twist (v, w), whose exponential is a displacement."""
    v, (x, y, z) = u[:3], u[3:6]
    return np.array([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0, 0, 0, 0]])


class Configuration(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/flying", branched("floating"))

    def about(self, model):
        return self.ok(self.client.get(f"/v1/models/{model}"))

    def drawn(self, model, count, seed=1):
        return np.array(self.ask(model, "configuration", {"count": count, "seed": seed, "range": 3})["random"])

    def test_difference_undoes_integrate(self):
        """The least displacement has |w| <= pi, so that displacements with |w| below pi are found again from the positions that they lead to."""
        choose = np.random.default_rng(1)
        for model in ("panda", "solo12", "humanoid", "flying"):
            about = self.about(model)
            q = self.drawn(model, 40)
            u = choose.normal(size=(40, about["nv"]))
            u[:, 3:6] *= (choose.uniform(0, 3.1, 40) / np.linalg.norm(u[:, 3:6], axis=1))[:, None]
            u[:5] *= np.array([1e-3, 1e-8, 1e-12, 0, 1e-160])[:, None]
            moved = self.ask(model, "configuration", {"q": q.tolist(), "displacement": u.tolist()})["integrated"]
            back = self.ask(model, "configuration", {"q": q.tolist(), "q_target": moved})["difference"]
            self.assertLess(abs(np.array(back) - u).max(), 2e-14 * 40, model)
            there = self.ask(model, "configuration", {"q": moved, "q_target": q.tolist()})["difference"]
            self.near(there, (-np.array(back)).tolist(), 1e-12, least=1)

    def test_small_displacements_come_back_with_their_digits(self):
        u = np.diag([1e-9, 2e-9, 3e-9, 4e-9, 5e-9, 6e-9] + [0] * (self.about("solo12")["nv"] - 6))[:6]
        q = [0.0] * 6 + [1.0] + [0.1] * 12
        moved = self.ask("solo12", "configuration", {"q": [q] * 6, "displacement": u.tolist()})["integrated"]
        back = self.ask("solo12", "configuration", {"q": [q] * 6, "q_target": moved})["difference"]
        self.assertLess(abs(np.array(back) - u).max(), 1e-24)

    def test_a_floating_base_moves_with_a_constant_twist(self):
        """The pose after one unit of time is T exp(u), by the matrix exponential of SciPy."""
        choose = np.random.default_rng(2)
        q = self.drawn("solo12", 30, 5)
        u = choose.normal(size=(30, 18)) * choose.choice([1e-4, 0.3, 1, 4], 30)[:, None]
        moved = np.array(self.ask("solo12", "configuration", {"q": q.tolist(), "displacement": u.tolist()})["integrated"])
        for a, b, x in zip(q, moved, u):
            self.assertLess(abs(pose(a) @ expm(twist(x)) - pose(b)).max(), 5e-14)
            self.assertGreaterEqual(b[6], 0)
        self.assertLess(abs(moved[:, 7:] - q[:, 7:] - u[:, 6:]).max(), 1e-15 * 8)
        self.assertLess(abs(np.linalg.norm(moved[:, 3:7], axis=1) - 1).max(), 4e-16)

    def test_a_step_with_constant_velocity_is_an_integration(self):
        """Without gravity and joints that move, a body that only translates keeps its velocity."""
        q = [0.3, -0.2, 0.5] + [0.1, 0.7, -0.1, 0.7] + [0.0] * 12
        q[3:7] = (np.array(q[3:7]) / np.linalg.norm(q[3:7])).tolist()
        qd = [0.4, -0.3, 0.2] + [0.0] * 15
        after = self.ask("solo12", "step", {"q": q, "qd": qd, "tau": [0] * 18, "gravity": [0, 0, 0], "step": 0.1,
                                            "integrator": "explicit_euler", "outputs": ["q_after"]})["q_after"]
        u = [0.1 * x for x in qd]
        self.near(self.ask("solo12", "configuration", {"q": q, "displacement": u})["integrated"], after, 1e-15, least=1)

    def test_interpolation_ends_at_both_configurations(self):
        q = self.drawn("flying", 2, 3)
        fractions = [0, 0.25, 0.5, 1]
        request = {"q": q[0].tolist(), "q_target": q[1].tolist(), "fraction": fractions, "outputs": OUTPUTS[1:3]}
        answer = self.ask("flying", "configuration", request)
        between = np.array(answer["interpolated"])
        self.near(between[0].tolist(), q[0].tolist(), 1e-14, least=1)
        self.near(between[3].tolist(), q[1].tolist(), 1e-14, least=1)
        self.assertEqual(answer["difference"][0], answer["difference"][2])
        half = self.ask("flying", "configuration", {"q": between[1].tolist(), "q_target": between[2].tolist()})["difference"]
        self.near((4 * np.array(half)).tolist(), answer["difference"][0], 1e-13, least=1)
        one = self.ask("flying", "configuration", {**request, "fraction": 0.25, "outputs": ["interpolated"]})["interpolated"]
        self.assertEqual(one, answer["interpolated"][1])

    def test_half_turns_have_a_difference(self):
        q, target = [0.0] * 19, [0.0] * 19
        q[6], target[3] = 1, 1
        u = self.ask("solo12", "configuration", {"q": q, "q_target": target})["difference"]
        self.near(u[:6], [0, 0, 0, np.pi, 0, 0], 1e-15, least=1)

    def test_drawn_configurations_keep_the_limits(self):
        for model in ("panda", "humanoid", "ur5"):
            q, about = self.drawn(model, 400), self.about(model)
            for joint in about["joints"]:
                limits = (joint.get("limits") or {}).get("position")
                if not limits or joint.get("mimic"):
                    continue
                values = q[:, about["position_names"].index(joint["name"])]
                self.assertTrue((values >= limits[0]).all() and (values <= limits[1]).all(), joint["name"])
                self.assertGreater(np.ptp(values), 0.98 * (limits[1] - limits[0]), joint["name"])
                self.assertLess(abs(values.mean() - sum(limits) / 2), 0.1 * (limits[1] - limits[0]), joint["name"])

    def test_drawn_leaders_keep_the_interval_of_their_own_kind(self):
        """A leader is drawn from the interval of its own joint type: an angle between -pi and pi, a length within `range`, here 3. A revolute
        mimic that is nearer to the base than its leader, with another multiplier, must not change that."""
        link = lambda name, parent, **joint: {"name": name, "parent": parent, "inertial": body(1), "joint": {
            "name": "j" + name, "type": "continuous", "axis": [0, 1, 0], **joint}}
        follows = lambda leader, multiplier: {"mimic": {"joint": leader, "multiplier": multiplier, "offset": 0.2}}
        self.put_model("led", {"links": [link("a", "base", **follows("jb", 3)), link("b", "a"), link("c", "b", **follows("jd", -0.4)),
                                         link("d", "c", type="prismatic"), link("e", "d", type="helical", pitch=0.1), link("f", "e", type="planar"),
                                         link("g", "f", **follows("je", 0.5))]})
        about, q = self.about("led"), self.drawn("led", 600, 4)
        self.assertEqual(sorted(about["position_names"]), ["jb", "jd", "je", "jf.angle", "jf.x", "jf.y"])
        for name, values in zip(about["position_names"], q.T):
            most = np.pi if name in ("jb", "je", "jf.angle") else 3
            self.assertLessEqual(abs(values).max(), most, name)
            self.assertGreater(abs(values).max(), 0.98 * most, name)

    def test_drawn_rotations_have_no_preferred_direction(self):
        """The mean of R over all rotations is 0; over 4000 drawn ones its entries have a deviation of 1/sqrt(12000)."""
        q = self.drawn("solo12", 4000, 9)
        self.assertLess(abs(np.linalg.norm(q[:, 3:7], axis=1) - 1).max(), 5e-16)
        self.assertLess(abs(Rotation.from_quat(q[:, 3:7]).as_matrix().mean(0)).max(), 5 / np.sqrt(12000))
        self.assertTrue((abs(q[:, :3]) <= 3).all() and abs(q[:, :3]).max() > 2.9)

    def test_a_row_is_the_same_draw_in_any_batch(self):
        """Drawn numbers depend only on the seed and on the index of the row, and are equal on all machines."""
        many, few = self.drawn("panda", 300, 7), self.drawn("panda", 3, 7)
        self.assertEqual(many[:3].tolist(), few.tolist())
        self.assertEqual(self.ask("panda", "configuration", {"seed": 7, "range": 3})["random"], few[0].tolist())
        self.assertNotEqual(self.drawn("panda", 1, 8).tolist(), few[:1].tolist())
        self.assertEqual(len(np.unique(many.ravel())), many.size)
        self.assertEqual(few[2].tolist(), FEW)

    def test_normalise_takes_any_length(self):
        q = [0.1, 0.2, 0.3, 0.5, 1, -0.5, -2] + [0.0] * 12
        self.assertProblem(self.client.post("/v1/models/solo12/configuration", {"q": q}), 422, "/q/3")
        unit = self.ask("solo12", "configuration", {"q": q, "normalise": True})["normalised"]
        self.near(unit[3:7], (-np.array(q[3:7]) / np.linalg.norm(q[3:7])).tolist(), 1e-15, least=1)
        self.assertEqual(unit[:3], q[:3])

    def test_neutral_is_zero_with_unit_quaternions(self):
        self.assertEqual(self.ask("solo12", "configuration", {})["neutral"], [0] * 6 + [1] + [0] * 12)

    def test_loops_have_all_but_random(self):
        actuated = [0.5, 2.5]
        answer = self.ask("five_bar", "configuration", {"q": actuated, "displacement": [0.25, -0.5]})
        self.near(answer["integrated"], (np.array(actuated) + [0.25, -0.5]).tolist(), 1e-15, least=1)
        problem = self.assertProblem(self.client.post("/v1/models/five_bar/configuration", {"q": actuated, "seed": 1}), 422)
        self.assertEqual(problem["code"], "not-for-loops")

    def test_refusals_name_the_field(self):
        q = [0.1] * 7
        for change, pointer, says in (({"fraction": 0.5}, "/fraction", "interpolated"), ({"outputs": ["difference"]}, "/q_target", "q_target"),
                                      ({"outputs": ["integrated"]}, "/displacement", "displacement"),
                                      ({"seed": -1}, "/seed", "whole number"), ({"seed": 0.5}, "/seed", "whole number"), ({"count": 1e9}, "/count", "whole"),
                                      ({"range": -1}, "/range", "not less than 0"), ({"seed": 3, "outputs": ["normalised"]}, "/seed", "ask for random"),
                                      ({"range": 2, "outputs": ["normalised"]}, "/range", "ask for random"), ({"q_target": [0] * 6}, "/q_target", "7 expected"),
                                      ({"q_target": q, "fraction": [0.1, "a"]}, "/fraction/1", "number"),
                                      ({"q_target": [q] * 2, "fraction": [0.1] * 3}, "/q_target", "rows")):
            problem = self.assertProblem(self.client.post("/v1/models/panda/configuration", {"q": q, **change}), 422, pointer)
            self.assertIn(says, problem["detail"], change)


FEW = [-0.4530432460152185, -0.10652819922942003, -2.3487230498417238, -2.553666116203372, -1.6901352679120352, 1.9410345862567537,
       -1.5481535743271626]

if __name__ == "__main__":
    tap.main()
