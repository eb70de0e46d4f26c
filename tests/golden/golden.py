#!/usr/bin/python3
"""golden.py - writes tests/golden/answers.txt: the bits of 600 answers in both arithmetic classes (`make golden`).

A line is the label of a request, its outputs, and the hashes of the answer in the classes fused and unfused. A hash is that of the
numbers of the outputs, as their 64 bits in the order of the answer. Where an answer that the file has changes its bits, the
variable REASON must be a sentence of the first section of CHANGELOG.md, and the version no patch: users repeat results by these bits.
BUILD names the folder of the program (build)."""
import hashlib
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ("api", "tests/e2e/support", "tests/compatibility")]
import golden_requests  # noqa: E402
import openapi  # noqa: E402
import versions  # noqa: E402
import yaml  # noqa: E402
from harness import Server  # noqa: E402

ANSWERS = os.path.join(HERE, "answers.txt")
HEAD = "# Bits of answers: label, outputs, hashes in the classes fused and unfused. Made by tests/golden/golden.py: `make golden`.\n"
CLASSES = {"fused": ("avx512", "avx2", "fma", "neon", "sse2", "scalar"), "unfused": ("sse2_unfused", "scalar_unfused")}
LEFT_OUT = {"full", "base_parameters", "base_regressor"}  # `full` repeats other outputs; the last bits of the others come from LAPACK


def targets(text):
    """Returns the targets that the server names when it refuses an unknown one."""
    return re.search(r"it has ([\w, ]+)", text).group(1).split(", ")


def numbers(value):
    if isinstance(value, dict):
        for member in value.values():
            yield from numbers(member)
    elif isinstance(value, list):
        for member in value:
            yield from numbers(member)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)


def digest(answer, outputs):
    """Returns the hash of the numbers of the outputs; those of evaluate are its operations."""
    packed = b"".join(struct.pack("<d", number) for name in outputs for number in numbers(answer[name]))
    if not packed:
        raise AssertionError("an answer without numbers")
    return hashlib.sha256(packed).hexdigest()[:12]


class Asked:
    """A server with one target, and the hashes of its answers."""

    def __init__(self, target):
        self.server = Server("--target", target)
        self.client = self.server.client(timeout=60)
        self.models = {}

    def model(self, name):
        if name not in self.models:
            self.models[name] = self.client.get(f"/v1/models/{name}").json()
        return self.models[name]

    def post(self, label, outputs):
        operation, robot, _ = label.split()
        request = golden_requests.request(label, self.model(robot))
        if operation != "evaluate":
            request["outputs"] = list(outputs)
        return self.client.post(f"/v1/models/{robot}/{operation}", request)

    def hash(self, label, outputs):
        answer = self.post(label, outputs)
        if answer.status != 200:
            raise AssertionError(f"{label}: {answer}")
        return digest(answer.json(), outputs)

    def answered(self, label, outputs):
        """Returns the outputs that the operation has for this request. An output may need fields that the request has not."""
        found = [name for name in outputs if self.post(label, [name]).status == 200]
        answer = self.post(label, found)
        if answer.status != 200:
            raise AssertionError(f"{label}: {answer}")
        return [name for name in found if name in answer.json()]

    def close(self):
        self.client.close()
        return self.server.stop()


def contract():
    with open(os.path.join(ROOT, "api", "openapi.yaml"), encoding="utf-8") as file:
        return yaml.load(file, openapi.StrictLoader)


def outputs_of(operation, schemas):
    if operation == "evaluate":
        return list(golden_requests.field(None, "operations", 0, {"links": [""]})["operations"])
    name = "".join(part.capitalize() for part in operation.split("-")) + "Request"
    return [name for name in schemas[name]["properties"]["outputs"]["items"]["enum"] if name not in LEFT_OUT]


def read():
    """Returns {label: (outputs, {class: hash})}."""
    found = {}
    with open(ANSWERS, encoding="utf-8") as file:
        for line in list(file)[1:]:
            label, outputs, fused, unfused = line.rstrip("\n").split("\t")
            found[label] = outputs.split(","), {"fused": fused, "unfused": unfused}
    return found


def refusal(changed, reason):
    """Returns the reason why this version may not change these answers, or None if it may."""
    if not changed:
        return None
    with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as file:
        sections = re.split(r"^## ", file.read(), flags=re.M)
    flat = lambda text: " ".join(text.split())
    if not reason or flat(reason) not in flat(sections[1]):
        return "give REASON='...', a sentence of the first section of CHANGELOG.md"
    if versions.next_version()[0].split(".")[2] != "0":
        return "a patch changes no bits; a wrong number is mended by a minor version, or its lines are changed by hand"
    return None


def main():
    schemas = contract()["components"]["schemas"]
    before = read() if os.path.exists(ANSWERS) else {}
    servers = {"fused": Asked("avx2"), "unfused": Asked("sse2_unfused")}
    rows = {}
    for label in golden_requests.labels():
        outputs = servers["fused"].answered(label, outputs_of(label.split()[0], schemas))
        rows[label] = outputs, {name: server.hash(label, outputs) for name, server in servers.items()}
    changed = [label for label, (outputs, hashes) in before.items() if label in rows and
               hashes != (rows[label][1] if outputs == rows[label][0] else {name: server.hash(label, outputs) for name, server in servers.items()})]
    for server in servers.values():
        server.close()
    print("".join(f"golden: {label} has other bits\n" for label in changed), end="")
    why = refusal(changed, os.environ.get("REASON"))
    if why:
        print(f"golden: {len(changed)} answers have other bits: {why}")
        return 1
    with open(ANSWERS, "w", encoding="utf-8") as file:
        file.write(HEAD)
        file.writelines("\t".join((label, ",".join(outputs), hashes["fused"], hashes["unfused"])) + "\n" for label, (outputs, hashes) in rows.items())
    return 0


if __name__ == "__main__":
    sys.exit(main())
