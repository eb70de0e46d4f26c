"""Tests limits of mimic joints and of passive joints of loops along motions: `trajectory` against `margins` at its samples,
its gradients against differences with Richardson's extrapolation; `simulate` at t = 0 against `margins` at the accelerations
of `forward-dynamics`; a mimic joint in every file format."""
import copy
import json

import numpy as np
import tap
from dependent import KINDS, STATE, TREES, Dependent
from samples import body
from test_quaternion_trajectory import STEPS, WEIGHTS

ALONG = ["dmargins_dcontrol_points", "dmargins_dduration", "dmargins_dknots"]


class DependentMotions(Dependent):
    # --- trajectories ---

    def motion(self, model, seed=1, rows=None, **change):
        choose = np.random.default_rng(seed)
        nv = len(self.about[model]["velocity_names"])
        points = choose.uniform(-0.9, 0.9, (*([rows] if rows else []), 6, nv))
        if "reference" in self.about[model]:
            at = np.array(self.about[model]["reference"]["q"])
            points = at + 0.15 * points
        return {"degree": 4, "duration": 1.3, "samples": 7, "gravity": [0.3, -0.2, -9.7], "control_points": points.tolist(),
                "knots": [0, 0, 0, 0, 0, 0.9, 2, 2, 2, 2, 2], **change}

    WAVE = {"amplitude": [1, 0, 2], "angular_frequency": [2, 3, 1], "offset": [0, 0.5, 0]}

    def test_margins_along_trajectories(self):
        """Margins along a trajectory are those of `margins` at the samples."""
        for model in (*TREES, *("limited-" + name for name in self.MODELS)):
            request = self.motion(model)
            got = self.ask(model, "trajectory", {**request, "outputs": ["limits", "margins", *STATE, "least_margins"]})
            expected = self.ask(model, "margins", {**{name: got[name] for name in STATE}, "gravity": request["gravity"]})
            self.assertEqual(got["limits"], expected["limits"])
            self.near(got["margins"], expected["margins"], 1e-9 if "limited" in model else 1e-11, model)
            self.assertEqual([one["margin"] for one in got["least_margins"]], np.array(got["margins"]).min(axis=0).tolist())

    def check_along(self, model, request, tolerance):
        exact = self.ask(model, "trajectory", {**request, "dense": True, "outputs": [*ALONG, "limits", "margins", "least_gradients"]})
        middle = np.array([(limit["upper"] - limit["lower"]) / 2 for limit in exact["limits"]])
        points, knots = np.array(request["control_points"]), np.array(request["knots"], float)

        def compare(name, part, change):
            values = [np.array(self.ask(model, "trajectory", {**request, **change(h), "outputs": ["margins"]})["margins"]) for h in STEPS / 2]
            got, expected = np.array(exact[name])[part], np.einsum("s,s...->...", WEIGHTS * 2, np.array(values))
            smooth = np.array(exact["margins"]) + 0.02 * np.abs(got) < middle
            self.assertGreater(smooth.mean(), 0.4, (model, name, part))
            self.near(got[smooth], expected[smooth], tolerance, (model, name, part), np.abs(exact[name]).max())

        def moved(k, j, h):
            change = points.copy()
            change[k, j] += h
            return {"control_points": change.tolist()}
        for k in (0, 2, 5):
            for j in {0, points.shape[1] // 2, points.shape[1] - 1}:
                compare(ALONG[0], np.s_[..., k, j], lambda h: moved(k, j, h))
        compare(ALONG[1], np.s_[...], lambda h: {"duration": request["duration"] + h})
        compare(ALONG[2], np.s_[..., 5], lambda h: {"knots": (knots + h * (np.arange(11) == 5)).tolist()})
        for i, least in enumerate(exact["least_gradients"]):
            self.assertEqual(least["sample"], np.array(exact["margins"])[:, i].argmin())
            self.assertEqual([least["dcontrol_points"], least["dduration"], least["dknots"]], [exact[name][least["sample"]][i] for name in ALONG])

    def test_gradients_along_trajectories(self):
        for model in TREES:
            wrench = {"link": "d", "point": [0.1, -0.2, 0.3], "force": self.WAVE}
            self.check_along(model, self.motion(model, wrenches=[wrench]), 1e-10)
        self.geared_loop()
        for model in (*("limited-" + name for name in self.MODELS), "geared"):
            self.check_along(model, self.motion(model, kinds=KINDS[:3]), 1e-7)
        wrench = {"link": "finger", "point": [0.1, -0.2, 0.3], "force": self.WAVE}
        self.check_along("geared", self.motion("geared", kinds=KINDS[:3], wrenches=[wrench]), 1e-7)

    def test_gradients_with_free_coordinates(self):
        for model, free in (("tree", ["jg"]), ("tree", ["jb", "jg"]), ("floating", [*self.about["floating"]["velocity_names"][:6], "jg"]),
                            ("ball", ["jc"])):
            names = self.about[model]["velocity_names"]
            tau = (0.3 * np.array([name in free for name in names])).tolist()
            wrench = {"link": "d", "point": [0.1, -0.2, 0.3], "force": self.WAVE}
            for wrenches in ([], [wrench]):
                request = self.motion(model, 3, free=free, wrenches=wrenches)
                self.check_along(model, {**request, "input": {"tau": {"amplitude": tau, "angular_frequency": [2.0] * len(names)}}}, 1e-8)

    # --- all operations ---

    FORMS = {
        "urdf": ("application/xml", "?mimic=coupled", '''<robot name="arm"><link name="base"/>
<link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="ja" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2" effort="9"/></joint>
<joint name="jb" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
<limit lower="-0.1" upper="0.2" velocity="1" effort="3"/><mimic joint="ja" multiplier="-2" offset="0.05"/></joint></robot>'''),
        "sdf": ("application/xml", "", '''<sdf version="1.11"><model name="arm"><link name="base"/>
<link name="a"><inertial><pose>0.2 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial></link>
<link name="b"><pose>0.4 0 0 0 0 0</pose><inertial><pose>0.2 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial></link>
<joint name="root" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="ja" type="revolute"><parent>base</parent><child>a</child><pose relative_to="base"/><axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper><velocity>2</velocity><effort>9</effort></limit></axis></joint>
<joint name="jb" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz><limit><lower>-0.1</lower><upper>0.2</upper><velocity>1</velocity><effort>3</effort></limit>
<mimic joint="ja"><multiplier>-2</multiplier><offset>0.05</offset><reference>0</reference></mimic></axis></joint></model></sdf>'''),
        "mjcf": ("application/xml", "", '''<mujoco model="arm"><compiler angle="radian"/><worldbody>
<body name="a"><joint name="ja" axis="0 1 0" limited="true" range="-1 1"/><inertial pos="0.2 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
<body name="b" pos="0.4 0 0"><joint name="jb" axis="0 1 0" limited="true" range="-0.1 0.2"/><inertial pos="0.2 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body></body>
</worldbody><equality><joint joint1="jb" joint2="ja" polycoef="0.05 -2 0 0 0"/></equality></mujoco>'''),
        "json": ("application/json", "", json.dumps({"links": [
            {"name": "a", "parent": "base", "inertial": body(1, (0.2, 0, 0), 0.01, 0.01, 0.01, 0, 0, 0), "joint": {
                "name": "ja", "type": "revolute", "axis": [0, 1, 0], "limits": {"position": [-1, 1], "velocity": 2, "effort": 9}}},
            {"name": "b", "parent": "a", "inertial": body(1, (0.2, 0, 0), 0.01, 0.01, 0.01, 0, 0, 0), "joint": {
                "name": "jb", "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0.4, 0, 0]},
                "mimic": {"joint": "ja", "multiplier": -2, "offset": 0.05}, "limits": {"position": [-0.1, 0.2], "velocity": 1, "effort": 3}}}]}))}

    def test_formats(self):
        """The follower is at -0.75 rad and -1.8 rad/s; the effort that gravity requires at its axis is that of a single rod."""
        for name, (kind, query, text) in self.FORMS.items():
            answer = self.client.put(f"/v1/models/arm-{name}{query}", text.encode(), Content_Type=kind)
            self.assertIn(answer.status, (200, 201), answer)
            expected = {("ja", "position"): 0.6, ("jb", "position"): -0.65}
            if name != "mjcf":
                expected.update({("ja", "velocity"): 1.1, ("jb", "velocity"): -0.8, ("jb", "effort"): 3 - 9.81 * 0.2 * np.cos(0.4 - 0.75)})
            check = lambda found, what: [self.assertAlmostEqual(found[key], margin, delta=1e-12, msg=(name, what, key)) for key, margin in expected.items()]
            still = {"q": [0.4], "qd": [0.9], "qdd": [0]}
            got = self.ask(f"arm-{name}", "margins", {**still, "outputs": ["limits", "margins", "least"]})
            if ("jb", "effort") in expected:  # the centripetal acceleration of the follower's joint adds a term
                expected["jb", "effort"] = 3 - abs(-9.81 * 0.2 * np.cos(0.4 - 0.75) + 0.2 * 0.4 * 0.81 * np.sin(-0.75))
            check({(limit["joint"], limit["kind"]): m for limit, m in zip(got["limits"], got["margins"])}, "margins")
            check({(one["joint"], one["kind"]): one["margin"] for one in got["least"]}, "least")
            line = {"degree": 1, "duration": 1, "control_points": [[0.4], [1.3]], "times": [0]}
            got = self.ask(f"arm-{name}", "trajectory", {**line, "outputs": ["limits", "margins", "least_margins"]})
            check({(limit["joint"], limit["kind"]): m for limit, m in zip(got["limits"], got["margins"][0])}, "trajectory")
            check({(one["joint"], one["kind"]): one["margin"] for one in got["least_margins"]}, "least_margins")
            tau = self.ask(f"arm-{name}", "inverse-dynamics", still)["tau"]
            got = self.ask(f"arm-{name}", "simulate", {"q": [0.4], "qd": [0.9], "duration": 0.1, "times": [0], "step": 0.1, "input": {"tau": tau},
                                                       "outputs": ["least_margins", "limits"]})
            check({(one["joint"], one["kind"]): one["margin"] for one in got["least_margins"]}, "simulate")
            self.assertIn(("jb", "position"), [(one["joint"], one["kind"]) for one in got["limits"]])

    def test_simulations_of_trees(self):
        """At t = 0 the margins of a simulation are those of `margins` at the accelerations that the torques cause."""
        for model in TREES:
            s = {name: rows[0] for name, rows in self.tree_states(model, 1, 6).items()}
            nv = len(s["qd"])
            tau = np.random.default_rng(2).uniform(-2, 2, nv).tolist()
            for loads in ({}, self.LOADS):
                start = {"q": s["q"], "qd": s["qd"], **loads}
                qdd = self.ask(model, "forward-dynamics", {**start, "tau": tau})["qdd"]
                expected = self.ask(model, "margins", {**start, "qdd": qdd, "kinds": KINDS[:3]})
                expected = {(limit["joint"], limit["kind"]): m for limit, m in zip(expected["limits"], expected["margins"])}
                for how in ({"step": 1e-3}, {"tolerance": 1e-8}):
                    got = self.ask(model, "simulate", {**start, "duration": 1e-3, "times": [0], **how, "input": {"tau": tau}, "outputs": ["least_margins"]})
                    found = {(one["joint"], one["kind"]): one["margin"] for one in got["least_margins"]}
                    self.assertEqual(found.keys(), expected.keys())
                    self.near([*found.values()], [expected[key] for key in found], 1e-9, (model, how))

    def test_simulation_with_held_frame(self):
        """The wrench on a held frame loads the followers between the frame and the base."""
        document = copy.deepcopy(TREES["tree"])
        document["frames"] = [{"name": "tip", "link": "d", "xyz": [0.02, 0.05, 0.1], "rpy": [0.4, 0.2, -0.3]}]
        self.put("tipped", document)
        for axes in ([0], "xy"):
            held = {"frame": "tip", "axes": ["x"]} if axes == [0] else {"frame": "tip", "axes": ["y"], "reference": "frame"}
            start = {"q": [0.3, -0.4, 0.2], "qd": [0, 0, 0]}
            tau = [1.0, -0.5, 0.3]
            got = self.ask("tipped", "simulate", {**start, "duration": 1e-3, "times": [0], "step": 1e-3, "held": [held], "input": {"tau": tau},
                                                  "outputs": ["least_margins", "qdd", "contact_wrenches"]})
            wrench = np.array(got["contact_wrenches"])[0, 0]
            self.assertGreater(np.abs(wrench).max(), 0.1)
            pose = self.ask("tipped", "kinematics", {"q": start["q"], "outputs": ["poses"], "frames": ["tip", "d"]})["poses"]
            load = {"link": "d", "point": [0.02, 0.05, 0.1]}
            if held.get("reference") == "frame":
                x, y, z, w = pose["tip"]["orientation"]
                R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                              [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
                load.update(force=(R @ wrench[:3]).tolist(), torque=(R @ wrench[3:]).tolist())
            else:
                load.update(force=wrench[:3].tolist(), torque=wrench[3:].tolist())
            expected = self.ask("tipped", "margins", {**start, "qdd": got["qdd"][0], "wrenches": [load], "kinds": ["effort"]})
            found = [one["margin"] for one in got["least_margins"] if one["kind"] == "effort"]
            self.near(found, expected["margins"], 1e-9, held)

    def test_simulations_of_loops(self):
        self.geared_loop()
        s = self.state("five_bar")
        for model in ("limited-five_bar", "geared"):
            start = {"q": s["q"], "qd": s["qd"]}
            qdd = self.ask(model, "forward-dynamics", {**start, "tau": [0.5, -0.4]})["qdd"]
            expected = self.ask(model, "margins", {**start, "qdd": qdd, "kinds": KINDS[:3]})
            expected = {(limit["joint"], limit["kind"]): m for limit, m in zip(expected["limits"], expected["margins"])}
            got = self.ask(model, "simulate", {**start, "duration": 1e-3, "times": [0], "step": 1e-3, "input": {"tau": [0.5, -0.4]}, "outputs": ["least_margins"]})
            found = {(one["joint"], one["kind"]): one["margin"] for one in got["least_margins"]}
            self.assertEqual(found.keys(), expected.keys())
            self.near([*found.values()], [expected[key] for key in found], 1e-9, model)

if __name__ == "__main__":
    tap.main()
