"""Write the package's modules that follow from the contract: the types of fields and answers, and a method for each operation.

tests/reference_pages.py calls files(); `make reference` writes them and a test compares them with the contract.
"""
import keyword
import re
import textwrap

JSON = "application/json"
SCHEMAS = "#/components/schemas/"
FOLDER = "api/clients/python/src/torqued/contract/"
MADE = '"""{}\n\nMade by api/clients/python/generate.py from api/openapi.yaml: change that, then `make reference`.\n"""\n'
WIDTH = 128
# The resources whose answers have a type: schema, name of the type.
RESOURCES = (("Service", "Service"), ("ModelList", "ModelList"), ("Model", "ModelFields"), ("Ready", "Ready"),
             ("ProblemMeaning", "ProblemMeaning"))

# Objects that the contract does not name, by the places where they are met first.
NAMES = {"ModelListModelsItem": "ModelEntry", "ModelFieldsFramesItem": "PublishedFrame", "ModelFieldsJointsItem": "PublishedJoint",
         "ModelFieldsMotorsItem": "PublishedMotor", "ModelFieldsLoopsItem": "PublishedLoop", "ModelFieldsReportItem": "ReportEntry",
         "ServiceOperationsItem": "PublishedOperation", "InverseDynamicsWarningsItem": "UnitWarning", "RowErrorsItem": "RowError",
         "KinematicsPoses": "Pose", "IdentifyBaseParametersItem": "BaseParameter", "IdentifyParametersItem": "BodyParameters",
         "SimulateInput": "TorqueInput", "SimulateInputGiven": "ControllerInput", "SimulatePrescribed": "Prescribed",
         "GroundReactionFeetItem": "Foot", "GroundReactionPlane": "Plane", "EvaluateOperations": "Evaluations"}


def snake(name):
    return name.replace("-", "_")


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[-_]", name))


def union(types):
    """A | B as Python 3.9 reads it."""
    unique = list(dict.fromkeys(types))
    if "npt.ArrayLike" in unique:       # covers numbers and sequences of them
        unique = [t for t in unique if t not in ("float", "int")]
    if set(unique) == {"npt.ArrayLike", "Mapping[str, float]"}:
        return "Coordinates"
    return unique[0] if len(unique) == 1 else f"Union[{', '.join(unique)}]"


class Types:
    """Python's types for schemas. `objects` collects the TypedDicts in the order of their first use."""

    def __init__(self, schemas):
        self.schemas = schemas
        self.objects = {}       # name: (description, [(key, type, required, meaning)])
        self.names = {}         # (mode, text of the schema): name

    def resolved(self, schema):
        """The schema behind references and an allOf around one, and the name of the innermost reference."""
        name = None
        while True:
            if "$ref" in schema:
                name = schema["$ref"].removeprefix(SCHEMAS)
                schema = self.schemas[name]
            elif len(schema.get("allOf", ())) == 1 and "properties" not in schema:
                schema = schema["allOf"][0]
            else:
                return schema, name

    def of(self, schema, mode, hint):
        """The type of a schema in a `mode`: request, answer (in CBOR) or json. `hint` names an object without a name."""
        schema, name = self.resolved(schema)
        if name == "ScalarOut":
            return "Scalar"
        if mode == "answer" and name and name.endswith("Answer"):
            return name         # the answer of one operation in that of evaluate
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return "str" if len(schema["enum"]) > 32 else f"Literal[{', '.join(map(repr, schema['enum']))}]"
        for key in ("oneOf", "anyOf"):
            if key in schema and "properties" not in schema:
                return union(self.of(part, mode, hint) for part in schema[key])
        kind = schema.get("type")
        if kind == "array":
            return self.array(schema, mode, hint)
        if kind == "object" and "properties" in schema:
            return self.object(schema, mode, name or hint)
        if kind == "object":
            return f"Mapping[str, {self.of(schema['additionalProperties'], mode, hint)}]"
        return {"number": "float", "integer": "int", "boolean": "bool", "string": "str"}.get(kind, "Any")

    def array(self, schema, mode, hint):
        item = self.of(schema["items"], mode, hint + "Item") if "items" in schema else "Any"
        if item in ("float", "int", "npt.ArrayLike") and mode == "request":
            return "npt.ArrayLike"
        if item in ("float", "Array") and mode == "answer":
            return "Array"
        return f"Sequence[{item}]" if mode == "request" else f"list[{item}]"

    def object(self, schema, mode, name):
        key = (mode, repr(schema))
        if key in self.names:
            return self.names[key]
        name = NAMES.get(name, name)
        if name in self.objects:
            name += {"request": "Given", "answer": "Found", "json": "Published"}[mode]
        name = NAMES.get(name, name)
        self.names[key] = name
        self.objects[name] = None       # keeps its place
        required = schema.get("required", ())
        fields = [(key, self.of(value, mode, name + camel(key)), key in required, self.meaning(value))
                  for key, value in schema["properties"].items()]
        self.objects[name] = (one_line(schema.get("description", "")), fields)
        return name

    def meaning(self, schema):
        """The first description on the way from a schema to what it refers to; of a choice, that of the first."""
        while "description" not in schema:
            if "$ref" in schema:
                schema = self.schemas[schema["$ref"].removeprefix(SCHEMAS)]
            elif schema.get("allOf") or schema.get("oneOf"):
                schema = (schema.get("allOf") or schema["oneOf"])[0]
            elif "items" in schema:
                schema = schema["items"]
            else:
                return ""
        return one_line(schema["description"])


