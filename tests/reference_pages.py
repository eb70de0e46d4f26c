#!/usr/bin/python3
"""reference_pages.py [--check] - writes the pages and pictures that are made from the product and its measurements:

    api/OPERATIONS.md           from api/openapi.yaml
    api/DOCUMENT.md             from api/openapi.yaml and api/document/, with its drawings
    api/MJCF.md                 from api/robots/mjcf_schema/mjcf_schema.c
    server/SETTINGS.md          from `torqued --settings-table`
    api/clients/SAMPLES.md      from api/clients/samples/
    api/clients/README.md       its tables of libraries, from tests/e2e/languages/ and tests/e2e/libraries/
    README.md                   its tables of operations and of latencies, between markers, and its number of robots
    dynamics/ALGORITHMS.md      the algorithms of the book, from tests/dynamics/book/algorithms.c
    tests/bench/results/*.svg   the charts of tests/bench/RESULTS.md, from its tables
    tests/pictures/*.svg        their numbers of robots and operations from models/ and api/openapi.yaml
    api/clients/python/src/torqued/contract/*.py    from api/openapi.yaml, and the version from the Makefile

With --check nothing is written: a page that would change is an error. `make reference` runs it; BUILD names the folder of
the program (build)."""
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for folder in ("api", "api/document", "api/clients/python", "api/clients/samples", "tests/bench", "tests/e2e/languages", "tests/e2e/libraries", "tests/pictures"):
    sys.path.insert(0, os.path.join(ROOT, folder))

import architecture  # noqa: E402
import generate  # noqa: E402
import json_libraries  # noqa: E402
import openapi  # noqa: E402
import page as document_page  # noqa: E402
import overview  # noqa: E402
import results  # noqa: E402
import samples_page  # noqa: E402
import wire_libraries  # noqa: E402
import yaml  # noqa: E402

BINARY = os.path.join(ROOT, os.environ.get("BUILD", "build"), "torqued")
MADE = "<!-- Made by tests/reference_pages.py from {}: change that, then `make reference`. -->\n"
JSON = "application/json"
SHAPES = {
    "Vector": "array", "Matrix": "array of arrays", "Matrices": "array of matrices", "Vector3": "3 numbers",
    "Vector6": "6 numbers", "BatchVector3": "3 numbers, or a batch of them", "Coordinates": "state or batch",
    "ScalarOut": "number", "VectorOut": "array", "MatrixOut": "array of 2 axes", "ArrayOut": "array of 3 axes",
    "Array4Out": "array of 4 axes", "Array5Out": "array of 5 axes", "Name": "string",
}
SHARED = ("q", "qd", "qdd", "qddd", "tau", "gravity", "payload", "wrenches", "friction", "joints", "guess", "platform", "normalise", "on_error")


def cell(text):
    return re.sub(r"\s+", " ", str(text)).strip().replace("|", "\\|")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(cell(item) for item in row) + " |" for row in rows]) + "\n"


def plain(value):
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else yaml.safe_dump(
        value, default_flow_style=True).replace("\n...", "").strip()


