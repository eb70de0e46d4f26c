"""openapi.py VERSION <openapi.yaml >openapi.json - the contract as it is served: compact JSON, with the product's
version and the bodies in CBOR filled in."""

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


def add_cbor(contract):
    """Under /v1 what is in JSON is in CBOR, with the same fields."""
    for path, item in contract["paths"].items():
        if path.startswith("/v1"):
            for content in contents(item):
                content["application/cbor"] = {"schema": content["application/json"]["schema"]}


def main():
    contract = yaml.load(sys.stdin, Loader=StrictLoader)
    add_cbor(contract)
    contract["info"]["version"] = sys.argv[1]
    json.dump(contract, sys.stdout, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


if __name__ == "__main__":
    main()
