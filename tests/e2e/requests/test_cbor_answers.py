"""Tests answers in CBOR, decoded by cbor2: the doubles have the bits of the JSON answer; the encoding is the promised
one (definite lengths, shortest heads, 64-bit floats, three forms of arrays); the Accept header selects the encoding and
the form; the size limit holds."""
import json
import random
import re
import struct

import cbor2
import tap
from cbor2 import CBORTag
from harness import Server, ServerCase
from samples import body, branched, chain, everything, states

CBOR = "application/cbor"
FORMS = ("plain", "typed", "multidimensional")
SHAPED = "application/cbor; arrays=multidimensional"


def bits(values):
    return struct.pack(f"<{len(values)}d", *values)


def extents(value):
    return [len(value)] + extents(value[0]) if isinstance(value, list) and value else []


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


def is_numbers(value):
    """True if a JSON array is a rectangular array of numbers of any dimension."""
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
    def assertSame(self, json_value, cbor_value, form, where=""):
        """Checks that the CBOR value equals the JSON value. In an array of numbers, null (a failed row) corresponds to null
        in the plain form, and to NaN in the others."""
        if isinstance(json_value, list) and None in json_value and form != "plain":
            row = next(row for row in json_value if row is not None)
            if isinstance(row, float) or is_numbers(row):
                json_value = [not_a_number(row) if entry is None else entry for entry in json_value]
        if is_numbers(json_value) and (form == "multidimensional" or form == "typed" and len(extents(json_value)) == 1):
            shape = extents(json_value)
            if len(shape) > 1:
                self.assertEqual(cbor_value.tag, 40, where)
                self.assertEqual(cbor_value.value[0], shape, where)
                cbor_value = cbor_value.value[1]
            self.assertEqual(cbor_value.tag, 86, where)
            self.assertEqual(cbor_value.value, bits(flat(json_value)), where)
        elif isinstance(json_value, list):
            self.assertIsInstance(cbor_value, list, where) if json_value else None
            self.assertEqual(len(json_value), len(cbor_value), where)
            for i, (a, b) in enumerate(zip(json_value, cbor_value)):
                self.assertSame(a, b, form, f"{where}/{i}")
        elif isinstance(json_value, dict):
            self.assertEqual(list(json_value), list(cbor_value), where)
            for key in json_value:
                self.assertSame(json_value[key], cbor_value[key], form, f"{where}/{key}")
        elif isinstance(json_value, float):
            self.assertIsInstance(cbor_value, (int, float), where)
            self.assertEqual(bits([json_value]), bits([cbor_value]), where)
        else:
            self.assertIs(type(json_value), type(cbor_value), where)
            self.assertEqual(json_value, cbor_value, where)

    def both(self, method, path, request=None, **headers):
        """Sends a request once for JSON and once for each form of CBOR, compares the answers, and returns the decoded
        CBOR answer with multidimensional arrays."""
        plain = self.client.request(method, path, request, {"Accept": "application/json", **headers})
        self.assertIn(plain.status, (200, 201), plain)
        expected = json.loads(plain.body, parse_int=float)
        for form in FORMS:
            kind = f"{CBOR}; arrays={form}"
            coded = self.client.request(method, path, request, {"Accept": kind, **headers})
            self.assertIn(coded.status, (200, 201), coded)
            self.assertEqual(coded.headers["Content-Type"], kind)
            decoded = cbor2.loads(coded.body)
            # cbor2 encodes with definite lengths, shortest heads and 64-bit floats, as the contract promises
            self.assertEqual(cbor2.dumps(decoded), coded.body, path)
            self.assertSame(expected, decoded, form)
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
        """Empty arrays: a body without joints has no columns of joint parameters, and the derivatives by wrenches of a request without wrenches
        have no columns."""
        q = [0, 0, 0, 0, 0, 0, 1]
        path, outputs = "/v1/models/brick/regressor", ["joint_regressor"]
        one = self.client.post(path, {"q": q, "outputs": outputs}, Accept=SHAPED)
        self.assertEqual(cbor2.loads(one.body), {"joint_regressor": [CBORTag(86, b"")] * 6}, "no dimension may be zero")
        two = self.client.post(path, {"q": [q, q], "outputs": outputs}, Accept=SHAPED)
        self.assertEqual(cbor2.loads(two.body), {"joint_regressor": [[CBORTag(86, b"")] * 6] * 2})
        none = self.client.post("/v1/models/brick/sensitivity", {"q": q, "outputs": ["dtau_dwrench"]}, Accept=SHAPED)
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


