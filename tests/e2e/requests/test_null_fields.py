"""Tests that fields which are null count as absent, in requests and documents of every encoding, and that nulls in arrays do
not."""
import json

import cbor2
import tap
from harness import ServerCase
from samples import branched

Q = [0.1, 0.2, 0.3, 0.4]
REQUESTS = {
    "inverse-dynamics": {"q": Q, "qd": [1, 2, 3, 4], "qdd": {"shoulder": 1, "elbow": 2, "grasp": 3, "hip": 4}, "friction": False,
                         "wrenches": [{"link": "fore", "force": [1, 2, 3]}], "payload": {"link": "gripper", "mass": 1}},
    "evaluate": {"q": Q, "tau": Q, "operations": {"forward-dynamics": {"outputs": ["qdd"]}, "energy": {}}},
    "simulate": {"q": Q, "duration": 0.02, "step": 0.01, "samples": 3, "input": {"tau": Q}}}


def with_nulls(value, depth=0):
    """Returns the value with one more field in each of its objects: a null between the others, under any name."""
    if isinstance(value, list):
        return [with_nulls(entry, depth + 1) for entry in value]
    if not isinstance(value, dict):
        return value
    members = [(key, with_nulls(child, depth + 1)) for key, child in value.items()]
    return dict(members[:1] + [(f"none{depth}", None)] + members[1:])


class NullFields(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert cls.client.put("/v1/models/arm", branched()).status == 201

    def send(self, operation, request, encode=json.dumps, media="application/json"):
        headers = {"Content-Type": media, "Accept": "application/json"}
        return self.client.request("POST", f"/v1/models/arm/{operation}", encode(request), headers)

    def test_absent_in_requests(self):
        for operation, request in REQUESTS.items():
            plain = self.send(operation, request)
            self.assertEqual(plain.status, 200, plain)
            for encode, media in ((json.dumps, "application/json"), (cbor2.dumps, "application/cbor"),
                                  (lambda r: json.dumps(r).replace('"q"', '"\\u0071"'), "application/json")):
                with self.subTest(operation, media=media):
                    self.assertEqual(self.send(operation, with_nulls(request), encode, media).body, plain.body)

    def test_every_optional_field(self):
        """Structs of Go send every field, null if unset. Here they send the fields of the operation and fields that the operation does not
        have."""
        schemas = self.client.get("/openapi.json").json()["components"]["schemas"]
        for operation, request in (("bias", {"q": Q}), ("mass-matrix", {"q": Q}), ("kinematics", {"q": Q})):
            names = schemas["".join(w.capitalize() for w in operation.split("-")) + "Request"]["properties"]
            nulls = {**dict.fromkeys(names), **request, "tau": None, "Comment": None}
            self.assertGreater(len(nulls), 8)
            self.assertEqual(self.send(operation, nulls).body, self.send(operation, request).body)

    def test_many_fields(self):
        """An object of more than 16 members has an index, which must be made again when null members are removed."""
        names = [f"n{i}" for i in range(40)]
        for order in (names, names[::-1]):
            request = {**dict.fromkeys(order[:20]), "q": Q, **dict.fromkeys(order[20:])}
            self.assertEqual(self.send("bias", request).body, self.send("bias", {"q": Q}).body)
        many = {"q": Q, **dict.fromkeys(names), **{f"x{i}": 1 for i in range(20)}}
        problem = self.assertProblem(self.send("bias", many), 422, "/x0")
        self.assertEqual(problem["code"], "unknown-field")

    def test_needed_fields_are_missing(self):
        for operation, request, pointer in (("bias", {"q": None}, "/q"), ("kinematics", {"q": Q, "outputs": ["jacobian"], "frame": None}, None),
                                            ("bias", {"q": {"shoulder": 1, "elbow": None, "grasp": 2, "hip": 3}}, "/q/elbow")):
            problem = self.assertProblem(self.send(operation, request), 422, pointer)
            self.assertEqual(problem["code"], "missing-field", problem)

    def test_values_in_arrays(self):
        for request, pointer in (({"q": [0.1, None, 0.3, 0.4]}, "/q/1"), ({"q": [Q, None]}, "/q/1"),
                                 ({"q": Q, "wrenches": [None]}, "/wrenches/0"), ({"q": Q, "outputs": [None]}, "/outputs/0")):
            for encode, media in ((json.dumps, "application/json"), (cbor2.dumps, "application/cbor")):
                self.assertProblem(self.send("bias", request, encode, media), 422, pointer)

    def test_keys_stay_unique(self):
        for text in ('{"q":null,"q":[0.1,0.2,0.3,0.4]}', '{"q":[0.1,0.2,0.3,0.4],"q":null}', '{"q":null,"q":null}'):
            self.assertEqual(self.assertProblem(self.send("bias", text, str), 400)["code"], "duplicate-key")

    def test_a_null_at_the_top(self):
        self.assertProblem(self.send("bias", None), 422)

    def test_absent_in_documents(self):
        revision = self.client.get("/v1/models/arm").json()["revision"]
        answer = self.client.put("/v1/models/nulls", with_nulls(branched()))
        self.assertEqual(self.ok(answer, 201)["revision"], revision)
        document = self.client.get("/v1/models/nulls/document")
        self.assertNotIn(b":null", document.body)

    def test_arrays_of_documents(self):
        document = branched()
        document["gravity"] = [0, 0, None]
        self.assertProblem(self.client.put("/v1/models/nulls", document), 422, "/gravity/2")
        document = branched()
        document["links"].append(None)
        self.assertProblem(self.client.put("/v1/models/nulls", document), 422, f"/links/{len(document['links']) - 1}")


if __name__ == "__main__":
    tap.main()
