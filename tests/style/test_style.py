"""Shows that tests/style/style.py finds a breach of each rule in a small tree, and finds nothing once it is mended."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "e2e", "support")]
import style  # noqa: E402
import tap  # noqa: E402

HEAD = "/* sum.c - adds the numbers of a row. */\n"


class Tree(unittest.TestCase):
    """A checkout of its own for every test, with the rules of this one but without its exceptions."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        rules = style.read_yaml(ROOT, style.RULES)
        self.write(style.RULES, yaml.safe_dump({**rules, "parameters": {}, "lines": {"most": 400, "exceptions": {}}}))
        self.write(style.ALLOWED, "{}\n")
        self.commit()

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as out:
            out.write(text)

    def commit(self):
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        subprocess.run(["git", "add", "-A"], cwd=self.root, check=True)
        subprocess.run(["git", *identity, "commit", "-qm", "test"], cwd=self.root, check=True)

    def run_style(self, *arguments):
        """Exit status and the printed text."""
        out, before = io.StringIO(), sys.argv
        sys.argv = ["style.py", *arguments]
        try:
            with contextlib.redirect_stdout(out):
                status = style.main(self.root)
        finally:
            sys.argv = before
        return status, out.getvalue()

    def numbers(self):
        return style.Check(self.root).numbers()

    def assert_red_then_green(self, rule, path, bad, good, number=1):
        """`bad` in the file is `number` findings of the rule and of no other rule, `good` is none."""
        self.write(path, bad)
        group = style.kind_of(style.group_of(path)) if rule == "signatures" else style.group_of(path)
        self.assertEqual(self.numbers(), {rule: {group: number}}, bad)
        status, said = self.run_style()
        self.assertEqual(status, 1)
        self.assertIn(f"{rule}: {group} has {number}, allowed are 0", said)
        self.write(path, good)
        self.assertEqual(self.numbers(), {}, good)
        self.assertEqual(self.run_style(), (0, ""))

    def assert_green(self, path, text):
        self.write(path, text)
        self.assertEqual(self.numbers(), {}, text)


