"""Tests ground-reaction: against statics by hand, against rates of momentum, against inverse dynamics with the feet's wrenches, and against the
operation's equations, written again in NumPy; derivatives against finite differences."""
import math
import random

import cbor2
import numpy as np
import tap
from floating import moved, turned
from harness import ServerCase

G = 9.81
PLAIN = ["resultant", "zero_moment_point", "foot_wrenches", "tau"]
GRADIENTS = [f"d{'' if name == 'tau' else '_'}{name}_d{by}" for name in PLAIN for by in ("q", "qd", "qdd")]
SOLES = [{"frame": "left_sole"}, {"link": "right_foot", "point": [0.02, -0.01, -0.08]}]
PLANE = {"point": [0.1, 0.2, -0.1], "normal": [0.2, -0.1, 2]}
PULLS = [{"link": "head", "force": [10, 20, 30], "torque": [1, 2, 3], "point": [0.1, 0.2, 0.3]},
         {"link": "left_foot", "force": [1, -20, 3], "torque": [2, 1, -1], "frame": "link"}]


class Ground(ServerCase):
    def motion(self, model, seed):
        """Draws a random motion with accelerations small enough that the model presses on the ground."""
        choose = random.Random(seed)
        names = self.ok(self.client.get(f"/v1/models/{model}"))
        rows = lambda n, scale: [choose.uniform(-scale, scale) for _ in range(n)]
        state = {"q": rows(names["nq"], 0.5), "qd": rows(names["nv"], 0.8), "qdd": rows(names["nv"], 1)}
        if names["nq"] > names["nv"]:
            x = rows(3, 0.4)
            state["q"][3:7] = x + [math.sqrt(1 - sum(a * a for a in x))]
        return state

    def ground(self, model, request, *outputs, **more):
        if outputs:
            more["outputs"] = list(outputs)
        return self.ask(model, "ground-reaction", {"feet": SOLES, **request, **more})

    def refused(self, code, pointer=None, row=None, model="humanoid", **request):
        answer = self.client.post(f"/v1/models/{model}/ground-reaction", request)
        problem = self.assertProblem(answer, 422, pointer, row)
        self.assertEqual(problem["code"], code, problem)
        return problem["detail"]

    def standing(self, model):
        return [0, 0, 0.9275, 0, 0, 0, 1] + [0] * 33 if model == "humanoid" else [0] * 55