class Counts(CborCase):
    """CBOR needs longer heads for maps and arrays from 24, 256 and 65 536 entries on. Tests counts around these at
    every nesting level."""
    ROUND = (1, 22, 23, 24, 25, 26, 254, 255, 256, 257)

    def outputs_of(self, operation):
        """Returns the names of an operation's outputs, from the contract."""
        schemas = self.client.get("/openapi.json").json()["components"]["schemas"]
        return schemas[operation]["properties"]["outputs"]["items"]["enum"]

    def test_outputs_of_trajectory(self):
        """Random subsets of the outputs of `trajectory`, for one motion and for several motions, with and without failing rows."""
        rng = random.Random(24)
        rest = [0, 0, 0, -2, 0, 2, 0]
        motion = {"degree": 3, "duration": 1, "samples": 2, "points": [{"frame": "panda_flange"}],
                  "control_points": [rest, rest, [0.1] + rest[1:], [0.1] + rest[1:]]}
        names = [name for name in self.outputs_of("TrajectoryRequest")
                 if self.client.post("/v1/models/panda/trajectory", {**motion, "outputs": [name]}).status == 200]
        self.assertGreater(len(names), 26)
        several = {**motion, "control_points": [motion["control_points"]] * 3}
        for count in range(1, len(names) + 1):
            chosen = rng.sample(names, count)
            for request in (motion, several, {**several, "on_error": "row"}):
                self.both("POST", "/v1/models/panda/trajectory", {**request, "outputs": chosen})

    def test_operations_of_evaluate(self):
        """`evaluate` with random subsets of the operations that need only a state, each with one output and with all outputs."""
        self.put_model("arm", branched())
        request = everything(states(3))
        plenty = request["operations"]
        for operation in (o["name"] for o in self.client.get("/v1").json()["operations"]):
            options = {"frame": "tool"} if operation in ("kinematics", "task-space") else {}
            more = {**request, "operations": {**plenty, operation: options}}
            if operation not in plenty and self.client.post("/v1/models/arm/evaluate", more).status == 200:
                plenty[operation] = options
        print(f"# {len(plenty)} operations in one request")
        self.assertGreater(len(plenty), 12)
        for count in range(6, len(plenty) + 1):
            self.both("POST", "/v1/models/arm/evaluate", {**request, "operations": dict(list(plenty.items())[:count])})
        self.both("POST", "/v1/models/arm/evaluate", {**request, "on_error": "row"})

    def test_frames(self):
        """Poses of 1 to 257 frames: an object within the answer, and within evaluate one level deeper."""
        most = self.ROUND[-1]
        frames = [{"name": f"f{i}", "link": "fore", "xyz": [0.01 * i, 0, 0.02 * i]} for i in range(most)]
        self.put_model("framed", {**branched(), "frames": frames})
        for count in self.ROUND:
            names = [frame["name"] for frame in frames[:count]]
            for q in ([0.1, 0.2, 0.3, 0.4], states(5)["q"]):
                self.both("POST", "/v1/models/framed/kinematics", {"q": q, "frames": names})
                self.both("POST", "/v1/models/framed/evaluate",
                          {"q": q, "operations": {"kinematics": {"frames": names}, "energy": {}, "bias": {}}})

    def test_coordinates_and_lists(self):
        """GET of models and of their documents: answers with long lists of names, without arrays of results."""
        for count in (*self.ROUND[1:6], 254, 255, 256, 257):
            self.put_model(f"chain{count}", chain(count))
            self.both("GET", f"/v1/models/chain{count}")
            self.both("GET", f"/v1/models/chain{count}/document")

    def test_failed_rows(self):
        """Answers with 1 to 257 entries of `errors` after the arrays of results."""
        self.put_model("arm", branched())
        for count in self.ROUND:
            rows = [[0.1, 0.2, 0.3, 0.4]] + [[0.1, 0.2, 0.3, 1e300]] * count
            answer = self.both("POST", "/v1/models/arm/inverse-dynamics", {"q": rows, "on_error": "row"})
            self.assertEqual(len(answer["errors"]), count)


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

    def test_form_of_arrays(self):
        """Unless the Accept header names a form, the arrays of the answer have the form of the request's arrays: plain CBOR arrays unless all
        arrays of the request are typed."""
        path, q = "/v1/models/puma560/coriolis", [0.5] * 6
        row, rows = CBORTag(86, bits(q)), CBORTag(40, [[2, 6], CBORTag(86, bits(q + q))])
        answers = {}
        for request, accept, expected, kind in (
                ({"q": q}, CBOR, "plain", CBOR), ({"q": [q, q]}, CBOR, "plain", CBOR), ({"q": row}, CBOR, "typed", CBOR),
                ({"q": [row, row]}, None, "typed", CBOR), ({"q": rows}, None, "multidimensional", CBOR),
                ({"q": rows, "qd": q}, None, "plain", CBOR), ({"q": [row, q]}, None, "plain", CBOR),
                ({"q": CBORTag(40, [[2, 6], q + q])}, None, "plain", CBOR),
                ({"q": rows, "qd": row}, None, "multidimensional", CBOR),
                *(({"q": given}, f"{CBOR}; arrays={form}", form, f"{CBOR}; arrays={form}")
                  for form in FORMS for given in (q, [q, q], row, rows)),
                ({"q": rows}, f"{CBOR};arrays=typed;q=0.5, {CBOR};arrays=plain;q=0.4", "typed", f"{CBOR}; arrays=typed"),
                ({"q": rows}, f"{CBOR};arrays=nested, {CBOR};arrays=plain;q=0.1", "plain", f"{CBOR}; arrays=plain")):
            headers = {"Content_Type": CBOR, **({"Accept": accept} if accept else {})}
            answer = self.client.post(path, cbor2.dumps({"qd": request["q"], **request, "outputs": ["coriolis_matrix"]}), **headers)
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, kind), answer)
            value = cbor2.loads(answer.body)["coriolis_matrix"]
            form = "multidimensional" if isinstance(value, CBORTag) else "plain"
            while isinstance(value, list):
                value = value[0]
                form = "typed" if isinstance(value, CBORTag) else form
            self.assertEqual(form, expected, (request, accept))
            several = request["q"] not in (q, row)
            self.assertEqual(answers.setdefault((several, form), answer.body), answer.body, (request, accept))
        for arrays in "nested", "", "plain typed":
            problem = self.assertProblem(self.client.post(path, {"q": q}, Accept=f'{CBOR}; arrays="{arrays}"'), 406)
            for form in FORMS:
                self.assertIn(form, problem["detail"])

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
        tags = {self.client.get(path, Accept=f"{CBOR}; arrays={form}").headers["ETag"] for form in FORMS}
        self.assertEqual(len(tags), 3, "the forms have different bytes")

    def test_head(self):
        for path in "/v1", "/v1/models", "/v1/models/puma560", "/v1/models/puma560/document":
            head = self.client.request("HEAD", path, headers={"Accept": CBOR})
            self.assertEqual(int(head.headers["Content-Length"]), len(self.client.get(path, Accept=CBOR).body))