def one_line(text):
    return re.sub(r"\s+", " ", text).strip().replace("\\", "\\\\")


def wrapped(text, indent, first=""):
    return textwrap.fill(text, WIDTH, initial_indent=indent + first, subsequent_indent=indent + ("    " if first else ""),
                         break_long_words=False, break_on_hyphens=False)


def commented(fields):
    """Annotated attributes, each after a comment with its meaning."""
    lines = []
    for name, kind, meaning in fields:
        if meaning:
            lines.append(wrapped(meaning, "    # "))
        lines.append(f"    {name}: {kind}")
    return lines


def typed_dict(name, description, fields):
    """A TypedDict; its keys that are required in a class of their own, since Python 3.9 knows no Required."""
    plain = all(key.isidentifier() and not keyword.iskeyword(key) for key, *_ in fields)
    needed = [(key, kind, meaning) for key, kind, required, meaning in fields if required]
    optional = [(key, kind, meaning) for key, kind, required, meaning in fields if not required]
    text = [f'    """{wrapped(description, "    ").strip()}"""\n' if description else ""]
    if not plain:
        items = [f'    "{key}": "{kind}",' for key, kind, *_ in fields]
        return "\n".join([f'{name} = TypedDict("{name}", {{', *items, f"}}, total={not optional})"])
    if not needed or not optional:
        total = "" if needed else ", total=False"
        return "\n".join([f"class {name}(TypedDict{total}):", *filter(None, text), *commented(needed or optional)])
    return "\n".join([f"class _{name}Needed(TypedDict):", *commented(needed), "", "",
                      f"class {name}(_{name}Needed, total=False):", *filter(None, text), *commented(optional)])


class Operation:
    """One operation: its method, its answer."""

    def __init__(self, types, name, post):
        self.name, self.method = name, snake(name)
        self.summary, self.description = post["summary"], one_line(post.get("description", ""))
        request, _ = types.resolved(post["requestBody"]["content"][JSON]["schema"])
        answer, self.answer = types.resolved(post["responses"]["200"]["content"][JSON]["schema"])
        required = request.get("required", ())
        prefix = camel(name)
        self.fields = [(key, types.of(value, "request", prefix + camel(key)), key in required, types.meaning(value))
                       for key, value in request["properties"].items()]
        self.fields.sort(key=lambda field: not field[2])        # required ones first; else in the order of the contract
        self.outputs = [(snake(key), types.of(value, "answer", prefix + camel(key)), types.meaning(value))
                        for key, value in answer["properties"].items()]
        self.outputs = [(key, kind, meaning.partition(". ")[0] + "." if key == "warnings" else meaning)     # one text for all operations
                        for key, kind, meaning in self.outputs]
        if "on_error" in request["properties"]:
            self.outputs.append(("errors", types.of({"$ref": SCHEMAS + "RowErrors"}, "answer", "RowErrors"),
                                 'With on_error="row": the rows that failed.'))
        self.answer_description = one_line(answer.get("description", ""))

    def answer_class(self):
        says = wrapped(self.answer_description or f"The answer of {self.name}.", "    ").strip()
        return "\n".join([f"class {self.answer}(Answer):", f'    """{says}"""', "    __slots__ = ()", *self.nested(),
                          *commented(self.outputs)])

    def nested(self):
        """The answers of single operations in that of evaluate."""
        found = [f'"{name.replace("_", "-")}": {kind}' for name, kind, _ in self.outputs if kind.endswith("Answer")]
        return ["    _nested = " + textwrap.fill(f"{{{', '.join(found)}}}", WIDTH - 14, subsequent_indent=" " * 15,
                                                break_on_hyphens=False)] if found else []

    def text(self):
        """The method. `q` may be a positional argument."""
        parameters = []
        for key, kind, required, _ in self.fields:
            parameters.append((key, f"{key}: {kind}" if required else f"{key}: Optional[{kind}] = None"))
        parameters.sort(key=lambda parameter: parameter[0] != "q")
        lead = 1 if parameters[0][0] == "q" else 0
        listed = ["self", *(text for _, text in parameters[:lead]), "*", *(text for _, text in parameters[lead:]),
                  "timeout: Optional[float] = None"]
        lines = [", ".join(listed[:lead + 2]) + ","]        # self, q, *
        for parameter in listed[lead + 2:]:
            if len(lines[-1]) + len(parameter) > WIDTH - 16:
                lines.append("")
            lines[-1] += f" {parameter},"
        body = "\n".join(wrapped(line.strip(), "            ") for line in lines)
        head = f"    def {self.method}(\n{body}\n    ) -> {self.answer}:"
        doc = [f'        """{self.summary}', ""]
        if self.description:
            doc += [wrapped(self.description, "        "), ""]
        doc += [wrapped(f"{key}: {meaning}" if meaning else key, "        ") for key, _, _, meaning in self.fields]
        doc.append("        timeout: of this call, s; the server then stops working on it, too.")
        given = ", ".join(f'"{key}": {key}' for key, *_ in self.fields)
        call = f'self._evaluate("{self.name}", {self.answer}, {{{given}}}, timeout)'
        returned = textwrap.fill(f"return {call}", WIDTH, initial_indent="        ",
                             subsequent_indent="            ", break_long_words=False, break_on_hyphens=False)
        return "\n".join([head, *doc, '        """', returned])


