"""Tests `joints`, the order of coordinates in a request: every operation on every bundled robot, with fixed and floating bases and with loops.
The answer has the bits of the answer without `joints`, with the axes of coordinates permuted. The contract says which axes these are: "nq", "nv"
and "2 nv" in the descriptions of outputs. The coordinates of a floating base stay first."""
import os
import re

import cbor2
import numpy as np
import tap
import yaml
from harness import ROOT, ServerCase

MODELS = sorted(name[:-5] for name in os.listdir(os.path.join(ROOT, "models")) if name.endswith(".json"))
FLOATING = ("solo12", "humanoid", "free_arm")
ELSEWHERE = {"identify"}  # operations tested elsewhere: identify in tests/e2e/identification
TIMED = {"duration": 0.02, "samples": 3, "step": 0.01}
VECTORS = {"qd": "v", "qdd": "v", "qddd": "v", "tau": "v", "q": "q", "torques": "-v", "control_points": "-v", "torque_multipliers": "-v",
           "multipliers_q": "-v", "displacement": "v", "q_target": "q", "noise": "v"}


def axes_of(text):
    """Returns a letter for each dimension in a description: "q", "v", "t" for 2 nv, or "-"."""
    parts = re.split(r"[:.,;]", text, maxsplit=1)[0].split(" × ")
    return "".join({"nq": "q", "nv": "v", "2 nv": "t"}.get(part.strip(), "-") for part in parts)


def turned(value, axes, order):
    """Permutes the last axes of an array. Structures of arrays without axes of coordinates are returned unchanged."""
    if not set(axes) & {"q", "v", "t"}:
        return value
    array = np.array(value)
    if array.size == 0:
        return value
    for place, axis in enumerate(reversed(axes)):
        if axis in order:
            array = np.take(array, order[axis], axis=-1 - place)
    return array.tolist()


