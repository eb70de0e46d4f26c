"""Answers in CBOR, decoded by cbor2: the same doubles as in JSON, bit for bit, in the encoding that is promised (definite
lengths, shortest heads, 64-bit floats, typed arrays); which encoding is chosen; how long an answer may get."""
import json
import re
import struct

import cbor2
import tap
from cbor2 import CBORTag
from harness import Server, ServerCase
from samples import body, branched, everything, states

CBOR = "application/cbor"


def bits(values):
    return struct.pack(f"<{len(values)}d", *values)


def extents(value):
    return [len(value)] + extents(value[0]) if isinstance(value, list) and value else []


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


def is_numbers(value):
    """Whether JSON's array is one of numbers: of as many dimensions as it likes, all rows alike."""
    if not isinstance(value, list) or not value or not all(isinstance(x, (int, float)) for x in flat(value)):
        return False
    return len(flat(value)) == _product(extents(value))


def _product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def not_a_number(value):
    return [not_a_number(entry) for entry in value] if isinstance(value, list) else float("nan")


class CborCase(ServerCase):
    def assertSame(self, json_value, cbor_value, where=""):
        """What JSON says as CBOR should say it: null in an array of numbers, a row that has failed, is NaN."""
        if isinstance(json_value, list) and None in json_value and isinstance(cbor_value, CBORTag):
            row = next(row for row in json_value if row is not None)
            json_value = [not_a_number(row) if entry is None else entry for entry in json_value]
        if is_numbers(json_value):
            shape = extents(json_value)
            if len(shape) > 1:
                self.assertEqual(cbor_value.tag, 40, where)
                self.assertEqual(cbor_value.value[0], shape, where)
                cbor_value = cbor_value.value[1]
            self.assertEqual(cbor_value.tag, 86, where)
            self.assertEqual(cbor_value.value, bits(flat(json_value)), where)
        elif isinstance(json_value, list):
            self.assertEqual(len(json_value), len(cbor_value), where)
            for i, (a, b) in enumerate(zip(json_value, cbor_value)):
                self.assertSame(a, b, f"{where}/{i}")
        elif isinstance(json_value, dict):
            self.assertEqual(list(json_value), list(cbor_value), where)
            for key in json_value:
                self.assertSame(json_value[key], cbor_value[key], f"{where}/{key}")
        elif isinstance(json_value, float):
            self.assertIsInstance(cbor_value, (int, float), where)
            self.assertEqual(bits([json_value]), bits([cbor_value]), where)
        else:
            self.assertIs(type(json_value), type(cbor_value), where)
            self.assertEqual(json_value, cbor_value, where)

    def both(self, method, path, request=None, **headers):
        """Asks twice; returns the decoded answer in CBOR."""
        plain = self.client.request(method, path, request, {"Accept": "application/json", **headers})
        coded = self.client.request(method, path, request, {"Accept": CBOR, **headers})
        self.assertIn(plain.status, (200, 201), plain)
        self.assertIn(coded.status, (200, 201), coded)
        self.assertEqual(coded.headers["Content-Type"], CBOR)
        decoded = cbor2.loads(coded.body)
        # cbor2 writes definite lengths, the shortest heads and floats of 64 bits, as is asked of the answer
        self.assertEqual(cbor2.dumps(decoded), coded.body, path)
        self.assertSame(json.loads(plain.body, parse_int=float), decoded, path)
        return decoded


