"""tap.py FILE - runs the unittest cases of a Python file and reports in TAP (the Test Anything Protocol)."""

import importlib.util
import os
import sys
import unittest


class TapResult(unittest.TestResult):
    """One TAP line per test; failures follow as comments. A failing subtest fails its test."""

    def __init__(self, stream):
        super().__init__()
        self.stream = stream
        self.count = 0
        self.subtest_failures = []

    def line(self, ok, test, note=""):
        self.count += 1
        self.stream.write(f"{'ok' if ok else 'not ok'} {self.count} - {test.id()}{note}\n")
        self.stream.flush()

    def explain(self, error, test):
        for text in self._exc_info_to_string(error, test).splitlines():
            self.stream.write(f"# {text}\n")

    def addSuccess(self, test):
        self.line(True, test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.line(False, test)
        self.explain(error, test)

    def addError(self, test, error):
        super().addError(test, error)
        self.line(False, test)
        self.explain(error, test)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.subtest_failures.append((subtest, error))

    def stopTest(self, test):
        super().stopTest(test)
        if self.subtest_failures:  # unittest reports such a test neither as a success nor as a failure
            self.line(False, test)
            for subtest, error in self.subtest_failures:
                self.stream.write(f"# in {subtest.id()}\n")
                self.explain(error, test)
            self.subtest_failures = []

    def addSkip(self, test, reason):
        self.line(True, test, f" # SKIP {reason}")

    def addExpectedFailure(self, test, error):
        self.line(False, test, " # TODO expected failure")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.line(False, test, " unexpectedly succeeded")


def load(path):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main():
    out = os.fdopen(os.dup(1), "w")  # what a test prints itself must not disturb the protocol
    os.dup2(2, 1)
    suite = load(sys.argv[1])
    result = TapResult(out)
    suite.run(result)
    out.write(f"1..{result.count}\n")
    out.flush()
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
