"""openapi.py VERSION <openapi.yaml >openapi.json - the contract as it is served: compact JSON, with the product's
version, the bodies in CBOR and the answers in which rows may have failed filled in."""

import json
import re
import sys

import yaml


class StrictLoader(yaml.SafeLoader):
    """YAML 1.2 numbers (1e-6 is one; for PyYAML's 1.1 it is a text), no duplicate keys, and no key without a value: a comma
    in a text without quotes would make one."""

    def construct_mapping(self, node, deep=False):
        for key, value in node.value:
            if value.tag == "tag:yaml.org,2002:null":
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} without a value", key.start_mark)
        keys = [self.construct_object(key, deep=True) for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key!r}", node.start_mark)
        return super().construct_mapping(node, deep)


StrictLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?[eE][-+]?[0-9]+$"), list("-0123456789"))


def contents(item):
    """The bodies that may be CBOR: all answers but problems, and what an operation takes."""
    for method in {"get", "put", "post", "delete"} & set(item):
        if method == "post":
            yield item[method]["requestBody"]["content"]
        for status, response in item[method]["responses"].items():
            if status.startswith("2") and "content" in response:
                yield response["content"]


def add_binary(contract):
    """Under /v1 what is in JSON is in CBOR and MessagePack, with the same fields."""
    for path, item in contract["paths"].items():
        if path.startswith("/v1"):
            for content in contents(item):
                for kind in ("application/cbor", "application/vnd.msgpack"):
                    content[kind] = {"schema": content["application/json"]["schema"]}


SCHEMAS = "#/components/schemas/"
NULL = {"type": "null"}


class RowForms:
    """Answers to requests with "on_error": "row", from those to requests without: the same outputs, in which rows may be
    null, and `errors`."""

    def __init__(self, schemas):
        self.schemas = schemas

    def reference(self, name, form, suffix):
        """To schema `name` in that form, which is added once."""
        other = name + suffix
        if other not in self.schemas:
            self.schemas[other] = None
            self.schemas[other] = form(self.schemas[name])
        return {"$ref": SCHEMAS + other}

    def nullable(self, schema):
        """Lets an output be null, its value where the row has failed."""
        if "$ref" in schema:
            return self.reference(schema["$ref"].removeprefix(SCHEMAS), self.nullable, "ByRow")
        if "allOf" in schema:
            return {**schema, "allOf": [self.nullable(part) for part in schema["allOf"]]}
        if "anyOf" in schema:   # one, or an array of them
            one = schema["anyOf"][0]
            return {**schema, "anyOf": [one, NULL, {"type": "array", "items": {"anyOf": [one, NULL]}}]}
        if schema.get("type") == "object":
            return self.members(schema)
        if schema.get("items") == {"type": "string"}:
            return schema       # names, which have no rows
        return {"description": schema.get("description", "Null where no row is left."), "anyOf": [schema, NULL]}

    def members(self, schema):
        form = dict(schema)
        if "properties" in schema:
            form["properties"] = {key: self.nullable(value) for key, value in schema["properties"].items()}
        if isinstance(schema.get("additionalProperties"), dict):
            form["additionalProperties"] = self.nullable(schema["additionalProperties"])
        return form

    def answer(self, schema):
        form = self.members(schema)
        form["required"] = [*schema.get("required", []), "errors"]
        form["properties"] = {**form["properties"], "errors": {"$ref": SCHEMAS + "RowErrors"}}
        return form


def add_row_forms(contract):
    """Every operation answers in one of the two forms."""
    forms = RowForms(contract.get("components", {}).get("schemas", {}))
    for path, item in contract["paths"].items():
        if path.startswith("/v1/models/{model}/") and "post" in item:
            content = item["post"]["responses"]["200"]["content"]["application/json"]
            other = forms.reference(content["schema"]["$ref"].removeprefix(SCHEMAS), forms.answer, "WithErrors")
            content["schema"] = {"oneOf": [content["schema"], other]}


def main():
    contract = yaml.load(sys.stdin, Loader=StrictLoader)
    add_row_forms(contract)
    add_binary(contract)
    contract["info"]["version"] = sys.argv[1]
    json.dump(contract, sys.stdout, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


if __name__ == "__main__":
    main()
