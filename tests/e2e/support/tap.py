"""Runs the unittest cases of the calling file and reports them in the Test Anything Protocol.

`prove` reads this output. Arguments select tests as in unittest: `test_http.py Framing.test_pipelining`."""
import os
import sys
import time
import unittest

# tests/run puts the folders of the tests into PYTHONPATH; the programs that tests start must not find modules there.
os.environ.pop("PYTHONPATH", None)


class _Reporter(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.started = 0

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        took = time.monotonic() - self.started
        if took > 2:
            print(f"#   took {took:.1f} s", flush=True)

    def _line(self, verdict, test, directive="", detail=""):
        self.count += 1
        print(f"{verdict} {self.count} - {test.id().removeprefix('__main__.')}{directive}", flush=True)
        for line in detail.rstrip().splitlines():
            print(f"#   {line}", flush=True)

    def addSuccess(self, test):
        self._line("ok", test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._line("not ok", test, detail=self.failures[-1][1])

    def addError(self, test, error):
        super().addError(test, error)
        self._line("not ok", test, detail=self.errors[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line("ok", test, f" # SKIP {reason}")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            text = "".join(self._exc_info_to_string(error, subtest))
            self._line("not ok", subtest, detail=text)


def main():
    names = sys.argv[1:]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names, sys.modules["__main__"]) if names \
        else loader.loadTestsFromModule(sys.modules["__main__"])
    result = _Reporter()
    suite.run(result)
    print(f"1..{result.count}", flush=True)
    sys.exit(0 if result.wasSuccessful() else 1)