def methods_module(operations):
    names = ", ".join(operation.answer for operation in operations)
    imports = textwrap.fill(f"from .answers import ({names})", WIDTH, subsequent_indent="                      ")
    return "\n".join([
        MADE.format("One method for each operation of the contract."), "from __future__ import annotations", "",
        "from typing import Any, Literal, Mapping, Optional, Sequence, Type, Union", "", "import numpy.typing as npt", "",
        "from ..answers import A, Coordinates", imports, "from .fields import *  # noqa: F403", "", "",
        "class Operations:", '    """What a model answers. Fields that are None are not sent."""', "",
        "    def _evaluate(self, operation: str, kind: Type[A], request: Mapping[str, Any],",
        "                  timeout: Optional[float]) -> A:", "        raise NotImplementedError", "",
        "\n\n".join(operation.text() for operation in operations), ""])


def awaited_module(operations):
    """The methods of Operations for asyncio. They have no text of their own."""
    return "\n".join([
        MADE.format("One awaited method for each operation of the contract."), "from __future__ import annotations", "",
        "from typing import Any, Awaitable, Mapping, Optional, Type", "", "from ..answers import A", "from ..awaited import awaited",
        "from .operations import Operations", "", "",
        "class AsyncOperations:", '    """What a model answers. Fields that are None are not sent."""', "",
        "    def _evaluate(self, operation: str, kind: Type[A], request: Mapping[str, Any],",
        "                  timeout: Optional[float]) -> Awaitable[A]:", "        raise NotImplementedError", "",
        *(f"    {operation.method} = awaited(Operations.{operation.method})" for operation in operations), ""])


def answers_module(operations):
    return "\n".join([
        MADE.format("The answers of the operations. An output that was not asked for raises AttributeError."),
        "from __future__ import annotations", "", "from typing import Any, Mapping, Union", "",
        "from ..answers import Answer, Array, Scalar", "from .fields import *  # noqa: F403", "", "",
        "\n\n\n".join(operation.answer_class() for operation in operations), ""])


def fields_module(types):
    names = ", ".join(f'"{name}"' for name in types.objects)
    exported = textwrap.fill(f"__all__ = [{names}]", WIDTH, subsequent_indent="           ")
    return "\n".join([
        MADE.format("The objects in requests and answers, as dictionaries with known keys."),
        "from __future__ import annotations", "",
        "from typing import Any, Literal, Mapping, Sequence, TypedDict, Union", "", "import numpy.typing as npt", "",
        "from ..answers import Array, Coordinates, Scalar", "", exported, "", "",
        "\n\n\n".join(typed_dict(name, *content) for name, content in types.objects.items()), ""])


def files(contract, version):
    """Path in the tree: text."""
    types = Types(contract["components"]["schemas"])
    for schema, name in RESOURCES:
        types.object(types.schemas[schema], "json", name)
    operations = [Operation(types, path.rsplit("/", 1)[1], item["post"]) for path, item in contract["paths"].items()
                  if path.startswith("/v1/models/{model}/") and "operations" in item.get("post", {}).get("tags", ())]
    version_module = MADE.format("The version of torqued to which this package belongs.").replace(
        "api/openapi.yaml", "the Makefile") + f'VERSION = "{version}"\n'
    return {FOLDER + "__init__.py": MADE.format("What follows from the contract."),
            FOLDER + "version.py": version_module, FOLDER + "fields.py": fields_module(types),
            FOLDER + "answers.py": answers_module(operations), FOLDER + "operations.py": methods_module(operations),
            FOLDER + "async_operations.py": awaited_module(operations)}
