"""Tests the contract at /openapi.json against the running server: every example gets the answer written there, every
answer has the promised shape, and OPTIONS and the reference pages agree. tests/api/test_contract.c compares the
product's own tables with the contract."""
import json
import os
import re
import subprocess
import sys
import unittest

import jsonschema
import tap
from harness import BINARY, ROOT, ServerCase
from samples import THREE_LINK

JSON = "application/json"


def rounded(value):
    """Rounds numbers to nine digits: the last digits of LAPACK's results depend on its implementation."""
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    return float(f"{value:.9g}") if isinstance(value, float) else value


class Contract(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.contract = cls.client.get("/openapi.json").json()

    def follow(self, node):
        while isinstance(node, dict) and "$ref" in node:
            path, node = node["$ref"], self.contract
            self.assertTrue(path.startswith("#/"), path)
            for key in path[2:].split("/"):
                node = node[key]
        return node

    def validate(self, value, schema, what):
        resolver = jsonschema.RefResolver("", self.contract)
        errors = sorted(jsonschema.Draft202012Validator(schema, resolver=resolver).iter_errors(value), key=str)
        self.assertEqual([f"{list(e.absolute_path)}: {e.message[:300]}" for e in errors], [], what)

    def operations(self):
        """Yields path, method and operation object."""
        for path, item in self.contract["paths"].items():
            for method in ("get", "put", "post", "delete"):
                if method in item:
                    yield path, method, item[method]

    def answer_schema(self, path, method, status):
        """Returns the schema of an answer with this status, else of the default; None if it has no body."""
        responses = self.contract["paths"][path][method]["responses"]
        content = self.follow(responses.get(str(status), responses.get("default"))).get("content")
        return next(iter(content.values()))["schema"] if content else None

    def test_references_and_names(self):
        def walk(node):
            if isinstance(node, dict):
                if "$ref" in node:
                    self.follow(node)
                for child in node.values():
                    walk(child)
            elif isinstance(node, list):
                for child in node:
                    walk(child)
        walk(self.contract)
        ids = [operation["operationId"] for _, _, operation in self.operations()]
        self.assertEqual(len(ids), len(set(ids)))
        for schema in self.contract["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)

    def test_nothing_is_described_that_nobody_refers_to(self):
        text = str(self.contract)
        named = {scheme for choice in self.contract["security"] for scheme in choice}
        self.assertEqual(set(self.contract["components"]["securitySchemes"]), named)
        self.assertEqual([f"{kind}/{name}" for kind, members in self.contract["components"].items() for name in members
                          if kind != "securitySchemes" and f"'#/components/{kind}/{name}'" not in text], [])

    def test_version(self):
        version = self.ok(self.client.get("/v1"))["version"]
        self.assertEqual(self.contract["info"]["version"], version)
        shown = subprocess.run([BINARY, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(version, shown)
        notes = subprocess.run(["readelf", "--notes", BINARY], capture_output=True, text=True, check=True).stdout
        build = re.search("Build ID: ([0-9a-f]{40})", notes).group(1)
        self.assertEqual((self.ok(self.client.get("/v1"))["build"], shown), (build, f"torqued {version} (build {build})\n"))
        with open(os.path.join(ROOT, "CHANGELOG.md")) as file:
            self.assertIn(f"## {version} ", file.read())

    def test_options(self):
        for path, item in self.contract["paths"].items():
            with self.subTest(path=path):
                methods = {method.upper() for method in item} & {"GET", "PUT", "POST", "DELETE"}
                expected = methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
                if path in ("/docs", "/assets/{file}", "/clients/{file}", "/THIRD_PARTY.txt"):
                    continue  # these paths exist only if the console is built; test_pages.py tests them
                concrete = path.replace("{model}", "puma560").replace("{code}", "bad-json").replace("{format}", "urdf")
                answer = self.client.request("OPTIONS", concrete)
                self.assertEqual(answer.status, 204)
                self.assertEqual(set(re.split(r",\s*", answer.headers["Allow"])), expected)

    def test_evaluate_lists_the_operations_that_it_takes(self):
        """The schemas of evaluate's request and answer must list all operations except those whose rows are not states, such as simulate."""
        schemas = self.contract["components"]["schemas"]
        asked = self.follow(schemas["EvaluateRequest"]["properties"]["operations"])["properties"]
        prefix = "/v1/models/{model}/"
        names = [path[len(prefix):] for path, method, _ in self.operations() if method == "post" and path.startswith(prefix)]
        for name in names:
            if name == "evaluate":
                continue
            with self.subTest(operation=name):
                answer = self.client.post("/v1/models/two_link/evaluate", {"q": [0, 0], "operations": {name: {}}})
                alone = answer.status == 422 and "has rows of its own" in answer.json()["detail"]
                self.assertEqual(name in asked, not alone)
                self.assertEqual(name in schemas["EvaluateAnswer"]["properties"], not alone)

    def test_answers_to_get(self):
        models = [model["name"] for model in self.ok(self.client.get("/v1/models"))["models"]]
        self.assertTrue(models)
        codes = self.contract["components"]["schemas"]["ProblemCode"]["enum"]
        for path, method, operation in self.operations():
            if method != "get" or path == "/openapi.json" or JSON not in operation["responses"]["200"]["content"]:
                continue
            for name in models if "{model}" in path else codes if "{code}" in path else [None]:
                concrete = path.replace("{model}", str(name)).replace("{code}", str(name)).replace("{format}", "urdf")
                with self.subTest(path=concrete):
                    answer = self.ok(self.client.get(concrete))
                    self.validate(answer, self.answer_schema(path, "get", 200), concrete)

    def test_documents_are_put_back(self):
        schema = {"$ref": "#/components/schemas/Document"}
        for model in self.ok(self.client.get("/v1/models"))["models"]:
            with self.subTest(model=model["name"]):
                path = f"/v1/models/{model['name']}"
                document = self.ok(self.client.get(path + "/document"))
                self.validate(document, schema, path)
                answer = self.client.put(path, document)
                self.validate(self.ok(answer), self.answer_schema("/v1/models/{model}", "put", 200), path)
                self.assertEqual(answer.json()["revision"], model["revision"])

    def test_examples(self):
        """A request example gets exactly the answer example of the same name."""
        for path, method, operation in self.operations():
            if "requestBody" not in operation:
                continue
            content = operation["requestBody"]["content"][JSON]
            self.assertTrue(content["examples"], f"{method} {path} has no example")
            for name, example in content["examples"].items():
                with self.subTest(path=path, example=name):
                    self.check_example(path, method, operation, name, example["value"], content["schema"])

    def test_motors_of_screw_models(self):
        """An empty list of motors is accepted by the schema and the server."""
        schema = {"$ref": "#/components/schemas/Document"}
        document = {**THREE_LINK, "motors": []}
        self.validate(document, schema, "no motors")
        self.put_model("screws", document)
        motor = {"joint": "joint2", "link": "link1", "axis": [0, 0, 1], "gear_ratio": 10, "spin_inertia": 1e-4}
        with self.assertRaises(AssertionError):
            self.validate({**THREE_LINK, "motors": [motor]}, schema, "a motor")
        problem = self.assertProblem(self.client.put("/v1/models/screws", {**THREE_LINK, "motors": [motor]}), 422, "/motors")
        self.assertEqual(problem["code"], "not-supported")

    def test_answers_without_entries(self):
        """Answers with empty arrays: no wrenches for derivatives, no joints for parameters, no frames."""
        self.put_model("stone", {"base": {"type": "floating", "inertial": {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}},
                                 "links": []})
        at = [0, 0, 0, 0, 0, 0, 1]
        for operation, more in (("sensitivity", {"outputs": ["dtau_dwrench", "d_joint_wrenches_dq", "dtau_dparameters"]}),
                                ("forward-sensitivity", {"tau": [0] * 6, "outputs": ["dqdd_dwrench"]}),
                                ("regressor", {"outputs": ["joint_regressor", "base_parameters", "base_regressor"]}),
                                ("kinematics", {"frames": []})):
            path = f"/v1/models/{{model}}/{operation}"
            for q in (at, [at], [at, at]):
                with self.subTest(operation=operation, q=q):
                    answer = self.ask("stone", operation, {"q": q, **more})
                    self.validate(answer, self.answer_schema(path, "post", 200), path)

    def faults(self, value, schema):
        resolver = jsonschema.RefResolver("", self.contract)
        return list(jsonschema.Draft202012Validator(schema, resolver=resolver).iter_errors(value))

    def test_examples_in_which_rows_may_fail(self):
        """With "on_error" added, every example gets the same answer with an empty list `errors` added."""
        for path, method, operation in self.operations():
            if method != "post":
                continue
            for name, example in operation["requestBody"]["content"][JSON]["examples"].items():
                with self.subTest(path=path, example=name):
                    concrete = path.replace("{model}", name.split("-")[0])
                    request = {**example["value"], "on_error": "row"}
                    self.validate(request, operation["requestBody"]["content"][JSON]["schema"], "request")
                    plain = self.ok(self.client.post(concrete, example["value"]))
                    answer = self.ok(self.client.post(concrete, request))
                    self.validate(answer, self.answer_schema(path, method, 200), "answer")
                    self.assertEqual(answer.pop("errors"), plain.get("errors", []))
                    self.assertEqual(answer, {k: v for k, v in plain.items() if k != "errors"})

    def test_null_only_beside_errors(self):
        """Answers with failed rows have the promised shape; without `errors` null is forbidden."""
        if jsonschema is None:
            self.skipTest("no python3-jsonschema here")
        bad, good = [1e9, 0], [0.3, 0.5]
        for operation, request in (
                ("inverse-dynamics", {"q": [bad, good], "outputs": ["tau", "joint_wrenches"]}),
                ("inverse-dynamics", {"q": bad}), ("energy", {"q": [good, bad]}), ("energy", {"q": bad}),
                ("kinematics", {"q": [good, bad], "frames": ["link2"], "frame": "link2", "outputs": ["poses", "jacobian"]}),
                ("coriolis", {"q": [bad, good], "qd": good, "outputs": ["coriolis_matrix", "christoffel"]}),
                ("task-space", {"q": [bad, good], "frame": "link2", "axes": ["x", "y"]}),
                ("simulate", {"q": [bad, good], "duration": 0.1, "step": 0.05, "samples": 2}),
                ("simulate", {"q": bad, "duration": 0.1, "step": 0.05, "samples": 2}),
                ("trajectory", {"degree": 2, "duration": 1, "samples": 3, "control_points": [[good, bad, bad], [good] * 3]}),
                ("identify", {"q": [bad] * 20, "qd": [good] * 20, "qdd": [good] * 20, "tau": [good] * 20}),
                ("evaluate", {"q": [bad, good], "operations": {"inverse-dynamics": {}, "energy": {}}})):
            path = f"/v1/models/{{model}}/{operation}"
            with self.subTest(operation=operation):
                schema = self.answer_schema(path, "post", 200)
                answer = self.ask("two_link", operation, {**request, "on_error": "row"})
                self.assertIn("null", json.dumps(answer))
                self.validate(answer, schema, path)
                answer.pop("errors")
                self.assertTrue(self.faults(answer, schema), "null is taken without errors")
        answer = self.ask("five_bar", "inverse-dynamics", {
            "platform": {"frame": "tip", "position": [[0.1, 0.35, 0], [3, 3, 0]]}, "outputs": ["full"], "on_error": "row"})
        self.validate(answer, self.answer_schema("/v1/models/{model}/inverse-dynamics", "post", 200), "full")
        self.assertIsNone(answer["full"]["loop_wrenches"][1])

    def check_example(self, path, method, operation, name, request, schema):
        model = name if method == "put" else name.split("-")[0]
        answer = self.client.request(method.upper(), path.replace("{model}", model), request)
        self.assertIn(answer.status, (200, 201), answer)
        self.validate(request, schema, "request")
        self.validate(answer.json(), self.answer_schema(path, method, answer.status), "answer")
        expected = self.follow(operation["responses"][str(answer.status)])["content"][JSON].get("examples", {})
        self.assertIn(name, expected, f"no answer is given for this example; it is {answer.text}")
        by_lapack = path.endswith(("/identify", "/impact", "/inverse-kinematics", "/differential-inverse-kinematics")) or name.endswith(("-held", "-controlled", "-bouncing"))
        alike = rounded if by_lapack else (lambda value: value)
        self.assertEqual(alike(answer.json()), alike(expected[name]["value"]))

    def test_problems(self):
        """Problem answers have the promised shape."""
        requests = [
            ("/v1/models/{model}/inverse-dynamics", "post", "{", 400),
            ("/v1/models/{model}/inverse-dynamics", "post", {"q": [1]}, 422),
            ("/v1/models/{model}/inverse-dynamics", "post", {"q": [[0] * 6, [0, 0, 0, 0, 0, 1e9]]}, 422),
            ("/v1/models/{model}/evaluate", "post", {"q": [0] * 6}, 422),
            ("/v1/models/{model}", "put", {"links": [{}]}, 422),
            ("/v1/models/{model}", "put", "nonsense", 400),
        ]
        for path, method, body, status in requests:
            with self.subTest(path=path, body=body):
                answer = self.client.request(method.upper(), path.replace("{model}", "puma560"), body,
                                             {"Content-Type": JSON})
                problem = self.assertProblem(answer, status)
                self.validate(problem, self.answer_schema(path, method, status), path)


class Source(unittest.TestCase):
    def build(self, text):
        return subprocess.run([sys.executable, os.path.join(ROOT, "api", "openapi.py"), "1"], input=text, capture_output=True,
                              text=True)

    def test_slips_of_yaml_are_refused(self):
        good = "info: {title: t}\npaths: {}\n"
        self.assertEqual(json.loads(self.build(good).stdout), {"info": {"title": "t", "version": "1"}, "paths": {}})
        for slip, says in (("x: {description: m, world axes}", "world axes"), ("x: {a: 1, a: 2}", "duplicate"), ("x:", "x")):
            done = self.build(good + slip)
            self.assertNotEqual(done.returncode, 0, slip)
            self.assertIn(says, done.stderr)


class ReferencePages(unittest.TestCase):
    def read(self, *path):
        with open(os.path.join(ROOT, *path)) as file:
            return file.read()

    def test_they_are_what_the_script_writes(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "reference_pages.py"), "--check"],
                              env={**os.environ, "BUILD": os.path.dirname(BINARY)}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_settings(self):
        """The table of server/SETTINGS.md is the output of --settings-table."""
        table = subprocess.run([BINARY, "--settings-table"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.read("server", "SETTINGS.md").split("\n\n")[-1].strip(), table.strip())

    def test_operations(self):
        """The first table of api/OPERATIONS.md has the contract's operations with their outputs, defaults in bold; the
        README's table has the same operations."""
        with open(os.path.join(os.path.dirname(BINARY), "api", "openapi.json")) as file:
            contract = json.load(file)
        index = self.read("api", "OPERATIONS.md").split("\n## ")[0]
        rows = dict(re.findall(r"^\| \[`([a-z][a-z-]+)`\]\(#\1\) \| .*? \| (.*?) \|$", index, re.MULTILINE))
        readme = re.findall(r"^\| \[`([a-z-]+)`\]\(api/OPERATIONS.md#\1\) \|", self.read("README.md"), re.MULTILINE)
        self.assertEqual(readme, list(rows))
        paths = [path.rsplit("/", 1)[1] for path, item in contract["paths"].items() if "post" in item]
        self.assertEqual(sorted(rows), sorted(paths))
        for name in set(paths) - {"evaluate"}:
            reference = contract["paths"]["/v1/models/{model}/" + name]["post"]["requestBody"]["content"][JSON]["schema"]
            schema = contract["components"]["schemas"][reference["$ref"].rsplit("/", 1)[1]]
            outputs = schema["properties"]["outputs"]
            shown = [f"**{o}**" if o in outputs["default"] else o for o in outputs["items"]["enum"]]
            self.assertEqual(rows[name], ", ".join(shown), name)


if __name__ == "__main__":
    tap.main()
