"""Tests derivatives by the inertial parameters: against regressors, and against differences by payloads with all ten
parameters."""
import numpy as np
import tap
from closed import Closed
from samples import branched, states

TREES = ("panda", "hua", "solo12", "branched")
HELD = {"panda": [{"frame": "panda_link5", "axes": ["y", "rx"], "reference": "frame"}],
        "solo12": [{"frame": foot, "axes": ["x", "y", "z"]} for foot in ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")]}
LOOPS = ("four_bar", "delta", "stewart")
CHANGES = (0.02, -0.02, 0.04, -0.04, 0.08, -0.08)  # relative changes of a payload


def payload(link, change=0.0):
    """Returns a payload of (1 + change) 0.7 kg, with all ten inertial parameters scaled by the same factor."""
    return [{"link": link, "mass": 0.7 * (1 + change), "com": [0.05, -0.02, 0.04], "inertia": {
        name: value * (1 + change) for name, value in INERTIA.items()}}]


INERTIA = {"xx": 0.004, "yy": 0.005, "zz": 0.006, "xy": 0.0003, "xz": -0.0002, "yz": 0.0004}


def parameters():
    c, I = np.array([0.05, -0.02, 0.04]), INERTIA
    steiner = 0.7 * (c @ c * np.eye(3) - np.outer(c, c))
    about = np.array([[I["xx"], I["xy"], I["xz"]], [I["xy"], I["yy"], I["yz"]], [I["xz"], I["yz"], I["zz"]]]) + steiner
    return np.array([0.7, *(0.7 * c), about[0, 0], about[0, 1], about[1, 1], about[0, 2], about[1, 2], about[2, 2]])


def slope(values):
    """Returns df/dchange by central differences over three distances, extrapolated."""
    d = [(np.array(values[2 * i]) - np.array(values[2 * i + 1])) / (2 * CHANGES[2 * i]) for i in range(3)]
    return (64 * d[0] - 20 * d[1] + d[2]) / 45


class ParameterColumns(Closed):
    def setUp(self):
        super().setUp()
        self.put_model("branched", branched("floating"))

    def motion(self, model, seed, rows=1):
        """Draws rows of q, qd, qdd, qddd and tau. Returns these and the last body."""
        about = self.ok(self.client.get(f"/v1/models/{model}"))
        if model in LOOPS:
            s = [self.state(model, seed + i) for i in range(rows)]
            return {name: [row[name] for row in s] for name in s[0]}, about["bodies"]
        return states(rows, about["nv"], model in ("solo12", "branched"), seed), about["bodies"]

    def cases(self):
        for model in (*TREES, *LOOPS):
            yield model, {}
        for model, held in HELD.items():
            yield model, {"held": held}

    def test_forward_sensitivity(self):
        """The columns are -dqdd_dtau Y, with the same bits in a batch, in single requests, and without other outputs."""
        outputs = ["qdd", "dqdd_dtau", "dqdd_dparameters"]
        for model, held in self.cases():
            s, bodies = self.motion(model, 3, rows=5)
            request = {**{name: s[name] for name in ("q", "qd", "tau")}, **held, "payload": payload(bodies[-1])}
            texts = self.ask_texts(model, "forward-sensitivity", {**request, "outputs": outputs})
            answer = self.ask(model, "forward-sensitivity", {**request, "outputs": outputs})
            one = self.ask_texts(model, "forward-sensitivity", {
                **request, **{name: s[name][3] for name in ("q", "qd", "tau")}, "outputs": outputs[2:]})
            self.assertEqual(one["dqdd_dparameters"], texts["dqdd_dparameters"][3], model)
            Y = self.ask(model, "regressor", {"q": s["q"], "qd": s["qd"], "qdd": answer["qdd"]})["regressor"]
            for row in range(5):
                expected = -np.array(answer["dqdd_dtau"][row]) @ np.array(Y[row])
                self.assertClose(answer["dqdd_dparameters"][row], expected.tolist(), 1e-11, what=f"{model} {held}")

    def test_forward_dynamics_by_payload(self):
        for model, held in self.cases():
            s, bodies = self.motion(model, 4)
            request = {**{name: s[name][0] for name in ("q", "qd", "tau")}, **held}
            for body in sorted({len(bodies) // 2, len(bodies) - 1}):
                load = lambda change: {"payload": payload(bodies[body], change)}
                answer = self.ask(model, "forward-sensitivity", {**request, **load(0), "outputs": ["dqdd_dparameters"]})
                qdd = [self.ask(model, "forward-dynamics", {**request, **load(change)})["qdd"] for change in CHANGES]
                columns = np.array(answer["dqdd_dparameters"])[:, 10 * body:10 * body + 10]
                self.assertClose((columns @ parameters()).tolist(), slope(qdd).tolist(), 1e-8, what=f"{model} {held}")

    def rate_request(self, model, seed, rows):
        s, bodies = self.motion(model, seed, rows)
        return {name: s[name] for name in ("q", "qd", "qdd", "qddd")}, s["tau"], bodies

    def test_torque_derivative(self):
        """tau_dot is linear in the parameters: a payload adds its columns times its parameters."""
        for model in (*TREES, *LOOPS):
            request, _, bodies = self.rate_request(model, 5, 5)
            texts = self.ask_texts(model, "torque-derivative", {**request, "outputs": ["tau_dot", "dtau_dot_dparameters"]})
            one = self.ask_texts(model, "torque-derivative", {
                **{name: rows[3] for name, rows in request.items()}, "outputs": ["dtau_dot_dparameters"]})
            self.assertEqual(one["dtau_dot_dparameters"], texts["dtau_dot_dparameters"][3], model)
            answer = self.ask(model, "torque-derivative", {**request, "outputs": ["tau_dot", "dtau_dot_dparameters"]})
            columns = np.array(answer["dtau_dot_dparameters"])
            for body in sorted({len(bodies) // 2, len(bodies) - 1}):
                loaded = self.ask(model, "torque-derivative", {**request, "payload": payload(bodies[body])})["tau_dot"]
                more = columns[:, :, 10 * body:10 * body + 10] @ parameters()
                self.assertClose((np.array(answer["tau_dot"]) + more).tolist(), loaded, 1e-11, what=model)

    FREE = {"panda": ["panda_joint2", "panda_joint5"], "solo12": "base", "hua": None, "delta": None}

    def test_torque_derivative_with_free_coordinates(self):
        """Compares with differences between payloads at constant efforts of the free coordinates; the rows of these coordinates are zero."""
        for model, free in self.FREE.items():
            request, tau, bodies = self.rate_request(model, 6, 1)
            names = self.ok(self.client.get(f"/v1/models/{model}"))["velocity_names"]
            free = names[::2] if free is None else free
            mask = np.array([i < 6 if free == "base" else name in free for i, name in enumerate(names)])
            driven = {name: (np.array(request[name][0]) * ~mask).tolist() for name in ("qdd", "qddd")}
            one = {"q": request["q"][0], "qd": request["qd"][0], **driven, "tau": (np.array(tau[0]) * mask).tolist(), "free": free}
            outputs = ["tau_dot", "dtau_dot_dparameters"]
            ask = lambda change, body: self.ask(model, "torque-derivative", {
                **one, "payload": payload(bodies[body], change), "outputs": outputs})
            for body in sorted({len(bodies) // 2, len(bodies) - 1}):
                columns = np.array(ask(0, body)["dtau_dot_dparameters"])
                self.assertFalse(columns[mask].any())
                slopes = slope([ask(change, body)["tau_dot"] for change in CHANGES])
                self.assertClose((columns[:, 10 * body:10 * body + 10] @ parameters()).tolist(), slopes.tolist(), 1e-8, what=model)


if __name__ == "__main__":
    tap.main()