class Size(CborCase):
    """Tests that the limit of an answer's size holds to the byte: in CBOR the size is known in advance."""

    def test_as_many_rows_as_said(self):
        request = {"q": states(300)["q"], "outputs": ["poses", "jacobian"], "frame": "tool"}
        self.put_model("arm", branched())
        for kind in CBOR, SHAPED:
            self.limited(request, kind)

    def limited(self, request, kind):
        whole = len(self.client.post("/v1/models/arm/kinematics", request, Accept=kind).body)
        for limit in whole, whole - 1, whole // 3:
            server = Server("--max-answer", str(limit))
            try:
                client = server.client()
                client.put("/v1/models/arm", branched())
                answer = client.post("/v1/models/arm/kinematics", request, Accept=kind)
                if limit == whole:
                    self.assertEqual(answer.status, 200, answer)
                    continue
                fit = int(re.search(r"(\d+) rows fit", self.assertProblem(answer, 413)["detail"])[1])
                for rows, status in ((fit, 200), (fit + 1, 413)):
                    part = client.post("/v1/models/arm/kinematics", {**request, "q": request["q"][:rows]}, Accept=kind)
                    self.assertEqual(part.status, status, rows)
            finally:
                self.assertIsNone(server.stop())


if __name__ == "__main__":
    tap.main()
