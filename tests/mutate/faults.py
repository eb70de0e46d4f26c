"""Reads the list of faults, faults/*.yaml, and checks every fault against the sources.

A fault is one small error as programmers make them: in `file`, the text `find` becomes `put`. `find` must occur exactly
once. Any white space in `find` matches any white space, so that a change of layout does not invalidate the fault."""
import os
import re

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
MEMBERS = {"name", "file", "find", "put", "tests", "equivalent"}


class BadList(Exception):
    """Raised when the list contradicts itself or the sources; the message has one line for each reason."""


class Fault:
    def __init__(self, layer, entry):
        unknown = set(entry) - MEMBERS
        if unknown or not {"name", "file", "find", "put"} <= set(entry):
            raise BadList(f"{layer}: {entry.get('name', entry)}: members are {', '.join(sorted(MEMBERS))}")
        self.layer = layer
        self.name = entry["name"]
        self.file = entry["file"]
        self.find = entry["find"].strip()
        self.put = entry["put"].strip()
        self.tests = entry.get("tests", [])
        self.equivalent = entry.get("equivalent")  # the reason why no test can detect the fault, else None

    def pattern(self):
        return r"\s+".join(map(re.escape, self.find.split()))

    def apply(self, text):
        """Returns the text with the fault in it."""
        return re.sub(self.pattern(), lambda _: self.put, text, count=1)

    def complaint(self, root):
        """Returns what is wrong with the fault in the sources under `root`, or None."""
        path = os.path.join(root, self.file)
        if not os.path.isfile(path):
            return f"{self.name}: there is no file {self.file}"
        with open(path, encoding="utf-8") as source:
            text = source.read()
        count = len(re.findall(self.pattern(), text))
        if count != 1:
            return f"{self.name}: {self.file} has its text {count} times, expected once: {' '.join(self.find.split())}"
        if self.find.split() == self.put.split():
            return f"{self.name}: the replacement is the text itself"
        missing = [test for test in self.tests if not os.path.isfile(os.path.join(root, test))]
        return f"{self.name}: there is no test {missing[0]}" if missing else None


class Layer:
    """A file of the list: the tests of a layer, in the order in which they run, and its faults."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as text:
            content = yaml.safe_load(text)
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.tests = content["tests"]
        self.faults = [Fault(self.name, entry) for entry in content["faults"]]


def read(folder):
    return [Layer(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".yaml")]


def check(layers, root):
    """Raises BadList unless names are unique, texts occur once and tests exist."""
    reasons, names = [], set()
    for layer in layers:
        reasons += [f"{layer.name}: there is no test {test}" for test in layer.tests
                    if not os.path.isfile(os.path.join(root, test))]
        for fault in layer.faults:
            if fault.name in names:
                reasons.append(f"{fault.name}: the name stands twice in the list")
            names.add(fault.name)
            complaint = fault.complaint(root)
            if complaint:
                reasons.append(complaint)
    if reasons:
        raise BadList("\n".join(reasons))
