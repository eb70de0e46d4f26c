"""Lists the names of the contract and of model documents with their facts, from api/openapi.yaml.

A request has `takes` (kinds of JSON values and constants), `needs`, bounds and `default`; an answer has `gives` and `always`.
A schema that requests and answers share has both."""
import json

SCHEMAS = "#/components/schemas/"
METHODS = ("get", "put", "post", "delete")
BOUNDS = {"minimum": "least", "exclusiveMinimum": "above", "minItems": "shortest",
          "maximum": "most", "exclusiveMaximum": "below", "maxItems": "longest"}


def text_of(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Contract:
    def __init__(self, contract):
        self.contract, self.schemas = contract, contract["components"]["schemas"]
        self.found = {}
        self.todo, self.done = [], set()
        self.alternatives = 0  # depth of nesting in oneOf and anyOf, where a member is required in one form only

    def resolve(self, node):
        """Follows a reference to parameters, headers, responses and schemas."""
        while "$ref" in node:
            target = self.contract
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = target
        return node

    def fact(self, name, key, value):
        self.found.setdefault(name, {})[key] = value

    def add(self, name, key, members):
        """Adds members to a fact of a name; inside oneOf and anyOf the members of other forms are kept."""
        self.fact(name, key, members | (self.found.get(name, {}).get(key, set()) if self.alternatives else set()))

    def kinds(self, schema, side, where):
        """Returns the kinds of values of a schema, and plans the schemas of objects in it."""
        if "$ref" in schema:
            name, target = schema["$ref"].removeprefix(SCHEMAS), self.resolve(schema)
            if "properties" not in target:
                return self.kinds(target, side, where)
            self.plan(name, side)
            return {name}
        if "allOf" in schema:
            return set().union(*(self.kinds(part, side, where) for part in schema["allOf"]))
        for key in ("oneOf", "anyOf"):
            if key in schema and "properties" not in schema:
                self.alternatives += 1
                found = set().union(*(self.kinds(part, side, where) for part in schema[key]))
                self.alternatives -= 1
                return found
        if "enum" in schema or "const" in schema:
            return {text_of(value) for value in schema.get("enum", [schema.get("const")])}
        if "properties" in schema:
            self.members(where, schema, side)
            return {"object"}
        types = schema.get("type", [])
        return set().union(*(self.kinds_of_type(one, schema, side, where) for one in ([types] if isinstance(types, str) else types)))

    def kinds_of_type(self, name, schema, side, where):
        if name == "array":
            return {f"[{kind}]" for kind in self.kinds(schema.get("items", {}), side, where + "[]") or [""]}
        if name == "object":
            values = schema.get("additionalProperties")
            inner = self.kinds(values, side, where + ".*") if isinstance(values, dict) else ()
            return {f"{{{kind}}}" for kind in inner or [""]}
        return {name}

    def plan(self, name, side):
        if (name, side) not in self.done:
            self.done.add((name, side))
            self.todo.append((name, side))

    def members(self, where, schema, side):
        for name, member in schema["properties"].items():
            self.value(f"{where}.{name}", member, side, not self.alternatives and name in schema.get("required", ()))

    def value(self, name, schema, side, required):
        kinds = self.kinds(schema, side, name)
        if schema.get("deprecated"):
            self.fact(name, "deprecated", True)
        constants = {kind for kind in kinds if kind.lstrip("[{")[:1] == '"'}
        if side == "request":
            self.add(name, "takes", kinds)
            self.fact(name, "needs", required)
            self.limits(name, schema)
        else:
            self.add(name, "gives", {kind for kind in kinds - constants} | ({"string"} if constants else set()))
            self.fact(name, "always", required)
            if constants:
                self.add(name, "names", constants)

    def limits(self, name, schema):
        plain = dict(schema)
        for part in schema.get("allOf", [schema]):
            plain = {**self.resolve(part), **plain}
        if "default" in plain:
            self.fact(name, "default", text_of(plain["default"]))
        for key, fact in BOUNDS.items():
            if key in plain:
                self.fact(name, fact, plain[key])

    def operation(self, path, method, operation, shared):
        name = f"{method.upper()} {path}"
        self.fact(name, "deprecated", operation.get("deprecated", False))
        self.fact(name, "parameters", set())
        self.fact(name, "demands", set())
        for parameter in map(self.resolve, [*shared, *operation.get("parameters", ())]):
            label = f"{parameter['in']}:{parameter['name']}"
            self.found[name]["demands" if parameter.get("required") else "parameters"].add(label)
            self.value(f"parameter {label}", parameter["schema"], "request", False)
        body = self.resolve(operation.get("requestBody", {})).get("content", {})
        if body:
            self.fact(name, "media", set(body))
        for kind, content in body.items():
            self.fact(name, "takes", self.found[name].get("takes", set()) | self.kinds(content.get("schema", {}), "request", name + " body"))
        self.fact(name, "statuses", {status for status in operation["responses"] if status[0] in "23"})
        for status, answer in operation["responses"].items():
            answer = self.resolve(answer)
            given = set()
            for content in answer.get("content", {}).values() if status == "200" else ():
                given |= self.kinds(content.get("schema", {}), "answer", f"{name} {status}")
            if status == "200":
                self.fact(name, "gives", given)
                self.fact(name, "headers", set(answer.get("headers", ())))

    def parts(self, name, parts, side):
        for part in parts:
            if "$ref" in part:
                self.kinds(part, side, name)
            else:
                self.members(name, {"properties": {}, **part}, side)

    def collect(self):
        for path, item in self.contract["paths"].items():
            for method in METHODS:
                if method in item:
                    self.operation(path, method, item[method], item.get("parameters", ()))
        while self.todo:
            name, side = self.todo.pop()
            schema = self.resolve(self.schemas[name])
            self.parts(name, [schema, *schema.get("allOf", ())], side)
            self.alternatives += 1
            forms = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
            # In a schema with properties, the forms of oneOf are only conditions on these and add no field.
            self.parts(name, forms if "properties" not in schema else [form for form in forms if "$ref" in form], side)
            self.alternatives -= 1
        return self.found


def document_schemas(contract):
    """Returns the names of the schemas that a model document consists of."""
    found, todo = set(), ["Document"]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        text = text_of(contract["components"]["schemas"][name])
        todo += [part.split('"')[0] for part in text.split(SCHEMAS)[1:]]
    return found


def interfaces(contract):
    """Returns {"contract": {name: facts}, "document": {name: facts}}."""
    of_document = document_schemas(contract)
    made = {"contract": {}, "document": {}}
    for name, facts in Contract(contract).collect().items():
        first = name.split(" ")[0].split(".")[0].split("[")[0]
        made["document" if first in of_document else "contract"][name] = facts
    return made