class Forces(Ground):
    def test_quiet_stance(self):
        """In quiet stance the resultant is the weight, the zero-moment point lies below the centre of mass, and each
        foot carries half."""
        for model in ("humanoid", "gait55"):
            q = self.standing(model)
            energy = self.ask(model, "energy", {"q": q, "outputs": ["mass", "com"]})
            answer = self.ground(model, {"q": q, "feet": [{"frame": "left_sole"}, {"frame": "right_sole"}]})
            weight = energy["mass"] * G
            self.assertClose(answer["zero_moment_point"], energy["com"][:2] + [0], 1e-14)
            self.assertClose(answer["resultant"][:3], [0, 0, weight], 1e-13)
            for wrench in answer["foot_wrenches"]:
                self.assertClose(wrench[:3], [0, 0, weight / 2], 1e-13)
            self.assertClose(answer["tau"][:6], [0] * 6, 1e-13, scale=weight)

    def test_quiet_stance_on_a_slope(self):
        """At rest on an inclined plane, the zero-moment point is where the vertical through the centre of mass meets
        the plane."""
        for seed, model in enumerate(("humanoid", "gait55", "humanoid", "gait55")):
            q = self.motion(model, seed)["q"]
            com = np.array(self.ask(model, "energy", {"q": q, "outputs": ["com"]})["com"])
            z = self.ground(model, {"q": q, "plane": PLANE})["zero_moment_point"]
            normal, point = np.array(PLANE["normal"]), np.array(PLANE["point"])
            down = com[2] + (normal[:2] @ (com - point)[:2]) / normal[2] - point[2]
            self.assertClose(z, [com[0], com[1], com[2] - down], 1e-12)

    def test_resultant_is_rate_of_momentum(self):
        """Compares the resultant with differences of the momentum: F = m (a - g), and the rate of the angular momentum
        about the centre of mass."""
        for seed, model in enumerate(("humanoid", "gait55", "solo12")):
            s = self.motion(model, seed)
            h, feet = 1e-5, {} if model != "solo12" else {"feet": [{"link": "FL_FOOT"}]}
            momenta = []
            for t in (-h, h):
                nv = len(s["qd"])
                if len(s["q"]) > nv:  # second-order Taylor step of the pose; velocities are in the base's axes
                    q = turned(s["q"], [t * (v + t / 2 * a) for v, a in zip(s["qd"], s["qdd"])])
                else:
                    q = [x + t * (v + t / 2 * a) for x, v, a in zip(s["q"], s["qd"], s["qdd"])]
                qd = [v + t * a for v, a in zip(s["qd"], s["qdd"])]
                momenta.append(self.ask(model, "energy", {"q": q, "qd": qd, "outputs": ["momentum"]})["momentum"])
            rate = (np.array(momenta[1]) - np.array(momenta[0])) / (2 * h)
            now = self.ask(model, "energy", {"q": s["q"], "outputs": ["mass", "com"]})
            com, weight = np.array(now["com"]), np.array([0, 0, -G * now["mass"]])
            resultant = np.array(self.ground(model, s, "resultant", **feet)["resultant"])
            self.assertClose(list(resultant[:3]), list(rate[:3] - weight), 1e-7)
            self.assertClose(list(resultant[3:] - np.cross(com, resultant[:3])), list(rate[3:]), 1e-7, scale=100)

    def test_equations(self):
        """Repeats the operation's equations, with wrenches and a payload: the resultant from inverse dynamics and the
        base's Jacobian, then the zero-moment point and the shares of the feet."""
        for seed, model in enumerate(("humanoid", "gait55", "humanoid", "gait55")):
            s = {**self.motion(model, seed), "wrenches": PULLS, "payload": {"link": "head", "mass": 3, "com": [0, 0.1, 0.2]}}
            answer = self.ground(model, s, plane=PLANE)
            tau = np.array(self.ask(model, "inverse-dynamics", s)["tau"])
            frames = ["pelvis", "left_sole", "right_foot"]
            jacobian = {f: np.array(self.ask(model, "kinematics", {
                "q": s["q"], "frame": f, "outputs": ["jacobian"]})["jacobian"]) for f in frames}
            poses = self.ask(model, "kinematics", {"q": s["q"], "frames": frames})["poses"]
            x, y, z, w = poses["right_foot"]["orientation"]
            lever = turned([0, 0, 0, x, y, z, w], SOLES[1]["point"] + [0, 0, 0])[:3]
            feet = [np.array(poses["left_sole"]["position"]), np.array(poses["right_foot"]["position"]) + lever]
            W = np.linalg.solve(jacobian["pelvis"][:, :6].T, tau[:6])
            F, N = W[:3], W[3:] + np.cross(poses["pelvis"]["position"], W[:3])
            self.assertClose(answer["resultant"], [*F, *N], 1e-11, scale=1000)
            zero, normal = np.array(answer["zero_moment_point"]), np.array(PLANE["normal"])
            self.assertLess(abs(normal @ (zero - PLANE["point"])), 1e-12)
            # at the zero-moment point only the moment along the normal remains
            left = np.cross(normal, N - np.cross(zero, F))
            self.assertClose(list(left), [0] * 3, 1e-11, scale=1000)
            d = [np.linalg.norm(zero - r) for r in feet]
            total = np.zeros(6)
            for k, r in enumerate(feet):
                wrench, share = np.array(answer["foot_wrenches"][k]), d[1 - k] / (d[0] + d[1])
                self.assertClose(list(wrench), list(share * np.array([*F, *(N - np.cross(r, F))])), 1e-11, scale=1000)
                total += [*wrench[:3], *(wrench[3:] + np.cross(r, wrench[:3]))]
            self.assertClose(list(total), answer["resultant"], 1e-12, scale=1000)

    def test_feet_leave_nothing_to_the_base(self):
        """With the feet's wrenches as external wrenches, inverse dynamics gives the same tau and zero effort at the base. A request with one
        foot must give the same tau and resultant, and so must a foot that is named by its link."""
        for seed, model in enumerate(("humanoid", "gait55")):
            for feet in (SOLES, SOLES[:1], [{"link": "left_shank"}]):
                s = {**self.motion(model, seed), "wrenches": PULLS}
                answer = self.ground(model, s, feet=feet)
                wrenches = PULLS + [
                    {"link": f.get("link", "left_foot"), "point": f.get("point"), "force": w[:3], "torque": w[3:]}
                    for f, w in zip(feet, answer["foot_wrenches"])]
                for wrench, foot in zip(wrenches[2:], feet):
                    if "frame" in foot:
                        document = self.ok(self.client.get(f"/v1/models/{model}/document"))
                        wrench["point"] = next(f["xyz"] for f in document["frames"] if f["name"] == foot["frame"])
                    if wrench["point"] is None:
                        del wrench["point"]
                tau = self.ask(model, "inverse-dynamics", {**s, "wrenches": wrenches})["tau"]
                self.assertClose(answer["tau"], tau, 1e-12, scale=1000)
                self.assertClose(tau[:6], [0] * 6, 1e-12, scale=1000)
                if len(feet) == 1:
                    self.assertClose(answer["foot_wrenches"][0][:3], answer["resultant"][:3], 1e-13)

    def test_both_kinds_of_base(self):
        """A model with six global joints and the same model with a floating base have the same ground reaction."""
        document = self.ok(self.client.get("/v1/models/gait55/document"))
        height = document["links"][0]["joint"]["origin"]["xyz"][2]
        pelvis = document["links"][5]
        document["base"] = {"type": "floating", "link": "pelvis", "inertial": pelvis["inertial"]}
        document["links"] = document["links"][6:]
        self.put_model("afloat", document)
        s = self.motion("gait55", 7)
        s["q"][3:6], s["qd"][:6], s["qdd"][:6] = [0] * 3, [0] * 6, [0.3, -0.2, 0.5, 0.4, 0.6, -0.7]
        chained = self.ground("gait55", s)
        afloat = self.ground("afloat", {
            "q": s["q"][:2] + [s["q"][2] + height, 0, 0, 0, 1] + s["q"][6:], "qd": s["qd"],
            "qdd": s["qdd"][:3] + [s["qdd"][4], s["qdd"][5], s["qdd"][3]] + s["qdd"][6:]})
        for name in PLAIN[:3]:
            self.assertClose(np.array(chained[name]).ravel().tolist(), np.array(afloat[name]).ravel().tolist(), 1e-11,
                             scale=1000)
        self.assertClose(chained["tau"][6:], afloat["tau"][6:], 1e-11, scale=1000)

    def test_without_feet(self):
        s = self.motion("gait55", 3)
        outputs = ["resultant", "zero_moment_point", "d_resultant_dq", "d_zero_moment_point_dqdd"]
        alone = self.ask("gait55", "ground-reaction", {**s, "outputs": outputs})
        afoot = self.ground("gait55", s, *outputs)
        for name in outputs:
            self.assertClose(np.array(alone[name]).ravel().tolist(), np.array(afoot[name]).ravel().tolist(), 1e-11, scale=1000)


