"""Tests sensors: wrenches through fixed joints against the same robot with moving joints in their places, free fall, inertial sensors against
differences in time, and refusals."""
import copy

import numpy as np
import tap
from closed import Closed
from samples import body
from scipy.spatial.transform import Rotation


def origin(x, y, z, *rpy):
    return {"xyz": [x, y, z], "rpy": list(rpy or (0.2, -0.3, 0.4))}


def link(name, parent, kind, mass, at, **joint):
    axis = {} if kind in ("fixed", "floating", "spherical") else {"axis": [0.0, 0.6, 0.8]}
    return {"name": name, "parent": parent, "inertial": body(mass, com=(0.1 * mass, -0.05, 0.02)), "joint": {"name": "to_" + name, "type": kind, "origin": at, **axis, **joint}}


def robot(kind, floating=False, motors=True):
    """An arm whose joints `to_flange` and `to_camera` are of type `kind`: a flange that carries a fixed tool and two moving
    fingers, on a wrist that also carries a fixed camera. A motor on the tool drives a finger."""
    base = {"type": "floating", "link": "base", "inertial": body(4)} if floating else {"link": "base"}
    document = {"base": base, "links": [
        link("arm", "base", "revolute", 3, origin(0, 0, 0.4)),
        link("wrist", "arm", "prismatic", 2, origin(0.3, 0.1, 0)),
        link("camera", "wrist", kind, 0.5, origin(0.05, 0, 0.1)),
        link("flange", "wrist", kind, 0.7, origin(0.1, -0.05, 0.2, 0.5, 0.1, -0.7)),
        link("tool", "flange", "fixed", 0.9, origin(-0.1, 0.2, 0.1)),
        link("finger", "tool", "revolute", 0.3, origin(0.05, 0.06, 0.07), friction={"viscous": 0.1}),
        link("ball", "flange", "spherical", 0.4, origin(0.1, 0, 0.3)),
        link("thumb", "flange", "prismatic", 0.2, {"dh": {"theta": 0.3, "d": 0.1, "a": 0.2, "alpha": -0.4}}, axis=None)],
        "frames": [{"name": "tip", "link": "tool", **origin(0.02, 0.03, 0.04, 0.1, 0.9, -0.3)}]}
    del document["links"][-1]["joint"]["axis"]
    if motors:
        document["motors"] = [{"joint": "to_finger", "link": "tool", "axis": [0.6, 0, 0.8], "gear_ratio": 30, "spin_inertia": 1e-3}]
    return document


