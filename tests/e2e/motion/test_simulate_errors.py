"""Tests simulate: refused requests, diverging motions, and clients that disconnect."""
import json
import time

import tap
from harness import PATIENCE
from samples import pendulum
from simulated import ROD, Simulated


class Refusals(Simulated):
    def refused(self, code, pointer, status=422, model="pendulum", row=None, **changes):
        request = {"q": [0.5], "duration": 1, "step": 0.01, "samples": 3, **changes}
        problem = self.assertProblem(self.client.post(f"/v1/models/{model}/simulate", {k: v for k, v in request.items() if v is not None}),
                                     status, pointer, row)
        self.assertEqual(problem["code"], code, problem)
        return problem["detail"]

    def test_time(self):
        for duration in (0, -1):
            self.refused("bad-value", "/duration", duration=duration)
        self.refused("wrong-type", "/duration", duration=[1])
        self.refused("missing-field", "/duration", duration=None)
        self.refused("missing-field", "/samples", samples=None)
        self.refused("bad-value", "/samples", samples=1)
        self.refused("bad-value", "/times/1", samples=None, times=[0.5, 0.4])
        self.refused("bad-value", "/times/0", samples=None, times=[1.1])

    def test_equal_times(self):
        """Equal times are allowed, and each gets the same state."""
        times = [0, 0, 0.5, 0.5, 0.5, 1, 1]
        for how in ({"step": 0.01}, {"tolerance": 1e-8}, {"tolerance": 1e-8, "stiff": True}):
            request = {"q": [0.5], "duration": 1, "outputs": ["times", "q", "qd", "actuator_work", "kinetic"], **how}
            several = self.ask("pendulum", "simulate", {**request, "times": times})
            once = self.ask("pendulum", "simulate", {**request, "times": [0, 0.5, 1]})
            self.assertEqual(several["times"], times)
            for name, rows in once.items():
                self.assertEqual(several[name], [rows[i] for i in (0, 0, 1, 1, 1, 2, 2)], (name, how))

    def test_a_singular_mass_matrix(self):
        """Mass matrices that are singular: a joint that moves no mass, with every method and as a row of a batch, and an arm that is singular
        when straight.
        """
        document = pendulum()
        document["links"].append({"name": "tip", "parent": "bob", "joint": {"name": "spare", "type": "revolute", "axis": [0, 1, 0]}})
        self.put_model("spared", document)
        for how in ({"step": 0.01}, {"tolerance": 1e-8}, {"tolerance": 1e-8, "stiff": True}):
            how = {"step": None, **how}
            detail = self.refused("singular-mass-matrix", None, model="spared", q=[0.5, 0], **how)
            self.assertIn("at 0 s", detail)
            self.assertIn("spare", detail)
        self.refused("singular-mass-matrix", None, model="spared", q=[[0.5, 0], [0.1, 0]], row=0)
        links = [{"name": name, "parent": parent, "joint": {"name": "at_" + name, "type": "revolute", "axis": [0, 1, 0],
                                                            "origin": {"xyz": xyz}}}
                 for name, parent, xyz in (("upper", "base", [0, 0, 0]), ("lower", "upper", [0, 0, -1]))]
        links[1]["inertial"] = {"mass": 1, "com": [0, 0, -1]}
        self.put_model("stretched", {"gravity": [0, 0, 0], "links": links})
        self.assertIn("at 0 s", self.refused("singular-mass-matrix", None, model="stretched", q=[0, 0]))
        self.ask("stretched", "simulate", {"q": [0, 1], "duration": 1, "step": 0.01, "samples": 3})

    def test_method(self):
        self.refused("missing-field", "/step", step=None)
        self.refused("bad-value", "/step", step=0)
        self.refused("bad-value", "/tolerance", tolerance=1e-6)
        for tolerance in (0, 1e-14, 0.1, -1):
            self.refused("bad-value", "/tolerance", step=None, tolerance=tolerance)
        self.refused("bad-value", "/stiff", stiff=True)
        self.refused("wrong-type", "/stiff", stiff=1)
        for name, fields in (("rk4", "step"), ("dopri5", "tolerance"), ("esdirk5", "tolerance, stiff")):
            other = {"step": None, "tolerance": 1e-6} if name == "rk4" else {}
            pointer = "/tolerance" if name == "rk4" else "/step"
            detail = self.refused("unknown-field", pointer, integrator=name, **other)
            self.assertEqual(detail, f'"{pointer[1:]}" is not known to {name}; there are: {fields}')
            needed = fields.split(", ")[0]
            self.assertIn(needed, self.refused("missing-field", "/" + needed, step=None, integrator=name))
        self.refused("unknown-field", "/stiff", integrator="rk4", stiff=True)
        self.refused("unknown-field", "/stiff", step=None, tolerance=1e-6, integrator="dopri5", stiff=True)
        self.refused("wrong-type", "/stiff", step=None, tolerance=1e-6, integrator="esdirk5", stiff=1)
        self.refused("wrong-type", "/integrator", integrator=4)
        detail = self.refused("unknown-name", "/integrator", integrator="euler")
        contract = self.client.get("/openapi.json").json()["components"]["schemas"]
        self.assertEqual(detail, f'"euler" is not an integrator; there are: {", ".join(contract["SimulateRequest"]["properties"]["integrator"]["enum"])}')
        self.ask("pendulum", "simulate", {"q": [0.5], "duration": 1, "step": 0.1, "samples": 3, "integrator": "rk4", "stiff": False})
        self.assertIn("10000000", self.refused("too-many-steps", "/step", 413, step=1e-8))
        self.assertIn("limit", self.refused("too-many-rows", "/samples", 413, samples=10 ** 9))

    def test_input(self):
        for value, code, pointer in (
                ([1], "wrong-type", "/input"), ({}, "missing-field", "/input"), ({"tau": "1"}, "wrong-type", "/input/tau"),
                ({"tau": [1, 2]}, "wrong-shape", "/input/tau"), ({"tau": {}}, "missing-field", "/input/tau"),
                ({"tau": [1], "kp": 1}, "unknown-field", "/input/kp"),
                ({"tau": {"values": [[1]]}}, "wrong-shape", "/input/tau/values"),
                ({"tau": {"values": [[1], [2]], "interpolation": "quintic"}}, "bad-value", "/input/tau/interpolation"),
                ({"tau": {"values": [[1], [2]], "times": [0, 0.9]}}, "bad-value", "/input/tau/times/1"),
                ({"tau": {"values": [[1], [2]], "times": [0.1, 1]}}, "bad-value", "/input/tau/times/0"),
                ({"tau": {"values": [[1], [2]], "times": [0, 0]}}, "bad-value", "/input/tau/times/1"),
                ({"tau": {"values": [[1], [2]], "times": [0]}}, "wrong-shape", "/input/tau/times"),
                ({"tau": {"control_points": [[1], [2]]}}, "missing-field", "/input/tau/degree"),
                ({"tau": {"degree": 2, "control_points": [[1], [2]]}}, "wrong-shape", "/input/tau/control_points"),
                ({"tau": {"amplitude": [1]}}, "missing-field", "/input/tau/angular_frequency"),
                ({"controller": "hope", "kp": 1, "kd": 1, "reference": [0]}, "unknown-name", "/input/controller"),
                ({"controller": "pd_gravity", "kp": 1, "reference": [0]}, "missing-field", "/input/kd"),
                ({"controller": "pd_gravity", "kp": -1, "kd": 1, "reference": [0]}, "bad-value", "/input/kp"),
                ({"controller": "pd_gravity", "kp": 1, "kd": [1, 1], "reference": [0]}, "wrong-shape", "/input/kd"),
                ({"controller": "pd_gravity", "kp": 1, "kd": 1, "reference": [0, 0]}, "wrong-shape", "/input/reference")):
            with self.subTest(input=value):
                self.refused(code, pointer, input=value)
        self.refused("wrong-shape", "/q", q=[[1], [2]], input={"tau": [[1], [2], [3]]})
        self.refused("not-supported", "/input/controller", model="body", q=[0, 0, 0, 0, 0, 0, 1],
                     input={"controller": "pd_gravity", "kp": 1, "kd": 1, "reference": [0] * 6})
        self.refused("bad-value", "/outputs/0", outputs=["position_error"])

    def test_what_only_shows_under_way(self):
        """Gains too high for the step: the problem names the first failing row, whatever the other rows do."""
        drive = {"controller": "pd_gravity", "kp": 1e7, "kd": 1e5, "reference": [[0.5], [0], [0.5], [1]]}
        detail = self.refused("integration-failed", None, row=1, input=drive)
        self.assertRegex(detail, "at [0-9.e-]+ s hinge moves at .* rad/s")
        self.refused("angle-too-large", None, q=[99999.999], qd=[50])
        # A simulation fails where sharp friction stops a passive joint of a loop.
        rough = self.client.get("/v1/models/four_bar/document").json()
        passive = next(link["joint"] for link in rough["links"] if not link["joint"].get("actuated", True))
        passive["friction"] = {"coulomb": 2}
        self.put_model("rough", rough)
        detail = self.refused("integration-failed", None, model="rough", step=None, tolerance=1e-10, gravity=[0, 0, 0], qd=[1])
        self.assertIn("coulomb_velocity", detail)
        self.assertIn(passive["name"] + " stops", detail)
        runaway = {"links": [{**ROD, "joint": {"name": "slide", "type": "prismatic", "axis": [1, 0, 0]}}]}
        self.put_model("runaway", runaway)
        drive = {**drive, "reference": [1]}
        detail = self.refused("integration-failed", None, model="runaway", row=1, input=drive, q=[[1], [0.5]])
        self.assertIn("shorter steps", detail)
        for start in (1e101, -1e101):
            for how in ({"step": 0.01}, {"step": None, "tolerance": 1e-3}):
                self.refused("integration-failed", None, model="runaway", q=[start], input={"tau": [0]}, gravity=[0, 0, 0], **how)
        # the link on the prismatic joint is so far away that terms of the other joints are lost in rounding and its inertia overflows
        far = {"links": [runaway["links"][0], {**ROD, "name": "bob", "parent": "rod", "joint": {**ROD["joint"], "axis": [0, 0, 1]}},
                         {**ROD, "name": "end", "parent": "bob", "joint": {"name": "reach", "type": "prismatic", "axis": [1, 0, 0]}}]}
        self.put_model("far", far)
        for how in ({"step": 0.01}, {"step": None, "tolerance": 1e-3}):
            detail = self.refused("integration-failed", None, model="far", q=[0, 0, 1e90], qd=[0, 0, 1e110], input={
                "tau": [0, 0, 0]}, **how)
            self.assertIn("at 0 s reach moves at 1e+110", detail)

    def test_explosions(self):
        """Diverging simulations end at once, whatever the steps; the problem names time and joint."""
        methods = ({"step": 1e-3}, {"step": 1e-5}, {"tolerance": 1e-6}, {"tolerance": 1e-10}, {"tolerance": 1e-6, "stiff": True})
        spinning = {"q": [0.5], "qd": [1e6], "input": {"tau": [0]}}
        standing = [0, 0, 0.25, 0, 0, 0, 1, 0, 0.7, -1.4, 0, 0.7, -1.4, 0, -0.7, 1.4, 0, -0.7, 1.4]
        cases = [("four_bar", spinning, "at 0 s crank_joint moves at 1e\\+06"),
                 ("four_bar", {**spinning, "qd": [9e4]}, "crank_joint moves at"),
                 ("four_bar", {**spinning, "qd": [0], "input": {"tau": [1e9]}}, "at 0 s crank_joint accelerates by"),
                 ("three_link", {"q": [0.1] * 3, "input": {"tau": [0, 0, 1e9]}}, "moves at"),
                 ("pendulum", {"input": {"controller": "pd_gravity", "kp": 1e6, "kd": 0, "reference": {
                     "degree": 1, "control_points": [[0], [1e6]]}}}, "hinge (moves|is beyond)"),
                 ("solo12", {"q": standing, "held": [{"frame": "FL_FOOT", "axes": ["x", "y", "z"]}],
                             "input": {"tau": [0] * 6 + [1e7] * 12}}, "moves at")]
        for model, request, where in cases:
            for how in methods:
                begin = time.monotonic()
                answer = self.client.post(f"/v1/models/{model}/simulate", {"q": [0.5], "duration": 1, "samples": 2, **request, **how})
                self.assertRegex(self.assertProblem(answer, 422)["detail"], where, how)
                self.assertRegex(answer.json()["detail"], "at [0-9.e-]+ s ")
                self.assertLess(time.monotonic() - begin, PATIENCE / 2, (model, how))

    def test_explosion_of_one_row(self):
        for how in ({"step": 1e-3}, {"tolerance": 1e-6}):
            answer = self.client.post("/v1/models/four_bar/simulate", {"q": [0.5], "qd": [[1], [1e6], [2]], "duration": 0.1, "samples": 2, **how})
            self.assertProblem(answer, 422, row=1)

    def test_collapsing_steps(self):
        """A torque oscillating at 1e9 rad/s would need more steps than the limit allows: the simulation ends long
        before the limit is reached."""
        drive = {"tau": {"amplitude": [1], "angular_frequency": [1e9]}}
        begin = time.monotonic()
        detail = self.refused("integration-failed", None, step=None, tolerance=1e-12, input=drive, duration=100)
        self.assertRegex(detail, "at [0-9.e-]+ s the tolerance of 1e-12 cannot be kept( within 10 million steps)?, while hinge accelerates by")
        self.assertLess(time.monotonic() - begin, PATIENCE / 2)
        detail = self.refused("integration-failed", None, step=None, tolerance=1e-12, duration=1e6)
        self.assertIn("within 10 million steps, while hinge accelerates by", detail)
        self.assertLess(time.monotonic() - begin, PATIENCE)

    def test_deadline(self):
        for how in ({"duration": 1000, "step": 1e-4}, {"duration": 3e4, "tolerance": 1e-9}):
            begin = time.monotonic()
            answer = self.client.post("/v1/models/pendulum/simulate", {"q": [0.5], "samples": 2, **how}, Request_Timeout="0.2")
            self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")
            self.assertLess(time.monotonic() - begin, 5)


class HangUp(Simulated):
    arguments = ("--workers", "1", "--loops", "1")

    def test_who_hangs_up_is_not_simulated_for(self):
        """A client abandons a simulation of a minute on the only worker: later requests do not wait for it."""
        body = json.dumps({"q": [0.5], "samples": 2, "duration": 900, "step": 1e-4, "input": {"tau": [0]}})
        sock = self.server.socket()
        sock.send(f"POST /v1/models/pendulum/simulate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  f"Content-Length: {len(body)}\r\n\r\n{body}")
        time.sleep(0.3)
        sock.close()
        give_up = time.monotonic() + PATIENCE / 4
        short = {"q": [0.5], "samples": 2, "duration": 1, "step": 1e-3}
        # until the server notices that the client has disconnected
        while (answer := self.client.post("/v1/models/pendulum/simulate", short)).status == 503:
            self.assertLess(time.monotonic(), give_up, answer)
            time.sleep(0.02)
        self.assertEqual(answer.status, 200, answer)
        self.assertLess(time.monotonic(), give_up)


if __name__ == "__main__":
    tap.main()
