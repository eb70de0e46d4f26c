"""Tests inverse kinematics of trees: poses of frames at the solutions against the goals, rates against Jacobians,
limits, several starts, floating bases, goals out of reach, refusals."""
import cbor2
import numpy as np
import tap
from closed import Closed
from samples import body, branched

ARMS = {"puma560": "link6", "ur5": "tool0", "panda": "panda_flange", "kuka_iiwa7": "iiwa_link_7", "stanford": "link6"}


def distance_of(a, b):
    return np.linalg.norm(np.subtract(a, b), axis=-1)


def angle_between(a, b):
    """Returns the angles between rotations given by unit quaternions."""
    return 2 * np.arccos(np.minimum(1, np.abs(np.sum(np.multiply(a, b), axis=-1))))


class InverseKinematics(Closed):
    def frame_of(self, model):
        frames = self.ok(self.client.get(f"/v1/models/{model}"))["frames"]
        names = [frame["name"] if isinstance(frame, dict) else frame for frame in frames]
        return ARMS[model] if ARMS[model] in names else names[-1]

    def limits_of(self, model):
        """Returns lower and upper position limits of the joints; infinite where a joint has none."""
        joints = self.ok(self.client.get(f"/v1/models/{model}"))["joints"]
        return np.array([joint["limits"].get("position", [-np.inf, np.inf]) for joint in joints]).T

    def reachable(self, model, n, seed):
        """Draws positions within the limits. Returns these and the poses of the frame there."""
        low, high = np.clip(self.limits_of(model), -np.pi, np.pi)
        q = np.random.default_rng(seed).uniform(low, high, (n, len(low)))
        return q, self.poses(model, q, self.frame_of(model))

    def poses(self, model, q, frame):
        poses = self.ask(model, "kinematics", {"q": np.array(q).tolist(), "frames": [frame]})["poses"][frame]
        return {name: np.array(poses[name]) for name in ("position", "orientation")}

    def solve(self, model, goal, **more):
        goal = {name: np.array(value).tolist() for name, value in goal.items()}
        return self.ask(model, "inverse-kinematics", {"frame": self.frame_of(model), **goal, **more})

    def test_poses(self):
        """All goals are reachable; the search solves nearly all of them, each within the limits."""
        for model in ARMS:
            _, goal = self.reachable(model, 100, 1)
            answer = self.solve(model, goal, on_error="row", starts=100)
            found = [i for i, row in enumerate(answer["q"]) if row is not None]
            self.assertGreaterEqual(len(found), 97, model)
            q = np.array([answer["q"][i] for i in found])
            low, high = self.limits_of(model)
            self.assertTrue(np.all(q >= low) and np.all(q <= high), model)
            reached = self.poses(model, q, self.frame_of(model))
            self.assertLess(distance_of(reached["position"], goal["position"][found]).max(), 2e-9, model)
            self.assertLess(angle_between(reached["orientation"], goal["orientation"][found]).max(), 1e-7, model)

    def test_positions_and_directions(self):
        _, goal = self.reachable("ur5", 50, 2)
        q = self.solve("ur5", {"position": goal["position"]}, starts=50)["q"]
        self.assertLess(distance_of(self.poses("ur5", q, "tool0")["position"], goal["position"]).max(), 2e-9)
        x, y, z, w = goal["orientation"].T
        # the z axis of the frame
        third = np.stack([2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)], axis=1)
        for scale in (1, 7.5):
            answer = self.solve("ur5", {"position": goal["position"], "direction": scale * third}, starts=100,
                                outputs=["q", "distance", "angle"])
            reached = self.poses("ur5", answer["q"], "tool0")
            x, y, z, w = reached["orientation"].T
            pointed = np.stack([2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)], axis=1)
            self.assertLess(distance_of(pointed, third).max(), 2e-9)
            self.assertLess(max(answer["angle"]), 1e-9)
            self.assertLess(max(answer["distance"]), 1e-9)
        turned = self.solve("ur5", {"position": goal["position"][0], "direction": third[0]}, axis=[0, 0, 3], starts=100)
        self.near(turned["q"], answer["q"][0], 1e-9)

    def test_start_selects_the_solution(self):
        """Started at a solution, the search does not move; started nearby, it returns to that solution."""
        for model in ARMS:
            q, goal = self.reachable(model, 20, 3)
            answer = self.solve(model, goal, q=q.tolist(), outputs=["q", "iterations", "starts_needed"])
            self.near(answer["q"], q, 1e-8, model)
            self.assertEqual(answer["iterations"], [1] * 20, model)
            self.assertEqual(answer["starts_needed"], [1] * 20, model)

    def test_rates(self):
        """Rates are the minimum-norm solutions of J qd = velocity and J qdd + J' qd = acceleration."""
        choose = np.random.default_rng(4)
        for model in ("ur5", "panda"):
            q, goal = self.reachable(model, 10, 5)
            velocity, acceleration = choose.uniform(-1, 1, (2, 10, 6))
            answer = self.solve(model, goal, q=q.tolist(), velocity=velocity.tolist(), acceleration=acceleration.tolist())
            self.assertEqual(list(answer), ["q", "qd", "qdd"])
            again = self.ask(model, "kinematics", {**answer, "frame": self.frame_of(model),
                                                   "outputs": ["jacobian", "velocity", "acceleration"]})
            self.near(again["velocity"], velocity, 1e-8, model)
            self.near(again["acceleration"], acceleration, 1e-7, model)
            J = np.array(again["jacobian"])
            least = np.einsum("nij,nj->ni", np.linalg.pinv(J), velocity)
            self.near(answer["qd"], least, 1e-7, model)
        position = self.solve("ur5", {"position": [0.4, 0.2, 0.3], "velocity": [0.1, 0, 0]})
        self.assertEqual(list(position), ["q", "qd"])
        moved = self.ask("ur5", "kinematics", {**position, "frame": "tool0", "outputs": ["velocity"]})["velocity"]
        self.near(moved[:3], [0.1, 0, 0], 1e-10)

    def reach(self, model, frame):
        """Returns the length of the chain of joints from the base to the frame: the sum of the distances between their
        origins."""
        document = self.ok(self.client.get(f"/v1/models/{model}/document"))
        links = {link["name"]: link for link in document["links"]}
        on = {one["name"]: one["link"] for one in document.get("frames", [])}
        poses = self.ask(model, "kinematics", {"q": [0] * len(self.limits_of(model)[0])})["poses"]
        points, link = [poses[frame]["position"]], links.get(on.get(frame, frame))
        while link:
            if link["joint"]["type"] != "fixed":
                points.append(poses[link["name"]]["position"])
            link = links.get(link["parent"])
        return distance_of(points, [*points[1:], [0, 0, 0]]).sum()

    def test_damped_rates(self):
        """Damped rates minimise |J x - b|^2 + damping^2 |x|^2, with linear rows divided by the reach. Compares with a least-squares solver."""
        choose = np.random.default_rng(8)
        for model in ("ur5", "panda"):
            frame, (q, goal) = self.frame_of(model), self.reachable(model, 6, 9)
            velocity, acceleration = choose.uniform(-1, 1, (2, 6, 6))
            scale = np.array([1 / self.reach(model, frame)] * 3 + [1] * 3)
            for damping in (0.05, 0.3, 2):
                answer = self.solve(model, goal, q=q.tolist(), velocity=velocity.tolist(), acceleration=acceleration.tolist(),
                                    damping=damping)
                exact = self.ask(model, "kinematics", {"q": answer["q"], "qd": answer["qd"], "frame": frame,
                                                       "outputs": ["jacobian", "jacobian_dot"]})
                for row, (J, J_dot) in enumerate(zip(exact["jacobian"], exact["jacobian_dot"])):
                    A = np.vstack([scale[:, None] * np.array(J), damping * np.eye(len(q[0]))])
                    least = lambda b: np.linalg.lstsq(A, np.append(scale * b, np.zeros(len(q[0]))), rcond=None)[0]
                    qd = least(velocity[row])
                    self.near(answer["qd"][row], qd, 1e-7, (model, damping))
                    self.near(answer["qdd"][row], least(acceleration[row] - np.array(J_dot) @ qd), 1e-6, (model, damping))

    def test_singular_rates(self):
        """A stretched arm cannot move along itself; damped rates are the closest ones."""
        arm = [{"name": "upper", "parent": "world", "joint": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1]}},
               {"name": "fore", "parent": "upper", "joint": {"name": "elbow", "type": "revolute", "axis": [0, 0, 1], "origin": {"xyz": [1, 0, 0]}}},
               {"name": "hand", "parent": "fore", "joint": {"name": "end", "type": "fixed", "origin": {"xyz": [1, 0, 0]}}}]
        self.put_model("straight", {"base": {"link": "world"}, "links": arm})
        along = {"frame": "hand", "position": [2, 0, 0], "q": [0, 0], "velocity": [1, 0, 0]}
        problem = self.assertProblem(self.client.post("/v1/models/straight/inverse-kinematics", along), 422, "/position")
        self.assertEqual(problem["code"], "singular-jacobian")
        self.near(self.ask("straight", "inverse-kinematics", {**along, "damping": 0.1})["qd"], [0, 0], 1e-9, least=1)
        across = self.ask("straight", "inverse-kinematics", {**along, "velocity": [0, 1, 0]})["qd"]
        self.near(across, [0.4, 0.2], 1e-9)

    def test_batches(self):
        """Rows have the same bits in single requests and in a batch; in a batch only the row that is out of reach fails."""
        _, goal = self.reachable("panda", 11, 6)
        goal["position"][4] = [3, 0, 0]
        together = self.solve("panda", goal, on_error="row", outputs=["q", "distance", "iterations"])
        self.assertEqual([(e["row"], e["code"], e["pointer"]) for e in together["errors"] if e["row"] == 4],
                         [(4, "out-of-reach", "/position/4")])
        for i in range(11):
            alone = self.solve("panda", {name: rows[i] for name, rows in goal.items()}, on_error="row",
                               outputs=["q", "distance", "iterations"])
            for name in ("q", "distance", "iterations"):
                self.assertEqual(alone[name], together[name][i], (i, name))
        first = self.solve("panda", {**goal, "position": goal["position"][0], "orientation": goal["orientation"][0]})
        self.assertEqual(first["q"], together["q"][0])

    def test_distances(self):
        """With a wide tolerance the search stops early: `distance` is in m and rad, whatever the length of the arm."""
        for model in ("ur5", "panda"):
            q, goal = self.reachable(model, 12, 10)
            q = q + np.random.default_rng(11).uniform(-0.2, 0.2, q.shape)
            answer = self.solve(model, goal, q=q.tolist(), limits=False, starts=1, tolerance=0.1,
                                outputs=["q", "distance", "angle", "iterations"])
            reached = self.poses(model, answer["q"], self.frame_of(model))
            self.near(answer["distance"], distance_of(reached["position"], goal["position"]), 1e-9, model)
            self.near(answer["angle"], angle_between(reached["orientation"], goal["orientation"]), 1e-6, model)
            self.assertGreater(np.max(answer["distance"]), 1e-4, model)
            self.assertLessEqual(max(*answer["distance"], *answer["angle"]), 0.1, model)

    def test_limits(self):
        """With limits switched off, the search reaches goals that are impossible within them."""
        reach = 1.7
        self.put_model("knee", {"base": {"link": "world"}, "links": [
            {"name": "shin", "parent": "world", "joint": {"name": "knee", "type": "revolute", "axis": [0, 0, 1], "limits": {"position": [-0.5, 0.5]}}},
            {"name": "foot", "parent": "shin", "joint": {"name": "end", "type": "fixed", "origin": {"xyz": [reach, 0, 0]}}}]})
        goal = {"frame": "foot", "position": [reach * np.cos(1), reach * np.sin(1), 0]}
        problem = self.assertProblem(self.client.post("/v1/models/knee/inverse-kinematics", goal), 422, "/position")
        self.assertEqual(problem["code"], "out-of-reach")
        self.assertIn(f"{2 * reach * np.sin(0.25):.3g} m", problem["detail"])
        self.near(self.ask("knee", "inverse-kinematics", {**goal, "limits": False})["q"], [1], 1e-9)
        for start in (-0.5, 0.5):  # a joint at its limit moves back from it
            inside = {"frame": "foot", "position": [reach * np.cos(0.2), reach * np.sin(0.2), 0], "q": [start], "starts": 1}
            self.near(self.ask("knee", "inverse-kinematics", inside)["q"], [0.2], 1e-9)

    def coupled_knee(self, multiplier):
        """Puts a finger of two joints, the second a mimic of the first with tighter limits. Returns the tip's position
        as a function of q."""
        links = [{"name": "one", "parent": "base", "joint": {"name": "lead", "type": "revolute", "axis": [0, 0, 1], "limits": {"position": [-2, 2]}}},
                 {"name": "two", "parent": "one", "joint": {
                     "name": "follow", "type": "revolute", "axis": [0, 0, 1], "origin": {"xyz": [1, 0, 0]}, "limits": {"position": [-0.4, 0.9]},
                     "mimic": {"joint": "lead", "multiplier": multiplier, "offset": 0.1}}},
                 {"name": "tip", "parent": "two", "joint": {"name": "end", "type": "fixed", "origin": {"xyz": [1, 0, 0]}}}]
        self.put_model("finger", {"base": {"link": "base"}, "links": links})
        return lambda q: [np.cos(q) + np.cos(q + multiplier * q + 0.1), np.sin(q) + np.sin(q + multiplier * q + 0.1), 0]

    def test_limits_in_the_way(self):
        """For a goal beyond a limit, the message names the joint and the bound, of a leader or of a mimic joint, and no
        other."""
        for multiplier in (2, -2, 0.3):
            tip = self.coupled_knee(multiplier)
            low, high = np.clip(np.sort((np.array([-0.4, 0.9]) - 0.1) / multiplier), -2, 2)
            for q in (low - 0.2, high + 0.2):
                goal = {"frame": "tip", "position": tip(q)}
                name = "lead" if abs(abs(q) - 0.2) == 2 else "follow"
                bound = (2 if q > 0 else -2) if name == "lead" else multiplier * (high if q > 0 else low) + 0.1
                near = {**goal, "q": [high if q > 0 else low], "starts": 1}
                detail = self.assertProblem(self.client.post("/v1/models/finger/inverse-kinematics", near), 422)["detail"]
                self.assertTrue(detail.endswith(f"; limits are in the way: {name} ({bound:.6g})"), (multiplier, q, detail))
                rows = {"frame": "tip", "position": [goal["position"], tip(0.5 * (low + high)), goal["position"]], "q": near["q"], "starts": 1}
                answer = self.ask("finger", "inverse-kinematics", {**rows, "on_error": "row", "outputs": ["q", "at_limits"]})
                self.assertEqual(answer["at_limits"], [None, [], None])
                self.assertEqual([detail in error["detail"] for error in answer["errors"]], [True, True])
                self.near(self.ask("finger", "inverse-kinematics", {**near, "limits": False})["q"], [q], 1e-8)
            for q, name in ((low, "lead" if low == -2 else "follow"), (high, "lead" if high == 2 else "follow")):
                request = {"frame": "tip", "position": tip(q), "q": [q], "tolerance": 1e-9, "outputs": ["at_limits", "q"]}
                answer = self.ask("finger", "inverse-kinematics", request)
                self.near(answer["q"], [q], 1e-8)
                self.assertEqual([one["joint"] for one in answer["at_limits"]], [name], (multiplier, q))
                self.assertEqual(self.ask("finger", "inverse-kinematics", {**request, "limits": False})["at_limits"], [])
                alone = self.client.post("/v1/models/finger/inverse-kinematics", {**request, "outputs": ["at_limits"]}, Accept="application/cbor")
                self.assertEqual(cbor2.loads(alone.body), {"at_limits": answer["at_limits"]})
        far = self.assertProblem(self.client.post("/v1/models/finger/inverse-kinematics", {"frame": "tip", "position": [9, 0, 0]}), 422)
        self.assertNotIn("limits", far["detail"])  # no limit prevents this position

    def test_elastic_joints(self):
        """Elastic joints are found with unloaded springs: motor at q - rest, whatever the start, with the rates of the
        joints. Mimics of elastic joints, fixed and floating bases."""
        for base in ("fixed", "floating"):
            document = branched(base)
            elastic = {"shoulder": {"stiffness": 300, "rest": 0.07}, "elbow": {"stiffness": 40, "damping": 2, "rest": -0.3}}
            for link in document["links"]:
                if link["joint"]["name"] in elastic:
                    link["joint"]["elastic"] = elastic[link["joint"]["name"]]
            document["links"].append({"name": "claw", "parent": "gripper", "inertial": body(0.2), "joint": {
                "name": "claw", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0.1, 0, 0.1]}, "mimic": {"joint": "elbow", "multiplier": -0.5}}})
            about = self.put_model("springy", document) and self.ok(self.client.get("/v1/models/springy"))
            names, rates = about["position_names"], about["velocity_names"]
            rigid = [name for name in rates if not name.endswith(".motor")]
            choose = np.random.default_rng(7)
            start = [1.0 if name.endswith("qw") else 0.0 if name.startswith("base") else choose.uniform(-0.4, 0.4) for name in names]
            goal = self.poses("springy", [start], "claw")
            moved = [x + 0.2 * (not name.startswith("base")) for x, name in zip(start, names)]
            request = {"frame": "claw", "position": goal["position"][0].tolist(), "velocity": [0.1, -0.2, 0.05], "acceleration": [0.3, 0.1, 0.2], "damping": 0.1,
                       "q": [moved, start], "outputs": ["q", "qd", "qdd"]}
            answer = self.ask("springy", "inverse-kinematics", request)
            for row in range(2):
                q, qd, qdd = (dict(zip(of, answer[name][row])) for of, name in ((names, "q"), (rates, "qd"), (rates, "qdd")))
                for joint, spring in elastic.items():
                    self.assertEqual(q[joint + ".motor"], q[joint] - spring["rest"])
                    self.assertEqual((qd[joint + ".motor"], qdd[joint + ".motor"]), (qd[joint], qdd[joint]))
                self.assertGreater(max(abs(qd[name]) for name in rigid), 1e-3)
            self.assertLess(distance_of(self.poses("springy", answer["q"], "claw")["position"], goal["position"][0]).max(), 2e-9)
            bare = {**document, "links": [{**link, "joint": {k: v for k, v in link["joint"].items() if k != "elastic"}} for link in document["links"]]}
            self.put_model("bare", bare)
            plain = [[x for x, name in zip(row, names) if not name.endswith(".motor")] for row in answer["q"]]
            energy = lambda model, q: np.array(self.ask(model, "energy", {"q": q, "outputs": ["potential"]})["potential"])
            # the springs of the joints store no energy
            self.near(energy("springy", answer["q"]), energy("bare", plain), 1e-12)
            other = self.ask("springy", "inverse-kinematics", {**request, "q": [[x + 5 * name.endswith(".motor") for x, name in zip(row, names)] for row in request["q"]]})
            self.assertEqual(other, answer)

    def test_floating_base(self):
        """The search also moves a floating base, whose quaternion keeps unit length."""
        goal = {"frame": "FL_FOOT", "position": [0.3, 0.2, 0.1], "orientation": [0, 0, 0.6, 0.8]}
        q = self.ask("solo12", "inverse-kinematics", goal)["q"]
        reached = self.poses("solo12", q, "FL_FOOT")
        self.near(reached["position"], goal["position"], 1e-8)
        self.assertLess(angle_between(reached["orientation"], goal["orientation"]), 1e-7)
        self.near(np.linalg.norm(q[3:7]), 1, 1e-12)

    def test_refusals(self):
        goal = {"frame": "tool0", "position": [0.4, 0.2, 0.3]}
        for change, code, pointer in (
                ({"orientation": [0, 0, 0, 1], "direction": [0, 0, 1]}, "bad-value", "/direction"),
                ({"orientation": [0, 0, 0, 2]}, "bad-quaternion", "/orientation/0"),
                ({"direction": [0, 0, 0]}, "bad-value", "/direction"),
                ({"direction": [0, 0, 1], "axis": [0, 0, 0]}, "bad-value", "/axis"),
                ({"direction": [0, 0, 1], "velocity": [0, 0, 1]}, "bad-value", "/velocity"),
                ({"axis": [0, 0, 1]}, "bad-value", "/axis"),
                ({"velocity": [0] * 6}, "wrong-shape", "/velocity"),
                ({"starts": 0}, "bad-value", "/starts"), ({"starts": 1.5}, "bad-value", "/starts"),
                ({"starts": 1001}, "bad-value", "/starts"), ({"tolerance": -1}, "bad-value", "/tolerance"),
                ({"damping": -1}, "bad-value", "/damping"), ({"limits": 1}, "wrong-type", "/limits"),
                ({"outputs": ["qd"]}, "bad-value", "/outputs/0"),
                ({"velocity": [0, 0, 1], "outputs": ["q", "qdd"]}, "bad-value", "/outputs/1"),
                ({"frame": "base_link"}, "bad-value", "/frame"), ({"frame": "nothing"}, "unknown-name", "/frame"),
                ({"position": [[0, 0, 0]] * 2, "orientation": [[0, 0, 0, 1]] * 3}, "wrong-shape", "/orientation")):
            problem = self.assertProblem(self.client.post("/v1/models/ur5/inverse-kinematics", {**goal, **change}), 422, pointer)
            self.assertEqual(problem["code"], code, (change, problem))
        problem = self.assertProblem(self.client.post("/v1/models/ur5/inverse-kinematics", {"frame": "tool0"}), 422, "/position")
        self.assertEqual(problem["code"], "missing-field")
        problem = self.assertProblem(self.client.post("/v1/models/delta/inverse-kinematics",
                                                      {"frame": "platform", "position": [0, 0, -0.3]}), 422)
        self.assertEqual(problem["code"], "not-for-loops")


if __name__ == "__main__":
    tap.main()