class Sensors(Closed):
    def put(self, name, document):
        answer = self.client.put(f"/v1/models/{name}", document)
        self.assertIn(answer.status, (200, 201), answer)
        return self.ok(self.client.get(f"/v1/models/{name}"))

    def states(self, fixed, moving, rows, seed=1):
        """Returns states of the fixed robot, and the same with the joints that replace fixed ones at rest at 0."""
        choose = np.random.default_rng(seed)
        q = np.array(self.ask(fixed["name"], "configuration", {"count": rows, "seed": seed})["random"])
        s = {"q": q, "qd": choose.normal(size=(rows, fixed["nv"])), "qdd": choose.normal(size=(rows, fixed["nv"]))}
        wide = {}
        for field, names in (("q", "position_names"), ("qd", "velocity_names"), ("qdd", "velocity_names")):
            wide[field] = np.zeros((rows, len(moving[names])))
            for i, name in enumerate(fixed[names]):
                wide[field][:, moving[names].index(name)] = s[field][:, i]
        return {k: v.tolist() for k, v in s.items()}, {k: v.tolist() for k, v in wide.items()}

    def test_a_fixed_joint_bears_the_wrench_of_a_joint_that_does_not_move(self):
        """The reference has revolute joints at rest in place of the fixed ones: their joint wrenches are those through the
        fixed joints. Payloads and wrenches act on links before and beyond the joint."""
        around = {"payload": [{"link": "tip", "mass": 1.5, "com": [0.1, 0.2, 0.3], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.25, "xy": 0.01}},
                              {"link": "wrist", "mass": 0.8}, {"link": "finger", "mass": 0.3, "com": [0, 0.1, 0]}],
                  "wrenches": [{"link": "tip", "force": [1, 2, 3], "torque": [0.3, -0.2, 0.1], "point": [0.1, 0, -0.2]},
                               {"link": "tool", "force": [-4, 1, 2], "frame": "link", "point": [0.1, 0.2, 0.3]},
                               {"link": "flange", "force": [3, 1, -2], "torque": [1, 0, 2], "frame": "tip"},
                               {"link": "wrist", "force": [7, 8, 9]}, {"link": "finger", "force": [-1, 1, 5], "point": [0, 0, 0.1]}],
                  "gravity": [0.3, -0.5, -9.7]}
        for floating in (False, True):
            for motors in (False, True):
                fixed, moving = self.put("fixed", robot("fixed", floating, motors)), self.put("moving", robot("revolute", floating, motors))
                s, wide = self.states(fixed, moving, 9)
                for more in ({}, around):
                    got = self.ask("fixed", "sensors", {**s, **more, "force_torque": [{"joint": f"to_{name}"} for name in (
                        "flange", "camera", "finger", "ball", "thumb", "wrist")]})["wrenches"]
                    leaf_last = self.ask("fixed", "sensors", {**s, **more, "force_torque": [{"joint": "to_flange"}, {"joint": "to_camera"}]})["wrenches"]
                    self.assertEqual(leaf_last, [row[:2] for row in got])
                    wrenches = np.array(self.ask("moving", "inverse-dynamics", {**wide, **more, "outputs": ["joint_wrenches"]})["joint_wrenches"])
                    for i, name in enumerate(("flange", "camera", "finger", "ball", "thumb", "wrist")):
                        expected = wrenches[:, moving["bodies"].index(name)]
                        if name == "thumb":
                            expected = self.about_the_link(s, expected)
                        self.near(np.array(got)[:, i].tolist(), expected.tolist(), 1e-12, f"{name} {floating} {motors} {bool(more)}")

    def about_the_link(self, s, wrenches):
        """Shifts the moments of the thumb's joint to the origin of the thumb: the joint has standard DH parameters, so that its moments are
        about the flange's origin."""
        poses = self.ask("fixed", "kinematics", {"q": s["q"], "frames": ["flange", "thumb"]})["poses"]
        flange, thumb = (np.array([x for x in poses[name]["position"]]) for name in ("flange", "thumb"))
        R = Rotation.from_quat(poses["thumb"]["orientation"]).inv()
        return np.concatenate([wrenches[:, :3], wrenches[:, 3:] + np.cross(R.apply(flange - thumb), wrenches[:, :3])], 1)

    def test_a_frame_chooses_axes_and_point(self):
        fixed = self.put("fixed", robot("fixed"))
        s, _ = self.states(fixed, fixed, 4)
        got = np.array(self.ask("fixed", "sensors", {**s, "force_torque": [{"joint": "to_flange"}, {"joint": "to_flange", "frame": "tip"},
                                                                           {"frame": "tip"}, {"joint": "to_tool", "frame": "tip"}]})["wrenches"])
        poses = self.ask("fixed", "kinematics", {"q": s["q"], "frames": ["flange", "tip"]})["poses"]
        R = [Rotation.from_quat(poses[name]["orientation"]) for name in ("flange", "tip")]
        p = [np.array(poses[name]["position"]) for name in ("flange", "tip")]
        f, n = R[0].apply(got[:, 0, :3]), R[0].apply(got[:, 0, 3:])
        self.near(R[1].apply(got[:, 1, :3]).tolist(), f.tolist(), 1e-13)
        self.near(R[1].apply(got[:, 1, 3:]).tolist(), (n + np.cross(p[0] - p[1], f)).tolist(), 1e-13)
        self.assertEqual(got[:, 2].tolist(), got[:, 3].tolist())

    def test_a_scale_under_a_stand_shows_the_weight(self):
        """Links that are fixed to the world are no body of the model; a fixed joint among them transmits the weight of all links that it
        carries."""
        document = robot("fixed")
        document["links"].insert(0, link("stand", "base", "fixed", 10, origin(0, 0, 0.5, 0, 0, 0)))
        document["links"][1]["parent"] = "stand"
        about = self.put("standing", document)
        q = [0.0] * about["nq"]
        q[about["position_names"].index("to_ball.qw")] = 1
        wrench = self.ask("standing", "sensors", {"q": q, "gravity": [0, 0, -10], "force_torque": [{"joint": "to_stand"}]})["wrenches"][0]
        self.near(wrench[:3], [0, 0, 10 * (10 + 3 + 2 + 0.5 + 0.7 + 0.9 + 0.3 + 0.4 + 0.2)], 1e-13)

    def test_nothing_is_felt_in_free_fall(self):
        about = self.put("flying", robot("fixed", floating=True))
        s, _ = self.states(about, about, 1)
        q = s["q"][0]
        request = {"q": q, "force_torque": [{"joint": "to_flange"}], "inertial": ["tip", "base"]}
        qdd = self.ask("flying", "forward-dynamics", {"q": q, "tau": [0] * about["nv"]})["qdd"]
        falling = self.ask("flying", "sensors", {**request, "qdd": qdd})
        self.near(falling["wrenches"][0], [0] * 6, 1e-12, least=1)
        self.near(falling["specific_forces"], [[0] * 3] * 2, 1e-12, least=9.81)
        still = self.ask("flying", "sensors", request)["specific_forces"]
        self.near(np.linalg.norm(still, axis=1).tolist(), [9.81] * 2, 1e-13)

    def test_inertial_sensors_are_differences_of_poses(self):
        """Compares inertial sensors with central differences of position and rotation along q(t) = q + qd t + qdd t²/2, with errors of h²
        and 1e-16/h²."""
        about, h = self.put("fixed", robot("fixed", motors=False)), 1e-3
        names = [n for n in about["velocity_names"]]
        s, _ = self.states(about, about, 1, 3)
        q, qd, qdd = (np.array(s[k][0]) for k in ("q", "qd", "qdd"))
        ball = [i for i, n in enumerate(names) if "ball" in n]
        qd[ball] = qdd[ball] = 0
        u = [qd * t + qdd * t * t / 2 for t in (-h, 0, h)]
        moved = self.ask("fixed", "configuration", {"q": [q.tolist()] * 3, "displacement": np.array(u).tolist()})["integrated"]
        poses = self.ask("fixed", "kinematics", {"q": moved, "frames": ["tip"]})["poses"]["tip"]
        p, R = np.array(poses["position"]), Rotation.from_quat(poses["orientation"])
        a = (p[2] - 2 * p[1] + p[0]) / h ** 2
        answer = self.ask("fixed", "sensors", {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist(), "inertial": ["tip"], "gravity": [1, 2, -9]})
        self.near(answer["specific_forces"][0], R[1].inv().apply(a - [1, 2, -9]).tolist(), 1e-6)
        self.near(answer["angular_velocities"][0], ((R[0].inv() * R[2]).as_rotvec() / (2 * h)).tolist(), 1e-6)

    def test_rows_have_the_bits_of_single_states(self):
        about = self.put("fixed", robot("fixed"))
        s, _ = self.states(about, about, 21)
        options = {"force_torque": [{"joint": "to_flange"}, {"joint": "to_wrist"}], "inertial": ["tip"]}
        batch = self.ask("fixed", "sensors", {**s, **options})
        for row in (0, 7, 20):
            alone = self.ask("fixed", "sensors", {**{k: v[row] for k, v in s.items()}, **options})
            self.assertEqual(alone, {k: v[row] for k, v in batch.items()})

    def test_models_name_attached_bodies(self):
        about = self.put("fixed", robot("fixed"))
        self.assertEqual([(b["joint"], b["parent"], b["link"]) for b in about["attached_bodies"]],
                         [("to_camera", "wrist", "camera"), ("to_flange", "wrist", "flange"), ("to_tool", "flange", "tool")])
        self.near([b["mass"] for b in about["attached_bodies"]], [0.5, 1.6, 0.9], 1e-15)

    def test_loops(self):
        """In a model with loops, a fixed joint is answered if its body is in no loop, and refused otherwise."""
        bar = self.ok(self.client.get("/v1/models/five_bar/document"))
        ends = [f["link"] for f in bar["frames"]]
        first = bar["links"][0]["name"]
        document = copy.deepcopy(bar)
        for parent in (first, ends[0]):
            document["links"].append(link(f"on_{parent}", parent, "fixed", 0.2, origin(0.1, 0, 0)))
        self.put("barred", document)
        q = self.ok(self.client.get("/v1/models/barred"))["reference"]["q"]
        q = list(q.values()) if isinstance(q, dict) else q
        loops = {loop[key] for loop in document["loops"] for key in ("frame_a", "frame_b")}
        owners = {f["name"]: f["link"] for f in document["frames"]}
        for parent in (first, ends[0]):
            answer = self.client.post("/v1/models/barred/sensors", {"q": q, "gravity": [0, -9, 0], "force_torque": [{"joint": f"to_on_{parent}"}]})
            in_loop = any(owners.get(f, f) == parent for f in loops)
            if in_loop:
                self.refused(answer, "not-for-loops")
            else:
                self.near(np.linalg.norm(self.ok(answer)["wrenches"][0][:3]), 0.2 * 9, 1e-12)

    def test_refusals_name_the_field(self):
        self.put("fixed", robot("fixed"))
        q = self.ask("fixed", "configuration", {})["neutral"]
        for change, pointer, says in (({}, "/force_torque", "force_torque"), ({"force_torque": [{"joint": "to_nothing"}]}, "/force_torque/0/joint", "to_nothing"),
                                      ({"force_torque": [{}]}, "/force_torque/0/joint", "needed"), ({"force_torque": [{"frame": "base"}]}, "/force_torque/0/frame", "base link"),
                                      ({"force_torque": [{"joint": "to_wrist", "frame": "finger"}]}, "/force_torque/0/frame", "moves"),
                                      ({"force_torque": [{"joint": "to_tool"}], "outputs": ["specific_forces"]}, "/inertial", "inertial"),
                                      ({"inertial": ["nowhere"]}, "/inertial/0", "nowhere")):
            problem = self.assertProblem(self.client.post("/v1/models/fixed/sensors", {"q": q, **change}), 422, pointer)
            self.assertIn(says, problem["detail"], change)


if __name__ == "__main__":
    tap.main()