class Operations:
    """Makes api/OPERATIONS.md and the rows of README.md's table."""

    def __init__(self):
        with open(os.path.join(ROOT, "api", "openapi.yaml"), encoding="utf-8") as file:
            contract = yaml.load(file, openapi.StrictLoader)
        self.contract, self.schemas = contract, contract["components"]["schemas"]
        self.posts = {path.rsplit("/", 1)[1]: item["post"] for path, item in contract["paths"].items() if "post" in item}
        self.objects = {}  # schemas with fields that the tables mention, in the order of mention

    def named(self, schema):
        """Returns the name of the schema to which a $ref, or an allOf around one, points; else None."""
        reference = schema.get("$ref") or (schema["allOf"][0].get("$ref") if len(schema.get("allOf", ())) == 1 else None)
        return reference and reference.rsplit("/", 1)[1]

    def shape(self, schema):
        name = self.named(schema)
        if name in SHAPES:
            return SHAPES[name]
        if name and name.endswith("Answer"):
            operation = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name[:-6]).lower()
            return f"the answer of [{operation}](#{operation})"
        if name:
            target = self.schemas[name]
            if "properties" not in target:
                return self.shape(target)
            self.objects.setdefault(name, target)
            return f"[{name}](#{name.lower()})"
        if len(schema.get("allOf", ())) == 1:
            return self.shape(schema["allOf"][0])
        if "enum" in schema:
            return ", ".join(f"`{plain(item)}`" for item in schema["enum"])
        if "const" in schema:
            return f"`{plain(schema['const'])}`"
        for key in ("oneOf", "anyOf"):
            if key in schema and "type" not in schema:
                return " or ".join(dict.fromkeys(self.shape(item) for item in schema[key]))
        if schema.get("type") == "array":
            return "array of " + self.shape(schema["items"]) if "items" in schema else "array"
        if schema.get("type") == "object" and "properties" in schema:
            return "object of " + ", ".join(f"`{name}`" for name in schema["properties"])
        return schema.get("type", "any")

    def meaning(self, schema):
        name = self.named(schema)
        text = schema.get("description") or (self.schemas[name].get("description", "") if name and name not in SHAPES else "")
        if not text and ("items" in schema or name):
            text = self.meaning(schema.get("items") or self.schemas[name].get("oneOf", [{}])[0])
        nested = schema.get("properties", {}) if schema.get("type") == "object" else {}
        return " ".join([text, *(f"`{key}`: {self.meaning(value)}" for key, value in nested.items() if self.meaning(value))])

    def default(self, schema, name, required):
        if name in required:
            return "needed"
        target = self.schemas[self.named(schema)] if self.named(schema) in self.schemas else {}
        value = schema.get("default", target.get("default"))
        return "" if value is None else f"`{plain(value)}`"

    def fields(self, schema, names):
        required = schema.get("required", [])
        return table(("field", "type", "default", "meaning"),
                     [(f"`{name}`", self.shape(field), self.default(field, name, required), self.meaning(field))
                      for name, field in schema["properties"].items() if name in names])

    def schema(self, content):
        return self.schemas[content[JSON]["schema"]["$ref"].rsplit("/", 1)[1]]

    def outputs(self, name):
        """Yields (output, whether it is answered by default) of an operation."""
        field = self.schema(self.posts[name]["requestBody"]["content"])["properties"].get("outputs")
        return [(item, item in field["default"]) for item in field["items"]["enum"]] if field else []

    def index(self):
        rows = [(f"[`{name}`](#{name})", post["summary"], ", ".join(f"**{o}**" if d else o for o, d in self.outputs(name)))
                for name, post in self.posts.items()]
        return table(("operation", "answers", "outputs, **by default**"), rows)

    def summaries(self):
        return table(("operation", "answers"), [(f"[`{name}`](api/OPERATIONS.md#{name})", post["summary"])
                                                for name, post in self.posts.items()])

    def section(self, name):
        post = self.posts[name]
        asked = self.schema(post["requestBody"]["content"])
        answer = self.schema(post["responses"]["200"]["content"])
        also = [field for field, schema in asked["properties"].items() if self.shared.get(field) == schema]
        own = [field for field in asked["properties"] if field not in also and field != "outputs"]
        text = [f"## {name}\n", f"{post['summary']}\n", f"{post.get('description', '').strip()}\n",
                "Shared fields: " + ", ".join(self.marked(asked, field) for field in also) + ".\n"]
        if own:
            text.append(self.fields(asked, own))
        default = dict(self.outputs(name))
        shown = [key for key in answer["properties"] if key in default or name == "evaluate" and key in self.posts]
        text.append(table(("output", "type", "by default", "meaning"),
                          [(f"`{key}`", self.shape(answer["properties"][key]), "yes" if default.get(key) else "",
                            self.meaning(answer["properties"][key])) for key in shown]))
        return "\n".join(text)

    @staticmethod
    def marked(asked, field):
        """Returns the name of a field that several operations share, with a mark if the operation requires it."""
        choices = [choice["required"] for choice in asked.get("oneOf", ())]
        if field in asked.get("required", ()):
            return f"`{field}` (needed)"
        if choices and field in choices[0]:
            return f"`{field}` (this or `{choices[1][0]}` is needed)"
        return f"`{field}`"

    def page(self):
        simplest = [self.schema(self.posts[name]["requestBody"]["content"])["properties"]
                    for name in ("torque-derivative", "forward-dynamics", "inverse-dynamics")]
        self.shared = {}
        for field in SHARED:
            self.shared[field] = next(properties[field] for properties in simplest[1:] + simplest[:1] if field in properties)
        text = ["# Operations\n", MADE.format("api/openapi.yaml"),
                "`POST /v1/models/{model}/{operation}` evaluates one state or a batch of them. The contract in full, with\n"
                "errors, encodings and conventions, is [openapi.yaml](openapi.yaml), served at `/openapi.json`.\n",
                self.index(), "## Shared fields\n",
                "Most operations take these fields; each section below names those that it takes. `outputs` chooses what is\n"
                "computed. An answer has `warnings` where a figure looks like degrees or millimetres, and `errors` where rows\n"
                "fail alone (`on_error`). Where a `platform` is given the answer begins with the `q`, `qd` and `qdd` it takes.\n",
                self.fields({"properties": self.shared}, self.shared)]
        text += [self.section(name) for name in self.posts]
        text.append("# Objects\n")
        shown = []
        while len(shown) < len(self.objects):
            name = next(name for name in self.objects if name not in shown)
            shown.append(name)
            schema = self.objects[name]
            text.append(f"## {name}\n")
            if "description" in schema:
                text.append(schema["description"].strip() + "\n")
            text.append(self.fields(schema, schema["properties"]))
        return "\n".join(text)


