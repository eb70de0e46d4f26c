"""Tests `make mutate` on a project of two functions: faults found and missed, lists refused, runs continued. Also tests
that the list of faults fits the sources."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "e2e")]
import faults  # noqa: E402
import mutate  # noqa: E402
import tap  # noqa: E402

FILES = {
    ".gitignore": "/build/\n",
    "Makefile": """CFLAGS =
build/%: %.c sum.c
	@mkdir -p $(@D)
	@gcc $(CFLAGS) -I. -o $@ $^
build/torqued: sum.c
	@mkdir -p $(@D)
	@gcc -c $(CFLAGS) -o $@ $<
""",
    "sum.c": """int sum(int a, int b)
{
    for (int i = 0; i > 3; i--)
        a++;
    return a + b;
}

int product(int a, int b)
{
    return a * b;
}
""",
    "tests/run": '#!/bin/sh\nexec "$1"\n',
    "tests/api/test_sum.c": """#include <stdio.h>
int sum(int, int);
int main(void)
{
    printf("1..1\\n%s 1 - sum\\n", sum(2, 3) == 5 ? "ok" : "not ok");
}
""",
    "tests/mutate/faults/api.yaml": """tests:
  - tests/api/test_sum.c
faults:
  - {name: wrong-sign, file: sum.c, find: "return a + b;", put: "return a - b;"}
  - {name: endless, file: sum.c, find: "int i = 0;", put: "int i = 4;"}
  - {name: untested, file: sum.c, find: "return a   * b;", put: "return a / b;"}
  - {name: same, file: sum.c, find: "a++;", put: "++a;", equivalent: the value is not used}
""",
}


class Toy(unittest.TestCase):
    """A new checkout of the small project for every test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, text in FILES.items():
            self.write(name, text)
        os.chmod(self.path("tests/run"), 0o755)
        subprocess.run(["git", "init", "-q"], cwd=self.folder.name, check=True)
        for name, value in {"ROOT": self.folder.name, "FOLDER": self.path("build/mutate"), "PATIENCE": (2, 2)}.items():
            self.addCleanup(setattr, mutate, name, getattr(mutate, name))
            setattr(mutate, name, value)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)

    def replace(self, name, old, new):
        with open(self.path(name), encoding="utf-8") as text:
            self.write(name, text.read().replace(old, new))

    def run_mutate(self, *arguments):
        """Runs mutate.py and returns its exit status and all that it printed."""
        out, before = io.StringIO(), sys.argv
        sys.argv = ["mutate.py", *arguments]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                status = mutate.main()
        finally:
            sys.argv = before
        return status, out.getvalue()

    def test_verdicts(self):
        status, said = self.run_mutate()
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"api/wrong-sign: found by tests/api/test_sum\.c")
        self.assertRegex(said, r"api/endless: found by tests/api/test_sum\.c")
        self.assertRegex(said, r"api/untested: missed by all tests")
        self.assertRegex(said, r"api +3 +2 +1 +0 +66\.7% +1\n")
        self.assertNotIn("api/same", said)
        with open(self.path("sum.c"), encoding="utf-8") as text:
            self.assertEqual(text.read(), FILES["sum.c"], "the checkout is left alone")

    def test_goes_on(self):
        self.run_mutate("wrong-sign")
        status, said = self.run_mutate("wrong-sign")
        self.assertNotIn("found by", said, "what is known is not tried again")
        self.assertRegex(said, r"api +3 +1 +0 +2 ")
        self.replace("sum.c", "a * b", "b * a")
        self.replace("tests/mutate/faults/api.yaml", "return a   * b;", "return b * a;")
        status, said = self.run_mutate("wrong-sign")
        self.assertIn("found by", said, "other sources: nothing is known")

    def test_new_test_meets_the_missed(self):
        self.run_mutate("untested")
        self.write("tests/api/test_product.c", FILES["tests/api/test_sum.c"].replace("sum(2, 3) == 5", "sum(2, 3) == 6")
                   .replace("sum", "product"))
        status, said = self.run_mutate()
        self.assertRegex(said, r"api/untested: found by tests/api/test_product\.c")
        self.assertEqual(status, 0, said)

    def test_does_not_compile(self):
        self.replace("tests/mutate/faults/api.yaml", "return a - b;", "return a - ;")
        status, said = self.run_mutate("wrong-sign")
        self.assertEqual(status, 1, said)
        self.assertIn("wrong-sign does not compile", said)

    def test_fails_without_a_fault(self):
        self.replace("tests/api/test_sum.c", "== 5", "== 6")
        status, said = self.run_mutate("wrong-sign")
        self.assertEqual(status, 1, said)
        self.assertIn("tests/api/test_sum.c fails without a fault", said)
        self.assertNotIn("wrong-sign: found", said)

    def test_bad_lists(self):
        for old, new, message in (("return a + b;", "return a % b;", "has its text 0 times"),
                                  ("int i = 0;", "int a, int b", "has its text 2 times"),
                                  ("return a - b;", "return a + b;", "the replacement is the text itself"),
                                  ("name: endless", "name: untested", "the name stands twice"),
                                  ("name: endless, file: sum.c", "name: endless, file: no.c", "there is no file no.c"),
                                  ("tests/api/test_sum.c", "tests/api/test_no.c", "there is no test")):
            self.write("tests/mutate/faults/api.yaml", FILES["tests/mutate/faults/api.yaml"].replace(old, new))
            status, said = self.run_mutate("--list")
            self.assertEqual(status, 2, said)
            self.assertIn(message, said)


class List(unittest.TestCase):
    def test_fits_the_sources(self):
        layers = faults.read(os.path.join(HERE, "faults"))
        faults.check(layers, ROOT)
        self.assertGreater(sum(len(layer.faults) for layer in layers), 200)


if __name__ == "__main__":
    tap.main()