class Derivatives(Ground):
    def check(self, model, request, step=1e-4):
        """Compares the derivatives with differences of fourth order."""
        nv = len(request["qd"])
        exact = self.ground(model, request, *GRADIENTS)
        for by in ("q", "qd", "qdd"):
            rows = []
            for j in range(nv):
                for c in (-2, -1, 1, 2):
                    change = [c * step if i == j else 0 for i in range(nv)]
                    rows.append(moved(request[by], change) if by == "q" else list(np.array(request[by]) + change))
            batch = self.ground(model, {**request, by: rows}, *PLAIN)
            for name in PLAIN:
                at = np.array(batch[name])
                at = at.reshape(nv, 4, *at.shape[1:])
                slope = (at[:, 0] - 8 * at[:, 1] + 8 * at[:, 2] - at[:, 3]) / (12 * step)
                given = np.moveaxis(np.array(exact[f"d{'' if name == 'tau' else '_'}{name}_d{by}"]), -1, 0)
                self.assertEqual(slope.shape, given.shape)
                self.assertLess(abs(slope - given).max(), 3e-9 * max(abs(given).max(), abs(at).max()), (model, name, by))

    def test_floating_base(self):
        self.check("humanoid", {**self.motion("humanoid", 1), "wrenches": PULLS, "plane": PLANE})

    def test_global_joints(self):
        self.check("gait55", {**self.motion("gait55", 2), "wrenches": PULLS, "plane": PLANE})

    def test_one_foot(self):
        self.check("solo12", {**self.motion("solo12", 3), "feet": [{"link": "HL_FOOT", "point": [0.01, 0, 0.02]}]})

    def test_base_rows_stay_zero(self):
        s = self.motion("gait55", 4)
        answer = self.ground("gait55", s, *GRADIENTS)
        for by in ("q", "qd", "qdd"):
            self.assertLess(abs(np.array(answer[f"dtau_d{by}"])[:6]).max(), 1e-10)