class SameDoubles(CborCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put_model(cls(), "arm", branched())
        cls.put_model(cls(), "free", branched("floating"))
        cls.put_model(cls(), "brick", {"base": {"type": "floating", "link": "brick", "inertial": body(2)}, "links": []})
        cls.contract = cls.client.get("/openapi.json").json()

    def test_every_example_of_the_contract(self):
        asked = set()
        for path, item in self.contract["paths"].items():
            for name, example in item.get("post", {}).get("requestBody", {"content": {}})["content"].get(
                    "application/json", {"examples": {}})["examples"].items():
                self.both("POST", path.replace("{model}", name.split("-")[0]), example["value"])
                asked.add(path.rsplit("/", 1)[1])
        self.assertEqual(asked, {o["name"] for o in self.client.get("/v1").json()["operations"]})

    def test_every_output_of_states_and_batches(self):
        for model, floating in (("arm", False), ("free", True)):
            nv = 10 if floating else 4
            rows = states(23, nv=nv, floating=floating)
            self.both("POST", f"/v1/models/{model}/evaluate", everything(rows))
            for i in (0, 22):
                one = {name: values[i] for name, values in rows.items()}
                self.both("POST", f"/v1/models/{model}/evaluate", everything(one))

    def test_numbers_of_the_answer(self):
        request = {"q": [0.1, 0.2, 0.3, 0.4], "outputs": ["kinetic", "potential", "mass", "com"]}
        one = self.both("POST", "/v1/models/arm/energy", request)
        self.assertIsInstance(one["mass"], float)
        self.assertEqual(one["com"].tag, 86)
        many = self.both("POST", "/v1/models/arm/energy", {**request, "q": [request["q"]] * 3})
        self.assertEqual(many["mass"].tag, 86, "B numbers are flat")
        self.assertEqual(many["mass"].value, bits([one["mass"]] * 3))
        self.assertEqual(many["com"].value[0], [3, 3])
        self.assertEqual(many["com"].value[1].value, one["com"].value * 3)

    def test_permutations(self):
        names = self.client.get("/v1/models/arm").json()["velocity_names"]
        request = {"q": states(9)["q"], "qd": states(9)["qd"], "joints": names[2:] + names[:2]}
        for operation, outputs in (("bias", ["bias", "coriolis"]), ("coriolis", ["christoffel"]),
                                   ("kinematics", ["jacobian"])):
            options = {"frame": "tool"} if operation == "kinematics" else {}
            self.both("POST", f"/v1/models/arm/{operation}", {**request, **options, "outputs": outputs})

    def test_no_numbers_at_all(self):
        """A brick has no joints: no columns of their parameters; and nothing is asked about wrenches that nobody gives."""
        q = [0, 0, 0, 0, 0, 0, 1]
        path, outputs = "/v1/models/brick/regressor", ["joint_regressor"]
        one = self.client.post(path, {"q": q, "outputs": outputs}, Accept=CBOR)
        self.assertEqual(cbor2.loads(one.body), {"joint_regressor": [CBORTag(86, b"")] * 6}, "no dimension may be zero")
        two = self.client.post(path, {"q": [q, q], "outputs": outputs}, Accept=CBOR)
        self.assertEqual(cbor2.loads(two.body), {"joint_regressor": [[CBORTag(86, b"")] * 6] * 2})
        none = self.client.post("/v1/models/brick/sensitivity", {"q": q, "outputs": ["dtau_dwrench"]}, Accept=CBOR)
        self.assertEqual(cbor2.loads(none.body), {"dtau_dwrench": []})

    def test_models_and_the_service(self):
        service = self.both("GET", "/v1")
        self.assertIsInstance(service["limits"]["rows"], int)
        self.assertIsInstance(service["limits"]["angle"], float)
        models = self.both("GET", "/v1/models")["models"]
        self.assertGreater(len(models), 12)
        for model in models:
            self.assertIsInstance(model["nq"], int)
            described = self.both("GET", f"/v1/models/{model['name']}")
            self.assertEqual(described["gravity"].tag, 86)
            self.both("GET", f"/v1/models/{model['name']}/document")
        self.both("PUT", "/v1/models/another", branched(), **{"Content-Type": "application/json"})


class Choice(CborCase):
    def test_by_accept(self):
        path, request = "/v1/models/puma560/bias", {"q": [0.5] * 6}
        body = cbor2.dumps(request)
        for accept, own, expected in (
                (None, "json", "json"), (None, "cbor", "cbor"), ("*/*", "cbor", "cbor"), ("*/*", "json", "json"),
                ("application/*", "cbor", "cbor"), ("application/json", "cbor", "json"),
                ("application/cbor", "json", "cbor"), ("application/cbor;q=0.2, application/json;q=0.1", "json", "cbor"),
                ("application/cbor;q=0.2, application/json;q=0.3", "cbor", "json"),
                ("application/json;q=0, */*;q=0.1", "json", "cbor"), ("text/html, application/cbor;q=0.1", "json", "cbor")):
            headers = {"Content_Type": f"application/{own}"}
            if accept:
                headers["Accept"] = accept
            answer = self.client.post(path, request if own == "json" else body, **headers)
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(answer.headers["Content-Type"], f"application/{expected}", (accept, own))
        for accept in ("application/cbor;q=0, application/json;q=0", "application/cbor-seq", "text/cbor"):
            self.assertProblem(self.client.post(path, body, Content_Type=CBOR, Accept=accept), 406)

    def test_errors_are_json(self):
        answer = self.client.post("/v1/models/puma560/bias", cbor2.dumps({"q": [0.5]}), Content_Type=CBOR, Accept=CBOR)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        self.assertProblem(answer, 422, "/q")

    def test_entity_tags(self):
        path = "/v1/models/puma560"
        plain, coded = self.client.get(path), self.client.get(path, Accept=CBOR)
        self.assertNotEqual(plain.headers["ETag"], coded.headers["ETag"])
        self.assertIn("Accept", plain.headers["Vary"])
        self.assertEqual(self.client.get(path, Accept=CBOR, If_None_Match=coded.headers["ETag"]).status, 304)
        self.assertEqual(self.client.get(path, Accept=CBOR, If_None_Match=plain.headers["ETag"]).status, 200)
        for tag in plain.headers["ETag"], coded.headers["ETag"]:
            answer = self.client.post(path + "/bias", {"q": [0.5] * 6}, If_Match=tag)
            self.assertEqual(answer.status, 200, answer)

    def test_head(self):
        for path in "/v1", "/v1/models", "/v1/models/puma560", "/v1/models/puma560/document":
            head = self.client.request("HEAD", path, headers={"Accept": CBOR})
            self.assertEqual(int(head.headers["Content-Length"]), len(self.client.get(path, Accept=CBOR).body))


class Size(CborCase):
    """In CBOR the size is known to the byte."""

    def test_as_many_rows_as_said(self):
        request = {"q": states(300)["q"], "outputs": ["poses", "jacobian"], "frame": "tool"}
        self.put_model("arm", branched())
        whole = len(self.client.post("/v1/models/arm/kinematics", request, Accept=CBOR).body)
        for limit in whole, whole - 1, whole // 3:
            server = Server("--max-answer", str(limit))
            try:
                client = server.client()
                client.put("/v1/models/arm", branched())
                answer = client.post("/v1/models/arm/kinematics", request, Accept=CBOR)
                if limit == whole:
                    self.assertEqual(answer.status, 200, answer)
                    continue
                fit = int(re.search(r"(\d+) rows fit", self.assertProblem(answer, 413)["detail"])[1])
                for rows, status in ((fit, 200), (fit + 1, 413)):
                    part = client.post("/v1/models/arm/kinematics", {**request, "q": request["q"][:rows]}, Accept=CBOR)
                    self.assertEqual(part.status, status, rows)
            finally:
                self.assertIsNone(server.stop())


if __name__ == "__main__":
    tap.main()
