"""Tests the Python client against the contract: a typed method for every operation, every example through its method,
and correct types."""
import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import tap
from harness import BINARY, ROOT, ServerCase
from python_client import SOURCE, torqued

from torqued.contract import answers, async_operations, fields, operations  # isort: skip

PACKAGE = os.path.join(ROOT, "api", "clients", "python")
# Names of the clients' methods (client.py, aio.py) for the contract's requests that are no operations on a model. None: a page for browsers,
# without a method.
METHODS = {"getService": "service", "listModels": "models", "getModel": "model", "putModel": "put", "deleteModel": "delete",
           "getDocument": "document", "exportModel": "export", "livez": "live", "readyz": "readiness", "getMetrics": "metrics",
           "getContract": "contract", "getProblem": "problem",
           "getConsole": None, "getReference": None, "getAsset": None, "getIcon": None, "getLicences": None,
           "getDocumentPage": None, "getDocumentStyle": None, "getDocumentSchema": None, "getClients": None, "getClient": None}
# Names of the methods' parameters for parameters of the contract; all others have the same name.
PARAMETERS = {"If-Match": {"if_match", "pinned"}, "If-None-Match": {"if_absent"}, "Request-Timeout": {"timeout"}}
# Headers without a parameter: the clients send them by themselves, or as If-Match.
BY_ITSELF = {"Model-Change", "Model-Revision"}
# Conditions that a method leaves out: a GET for a cache, a DELETE of a model that must not exist.
LEFT_OUT = {("getContract", "If-None-Match"), ("getModel", "If-None-Match"), ("getDocument", "If-None-Match"),
            ("getDocument", "If-Match"), ("exportModel", "If-None-Match"), ("exportModel", "If-Match"), ("deleteModel", "If-None-Match"), ("putModel", "Request-Timeout"), ("deleteModel", "Request-Timeout")}


def plain(value):
    """Converts arrays to lists and answers to dictionaries, the form of the same answer in JSON."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if hasattr(value, "items"):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        entries = [plain(item) for item in value]
        return None if entries and all(entry is None for entry in entries) else entries
    return None if isinstance(value, float) and value != value else value


def arrays(value):
    """Converts lists of numbers to arrays, as users of NumPy pass them."""
    if isinstance(value, dict):
        return {key: arrays(item) for key, item in value.items()}
    if isinstance(value, list):
        try:
            array = np.array(value)
        except ValueError:
            return value
        return array if array.dtype.kind in "fi" else [arrays(item) for item in value]
    return value


class Contract(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.torqued = torqued.Client(cls.server.url())
        cls.contract = cls.torqued.contract()

    @classmethod
    def tearDownClass(cls):
        cls.torqued.close()
        super().tearDownClass()

    def schema(self, content):
        node = content["application/json"]["schema"]
        node = node["oneOf"][0] if "oneOf" in node else node
        return self.contract["components"]["schemas"][node["$ref"].rsplit("/", 1)[1]]

    def evaluations(self):
        for path, item in self.contract["paths"].items():
            if path.startswith("/v1/models/{model}/") and "post" in item:
                yield path.rsplit("/", 1)[1], item["post"]

    def test_a_method_for_each_operation(self):
        found = 0
        for name, post in self.evaluations():
            request, answer = self.schema(post["requestBody"]["content"]), self.schema(post["responses"]["200"]["content"])
            for kind in (operations.Operations, async_operations.AsyncOperations):
                with self.subTest(operation=name, kind=kind.__name__):
                    method = getattr(kind, name.replace("-", "_"))
                    self.assertEqual(inspect.iscoroutinefunction(method), kind is async_operations.AsyncOperations)
                    self.assertTrue(inspect.getdoc(method).startswith(post["summary"]))
                    signature = inspect.signature(method)
                    self.assertEqual(set(signature.parameters) - {"self", "timeout"}, set(request["properties"]))
                    needed = {key for key, parameter in signature.parameters.items() if parameter.default is parameter.empty}
                    self.assertEqual(needed - {"self"}, set(request.get("required", ())))
                    outputs = inspect.get_annotations(getattr(answers, signature.return_annotation))
                    promised = {key.replace("-", "_") for key in answer["properties"]} | {"errors"}
                    self.assertEqual(set(outputs), promised)
                    found += 1
        self.assertGreaterEqual(found, 36)

    def test_a_method_for_everything_else(self):
        for path, item in self.contract["paths"].items():
            for method, operation in item.items():
                if method not in ("get", "put", "delete", "post") or (path, method) in self.evaluated():
                    continue
                name = operation["operationId"]
                self.assertIn(name, METHODS, "a method in client.py and aio.py, and its line in METHODS, are missing")
                if METHODS[name] is None:
                    continue
                given = [self.parameter(p) for p in (*item.get("parameters", ()), *operation.get("parameters", ()))]
                for client in (torqued.Client, torqued.AsyncClient):
                    taken = set(inspect.signature(getattr(client, METHODS[name])).parameters)
                    for parameter in given:
                        if (name, parameter["name"]) in LEFT_OUT or parameter["in"] == "path" or parameter["name"] in BY_ITSELF:
                            continue
                        names = PARAMETERS.get(parameter["name"], {parameter["name"]})
                        self.assertTrue(names & taken, f"{client.__name__}.{METHODS[name]} has no {parameter['name']}")

    def evaluated(self):
        return {(f"/v1/models/{{model}}/{name}", "post") for name, _ in self.evaluations()}

    def parameter(self, parameter):
        if "$ref" in parameter:
            return self.contract["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
        return parameter

    def test_both_clients_have_the_same_methods(self):
        for blocking, awaited in ((torqued.Client, torqued.AsyncClient), (torqued.Model, torqued.AsyncModel)):
            names = [{name for name in dir(kind) if not name.startswith("_")} for kind in (blocking, awaited)]
            self.assertEqual(*names)
            for name in names[0]:
                pair = [getattr(kind, name) for kind in (blocking, awaited)]
                if callable(pair[0]):
                    parameters = [set(inspect.signature(method).parameters) for method in pair]
                    self.assertEqual(parameters[0], parameters[1] - {"ahead"}, name)

    def test_every_example(self):
        """Each example of the contract, sent by the client's method with lists and with arrays, gets the bits of the JSON answer."""
        for name, post in self.evaluations():
            for example, content in post["requestBody"]["content"]["application/json"]["examples"].items():
                with self.subTest(operation=name, example=example):
                    model = self.torqued.model(example.split("-")[0])
                    request = content["value"]
                    expected = self.ask(model.name, name, request)
                    for given in (request, arrays(request)):
                        answer = getattr(model, name.replace("-", "_"))(**given)
                        self.assertEqual(plain(answer), expected)
                        self.assertEqual(set(answer) - {k.replace("_", "-") for k in inspect.get_annotations(type(answer))}
                                         - set(inspect.get_annotations(type(answer))), set())

    def test_names_of_types(self):
        self.assertEqual([name for name in fields.__all__ if not hasattr(fields, name)], [])


