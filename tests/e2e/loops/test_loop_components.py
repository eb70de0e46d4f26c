"""Tests that mechanisms without common passive joints do not influence each other in one model: each has the numbers of a model with this
mechanism only, a singular one is named in the refusal, and a state has the same bits in a request of one state and in any batch."""
import copy

import numpy as np
import tap
from closed import Closed, bundled

COPIES = 5


def named(part, suffix, *keys):
    """Returns a part of a document with `suffix` added to its name and to the names under `keys`, unless they are the ground."""
    part = copy.deepcopy(part)
    for key in ("name", *keys):
        part[key] += "" if part[key] == "ground" else suffix
    return part


def several(document, n):
    """Returns a document with n copies of a mechanism on one ground."""
    whole = {key: document[key] for key in ("gravity", "base")} | {"links": [], "frames": [], "loops": []}
    for i in range(n):
        suffix = f"_{i}"
        for link in document["links"]:
            link = named(link, suffix, "parent")
            link["joint"] = named(link["joint"], suffix)
            whole["links"].append(link)
        whole["frames"] += [named(frame, suffix, "link") for frame in document["frames"]]
        whole["loops"] += [named(loop, suffix, "frame_a", "frame_b") for loop in document["loops"]]
    return whole


class Components(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert cls.client.put("/v1/models/several", several(bundled("five_bar"), COPIES)).status == 201
        cls.rows = [cls.states_of(seed) for seed in range(COPIES)]
        cls.whole = {key: np.concatenate([rows[key] for rows in cls.rows], axis=1).tolist() for key in ("q", "qd", "qdd", "tau")}

    @classmethod
    def states_of(cls, seed, rows=11):
        choose = np.random.default_rng(100 + seed)
        return {"q": np.array([2, 1.1]) + choose.uniform(-0.3, 0.3, (rows, 2)), "qd": choose.uniform(-1, 1, (rows, 2)),
                "qdd": choose.uniform(-3, 3, (rows, 2)), "tau": choose.uniform(-2, 2, (rows, 2))}

    def compare(self, operation, output, fields, part):
        """Compares an output with the outputs of models with one mechanism each; `part(output, i)` extracts the entries of mechanism i."""
        whole = np.array(self.ask("several", operation, {**{f: self.whole[f] for f in fields}, "outputs": [output]})[output])
        for i, rows in enumerate(self.rows):
            alone = self.ask("five_bar", operation, {**{f: rows[f].tolist() for f in fields}, "outputs": [output]})[output]
            np.testing.assert_allclose(part(whole, i), alone, rtol=1e-12, atol=1e-12, err_msg=f"{operation} {i}")
        return whole

    def test_as_apart(self):
        """Torques, accelerations and derivatives are those of models with one mechanism each; derivatives of one mechanism's results by
        coordinates of another are zero."""
        vector = lambda x, i: x[:, 2 * i:2 * i + 2]
        block = lambda x, i: x[:, 2 * i:2 * i + 2, 2 * i:2 * i + 2]
        self.compare("inverse-dynamics", "tau", ("q", "qd", "qdd"), vector)
        self.compare("forward-dynamics", "qdd", ("q", "qd", "tau"), vector)
        for operation, output, fields in (("mass-matrix", "mass_matrix", ("q",)), ("sensitivity", "dtau_dq", ("q", "qd", "qdd")),
                                          ("coriolis", "coriolis_matrix", ("q", "qd"))):
            whole = self.compare(operation, output, fields, block)
            for i in range(COPIES):
                whole[:, 2 * i:2 * i + 2, 2 * i:2 * i + 2] = 0
            self.assertEqual(np.abs(whole).max(), 0, operation)

    def test_alone_and_in_batches(self):
        """Mechanisms that need different numbers of Newton steps do not change each other's bits, nor do other states of the batch."""
        whole = self.ask("several", "inverse-dynamics", {**{f: self.whole[f] for f in ("q", "qd", "qdd")}, "outputs": ["tau"]})["tau"]
        for r in range(len(whole)):
            alone = self.ask("several", "inverse-dynamics", {**{f: self.whole[f][r] for f in ("q", "qd", "qdd")}, "outputs": ["tau"]})
            self.assertEqual(alone["tau"], whole[r])

    def test_a_singular_one_is_refused(self):
        """If one of the mechanisms is singular, the problem is that of a model with this mechanism only. A five-bar is singular where both crank
        tips coincide: its rods may turn about them."""
        meet, n = [np.pi / 3, 2 * np.pi / 3], 2 * COPIES
        alone = self.client.post("/v1/models/five_bar/inverse-dynamics", {"q": meet, "qd": [0, 0], "qdd": [0, 0]})
        q = [2, 1.1] * COPIES
        q[6:8] = meet
        whole = self.client.post("/v1/models/several/inverse-dynamics", {"q": q, "qd": [0] * n, "qdd": [0] * n})
        self.assertEqual(self.assertProblem(whole, 422)["code"], self.assertProblem(alone, 422)["code"])


if __name__ == "__main__":
    tap.main()
