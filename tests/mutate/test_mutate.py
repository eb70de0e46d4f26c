"""Tests `make mutate` on a project of two functions: faults that tests find and miss, lists that are refused, and runs that are continued; and
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
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "e2e", "support")]
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
  - test_sum.c
faults:
  - {name: wrong-sign, file: sum.c, in: sum, find: a + b, put: a - b}
  - {name: endless, file: sum.c, in: sum, find: i = 0, put: i = 4}
  - {name: untested, file: sum.c, in: product, find: a   * b, put: a / b}
  - {name: same, file: sum.c, in: sum, find: a++, put: ++a, equivalent: the value is not used}
""",
}


class Toy(unittest.TestCase):
    """A checkout of its own for every test."""

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
        """Returns the exit status and the printed text."""
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
        self.replace("tests/mutate/faults/api.yaml", "find: a   * b", "find: b * a")
        status, said = self.run_mutate("wrong-sign")
        self.assertIn("found by", said, "other sources: nothing is known")

    def test_new_test_meets_the_missed(self):
        self.run_mutate("untested")
        self.write("tests/api/test_product.c", FILES["tests/api/test_sum.c"].replace("sum(2, 3) == 5", "sum(2, 3) == 6")
                   .replace("sum", "product"))
        status, said = self.run_mutate()
        self.assertRegex(said, r"api/untested: found by tests/api/test_product\.c")
        self.assertEqual(status, 0, said)

    def test_unpacked_packages(self):
        """git ignores build/, but headers that tests/deps has unpacked there are needed by every copy."""
        self.write(".gitignore", "build/\n")
        self.write("build/packages/usr/include/unpacked.h", "enum { UNPACKED = 1 };\n")
        self.replace("Makefile", "-I.", "-I. -Ibuild/packages/usr/include")
        self.replace("Makefile", "-c $(CFLAGS)", "-c $(CFLAGS) -Ibuild/packages/usr/include")
        self.replace("sum.c", "int sum(", "#include <unpacked.h>\nint sum(")
        _, printed = self.run_mutate("wrong-sign")
        self.assertIn("wrong-sign: found by", printed)

    def test_does_not_compile(self):
        self.replace("tests/mutate/faults/api.yaml", "put: a - b", "put: a -")
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
        for old, new, message in (("file: sum.c, in: product", "file: sum.c", "untested: a fault in C names the definition"),
                                  ("find: a + b", "find: a % b", "sum of sum.c has the fault's tokens 0 times"),
                                  ("find: i = 0", "find: i", "sum of sum.c has the fault's tokens 3 times"),
                                  ("put: a - b", "put: a+b", "the replacement is the text itself"),
                                  ("name: endless", "name: untested", "the name stands twice"),
                                  ("in: product", "in: quotient", "there is no quotient in the sources"),
                                  ("file: sum.c, in: product", "file: no.py", "there is no file no.py"),
                                  ("in: product", "on: product", "members are equivalent, file, find, in"),
                                  ("test_sum.c", "test_no.c", "there is no test test_no.c")):
            self.write("tests/mutate/faults/api.yaml", FILES["tests/mutate/faults/api.yaml"].replace(old, new))
            status, said = self.run_mutate("--list")
            self.assertEqual(status, 2, said)
            self.assertIn(message, said)


    def list_faults(self):
        """The faults by name after --list has accepted them; `said` is its output."""
        status, said = self.run_mutate("--list")
        self.assertEqual(status, 0, said)
        self.said = said
        layers = faults.read(self.path("tests/mutate/faults"))
        faults.check(layers, self.folder.name)
        return {fault.name: fault for layer in layers for fault in layer.faults}

    def test_edits_elsewhere(self):
        self.replace("sum.c", "return a + b;", "return a /* the first */\n        + b;")
        self.replace("sum.c", "return a * b;", "int c = a + b;\n    return c * 0 + a * b;")
        self.assertEqual(set(self.list_faults()), {"wrong-sign", "endless", "untested", "same"})

    def test_moved_files(self):
        for name, text in {"core/total.c": FILES["sum.c"].split("\n\n")[0], "core/product.c": FILES["sum.c"].split("\n\n")[1]}.items():
            self.write(name, text)
        os.remove(self.path("sum.c"))
        os.makedirs(self.path("tests/api/core"))
        os.rename(self.path("tests/api/test_sum.c"), self.path("tests/api/core/test_sum.c"))
        found = self.list_faults()
        self.assertEqual(found["wrong-sign"].path, "core/total.c")
        self.assertEqual(found["untested"].path, "core/product.c")
        self.assertIn("note: wrong-sign is in core/total.c, no more in sum of sum.c", self.said)

    def test_moved_tokens(self):
        """A fault whose function was renamed is found by a long sequence of tokens, but not by a short one."""
        self.replace("tests/mutate/faults/api.yaml", "find: a   * b, put: a / b", "find: return a * b;, put: return a / b;")
        self.replace("sum.c", "int product(", "int multiply(")
        self.assertIn("there is no product in the sources", self.run_mutate("--list")[1])
        self.replace("tests/mutate/faults/api.yaml", "find: return a * b;, put: return a / b;", "find: '{ return a * b;', put: '{ return a / b;'")
        fault = self.list_faults()["untested"]
        self.assertIn("note: untested is in sum.c, no more in product of sum.c: correct `file` or `in` of the fault in "
                      "tests/mutate/faults/api.yaml\n", self.said)
        self.assertEqual(fault.apply(FILES["sum.c"]).count("a / b"), 1)

    def test_names_that_several_files_have(self):
        self.write("tests/server/test_sum.c", "int main(void)\n{\n}\n")
        self.assertIn("test_sum.c is tests/api/test_sum.c and tests/server/test_sum.c", self.run_mutate("--list")[1])
        self.replace("tests/mutate/faults/api.yaml", "- test_sum.c", "- api/test_sum.c")
        self.list_faults()
        self.write("other/sum.c", FILES["sum.c"])
        status, said = self.run_mutate("--list")
        self.assertEqual(status, 2, said)
        self.assertIn("sum of other/sum.c and sum.c has the fault's tokens 2 times", said)
        self.replace("tests/mutate/faults/api.yaml", "file: sum.c", "file: other/sum.c")
        self.assertEqual(self.list_faults()["wrong-sign"].path, "other/sum.c")


class List(unittest.TestCase):
    def test_fits_the_sources(self):
        layers = faults.read(os.path.join(HERE, "faults"))
        faults.check(layers, ROOT)
        self.assertGreater(sum(len(layer.faults) for layer in layers), 200)


if __name__ == "__main__":
    tap.main()
