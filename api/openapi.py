"""openapi.py VERSION <openapi.yaml >openapi.json - the contract as it is served: compact JSON, with the product's
version filled in. A duplicate key in the YAML is an error, not a silent overwrite."""

import json
import sys

import yaml


class StrictLoader(yaml.SafeLoader):
    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key!r}", node.start_mark)
        return super().construct_mapping(node, deep)


def main():
    contract = yaml.load(sys.stdin, Loader=StrictLoader)
    contract["info"]["version"] = sys.argv[1]
    json.dump(contract, sys.stdout, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


if __name__ == "__main__":
    main()