class CRules(Tree):
    def test_parameters(self):
        seven = "int sum(int a, int b, int c, int d, int e, int f, int g)"
        six = "int sum(int a, int b, int c, int d, int e, void (*f)(int, int))"
        for bad, good in ((f"{seven};\n", f"{six};\n"),
                          (f"{seven};\n{seven}\n{{\n    return a;\n}}\n", f"{six}\n{{\n    return a;\n}}\n"),
                          ("LANE_INLINE int LANE_NAME(sum)(int a, int b, int c, int d, int e, int f, const int g[2])\n{\n}\n",
                           "void LANE_NAME(sum)(int a, int b)\n{\n    call(1, 2, 3, 4, 5, 6, 7);\n}\n")):
            self.assert_red_then_green("parameters", "dynamics/sum.c", HEAD + bad, HEAD + good)

    def test_function_lines(self):
        lines = "int sum(int a)\n{{\n{}}}\n"
        self.assert_red_then_green("function lines", "api/sum.c", HEAD + lines.format("    a++;\n" * 38),
                                   HEAD + lines.format("    a++;\n" * 37))

    def test_exceptions(self):
        rules = style.read_yaml(self.root, style.RULES)
        self.write("api/sum.c", HEAD + "int sum(int a, int b, int c, int d, int e, int f, int g);\n")
        self.write(style.RULES, yaml.safe_dump({**rules, "parameters": {"sum": "the signature of a library"}}))
        self.assertEqual(self.run_style(), (0, ""))
        self.write(style.RULES, yaml.safe_dump({**rules, "parameters": {"sum": "a library's", "lost": "a library's"}}))
        status, said = self.run_style()
        self.assertEqual((status, said), (1, f"{style.RULES}: parameters: no function lost\n"))

    def test_names(self):
        body = HEAD + "static int f(void)\n{{\n    {}\n}}\n"
        for bad, good in (("size_t at = 0;", "size_t pointer = 0;"),
                          ("for (int i = 0, at = 1; i < at; i++) g();", "for (int i = 0, k = 1; i < k; i++) g();"),
                          ("const char *at, *end;", "const char *start, *end;"),
                          ("const char *end, *at;", "const char *end, *start;"),
                          ("lane own[2], *cs = own;", "lane pair[2], *cs = pair;"),
                          ("g((row){1, 2}); int at = g(x, y);", "g((row){1, 2}); int k = g(x, y);")):
            self.assert_red_then_green("names", "server/sum.c", body.format(bad), body.format(good))
        self.assert_red_then_green("names", "api/sum.c", HEAD + "static int given(node *of);\n",
                                   HEAD + "static int has_node(node *n);\n", number=2)
        self.assert_red_then_green("names", "api/sum.c", HEAD + "struct row {\n    int n, at;\n};\n",
                                   HEAD + "struct row {\n    int n, rest;\n    frame *held;\n};\n")

    def test_uses_are_no_declarations(self):
        for text in ("g(n, at); return at;", "x = n * at;", "x = at * n, y = *at;", "*at = 1, *of = 2;",
                     "x = (row){n, at}; // int at", 'g("int at = 1;", x.at, y->at);', "if (a) return *at;"):
            self.assert_green("api/sum.c", HEAD + f"static void f(void)\n{{\n    {text}\n}}\n")

    def test_signatures(self):
        one, other = "static bool fail(text *t)\n{\n}\n", "static bool fail(text *t, int line)\n{\n}\n"
        self.write("api/a.c", HEAD.replace("sum", "a") + one)
        self.assert_red_then_green("signatures", "server/sum.c", HEAD + other, HEAD + one.replace("*t", "*what"))
        self.assert_red_then_green("signatures", "server/sum.c", HEAD + one.replace("bool", "int"), HEAD + other.replace("fail", "fail_line"))
        self.assert_green("tests/sum.c", HEAD + other)     # a test program is linked with no other

    def test_defaults(self):
        kinds = "typedef enum kind { REVOLUTE, PRISMATIC } kind;\n"
        switch = "int f(kind k)\n{{\n    switch (k) {{\n    case REVOLUTE: return 1;\n    {}\n    }}\n    return 0;\n}}\n"
        bad, good = switch.format("default: return 2;"), switch.format("case PRISMATIC: return 2;")
        self.assert_red_then_green("defaults", "api/sum.c", HEAD + kinds + bad, HEAD + kinds + good)
        rows = HEAD + "int f(kind k)\n{\n    switch (k) {\n        JOINT_TYPES(X)\n    default: return 0;\n    }\n}\n"
        self.assert_red_then_green("defaults", "api/sum.c", rows, rows.replace("    default: return 0;\n", ""))
        self.assert_green("api/sum.c", HEAD + "enum { REVOLUTE = 3 };\n" + bad.replace("kind k", "int k"))
        nested = switch.format("case PRISMATIC:\n        switch (n) {\n        case 1: return 4;\n        default: return 5;\n        }")
        self.assert_green("api/sum.c", HEAD + kinds + nested)


class FileRules(Tree):
    def test_lines(self):
        row = "int a;\n"
        self.assert_red_then_green("lines", "api/sum.c", HEAD + row * 400, HEAD + row * 399)
        self.assert_red_then_green("lines", "api/sum.c", HEAD + row * 500, HEAD + row * 399, number=2)
        rules = style.read_yaml(self.root, style.RULES)
        self.write("api/sum.c", HEAD + row * 400)
        self.write(style.RULES, yaml.safe_dump({**rules, "lines": {"most": 400, "exceptions": {"api/sum.c": "a table"}}}))
        self.assertEqual(self.numbers(), {})
        self.write(style.RULES, yaml.safe_dump({**rules, "lines": {"most": 400, "exceptions": {"api/lost.c": "a table"}}}))
        self.assertIn(f"{style.RULES}: lines: no file api/lost.c", self.run_style()[1])

    def test_first_lines(self):
        for path, bad, good in (("api/sum.c", "/* sum.c - see sum.h. */\n", HEAD),
                                ("api/sum.c", "#include <stdio.h>\n" + HEAD, HEAD + "#include <stdio.h>\n"),
                                ("api/sum.c", "/* add.c - adds the numbers of a row. */\n", HEAD),
                                ("tests/e2e/test_sum.py", "import os\n", '"""Adds the numbers of a row."""\nimport os\n'),
                                ("tests/e2e/add.py", '#!/usr/bin/python3\n"""add.py"""\n',
                                 '#!/usr/bin/python3\n"""add.py - adds the numbers of a row."""\n'),
                                ("tests/add", "#!/bin/bash\nset -u\n", "#!/bin/bash\n# add - adds the numbers of a row.\nset -u\n"),
                                ("server/console/src/add.ts", "let a = 1;\n", "// Adds the numbers of a row.\nlet a = 1;\n")):
            self.assert_red_then_green("first lines", path, bad, good)
        self.assert_green("api/clients/python/__init__.py", "")

    def test_folders(self):
        for folder, most in (("api/motion", 20), ("tests/e2e", 30)):
            for i in range(most):
                self.write(f"{folder}/sum{i}.py", '"""Adds the numbers of a row."""\n')
            self.assertEqual(self.run_style(), (0, ""))
            self.write(f"{folder}/one_more.py", '"""Adds the numbers of a row."""\n')
            status, said = self.run_style()
            self.assertEqual(status, 1)
            self.assertIn(f"{folder}: {most + 1} sources, expected at most {most}", said)
            os.remove(os.path.join(self.root, folder, "one_more.py"))
        self.assertEqual(self.run_style(), (0, ""))

    def test_folders_count_sources_only(self):
        for i in range(30):
            self.write(f"api/sum{i}.yaml", "a: 1\n")
        self.assertEqual(self.numbers(), {})