class Orders(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        arm = cls.client.get("/v1/models/ur5/document").json()
        base = {"type": "floating", "link": arm.get("base", {}).get("link", "base") if isinstance(arm.get("base"), dict) else "base", "inertial": {
            "mass": 9, "com": [0.01, 0.02, 0.03], "inertia": {"xx": 0.3, "yy": 0.4, "zz": 0.35}}}
        answer = cls.client.put("/v1/models/free_arm", {**arm, "name": "free_arm", "base": base})
        assert answer.status == 201, answer
        with open(os.path.join(ROOT, "api", "openapi.yaml"), encoding="utf-8") as file:
            contract = yaml.safe_load(file)
        cls.axes, cls.outputs, cls.ordered = {}, {}, set()  # ordered: the operations that take "joints"
        schemas = contract["components"]["schemas"]
        for name, schema in schemas.items():
            if name.endswith("Answer") and name[:-6] + "Request" in schemas:
                operation = re.sub(r"(?<!^)([A-Z])", r"-\1", name[:-6]).lower()
                if "joints" in schemas[name[:-6] + "Request"].get("properties", {}):
                    cls.ordered.add(operation)
                cls.axes[operation] = {key: axes_of(value.get("description", "")) for key, value in schema.get("properties", {}).items()}
                cls.outputs[operation] = schemas[name[:-6] + "Request"]["properties"].get("outputs", {}).get("items", {}).get("enum", [])

    def about(self, model):
        return self.ok(self.client.get(f"/v1/models/{model}"))

    def state(self, about, seed):
        choose, nv = np.random.default_rng(seed), len(about["velocity_names"])
        base = 7 if about["position_names"][0] == "base.x" else 0
        if "reference" in about:
            q = np.array(about["reference"]["q"]) + choose.uniform(-0.01, 0.01, len(about["position_names"]))
        else:
            q = choose.uniform(-0.6, 0.6, len(about["position_names"]))
        if base:
            q[3:7] /= np.linalg.norm(q[3:7])
        draw = lambda *shape: choose.uniform(-0.4, 0.4, (*shape, nv)).tolist()
        points = q[base and 1:].copy()
        points[:6] = choose.uniform(-0.3, 0.3, 6) if base else points[:6]
        points = (points + choose.uniform(-0.01, 0.01, (5, nv))).tolist()
        return {"q": q.tolist(), "qd": draw(), "qdd": draw(), "qddd": draw(), "tau": draw(), "torques": draw(2), "control_points": points,
                "torque_multipliers": draw(3), "multipliers": draw()}

    def requests(self, model, about, s):
        """Yields (operation, request) with the fields of a state and the options."""
        state = lambda *names: {name: s[name] for name in names}
        end, floating = about["bodies"][-1], about["position_names"][0] == "base.x"
        names = about["velocity_names"]
        place = self.ask(model, "kinematics", {"q": s["q"], "frames": [end]})["poses"][end]["position"]
        wrench = {"wrenches": [{"link": end, "force": [1, -2, 3], "torque": [0.1, 0.3, -0.2]}]}
        held = {"held": [{"frame": end, "axes": ["x", "z"]}]}
        spline = {"degree": 3, "duration": 0.3, "control_points": s["control_points"], "samples": 3}
        yield "inverse-dynamics", {**state("q", "qd", "qdd"), **wrench, "outputs": ["tau", "joint_wrenches"]}
        yield "inverse-dynamics", {**state("q", "qd", "qdd"), "free": names[-1:], "tau": [0] * (len(names) - 1) + [0.2], "outputs": ["tau", "qdd"]}
        yield "forward-dynamics", {**state("q", "qd", "tau"), **wrench, "outputs": ["qdd", "joint_wrenches"]}
        yield "forward-dynamics", {**state("q", "tau"), **held, "outputs": ["qdd", "contact_wrenches"]}
        yield "impact", {**state("q", "qd"), **held, "outputs": self.outputs["impact"]}
        yield "mass-matrix", {**state("q"), "outputs": ["mass_matrix", "inverse"]}
        yield "bias", {**state("q", "qd"), "outputs": self.outputs["bias"]}
        yield "kinematics", {**state("q", "qd", "qdd"), "frame": end, "points": [{"link": end, "point": [0.1, 0, 0]}],
                             "outputs": ["poses", "jacobian", "jacobian_dot", "velocity", "acceleration", "point_jacobians", "d_point_jacobians_dq",
                                         "d_point_velocities_dq"]}
        yield "energy", {**state("q", "qd"), "outputs": self.outputs["energy"]}
        yield "torque-derivative", {**state("q", "qd", "qdd", "qddd"), "outputs": ["tau", "tau_dot"]}
        yield "sensitivity", {**state("q", "qd", "qdd"), **wrench, "outputs": ["dtau_dq", "dtau_dqd", "dtau_dqdd", "d_joint_wrenches_dq", "dtau_dwrench",
                                                                               "dtau_dgravity"]}
        yield "forward-sensitivity", {**state("q", "qd", "tau"), "outputs": ["dqdd_dq", "dqdd_dqd", "dqdd_dtau", "qdd"]}
        yield "gradient", {**state("q", "qd", "qdd", "multipliers"), **wrench, "outputs": [
            "gradient_q", "gradient_qd", "gradient_qdd", "tau", "gradient_parameters", "gradient_wrenches", "gradient_gravity"]}
        yield "gradient", {**state("q", "qd", "qdd", "multipliers"), "free": names[-1:], "tau": [0] * (len(names) - 1) + [0.2],
                           "outputs": ["gradient_q", "gradient_qdd", "gradient_tau"]}
        yield "forward-gradient", {**state("q", "qd", "tau", "multipliers"), "outputs": ["gradient_q", "gradient_qd", "gradient_tau", "qdd"]}
        along = {"q": [s["qd"], s["qdd"]], "qd": [s["multipliers"], s["qd"]]}
        yield "directional", {**state("q", "qd", "qdd"), **wrench, "directions": {**along, "qdd": [s["tau"], s["qdd"]]}, "outputs": ["rates", "tau"]}
        yield "forward-directional", {**state("q", "qd", "tau"), "directions": {**along, "tau": [s["tau"], s["qdd"]]}, "outputs": ["rates", "qdd"]}
        yield "gradient", {**state("q", "qd", "qdd", "multipliers"), **wrench, "directions": {**along, "qdd": [s["tau"], s["qdd"]]}, "outputs": [
            "hessian_products_q", "hessian_products_qd", "hessian_products_qdd", "rates", "gradient_q_entries", "gradient_friction"]}
        yield "forward-gradient", {**state("q", "qd", "tau", "multipliers"), "directions": {**along, "tau": [s["tau"], s["qdd"]]}, "outputs": [
            "hessian_products_q", "hessian_products_qd", "hessian_products_tau", "rates", "gradient_q_entries", "gradient_friction"]}
        yield "rollout", {**state("q", "qd", "torques"), "step": 0.01, "cost": {"qd": s["multipliers"], "tau": [0.3 + abs(x) for x in s["qdd"]]},
                          "damping": 20, "outputs": ["gains", "feed_forward", "value_gradient", "value_hessian", "costs"]}
        gains = np.outer(s["tau"], s["qd"] + s["qdd"]).tolist()
        near = [x + (0 if floating and 3 <= i < 7 else 0.1 * i) for i, x in enumerate(s["q"])]
        yield "rollout", {**state("q", "qd", "torques"), "step": 0.01, "feedback": {"gains": [gains, gains], "q": [s["q"]] * 2, "qd": [s["qdd"], s["tau"]]},
                          "outputs": ["q_after", "qd_after", "tau"]}
        yield "rollout-gradient", {**state("q", "qd", "torques"), "step": 0.01, "cost": {"qd": s["multipliers"], "tau": 0.3},
                                   "multipliers_q": [s["qdd"]], "outputs": ["gradient_torques", "gradient_q", "gradient_qd"]}
        yield "hessian", {**state("q", "qd", "qdd", "multipliers"), "outputs": ["hessian_q_q", "hessian_q_qd", "hessian_qd_qdd"]}
        if len(names) < 20:
            yield "hessian", {**state("q", "qd", "qdd"), "outputs": ["d2tau_dq_dqd"]}
            yield "forward-hessian", {**state("q", "qd", "tau"), "outputs": ["d2qdd_dq_dtau"]}
        yield "forward-hessian", {**state("q", "qd", "tau", "multipliers"), "outputs": ["hessian_q_q", "hessian_qd_tau"]}
        yield "step", {**state("q", "qd", "tau"), **wrench, "step": 0.01, "outputs": ["q_after", "qd_after", "state_matrix", "input_matrix", "wrench_matrix"]}
        yield "step", {**state("q", "tau"), **held, "step": 0.01, "impact": True, "outputs": ["q_after", "qd_after", "state_matrix"]}
        yield "rollout", {**state("q", "qd", "torques"), "step": 0.01, "outputs": ["q_after", "qd_after", "state_matrix", "input_matrix"]}
        yield "coriolis", {**state("q", "qd"), "outputs": ["coriolis_matrix", "christoffel"]}
        yield "regressor", {**state("q", "qd", "qdd"), "outputs": ["regressor", "joint_regressor"]}
        yield "task-space", {**state("q", "qd"), "frame": end, "axes": ["x", "z"]}
        yield "trajectory", {**spline, "dense": True, "outputs": ["q", "qd", "qdd", "tau", "tau_dot", "dtau_dcontrol_points", "dtau_dduration",
                                                                  "dmotion_dknots", "dtau_dknots", "limits", "margins", "dmargins_dcontrol_points", "least_margins"],
                             "kinds": ["position", "velocity", "effort"]}
        yield "trajectory", {**spline, "free": names[-1:], "outputs": ["qdd", "tau", "dqdd_dcontrol_points", "dqdd_dknots"]}
        yield "path-timing", {**{name: value for name, value in spline.items() if name != "duration"}, "kinds": ["velocity"],
                              "joint_limits": {"acceleration": 4, "velocity": 2}, "outputs": ["times", "q", "qd", "tau"]}
        yield "trajectory-hessian", {**spline, "torque_multipliers": s["torque_multipliers"]}
        yield "simulate", {**state("q", "qd"), **TIMED, "input": {"tau": s["tau"]}, "outputs": ["q", "qd", "qdd", "tau", "limits", "kinetic"]}
        yield "simulate", {**state("q"), **TIMED, "input": {"controller": "computed_torque", "kp": s["gains"], "kd": 5, "reference": s["tau"]},
                           "outputs": ["q", "tau", "position_error"]}
        driven = [[0] * len(row) if floating and i < 6 else row for i, row in enumerate(gains)]
        yield "simulate", {**state("q"), **TIMED, "input": {"controller": "state_feedback", "gain_matrix": driven, "q": near, "qd": s["qdd"]},
                           "outputs": ["q", "tau", "position_error"]}
        yield "ground-reaction", {**state("q", "qd", "qdd"), "outputs": ["resultant", "d_resultant_dq", "d_zero_moment_point_dqdd"]} if floating else {
            **state("q", "qd", "qdd"), "outputs": ["resultant", "d_resultant_dq"]}
        yield "inverse-kinematics", {**state("q"), "frame": end, "position": place, "velocity": [0.1, 0, 0.02], "limits": False, "damping": 0.1,
                                     "outputs": ["q", "qd", "iterations"]}
        yield "differential-inverse-kinematics", {**state("q"), "tasks": [{"frame": end, "velocity": [0.1, -0.05, 0.02]}], "step": 0.01, "damping": 0.1,
                                                  "outputs": ["qd"]}
        yield "feed-forward", {**state("q", "qd", "qdd"), "outputs": ["tau"]}
        yield "margins", {**state("q", "qd", "qdd"), "kinds": ["position", "velocity", "effort"], "outputs": ["limits", "margins", "dmargins_dq", "dmargins_dqdd"]}
        yield "path", {"q": [s["q"]] * 2, "qd": [s["qd"], s["tau"]], "qdd": [s["qdd"]] * 2, "friction": False, "outputs": ["tau_a", "tau_b", "tau_c", "dtau_b_ds"]}
        yield "configuration", {**state("q"), "displacement": s["qd"], "q_target": s["q"], "fraction": 0.5, "outputs": ["integrated", "difference", "interpolated"]}
        yield "sensors", {**state("q", "qd", "qdd"), **wrench, "force_torque": [{"frame": end}], "inertial": [end]}
        yield "external-wrench", {**state("q", "qd", "qdd", "tau"), "frame": end, "axes": ["z"], "noise": [abs(x) + 0.1 for x in s["tau"]], "outputs": ["tau_external", "wrench"]}
        yield "evaluate", {**state("q", "qd", "qdd"), "operations": {"inverse-dynamics": {}, "mass-matrix": {}, "kinematics": {"frame": end, "outputs": ["jacobian"]}}}

    def permuted(self, request, order, names, base):
        other = {}
        for key, value in request.items():
            axes = "-" * (np.ndim(value) - 1) + VECTORS.get(key, "v" if key == "multipliers" else "")[-1:] if key in VECTORS or key == "multipliers" else ""
            other[key] = turned(value, axes, order) if axes else value
        if "cost" in request:
            other["cost"] = {key: turned(value, "v", order) if isinstance(value, list) else value for key, value in request["cost"].items()}
        if "directions" in request:
            other["directions"] = {key: turned(value, "-v", order) for key, value in request["directions"].items()}
        if "feedback" in request:
            other["feedback"] = {key: turned(value, {"gains": "-vt", "q": "-q", "qd": "-v"}[key], order) for key, value in request["feedback"].items()}
        if "input" in request:
            axes = {"gain_matrix": "vt", "q": "q"}
            other["input"] = {key: turned(value, axes.get(key, "v"), order) if isinstance(value, list) else value for key, value in request["input"].items()}
        return {**other, "joints": [names[i] for i in order["v"]][base:]}

    def check(self, operation, plain, other, order, what):
        axes = self.axes.get(operation, {})
        for name, value in plain.items():
            if operation == "evaluate":
                self.check(name, value, other[name], order, what)
                continue
            expected = turned(value, axes.get(name, ""), order)
            self.assertEqual(other[name], expected, (what, operation, name))

    def orders(self, about, seed):
        choose, nv = np.random.default_rng(seed), len(about["velocity_names"])
        base = 6 if about["position_names"][0] == "base.x" else 0
        v = [*range(base), *(base + choose.permutation(nv - base))]
        v = [int(i) for i in v]
        q = [*range(7), *(i + 1 for i in v[base:])] if base else v
        return {"v": v, "q": q, "t": v + [nv + i for i in v]}, base

    def test_all_operations(self):
        answered = {}
        for seed, model in enumerate((*MODELS, "free_arm")):
            about = self.about(model)
            names = about["velocity_names"]
            s = self.state(about, seed)
            s["gains"] = np.random.default_rng(seed).uniform(10, 20, len(names)).tolist()
            order, base = self.orders(about, seed)
            if len(about["position_names"]) - len(names) != (base > 0):  # joints with quaternions
                self.assertProblem(self.client.post(f"/v1/models/{model}/mass-matrix", {"q": s["q"], "joints": names}), 422, "/joints")
                continue
            for operation, request in self.requests(model, about, s):
                one = self.client.post(f"/v1/models/{model}/{operation}", request)
                for first in {0, base}:
                    two = self.client.post(f"/v1/models/{model}/{operation}", self.permuted(request, order, names, first))
                    what = (model, operation, list(request))
                    self.assertEqual(one.status, two.status, (what, one, two))
                    if one.status != 200:
                        self.assertEqual(one.json()["code"], two.json()["code"], what)
                        continue
                    self.check(operation, one.json(), two.json(), order, what)
                    answered.setdefault(operation, set()).add(model)
        for operation, models in answered.items():
            # ground-reaction has answers only for robots that stand on the ground
            self.assertGreaterEqual(len(models), 4 if operation == "ground-reaction" else 12, (operation, models))
            self.assertTrue("free_arm" in models or operation == "trajectory-hessian", operation)
        self.assertEqual(self.ordered - set(answered) - ELSEWHERE, set(), "yield a request of these operations in `requests`")

    def test_batches_and_encodings(self):
        for model in FLOATING:
            about = self.about(model)
            order, base = self.orders(about, 5)
            rows = [self.state(about, seed) for seed in range(9)]
            request = {name: [row[name] for row in rows] for name in ("q", "qd", "tau")}
            other = self.permuted(request, order, about["velocity_names"], base)
            plain = self.ask(model, "step", {**request, "step": 0.01})
            for kind in ("application/json", "application/cbor; arrays=multidimensional"):
                answer = self.client.post(f"/v1/models/{model}/step", {**other, "step": 0.01}, Accept=kind)
                if kind.endswith("json"):
                    self.check("step", plain, answer.json(), order, model)
                    continue
                got = cbor2.loads(answer.body)
                for name, axes in (("q_after", "q"), ("qd_after", "v")):
                    flat = np.frombuffer(got[name].value[1].value)
                    self.assertEqual(flat.tolist(), np.array(turned(plain[name], axes, order)).ravel().tolist())
            body = cbor2.dumps(other | {"step": 0.01})
            answer = self.client.post(f"/v1/models/{model}/step", body, Content_Type="application/cbor", Accept="application/json")
            self.check("step", plain, answer.json(), order, model)

    def test_rows_that_fail_and_warnings(self):
        """Pointers of problems and warnings refer to the request's order."""
        about = self.about("free_arm")
        names, nq = about["velocity_names"], len(about["position_names"])
        q = [0, 0, 0, 0, 0, 0, 1] + [0.1] * (nq - 7)
        q[7] = 1e9  # this entry belongs to the joint that the request lists first, not to the model's first joint
        request = {"q": [q, [0, 0, 0, 0, 0, 0, 1] + [0.1] * (nq - 7)], "joints": names[:5:-1]}
        problem = self.assertProblem(self.client.post("/v1/models/free_arm/mass-matrix", request), 422, "/q/0/7", 0)
        self.assertIn(names[-1], problem["detail"])
        answer = self.ask("free_arm", "mass-matrix", {**request, "on_error": "row"})
        self.assertIsNone(answer["mass_matrix"][0])
        request["q"][0][7] = 90
        warning, = self.ask("free_arm", "mass-matrix", request)["warnings"]
        self.assertEqual((warning["where"], names[-1] in warning["text"]), ("/q/0/7", True), warning)


if __name__ == "__main__":
    tap.main()