MJCF = """This table lists each element and attribute of MuJoCo's format, version 3.14, with its treatment when a robot is read.

- **held**: the model has it;
- **expanded**: applied while the file is read, as classes, frames and sections are;
- **irrelevant**: it changes no mass matrix, bias, passive force or inverse dynamics: appearance, contacts, the softness of
  constraints, what actuators do with their controls, sensors, the solver. The report names it, but for names and colours;
- **not held**: the report has a warning `not-held` where it has an effect, or the file is refused.

Everything else is a warning `unknown`. `tests/e2e/mjcf/test_mjcf_schema.py` compares the names with those that MuJoCo accepts, and
MuJoCo's numbers with and without each attribute.
"""
MJCF_CLASSES = ("held", "expanded", "irrelevant", "not held", "of earlier versions")


def mjcf_page():
    program = os.path.join(os.path.dirname(BINARY), "tests", "oracle", "mjcf_schema")
    rows = [json.loads(line) for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()]
    total, elements, lines = dict.fromkeys(MJCF_CLASSES, 0), dict.fromkeys(MJCF_CLASSES, 0), []
    for row in rows:
        names = {kind: [] for kind in MJCF_CLASSES}
        for kind, text in row["attributes"].values():
            names[kind] += text.split()
        for kind in MJCF_CLASSES:
            total[kind] += len(names[kind]) * len(row["names"].split())
        elements[row["class"]] += len(row["names"].split())
        lines.append([*(" ".join(f"`<{name}>`" for name in row[key].split()) for key in ("names", "in")), row["class"],
                      "; ".join(f"{kind}: {' '.join(sorted(names[kind]))}" for kind in MJCF_CLASSES if names[kind])])
    counts = table(["", *MJCF_CLASSES], [["elements", *elements.values()], ["attributes", *total.values()]])
    return "\n".join(["# MJCF\n", MADE.format("`api/robots/mjcf_schema/mjcf_schema.c`"), MJCF, counts,
                      table(["element", "in", "class", "attributes"], lines)])


def settings_page():
    rows = subprocess.run([BINARY, "--settings-table"], capture_output=True, text=True, check=True).stdout
    return "\n".join(["# Settings\n", MADE.format("`torqued --settings-table`"),
                      "Every setting is a flag, a line `VARIABLE=value` of the file that `--config` names, and an environment variable. A\n"
                      "flag overrides the line, the line overrides the variable, the variable overrides the default. Sizes take K, M and G\n"
                      "(powers of 1024). The server does not start with a variable or line that begins with `TORQUED_` and is none of these,\n"
                      "or with limits that contradict each other; `torqued check-config` finds that before, and prints all values with\n"
                      "their origins. SIGHUP reads the file again; settings marked *restart* then keep their values, and the log names them.\n",
                      rows])


def read(path):
    """Returns the text of a file of the tree, or "" if it does not exist."""
    full = os.path.join(ROOT, path)
    if not os.path.exists(full):
        return ""
    with open(full, encoding="utf-8") as file:
        return file.read()


def book():
    """The functions that the tests compare the kernels with, as a block of code."""
    source = read("tests/dynamics/book/algorithms.c")
    parts = [re.search(rf"^void {name}\(.*?^}}\n", source, re.M | re.S).group(0) for name in ("book_rnea", "book_crba", "book_aba")]
    return "```c\n" + "\n".join(parts) + "```\n"


def readme(operations, figures, robots):
    text = results.fill(read("README.md"), {"operations": operations.summaries(), "latencies": figures.latencies()})
    text, found = re.subn(r"\bhas \d+ robots\b", f"has {robots} robots", text)
    if found != 1:
        raise ValueError('README.md has no sentence "... has N robots ..."')
    return text


def pages():
    """Returns {path: text} of all generated pages."""
    operations, figures = Operations(), results.Results()
    robots = len(glob.glob(os.path.join(ROOT, "models", "*.json")))
    made = {"api/OPERATIONS.md": operations.page(), "api/MJCF.md": mjcf_page(), "server/SETTINGS.md": settings_page(),
            "api/clients/SAMPLES.md": samples_page.page(),
            "api/clients/README.md": results.fill(read("api/clients/README.md"), {
                "json libraries": json_libraries.table(), "cbor libraries": wire_libraries.table("cbor"),
                "messagepack libraries": wire_libraries.table("msgpack")}),
            "README.md": readme(operations, figures, robots),
            "dynamics/ALGORITHMS.md": results.fill(read("dynamics/ALGORITHMS.md"), {"book": book()}),
            "tests/pictures/overview.svg": overview.overview(robots, len(operations.posts)), "tests/pictures/rooms.svg": architecture.rooms_picture(),
            "tests/pictures/request.svg": architecture.request_picture()}
    version = re.search(r"^VERSION := (\S+)", read("Makefile"), re.M).group(1)
    made["api/DOCUMENT.md"] = document_page.markdown(document_page.Contract(read("api/openapi.yaml")))
    made |= {f"api/document/drawings/{name}.svg": draw().svg(name) for name, draw in document_page.DRAWINGS.items()}
    made |= generate.files(operations.contract, version)
    return made | {f"tests/bench/results/{name}.svg": chart for name, chart in figures.charts().items()}


def main():
    stale = {path: text for path, text in pages().items() if text != read(path)}
    for path, text in stale.items():
        if "--check" in sys.argv:
            print(f"{path} is not what `make reference` writes")
            continue
        with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
            file.write(text)
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