class Dialect(Tree):
    BAD = ("What the server answers.", "Who waits for it.", "Whether the row failed.", "How often a call is repeated.", "Which ends the run.",
           "Adds a row. It must be finite.", "They are finite.", "Its rate.", "Those of the parent.", "These are rare.", "Both are set.",
           "Such a row.", "The same for columns.", "The same.", "The other is set.", "The others wait.", "The other two passes.", "The other.", "That of the parent.", "Of the body's frame",
           "of the parent", "With those of the parent.", "As it is in the request.", "Runs until somebody asks.",
           "Wakes the thread who waits.", "Counts what there is.", "Closes when the answer stands.")
    GOOD = ("Number of calls that are repeated.", "True if the row failed.", "Adds a row and its rate. A row is what a state gives.",
            "These tests need MuJoCo.", "Both frames are on one body.", "Those two bodies are welded.", "The same point in world axes.",
            "Italic text is not read.", "The other images begin as root.", "That row has failed.", "Offers a choice of rows.", "--- of the parent ---")

    def test_c(self):
        for bad in self.BAD:
            self.assert_red_then_green("dialect", "dynamics/sum.c", HEAD + f"int n; /* {bad} */\n", HEAD + "int n; /* Number of rows. */\n")
        for good in self.GOOD:
            self.assert_green("dynamics/sum.c", HEAD + f"/* {good} */\n")
        self.assert_red_then_green("dialect", "tests/api/sum.c", "/* sum.c - what the rows add up to. */\n", HEAD)
        self.assert_green("dynamics/sum.c", HEAD + "/* Adds a row with two\n * of the columns, and returns\n * what is left. */\n")
        self.assert_green("dynamics/sum.c", HEAD + 'const char *text = "/* What it is. */";\n')

    def test_python(self):
        head = '"""Adds the numbers of a row."""\n'
        for bad in self.BAD:
            self.assert_red_then_green("dialect", "tests/e2e/sum.py", head + f"# {bad}\n", head + "# Number of rows.\n")
            self.assert_red_then_green("dialect", "tests/e2e/sum.py", head + f'def f():\n    """{bad}"""\n', head)
        self.assert_red_then_green("dialect", "tests/e2e/sum.py", '"""What the rows add up to."""\n', head)
        beside = head + "n = 1   # number of rows\n# {}\n"
        self.assert_red_then_green("dialect", "tests/e2e/sum.py", beside.format("Of the body"), beside.format("Mass of the body"))
        self.assert_green("tests/e2e/sum.py", head + "# Mass of two\n# of the bodies\n")
        self.assert_green("tests/e2e/sum.py", head + 'text = "# What it is."\nother = """\nWhat it is.\n"""\n')

    def test_other_languages(self):
        for path, head, mark in (("server/console/src/sum.ts", "// Adds the numbers of a row.\n", "//"),
                                 ("Makefile", "# Makefile - builds the sum of a row.\n", "#"),
                                 ("tests/sum.sh", "#!/bin/bash\n# Adds the numbers of a row.\n", "#"),
                                 ("tests/sum", "#!/bin/bash\n# Adds the numbers of a row.\n", "#")):
            self.assert_red_then_green("dialect", path, head + f"\n{mark} What it is.\n", head + f"\n{mark} Number of rows.\n")
        self.assert_green("server/console/src/sum.ts", '// Adds the numbers of a row.\nlet a = "http://what.is";\n')

    def test_generated(self):
        text = '"""Fields of the contract.\n\nMade by api/fields.py from api/openapi.yaml.\n"""\n# What it is.\n'
        self.assert_green("api/clients/python/fields.py", text)