class Package(ServerCase):
    def test_types(self):
        """mypy in strict mode, for the oldest supported Python, accepts the package and a user's program."""
        if importlib.util.find_spec("mypy") is None:
            self.skipTest("no mypy here")
        user = '''
import numpy as np
import torqued


def work(client: torqued.Client) -> float:
    panda = client.model("panda")
    tau = panda.inverse_dynamics(np.zeros((2, 7)), payload={"link": "panda_link7", "mass": 1}).tau
    answer = panda.batch(panda.torque_derivative, q=tau, qd=tau, qdd=tau, qddd=tau)
    reveal_type(answer)
    reveal_type(panda.evaluate(tau, operations={"mass-matrix": {"outputs": ["inverse"]}}).mass_matrix)
    panda.inverse_dynamics(tau, speed=3)
    panda.inverse_dynamics(tau, outputs=["taus"])
    panda.inverse_dynamics(tau, payload={"link": "panda_link7", "weight": 1})
    return float(tau[0, 0])


async def later(client: torqued.AsyncClient) -> None:
    panda = await client.model("panda")
    reveal_type(await panda.batch(panda.energy, q=np.zeros((2, 7))))
    reveal_type(await panda.bias(np.zeros(7)))
    await panda.bias(np.zeros(7), pace=3)
    await panda.bias(np.zeros(7), gravity={"z": 1})
'''
        with tempfile.TemporaryDirectory() as folder:
            mypy = [sys.executable, "-m", "mypy", "--config-file", os.path.join(PACKAGE, "pyproject.toml"),
                    "--python-version", "3.9", "--cache-dir", folder]
            done = subprocess.run([*mypy, os.path.join(SOURCE, "torqued")], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(os.path.join(folder, "user.py"), "w", encoding="utf-8") as file:
                file.write(user)
            done = subprocess.run([*mypy, "user.py"], capture_output=True, text=True, cwd=folder,
                                  env={**os.environ, "MYPYPATH": SOURCE})
            for said in ('Revealed type is "torqued.contract.answers.TorqueDerivativeAnswer"',
                         'Revealed type is "torqued.contract.answers.MassMatrixAnswer"',
                         'Revealed type is "torqued.contract.answers.EnergyAnswer"',
                         'Revealed type is "torqued.contract.answers.BiasAnswer"',
                         'Unexpected keyword argument "speed"', 'Unexpected keyword argument "pace"',
                         'Argument "gravity" has incompatible type "Dict[str, int]"',
                         'List item 0 has incompatible type "Literal[\'taus\']"',
                         'Argument "payload" to "inverse_dynamics" of "Operations" has incompatible type'):
                self.assertIn(said, done.stdout)

    def test_wheel(self):
        """`make wheel` needs no network; the wheel works from its own folder and contains the types."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["make", "--no-print-directory", "wheel", f"WHEEL={folder}"], cwd=ROOT, capture_output=True,
                                  text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            wheel, = os.listdir(folder)
            self.assertEqual(wheel, f"torqued-{torqued.__version__}-py3-none-any.whl")
            with zipfile.ZipFile(os.path.join(folder, wheel)) as archive:
                names = archive.namelist()
                self.assertIn("torqued/py.typed", names)
                self.assertIn("torqued/contract/operations.py", names)
                metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
                archive.extractall(os.path.join(folder, "site"))
            self.assertIn("Requires-Dist: numpy", metadata)
            program = ("import sys, torqued; print(torqued.__file__)\n"
                       f"with torqued.serve({BINARY!r}) as t: print(t.service()['version'])")
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder,
                                  env={**os.environ, "PYTHONPATH": os.path.join(folder, "site")})
            self.assertEqual(done.stdout.split(), [os.path.join(folder, "site", "torqued", "__init__.py"), torqued.__version__],
                             done.stderr)


if __name__ == "__main__":
    tap.main()
