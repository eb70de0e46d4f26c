"""Tests that schemas and server accept the same requests. Every value of every example in the contract is replaced,
removed or given a companion: the server refuses what the schema refuses, and the schema refuses what the server refuses
for its type or for a missing or unknown field."""
import copy
import json
import re

import jsonschema
import tap
from closed import bundled
from harness import ServerCase
from samples import THREE_LINK
from test_link_order import walker

VALUES = (None, True, "x", "", {}, [], -1, 0, 0.5, [[]], ["x"], [None], {"x": 1})
NAME_LISTS = {"outputs", "frames", "axes", "kinds", "unknown", "joints"}
FORM = {"wrong-type", "missing-field", "unknown-field"}  # codes of errors that a schema can express

Q = [0, 0, 0, 0, 0, 0, 1, 0.1, 0.2, 0.3, 0, 0, 0, 1, 0.1, 0.2, 0, 0, 0, 0.1]
REQUESTS = (
    ("inverse-dynamics", {
        "q": Q, "gravity": [0, 0, -9], "friction": True, "payload": [{"link": "palm_frame", "mass": 1, "com": [0, 0, 0.1],
                                                                      "inertia": {"xx": 1, "yy": 1, "zz": 1}}],
        "wrenches": [{"link": "palm", "frame": "palm_frame", "force": [1, 2, 3], "torque": [0, 0, 1], "point": [0, 0, 0.1]}]}),
    ("task-space", {"q": Q, "frame": "thumb", "axes": ["x", "y"], "damping": 0.1}),
    ("kinematics", {"q": Q, "frames": ["palm"], "frame": "thumb", "reference": "frame", "outputs": ["jacobian", "poses"]}),
    ("impact", {"q": Q, "qd": [0.1] * 18, "restitution": 0.5, "held": [{"frame": "foot", "axes": ["z"], "reference": "world"}]}),
    ("inverse-kinematics", {"frame": "palm", "position": [0.1, 0.2, 0.3], "direction": [0, 0, 1], "axis": [1, 0, 0], "starts": 2,
                            "tolerance": 1, "damping": 0.1, "limits": False, "q": Q, "outputs": ["q", "angle"]}),
    ("inverse-kinematics", {"tasks": [{"frame": "palm", "position": [0.1, 0.2, 0.3], "weight": 2, "priority": 1}, {"com": [0, 0, 1], "priority": 1}],
                            "sequence": False, "starts": 2, "tolerance": 1, "limits": False, "q": Q, "outputs": ["q", "task_errors"]}),
    ("differential-inverse-kinematics", {"q": Q, "step": 0.01, "damping": 0.1, "kinds": ["velocity"], "outputs": ["qd", "limited"],
                                         "tasks": [{"frame": "palm", "velocity": [0.1, 0.2, 0.3]}, {"com_velocity": [0, 0, 1], "weight": 2, "priority": 1}]}),
    ("ground-reaction", {"q": Q, "feet": [{"link": "foot", "point": [0, 0, 0.1]}], "plane": {"point": [0, 0, 0], "normal": [0, 0, 1]}}))


def places(value, path=()):
    """Yields the paths of all values; of an array only the first entry is visited."""
    yield path
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, (*path, key))
    elif isinstance(value, list):
        for i, child in enumerate(value[:1]):
            yield from places(child, (*path, i))


def changed(value, path, change):
    """Returns a copy in which `change` was called on the container of the value at the path."""
    value = copy.deepcopy(value)
    at = value
    for key in path[:-1]:
        at = at[key]
    change(at, path[-1])
    return value


def spelled_out(value, key=None):
    """Removes fields that are null and puts single names into arrays: the introduction of the contract allows a null field, and a name instead
    of an array of one name, everywhere, and the schemas do not repeat this."""
    if isinstance(value, dict):
        return {name: spelled_out(child, name) for name, child in value.items() if child is not None}
    if isinstance(value, list):
        return [spelled_out(child) for child in value]
    return [value] if isinstance(value, str) and key in NAME_LISTS else value


def mutants(request):
    for path in places(request):
        if path:
            yield path, "removed", changed(request, path, lambda at, key: at.pop(key))
            for new in VALUES:
                yield path, json.dumps(new), changed(request, path, lambda at, key: at.__setitem__(key, new))
        at = request
        for key in path:
            at = at[key]
        if isinstance(at, dict):
            yield path, "one more", changed({"": request}, ("", *path), lambda at, key: at[key].update(zz=1))[""]


class Agreement(ServerCase):
    # Refusals that no schema can express: coordinates of the model, and fields that require others.
    BEYOND = re.compile(r"a number given, an array of|names instead of order|\.?\w+ is missing$|not known to evaluate with these|"
                        r"without feet|all outputs but poses need|outputs of points need|needs tau|(axis|pitch)\" is needed here|moving joints? need|steps given, \d+ of|phases have|phases given for")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.contract = cls.client.get("/openapi.json").json()
        assert cls.client.put("/v1/models/walker", walker()).status == 201
        cls.resolver = jsonschema.RefResolver("", cls.contract)

    def examples(self):
        for path, item in self.contract["paths"].items():
            content = item.get("post", item.get("put", {})).get("requestBody", {}).get("content", {}).get("application/json")
            for name, example in content["examples"].items() if content else ():
                model = name.split("-")[0]
                yield path.replace("{model}", model), "PUT" if "put" in item else "POST", content["schema"], example["value"]
        for operation, request in REQUESTS:
            name = "".join(word.capitalize() for word in operation.split("-"))
            yield f"/v1/models/walker/{operation}", "POST", {"$ref": f"#/components/schemas/{name}Request"}, request
        for document in (walker(), THREE_LINK, bundled("four_bar")):
            yield "/v1/models/mutant", "PUT", {"$ref": "#/components/schemas/Document"}, document

    def test_mutated_examples(self):
        known, lenient, strict, count = {}, [], [], 0
        for path, method, schema, example in self.examples():
            name = schema["$ref"]
            validator = known.setdefault(name, jsonschema.Draft202012Validator(schema, resolver=self.resolver))
            for where, what, request in mutants(example):
                count += 1
                answer = self.client.request(method, path, request)
                self.assertIn(answer.status, (200, 201, 413, 422), answer)
                good, taken = validator.is_valid(spelled_out(request)), answer.status < 300
                if not good and taken:
                    strict.append((path, where, what))
                detail = "" if taken else answer.json()["detail"]
                if good and not taken and answer.json()["code"] in FORM and not self.BEYOND.search(detail):
                    lenient.append((path, where, what, detail))
        print(f"# {count} requests")
        self.assertEqual(strict, [], "the schema refuses what the server takes")
        self.assertEqual(lenient, [], "the schema takes what the server refuses for its form")


if __name__ == "__main__":
    tap.main()
