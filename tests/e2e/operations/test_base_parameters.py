"""Tests base parameters: the base regressor gives the same torques from the fewest columns, and known robots have the
published number and grouping."""
import json
import math
import random

import tap
from arrays import dot, matvec, transpose
from harness import ServerCase
from samples import body, branched, chain, states
from threads import in_threads


def rank(rows):
    """Returns the rank of a matrix with columns of unit length, by elimination with complete pivoting."""
    rows, n = [row[:] for row in rows], 0
    while True:
        i, j = max(((i, j) for i in range(n, len(rows)) for j in range(len(rows[0]))), key=lambda at: abs(rows[at[0]][at[1]]),
                   default=(0, 0))
        if n == len(rows) or abs(rows[i][j]) < 1e-9:
            return n
        rows[n], rows[i] = rows[i], rows[n]
        for row in rows[n + 1:]:
            factor = row[j] / rows[n][j]
            row[:] = [x - factor * y for x, y in zip(row, rows[n])]
        n += 1


class BaseParameters(ServerCase):
    PARAMETERS = ["m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"]
    ALL = ["regressor", "base_parameters", "base_regressor"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/fixed", branched())
        cls.client.put("/v1/models/free", branched("floating"))
        hand = {"base": {"type": "fixed", "link": "base"}, "links": [  # two fingers that share one coordinate
            {"name": "palm", "parent": "base", "joint": {"name": "wrist", "type": "revolute", "axis": [1, 0, 0]},
             "inertial": body(1)},
            {"name": "left", "parent": "palm", "joint": {"name": "grasp", "type": "prismatic", "axis": [0, 1, 0]},
             "inertial": body(0.1)},
            {"name": "right", "parent": "palm", "joint": {"name": "follow", "type": "prismatic", "axis": [0, -1, 0],
                                                          "mimic": {"joint": "grasp"}}, "inertial": body(0.1)}]}
        cls.client.put("/v1/models/hand", hand)

    MODELS = (("two_link", 2, False), ("stanford", 6, False), ("puma560", 6, False), ("panda", 7, False),
              ("three_link", 3, False), ("fixed", 4, False), ("free", 10, True), ("hand", 2, False))

    def base(self, model, count, nv, floating, seed=5):
        rows = {name: field for name, field in states(count, nv, floating, seed).items() if name in ("q", "qd", "qdd")}
        return self.ask(model, "regressor", {**rows, "outputs": self.ALL})

    def test_the_same_torques(self):
        """For random parameters, regressor x parameters = base_regressor x base parameters."""
        for model, nv, floating in self.MODELS:
            bodies = self.ok(self.client.get(f"/v1/models/{model}"))["bodies"]
            random.seed(9)
            names = [f"{link}.{parameter}" for link in bodies for parameter in self.PARAMETERS]
            values = {name: random.uniform(-1, 1) for name in names}
            answer = self.base(model, 5, nv, floating)
            beta = [values[group["parameter"]] + sum(part["coefficient"] * values[part["parameter"]] for part in group["with"])
                    for group in answer["base_parameters"]]
            for whole, chosen in zip(answer["regressor"], answer["base_regressor"]):
                self.assertClose(matvec(chosen, beta), matvec(whole, list(values.values())), 1e-13, what=model)
                columns = [names.index(group["parameter"]) for group in answer["base_parameters"]]
                self.assertEqual(chosen, [[row[column] for column in columns] for row in whole])

    def test_none_is_left_that_could_be_spared(self):
        """Over many states the columns of base_regressor are independent, and the rank of regressor is not higher."""
        for model, nv, floating in self.MODELS:
            answer = self.base(model, 200 // nv, nv, floating)
            for output in ("base_regressor", "regressor"):
                columns = transpose([row for state in answer[output] for row in state])
                lengths = [math.sqrt(dot(column, column)) for column in columns]
                unit = [[x / length for x in column] for column, length in zip(columns, lengths) if length > 1e-12]
                self.assertEqual(rank(unit), len(answer["base_parameters"]), f"{model} {output}")

    def test_known_numbers_and_groupings(self):
        """The numbers of base parameters are those that Khalil & Dombre give: 36 for six revolute joints as in the
        Puma, 43 for the Panda's seven."""
        for model, nv, count in (("puma560", 6, 36), ("ur5", 6, 36), ("panda", 7, 43)):
            answer = self.ask(model, "regressor", {"q": [0] * nv, "outputs": ["base_parameters"]})
            self.assertEqual(len(answer["base_parameters"]), count)
        groups = self.ask("two_link", "regressor", {"q": [[0, 0]], "outputs": ["base_parameters"]})["base_parameters"]
        L = 0.4  # m, length of both links; the frame of a link lies at its end
        self.assertEqual([(group["parameter"], {part["parameter"]: part["coefficient"] for part in group["with"]})
                          for group in groups],
                         [("link1.Izz", {"link1.mcx": 2 * L, "link1.m": 0.16, "link2.m": 0.16}), ("link2.Izz", {"link2.m": -0.16}),
                          ("link2.mcx", {"link2.m": L}), ("link2.mcy", {})])

    def test_gravity_is_the_model_s(self):
        request = {"q": [0.1, 0.2], "gravity": [0, -9.81, 0]}
        self.ask("two_link", "regressor", request)
        for output in ("base_parameters", "base_regressor"):
            answer = self.client.post("/v1/models/two_link/regressor", {**request, "outputs": [output]})
            self.assertIn("[0,0,-9.81]", self.assertProblem(answer, 422, "/gravity")["detail"])
        self.ask("two_link", "regressor", {**request, "gravity": [0, 0, -9.81], "outputs": ["base_parameters"]})

    def test_too_many_bodies(self):
        self.put_model("long", chain(101))
        answer = self.client.post("/v1/models/long/regressor", {"q": [0] * 101, "outputs": ["base_parameters"]})
        self.assertIn("100", self.assertProblem(answer, 422)["detail"])

    def test_too_large_a_robot(self):
        """The squares in the rank computation of a 1e100 m long robot overflow: the answer is result-not-finite, not a
        lack of memory."""
        huge = chain(3)
        huge["links"][1]["joint"]["origin"] = {"xyz": [1e100, 0, 0]}
        self.put_model("huge", huge)
        answer = self.client.post("/v1/models/huge/regressor", {"q": [0] * 3, "outputs": ["base_parameters"]})
        self.assertEqual(self.assertProblem(answer, 422)["code"], "result-not-finite")

    def test_asked_for_at_once(self):
        """Several clients ask at once for the base parameters of a new model and get the same answer."""
        self.put_model("new", chain(12))

        def ask(_):
            client = self.server.client()
            self.addCleanup(client.close)
            return client.post("/v1/models/new/regressor", {"q": [0] * 12, "outputs": ["base_parameters"]}).text

        answers = in_threads(6, ask)
        self.assertEqual(list(json.loads(answers[0])), ["base_parameters"])
        self.assertEqual(answers, answers[:1] * 6)

    def test_the_deadline_holds_while_they_are_found(self):
        """The server computes base parameters once for each model. For a large model this exceeds a short deadline, and
        a later request succeeds."""
        request = {"q": [0] * 55, "outputs": ["base_parameters"]}
        answer = self.client.post("/v1/models/gait55/regressor", request, Request_Timeout="0.01")
        self.assertEqual(self.assertProblem(answer, 504)["code"], "deadline-passed")
        self.assertEqual(self.client.post("/v1/models/gait55/regressor", request).status, 200)


if __name__ == "__main__":
    tap.main()