class Ratchet(Tree):
    BAD = HEAD + "int n; /* What it is. */\n"

    def allowed(self):
        return style.read_yaml(self.root, style.ALLOWED)

    def allow(self, **numbers):
        self.write(style.ALLOWED, yaml.safe_dump(numbers))

    def test_more(self):
        self.write("api/sum.c", self.BAD)
        self.write("server/sum.c", self.BAD)
        self.allow(dialect={"api": 1})
        status, said = self.run_style()
        self.assertEqual(status, 1)
        self.assertIn("dialect: server has 1, allowed are 0", said)
        self.assertIn("server/sum.c:2: 'What it is.': name the thing", said)
        self.assertNotIn("api/sum.c", said)
        status, said = self.run_style("--write")
        self.assertEqual((status, said), (1, "dialect: product has 2 in all, allowed are 1: not written\n"))
        self.assertEqual(self.allowed(), {"dialect": {"api": 1}})

    def test_fewer(self):
        self.write("api/sum.c", self.BAD)
        self.allow(dialect={"api": 2, "tests": 1})
        status, said = self.run_style()
        self.assertEqual(status, 1)
        self.assertIn("dialect: api has 1, fewer than the 2", said)
        self.assertEqual(self.run_style("--write"), (0, ""))
        self.assertEqual(self.allowed(), {"dialect": {"api": 1}})
        self.assertEqual(self.run_style(), (0, ""))

    def test_without_numbers(self):
        self.write("api/sum.c", self.BAD)
        os.remove(os.path.join(self.root, style.ALLOWED))
        self.assertEqual(self.run_style()[0], 1)
        self.assertEqual(self.run_style("--write"), (0, ""))
        self.assertEqual(self.allowed(), {"dialect": {"api": 1}})

    def test_moved_file(self):
        self.allow(dialect={"api": 1})
        self.write("api/sum.c", self.BAD)
        self.commit()
        os.makedirs(os.path.join(self.root, "api/motion"))
        os.rename(os.path.join(self.root, "api/sum.c"), os.path.join(self.root, "api/motion/sum.c"))
        self.assertEqual(self.run_style(), (0, ""), "another folder of the same layer")
        os.makedirs(os.path.join(self.root, "dynamics"))
        os.rename(os.path.join(self.root, "api/motion/sum.c"), os.path.join(self.root, "dynamics/sum.c"))
        self.assertEqual(self.run_style()[0], 1)
        self.assertEqual(self.run_style("--write"), (0, ""))
        self.assertEqual(self.allowed(), {"dialect": {"dynamics": 1}})

    def test_tests_are_not_the_product(self):
        self.write("tests/sum.c", self.BAD)
        self.allow(dialect={"api": 1})
        self.assertEqual(self.run_style("--write"), (1, "dialect: tests has 1 in all, allowed are 0: not written\n"))

    def test_shows_changed_files(self):
        self.write("api/old.c", self.BAD.replace("sum.c", "old.c"))
        self.write("api/sum.c", HEAD)
        self.allow(dialect={"api": 1})
        self.commit()
        self.write("api/sum.c", self.BAD)
        for state in ("in the work tree", "committed"):
            if state == "committed":
                self.commit()
            said = self.run_style()[1]
            self.assertIn("mend 1 of these (STYLE.md). In files changed since", said, state)
            self.assertIn("api/sum.c:2", said, state)
            self.assertNotIn("api/old.c", said, state)

    def test_shows_new_files(self):
        self.write("api/old.c", self.BAD.replace("sum.c", "old.c"))
        self.allow(dialect={"api": 1})
        self.commit()
        self.write("api/sum.c", self.BAD)
        said = self.run_style()[1]
        self.assertIn("api/sum.c:2", said)
        self.assertNotIn("api/old.c", said)

    def test_list(self):
        self.write("api/sum.c", self.BAD)
        self.write("tests/sum.c", self.BAD)
        status, said = self.run_style("--list", "dialect", "tests")
        self.assertEqual(status, 0)
        self.assertEqual(said.splitlines(), [line for line in said.splitlines() if "tests/sum.c:2" in line])
        self.assertEqual(self.run_style("--list", "dialect")[1].count("sum.c:2"), 2)


if __name__ == "__main__":
    tap.main()