class Service(Ground):
    def test_bits(self):
        """A state gets the same bits in a request of its own, in a batch, in CBOR, in evaluate with other operations, and with another order of
        the coordinates."""
        states = [self.motion("gait55", seed) for seed in range(11)]
        batch = {name: [s[name] for s in states] for name in ("q", "qd", "qdd")}
        outputs = PLAIN + GRADIENTS
        together = self.ground("gait55", batch, *outputs)
        for k in (0, 3, 10):
            alone = self.ground("gait55", states[k], *outputs)
            for name in outputs:
                self.assertEqual(together[name][k], alone[name], name)
        request = {**states[4], "feet": SOLES, "outputs": outputs}
        answer = self.client.post("/v1/models/gait55/ground-reaction", cbor2.dumps(request), Content_Type="application/cbor",
                                  Accept="application/json")
        self.assertEqual(self.ok(answer), {name: together[name][4] for name in outputs})
        both = self.ask("gait55", "evaluate", {**states[4], "operations": {
            "ground-reaction": {"feet": SOLES}, "inverse-dynamics": {}}})
        self.assertEqual(both["ground-reaction"], {name: together[name][4] for name in PLAIN})
        names = self.ok(self.client.get("/v1/models/gait55"))["velocity_names"]
        order = random.Random(1).sample(range(55), 55)
        mixed = self.ground("gait55", {name: [states[4][name][i] for i in order] for name in ("q", "qd", "qdd")}, *outputs,
                            joints=[names[i] for i in order])
        self.assertEqual(mixed["tau"], [together["tau"][4][i] for i in order])
        self.assertEqual(mixed["d_resultant_dq"], [[row[i] for i in order] for row in together["d_resultant_dq"][4]])

    def test_sensitivities_of_55_joints(self):
        s = self.motion("gait55", 5)
        answer = self.ask("gait55", "sensitivity", {**s, "outputs": [
            "dtau_dq", "dtau_dqd", "dtau_dqdd", "tau", "joint_wrenches", "d_joint_wrenches_dq", "d_joint_wrenches_dqd",
            "d_joint_wrenches_dqdd"]})
        self.assertEqual(np.array(answer["d_joint_wrenches_dq"]).shape, (55, 6, 55))
        self.assertClose(answer["tau"], self.ask("gait55", "inverse-dynamics", s)["tau"], 1e-12, scale=1000)

    def test_refusals(self):
        q = self.standing("humanoid")
        feet = [{"frame": "left_sole"}, {"frame": "right_sole"}]
        self.refused("no-free-base", model="panda", q=[0] * 7, feet=[{"link": "link1"}])
        self.refused("missing-field", "/feet", q=q)
        self.refused("wrong-shape", "/feet", q=q, feet=[])
        self.refused("wrong-shape", "/feet", q=q, feet=feet + feet)
        self.refused("wrong-type", "/feet", q=q, feet="left_sole")
        self.refused("missing-field", "/feet/0", q=q, feet=[{}])
        self.refused("bad-value", "/feet/0", q=q, feet=[{"link": "left_foot", "frame": "left_sole"}])
        self.refused("unknown-name", "/feet/1/link", q=q, feet=[feet[0], {"link": "tail"}])
        self.refused("wrong-shape", "/feet/0/point", q=q, feet=[{"link": "left_foot", "point": [1, 2]}])
        self.refused("unknown-field", "/feet/0/body", q=q, feet=[{"body": "left_foot"}])
        self.refused("bad-value", "/feet/1", q=q, feet=[feet[0], feet[0]])
        self.refused("bad-value", "/feet/0/link", model="gait55", q=[0] * 55, feet=[{"link": "ground"}])
        self.refused("bad-value", "/feet/0/link", model="gait55", q=[0] * 55, feet=[{"link": "global_yaw_link"}])
        document = self.ok(self.client.get("/v1/models/gait55/document"))
        document["links"].append({"name": "pole", "parent": "ground", "joint": {"name": "wind", "type": "revolute", "axis": [0, 1, 0]}})
        self.put_model("beside_a_pole", document)
        self.refused("bad-value", "/feet/0/link", model="beside_a_pole", q=[0] * 56, feet=[{"link": "pole"}])
        self.refused("bad-value", "/plane/normal", q=q, feet=feet, plane={"normal": [0, 0, 0]})
        self.refused("unknown-field", "/plane/height", q=q, feet=feet, plane={"height": 1})
        self.refused("missing-field", "/plane", q=q, feet=feet, gravity=[0, 0, 0])

    def test_no_zero_moment_point(self):
        """Rows without a zero-moment point: free fall, a faster descent, a plane parallel to the force, and one row of
        a batch."""
        q, falling = self.standing("humanoid"), [0, 0, -G] + [0] * 36
        for qdd in (falling, [2 * x for x in falling]):
            self.refused("no-zero-moment-point", q=q, qdd=qdd, feet=SOLES)
        self.refused("no-zero-moment-point", q=q, feet=SOLES, plane={"normal": [1, 0, 0]})
        self.refused("no-zero-moment-point", row=2, q=q, qdd=[[0] * 39, [0] * 39, falling], feet=SOLES)
        hull = {"base": {"type": "floating", "link": "hull", "inertial": {"solid": "box", "size": [1, 2, 3], "mass": 7}}, "links": []}
        self.put_model("falling", hull)
        choose = np.random.default_rng(3)
        turns = choose.normal(size=(30, 4))
        # the force is zero except for rounding errors of either sign
        for turn in turns / np.linalg.norm(turns, axis=1)[:, None]:
            down = self.ask("falling", "forward-dynamics", {"q": [0, 0, 1, *turn], "tau": [0] * 6})["qdd"]
            self.refused("no-zero-moment-point", model="falling", q=[0, 0, 1, *turn], qdd=down, feet=[{"link": "hull"}])
        rolled = [0] * 55
        rolled[4] = math.pi / 2
        self.refused("no-free-base", "/q", model="gait55", q=rolled, feet=SOLES)
        self.refused("no-free-base", row=1, model="gait55", q=[[0] * 55, rolled], feet=SOLES)

    def test_at_the_zero_moment_point(self):
        """A foot at the zero-moment point carries everything; there the shares of the feet are not differentiable."""
        hull = {"base": {"type": "floating", "link": "hull", "inertial": {"solid": "box", "size": [1, 1, 1], "mass": 1}},
                "links": []}
        self.put_model("hull", hull)
        q, feet = [0, 0, 1, 0, 0, 0, 1], [{"link": "hull", "point": [0, 0, -1]}, {"link": "hull", "point": [1, 0, -1]}]
        answer = self.ground("hull", {"q": q, "feet": feet})
        self.assertEqual(answer["foot_wrenches"], [[0, 0, G, 0, 0, 0], [0] * 6])
        self.refused("bad-value", "/feet", model="hull", q=q, feet=feet, outputs=["dtau_dq"])
        self.refused("result-not-finite", model="hull", q=q, feet=feet, qd=[1e200] * 6)


