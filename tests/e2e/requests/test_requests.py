"""Tests the forms of requests and answers: batches, coordinates by name instead of by order, permuted joints, evaluate, and the text of numbers.
"""
import json
import math
import random
import re
import struct
import unittest

import tap
from arrays import ecmascript, flatten
from harness import Server, ServerCase
from samples import KINEMATICS, branched, everything, slider, states

NUMBER = re.compile(r"-?[0-9][0-9.eE+-]*")


def row(answer, index):
    """Returns one row of a batched answer: the entry `index` of every array."""
    if isinstance(answer, dict):
        return {name: row(value, index) for name, value in answer.items()}
    return answer[index]


class Batches(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/fixed", branched())
        cls.client.put("/v1/models/floating", branched("floating"))

    def test_rows_are_single_answers_to_the_bit(self):
        for model, nv in (("fixed", 4), ("floating", 10)):
            batch = states(13, nv, model == "floating")
            together = self.ask_texts(model, "evaluate", everything(batch))
            for i in range(13):
                alone = self.ask_texts(model, "evaluate", everything(row(batch, i)))
                self.assertEqual(row(together, i), alone, f"{model} row {i}")

    def test_place_and_size_do_not_matter(self):
        """A state gives the same text at every place in batches of 1 to 40 rows."""
        others = states(40)
        mine = row(states(1, seed=9), 0)
        alone = self.ask_texts("fixed", "evaluate", everything(mine))
        for size in range(1, 41):
            place = 7 * size % 11 % size
            batch = {name: values[:place] + [mine[name]] + values[place:size - 1] for name, values in others.items()}
            self.assertEqual(len(batch["q"]), size)
            together = self.ask_texts("fixed", "evaluate", everything(batch))
            self.assertEqual(row(together, place), alone, f"{place}/{size}")

    def test_flat_fields_are_shared(self):
        batch = states(5)
        request = {"q": batch["q"], "qd": batch["qd"][0], "qdd": batch["qdd"]}
        spread = {**request, "qd": [batch["qd"][0]] * 5}
        self.assertEqual(self.ask_texts("fixed", "inverse-dynamics", request),
                         self.ask_texts("fixed", "inverse-dynamics", spread))
        only_rates = self.ask_texts("fixed", "inverse-dynamics", {"q": batch["q"][0], "qd": batch["qd"]})
        self.assertEqual(len(only_rates["tau"]), 5)

    def test_a_batch_of_one_stays_a_batch(self):
        batch = states(1)
        answer = self.ask("fixed", "evaluate", everything(batch))
        self.assertEqual(len(answer["inverse-dynamics"]["tau"]), 1)
        self.assertEqual(len(answer["energy"]["kinetic"]), 1)
        self.assertEqual(len(answer["energy"]["mass"]), 1)
        self.assertEqual(len(answer["kinematics"]["poses"]["tool"]["position"]), 1)
        self.assertEqual(len(answer["kinematics"]["jacobian"][0]), 6)

    def test_every_numeric_field_is_batched_when_any_input_is(self):
        """If any input is batched, so are all outputs, also those that do not depend on it."""
        batch = states(3)
        answer = self.ask("fixed", "evaluate", everything({"q": batch["q"][0], "tau": batch["tau"]}))
        for operation, outputs in answer.items():
            for output, value in outputs.items():
                for part in (value.values() if output == "poses" else [value]):
                    for numbers in (part.values() if output == "poses" else [part]):
                        self.assertEqual(len(numbers), 3, f"{operation} {output}")
        self.assertEqual(flatten(answer["energy"]["mass"]), [answer["energy"]["mass"][0]] * 3)
        wrench = {"link": "fore", "torque": [[1, 2, 3], [4, 5, 6]]}
        answer = self.ask("fixed", "inverse-dynamics", {"q": batch["q"][0], "wrenches": [wrench]})
        self.assertEqual(len(answer["tau"]), 2)

    def test_a_thousand_rows_through_a_worker(self):
        batch = states(1000)
        together = self.ask_texts("fixed", "inverse-dynamics", {k: batch[k] for k in ("q", "qd", "qdd")})["tau"]
        for i in (0, 1, 7, 8, 511, 512, 513, 999):
            alone = self.ask_texts("fixed", "inverse-dynamics", {k: batch[k][i] for k in ("q", "qd", "qdd")})["tau"]
            self.assertEqual(together[i], alone)


class SameBitsEverywhere(unittest.TestCase):
    """All targets of one arithmetic class that this machine can run answer the same bytes, whether the event loop or a worker evaluates the
    request.
    """
    TARGETS = ("sse2", "neon", "fma", "avx2", "avx512")

    def answers(self, *arguments):
        try:
            server = Server(*arguments)
        except RuntimeError:
            return None  # this machine does not support the target
        client = server.client()
        for base in ("fixed", "floating"):
            self.assertEqual(client.put("/v1/models/" + base, branched(base)).status, 201)
        bodies = []
        for model, nv in (("fixed", 4), ("floating", 10)):
            for size in (*range(1, 41, 3), 130):
                answer = client.post(f"/v1/models/{model}/evaluate", everything(states(size, nv, nv == 10)))
                self.assertEqual(answer.status, 200, answer)
                bodies.append(answer.body)
        self.check_class(server, client, answer)
        client.close()
        self.assertIsNone(server.stop())
        return bodies

    def check_class(self, server, client, answer):
        """Checks that log, GET /v1 and the answer's header name the same arithmetic class."""
        service = client.get("/v1").json()
        server.await_log('"event":"ready"')
        ready = next(line for line in server.events() if line["event"] == "ready")
        self.assertEqual(service["arithmetic"], "unfused" if service["target"].endswith("_unfused") else "fused")
        self.assertEqual((ready["target"], ready["arithmetic"]), (service["target"], service["arithmetic"]))
        self.assertEqual(answer.headers["Arithmetic"], service["arithmetic"])

    def test_targets(self):
        reference = self.answers("--target", "scalar")
        self.assertIsNotNone(reference, "the scalar target is missing")
        compared = 0
        unfused = [self.answers("--target", target) for target in ("scalar_unfused", "sse2_unfused")]
        if unfused[0] and unfused[1]:
            compared += 1
            self.assertEqual(*unfused)
            self.assertEqual(self.answers("--target", "sse2_unfused", "--inline-limit", "0"), unfused[0], "on a worker")
            self.assertNotEqual(unfused[0], reference)
        for target in self.TARGETS:
            bodies = self.answers("--target", target)
            if bodies is not None:
                compared += 1
                self.assertEqual(bodies, reference, target)
        self.assertGreater(compared, 0, "no vector target on this machine")

    def test_inline_and_worker(self):
        inline = self.answers("--inline-limit", "1000000")
        worker = self.answers("--inline-limit", "0")
        self.assertIsNotNone(inline)
        self.assertEqual(inline, worker)


class Names(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/fixed", branched())
        cls.client.put("/v1/models/floating", branched("floating"))

    def test_objects_instead_of_arrays(self):
        for model, nv in (("fixed", 4), ("floating", 10)):
            served = self.ok(self.client.get(f"/v1/models/{model}"))
            state = row(states(1, nv, model == "floating"), 0)
            named = {}
            for field, values in state.items():
                names = served["position_names"] if field == "q" else served["velocity_names"]
                self.assertEqual(len(names), len(values))
                named[field] = dict(sorted(zip(names, values)))
            self.assertEqual(self.ask_texts(model, "evaluate", everything(named)),
                             self.ask_texts(model, "evaluate", everything(state)))

    def test_published_names(self):
        served = self.ok(self.client.get("/v1/models/floating"))
        joints = ["shoulder", "elbow", "grasp", "hip"]
        base = ["base.x", "base.y", "base.z", "base.qx", "base.qy", "base.qz", "base.qw"]
        self.assertEqual(served["position_names"], base + joints)
        base = ["base.vx", "base.vy", "base.vz", "base.wx", "base.wy", "base.wz"]
        self.assertEqual(served["velocity_names"], base + joints)
        self.assertEqual(self.ok(self.client.get("/v1/models/fixed"))["position_names"], joints)

    def test_permuted_joints(self):
        """`joints` permutes inputs and every axis of length nv in the answer; axes over bodies stay."""
        served = self.ok(self.client.get("/v1/models/fixed"))
        names = served["velocity_names"]
        order = [2, 0, 3, 1]
        state = states(3)
        turned = {field: [[r[i] for i in order] for r in rows] for field, rows in state.items()}
        plain = self.ask_texts("fixed", "evaluate", everything(state))
        other = self.ask_texts("fixed", "evaluate", {**everything(turned), "joints": [names[i] for i in order]})

        def vector(rows):
            return [[r[i] for i in order] for r in rows]

        def columns(rows):
            return [vector(matrix) for matrix in rows]

        def square(rows):
            return [[[m[i][j] for j in order] for i in order] for m in rows]

        turns = {"tau": vector, "qdd": vector, "mass_matrix": square, "inverse": square, "bias": vector,
                 "coriolis": vector, "gravity": vector, "friction": vector, "jacobian": columns,
                 "jacobian_dot": columns, "com_jacobian": columns, "momentum_matrix": columns}
        for operation, outputs in plain.items():
            for output, value in outputs.items():
                expected = turns.get(output, lambda rows: rows)(value)
                self.assertEqual(other[operation][output], expected, f"{operation} {output}")


class Evaluate(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/fixed", branched())

    def test_each_part_is_the_operation_s_own_answer(self):
        for state in (row(states(1), 0), states(4)):
            surroundings = {"gravity": [1, 2, -9], "friction": False,
                            "payload": {"link": "gripper", "mass": 2, "com": [0, 0, 0.1]},
                            "wrenches": [{"link": "finger", "force": [1, 2, 3]}]}
            together = self.ask_texts("fixed", "evaluate", everything({**state, **surroundings}))
            fields = {"inverse-dynamics": ("q", "qd", "qdd"), "forward-dynamics": ("q", "qd", "tau"),
                      "bias": ("q", "qd")}
            for operation, names in fields.items():
                request = {**{name: state[name] for name in names}, **surroundings,
                           **everything({})["operations"][operation]}
                self.assertEqual(together[operation], self.ask_texts("fixed", operation, request), operation)
            request = {**{name: state[name] for name in ("q", "qd", "qdd", "qddd")},
                       "frame": "tool", "outputs": KINEMATICS}
            self.assertEqual(together["kinematics"], self.ask_texts("fixed", "kinematics", request))
            request = {"q": state["q"], "payload": surroundings["payload"], "outputs": ["mass_matrix", "inverse"]}
            self.assertEqual(together["mass-matrix"], self.ask_texts("fixed", "mass-matrix", request))

    def test_only_what_was_asked(self):
        answer = self.ask("fixed", "evaluate", {"q": [0] * 4, "operations": {"mass-matrix": {}}})
        self.assertEqual(list(answer), ["mass-matrix"])
        self.assertEqual(list(answer["mass-matrix"]), ["mass_matrix"])


class Numbers(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/slider", slider())
        cls.client.put("/v1/models/fixed", branched())

    def echo(self, texts):
        """Returns each number as the server prints it: the slider has tau = 1 kg x qdd."""
        body = '{"q":[0],"qdd":[' + ",".join(f"[{text}]" for text in texts) + "]}"
        answer = self.client.post("/v1/models/slider/inverse-dynamics", body, Content_Type="application/json")
        self.assertEqual(answer.status, 200, answer)
        return [r[0] for r in answer.texts()["tau"]]

    def test_layout(self):
        for text in ("1", "10", "0.1", "100", "1e+21", "100000000000000000000", "123456789012345680000", "0.000001",
                     "1e-7", "1.5e-7", "1.234e-10", "123.456", "5e-324", "1e+300", "-2.5", "0.30000000000000004",
                     "9007199254740993", "1.7976931348623157e+307", "2.2250738585072014e-308"):
            self.assertEqual(self.echo([text]), [ecmascript(float(text))], text)

    def test_random_doubles_come_back_in_shortest_form(self):
        rng = random.Random(11)
        values = []
        while len(values) < 5000:
            value = struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0]
            if math.isfinite(value) and abs(value) < 1e300:
                values.append(value)
        self.assertEqual(self.echo([repr(v) for v in values]), [ecmascript(v) for v in values])

    def test_every_number_of_every_answer_is_in_shortest_form(self):
        answer = self.client.post("/v1/models/fixed/evaluate", everything(states(20)))
        paths = [f"/v1/models/fixed{tail}" for tail in ("", "/document")] + ["/v1/models", "/v1"]
        for text in [answer.text] + [self.client.get(path).text for path in paths]:
            unquoted = re.sub(r'"(\\.|[^"\\])*"', '""', text)
            found = NUMBER.findall(unquoted)
            self.assertTrue(found)
            for number in found:
                self.assertEqual(number, ecmascript(float(number)))

    def test_numbers_that_are_read(self):
        texts = ["12345678901234567890", "-12345678901234567890123", "1E5", "1e+5", "0.1e-2", "1e-999", "-0", "0.0",
                 "0e0", "18446744073709551616", "1" + "0" * 300, "0." + "0" * 400 + "1", "3.14159265358979323846264338"]
        self.assertEqual([float(x) for x in self.echo(texts)], [float(x) for x in texts])

    def test_long_numbers_round_to_nearest(self):
        """Numbers of 17 to 800 digits halfway or nearly halfway between two doubles."""
        half = 1 + 2.0 ** -53
        texts = ["1.00000000000000011102230246251565404236316680908203125",
                 "1.00000000000000011102230246251565404236316680908203124",
                 "1.00000000000000011102230246251565404236316680908203125" + "0" * 700 + "1", "9007199254740993.0",
                 repr(half), "2.4703282292062327208e-324", "2.4703282292062328e-324"]
        self.assertEqual([float(x) for x in self.echo(texts)], [float(x) for x in texts])

    def test_white_space_and_escapes_in_names_are_json_s(self):
        body = ' \t\r\n{ "q" :\n[ 0.5 ] , "q\\u0064" : [ 1 ] } \n'
        answer = self.client.post("/v1/models/slider/inverse-dynamics", body, Content_Type="application/json")
        self.assertEqual(json.loads(answer.text), {"tau": [0]})


if __name__ == "__main__":
    tap.main()
