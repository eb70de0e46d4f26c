#!/usr/bin/python3
"""compatibility.py [--write | --released] - compares the interfaces of the product with tests/compatibility/baseline.txt, and
prints each change that the version of the tree may not make. STABILITY.md says what is compatible.

A line of the baseline is a name with its facts. --write replaces the file by the present interfaces (`make baseline`), under the
version that the changelog begins with. --released also demands that the baseline is that of this version, for `make release`.
BUILD names the folder of the program (build)."""
import json
import os
import subprocess
import sys

import contract
import interfaces
import versions

ROOT, HERE = versions.ROOT, os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(ROOT, "api"), os.path.join(ROOT, "tests", "e2e", "support")]
import openapi  # noqa: E402
import yaml  # noqa: E402
from harness import BINARY, Server  # noqa: E402

# Modules whose public names are for users; __init__ lists those of the package itself.
PYTHON = ("__init__", "aio", "answers", "client", "errors", "local_server", "replicas", "conventions", "plotting", "torch/__init__")
BASELINE = os.path.join(HERE, "baseline.txt")
HEAD = "# Interfaces of torqued {}. Made by tests/compatibility/compatibility.py: `make baseline`.\n"
# Facts by what a minor version may do to them. All others stay as they are.
MAY_GROW = {"takes", "names", "media", "statuses", "headers", "parameters"}
MAY_SHRINK = {"gives", "demands"}
MAY_FALL = {"least", "above", "shortest"}
MAY_RISE = {"most", "below", "longest"}
MAY_BECOME = {"needs": "no", "always": "yes", "deprecated": "yes"}
FREE = {"may"}
# Defaults of facts, which the baseline does not write.
SILENT = {("needs", "no"), ("always", "no"), ("deprecated", "no")}


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


def texts(ending, *folders):
    """Returns the texts of all sources with that ending below a folder, in the order of their names."""
    paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(ROOT, *folders)) for name in names
                   if name.endswith(ending))
    return [read(path) for path in paths]


def run(*arguments):
    return subprocess.run([BINARY, *arguments], check=True, capture_output=True, text=True).stdout


def help_texts():
    listed = run("--help").split("commands:\n")[1].split("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines()]
    return {name: run(name, "--help") for name in names if name != "serve"}


def metrics_page():
    server = Server()
    try:
        return server.client().get("/metrics").body.decode()
    finally:
        server.kill()


class Sources:
    """The sources, texts and pages from which the interfaces are read."""

    def __init__(self):
        self.contract = yaml.load(read("api", "openapi.yaml"), openapi.StrictLoader)
        self.header = read("api", "clients", "c", "torqued.h")
        self.helps, self.settings = help_texts(), run("--settings-table")
        self.metrics, self.metrics_page = read("api", "metrics.h"), metrics_page()
        self.log = texts(".c", "server")
        self.python = {name: read("api", "clients", "python", "src", "torqued", name + ".py") for name in PYTHON}
        self.typescript = texts(".ts", "api", "clients", "typescript", "src")

    def interfaces(self):
        return {**contract.interfaces(self.contract), "header": interfaces.c_header(self.header),
                "command": interfaces.commands(self.helps), "setting": interfaces.settings(self.settings),
                "metric": interfaces.metrics(self.metrics, self.metrics_page), "log": interfaces.log(self.log),
                "python": interfaces.python(self.python), "typescript": interfaces.typescript(self.typescript)}


def text_of(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " | ".join(sorted(value)) if isinstance(value, set) else str(value)


def lines_of(found):
    """Returns {"interface name": {fact: text}}."""
    return {f"{kind}: {name}": {fact: text_of(value) for fact, value in facts.items() if text_of(value)}
            for kind, names in found.items() for name, facts in names.items()}


def write(path, version, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD.format(version))
        for name in sorted(lines):
            facts = "".join(f"\t{fact}={text}" for fact, text in lines[name].items() if (fact, text) not in SILENT)
            file.write(name + facts + "\n")


def read_baseline(path=BASELINE):
    with open(path, encoding="utf-8") as file:
        version = file.readline().split("torqued ")[1].split(". ")[0]
        rows = [line.rstrip("\n").split("\t") for line in file]
    return version, {row[0]: dict(fact.split("=", 1) for fact in row[1:]) for row in rows}


def may_default(before, after):
    """True if a default is stated for the first time, or names more outputs."""
    return before is None or after is not None and before[0] == "[" == after[0] and set(json.loads(before)) <= set(json.loads(after))


def breaks(fact, before, after):
    """True unless a minor version may make this change of one fact. None: the fact is absent."""
    if fact in FREE or fact == "default" and may_default(before, after):
        return False
    if fact in MAY_GROW or fact in MAY_SHRINK:
        old, new = (set((text or "").split(" | ")) - {""} for text in (before, after))
        return not (old <= new if fact in MAY_GROW else new <= old)
    if fact in MAY_FALL | MAY_RISE:
        if before is None or after is None:
            return before is None
        return float(after) > float(before) if fact in MAY_FALL else float(after) < float(before)
    return (after or "no") != MAY_BECOME.get(fact)


def compare(before, after):
    """Yields (True if it breaks users, text) of each difference."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None:
            parent = name.split("(")[0] if name.endswith(")") else name.rsplit(".", 1)[0]  # the parent of an argument is its function
            grown = parent in before or any(other.startswith(parent + ".") for other in before)
            yield new.get("needs") == "yes" and grown and parent != name, f"{name} is new" + (" and required" if new.get("needs") == "yes" else "")
        elif new is None:
            yield True, f"{name} is gone"
        else:
            for fact in sorted(old.keys() | new.keys()):
                a, b = old.get(fact), new.get(fact)
                if a != b and not ((fact, a or "no") in SILENT and (fact, b or "no") in SILENT):
                    yield breaks(fact, a, b), f"{name}: {fact} was {a or 'none'} and is {b or 'none'}"


def removed_at_once(before, after):
    """Yields the names of the contract and of documents that have been removed without being deprecated in an earlier version."""
    for name in sorted(before.keys() - after.keys()):
        if name.startswith(("contract: ", "document: ")) and before[name].get("deprecated") != "yes":
            yield f"{name} is gone, and no version has marked it as deprecated"


def findings(baseline, lines, version, released):
    """Returns the differences that the version may not make."""
    of, before = baseline
    level = versions.allowed(of, version, released)
    if level == versions.EVERYTHING:
        return [] if of.startswith("0.") else list(removed_at_once(before, lines))
    return [text for broken, text in compare(before, lines) if level == versions.NOTHING or broken]


def main():
    lines = lines_of(Sources().interfaces())
    version, released = versions.next_version()
    if sys.argv[1:] == ["--write"]:
        write(BASELINE, version, lines)
        return 0
    baseline = read_baseline()
    found = findings(baseline, lines, version, released or sys.argv[1:] == ["--released"])
    if sys.argv[1:] == ["--released"] and baseline[0] != version:
        found = [f"the baseline is of {baseline[0]}, the tree becomes {version}: `make baseline`"]
    for text in found:
        print("compatibility:", text)
    if found:
        print(f"compatibility: version {version} may not change these interfaces of {baseline[0]}; STABILITY.md says what it may")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