class Supports(Ground):
    ROWS = ["first", "both", "second", "first", "both"]

    def test_lifted_feet(self):
        """A row of a batch in which one foot is lifted has the forces and derivatives of a request that lists the other foot only."""
        for model in ("humanoid", "gait55"):
            states = [self.motion(model, seed) for seed in range(len(self.ROWS))]
            batch = {name: [s[name] for s in states] for name in states[0]}
            answer = self.ground(model, {**batch, "supports": self.ROWS}, *PLAIN, *GRADIENTS)
            for row, support in enumerate(self.ROWS):
                alone = self.ground(model, {**states[row], "supports": support}, *PLAIN, *GRADIENTS)
                self.assertEqual(alone, {name: value[row] for name, value in answer.items()})
                feet = {"both": SOLES, "first": SOLES[:1], "second": SOLES[1:]}[support]
                expected = self.ground(model, {**states[row], "feet": feet}, *PLAIN, *GRADIENTS)
                for name, value in expected.items():
                    got = np.array(alone[name])
                    if "foot_wrenches" in name and support != "both":
                        standing = 0 if support == "first" else 1
                        self.assertEqual(np.count_nonzero(got[1 - standing]), 0)
                        got = got[standing:standing + 1]
                    size = max(1, np.abs(np.array(value)).max())
                    self.assertLess(np.abs(got - value).max() / size, 1e-11, (model, support, name))

    def test_refusals(self):
        q = self.standing("humanoid")
        self.refused("bad-value", "/supports", q=q, feet=SOLES, supports="left")
        self.refused("bad-value", "/supports/1", 1, q=[q, q], feet=SOLES, supports=["both", "none"])
        self.refused("bad-value", "/supports", q=q, feet=SOLES[:1], supports="first")
        self.refused("wrong-shape", q=[q, q], feet=SOLES, supports=["both"] * 3)
        self.refused("wrong-shape", "/supports", q=q, feet=SOLES, supports=[])


if __name__ == "__main__":
    tap.main()
