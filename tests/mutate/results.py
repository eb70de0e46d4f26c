"""Keeps what was found out so far, in a file that a later run goes on from.

A verdict holds for one fault and one state of the sources. "found" holds as long as the test that found the fault is
unchanged; a test that passed is not run again as long as it is unchanged, so that a new test is tried on the missed.
"""
import hashlib
import json
import os
import re
import threading

from tree import tracked_files

# Changes of these files do not change the result of a test in a private copy.
APART = re.compile(r"(tests/mutate/|tests/style/|tests/bench/|tests/fuzz/|deploy/|\.ci/)|\.md$")
TEST = re.compile(r"tests/(?:\w+/)+test_\w+\.(c|py|mjs)$")


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def digest_file(path):
    with open(path, "rb") as content:
        return hashlib.sha256(content.read()).hexdigest()[:16]


class Results:
    def __init__(self, path, root):
        self.path = path
        self.lock = threading.Lock()
        files = {name: digest_file(os.path.join(root, name)) for name in tracked_files(root) if not APART.match(name)}
        self.tests = {name: key for name, key in files.items() if TEST.match(name)}
        self.state = digest(*(f"{name} {key}" for name, key in sorted(files.items()) if name not in self.tests))
        try:
            with open(path, encoding="utf-8") as kept:
                self.kept = json.load(kept)
        except (OSError, ValueError):
            self.kept = {"faults": {}, "seconds": {}}

    def of(self, fault):
        """{"found": test or None, "passed": {test: its state}, "seconds": ...}, as far as it is still valid."""
        key = digest(self.state, fault.file, fault.definition or "", fault.find, fault.put)
        kept = self.kept["faults"].get(fault.name, {})
        if kept.get("key") != key:
            return {"key": key, "found": None, "passed": {}, "seconds": 0, "hint": kept.get("found") or kept.get("hint")}
        if kept["found"] and kept["state"] != self.tests.get(kept["found"]):
            kept = {**kept, "hint": kept["found"], "found": None}
        return {**kept, "passed": {test: state for test, state in kept["passed"].items()
                                   if self.tests.get(test) == state}}

    def keep(self, fault, result):
        with self.lock:
            self.kept["faults"][fault.name] = {**result, "state": self.tests.get(result["found"])}
            self._write()

    def seconds(self, test):
        """Seconds that the test takes without a fault; None if the test has not been run in this state."""
        kept = self.kept["seconds"].get(test, {})
        return kept.get("seconds") if kept.get("key") == digest(self.state, self.tests[test]) else None

    def keep_seconds(self, test, seconds):
        with self.lock:
            self.kept["seconds"][test] = {"key": digest(self.state, self.tests[test]), "seconds": seconds}
            self._write()

    def _write(self):
        with open(self.path + ".new", "w", encoding="utf-8") as new:
            json.dump(self.kept, new, indent=1)
        os.replace(self.path + ".new", self.path)
