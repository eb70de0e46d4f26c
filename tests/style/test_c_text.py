"""Shows that tests/c_text.py splits C into the right tokens and definitions: functions, types, tables and macros with their names."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "e2e", "support")]
import c_text  # noqa: E402
import tap  # noqa: E402


def named(text):
    return [(one.kind, one.name) for one in c_text.definitions(text)]


class Tokens(unittest.TestCase):
    def words(self, text, **options):
        return [token.text for token in c_text.tokenize(text, **options)]

    def test_comments_and_strings(self):
        self.assertEqual(self.words('a /* b "c */ = "d /* e */ \\" f"; // g'), ["a", "=", '"d /* e */ \\" f"', ";"])
        self.assertEqual(self.words("c == '\"' || c == '\\'';"), ["c", "==", "'\"'", "||", "c", "==", "'\\''", ";"])

    def test_operators_and_numbers(self):
        self.assertEqual(self.words("x->y += 1e-3 >> .5f - 0x1Fu;"), ["x", "->", "y", "+=", "1e-3", ">>", ".5f", "-", "0x1Fu", ";"])

    def test_directives(self):
        text = "int a;\n#define ADD(x, y) \\\n    ((x) + (y))\nint b;"
        self.assertEqual(self.words(text)[:6], ["int", "a", ";", "#", "define", "ADD"])
        self.assertNotIn("\\", self.words(text))
        kept = self.words(text, keep_directives=True)
        self.assertEqual([kept[0], kept[3].startswith("#define ADD"), kept[4:]], ["int", True, ["int", "b", ";"]])

    def test_positions(self):
        text = "/* a */ int\n  b;"
        self.assertEqual([text[token.start:token.start + len(token.text)] for token in c_text.tokenize(text)], ["int", "b", ";"])


class Definitions(unittest.TestCase):
    def test_functions(self):
        self.assertEqual(named("static int add(int a, int b)\n{\n    if (a) { b++; }\n    return a + b;\n}\nint after;\n"),
                         [("function", "add"), ("variable", "after")])
        self.assertEqual(named("LANE_INLINE void LANE_NAME(solve)(const model *m)\n{\n}\n"), [("function", "solve")])
        self.assertEqual(named("bool take(bool (*next)(void *), void *arg);\nsize_t LANE_NAME(solve_size)(const model *);\n"),
                         [("declaration", "take"), ("declaration", "solve_size")])

    def test_types(self):
        self.assertEqual(named("typedef struct row {\n    int n, *values;\n} row;\nstruct column;\nstruct column {\n    row r;\n};\n"),
                         [("type", "row"), ("variable", "column"), ("type", "column")])
        self.assertEqual(named("enum { ROWS = 3, COLUMNS };\nenum kind { A };\ntypedef enum { B } other;\n"),
                         [("type", "ROWS"), ("type", "kind"), ("type", "other")])
        self.assertEqual(named("typedef bool (*handler)(int);\n"), [("type", "handler")])

    def test_tables(self):
        self.assertEqual(named('static const row rows[] = {{1, f(2)}, {3, "}"}};\nint n = sizeof(rows), k;\n'),
                         [("variable", "rows"), ("variable", "n")])

    def test_macros(self):
        text = "#define ONE 1\n#define ADD(x, y) \\\n    ((x) + (y))\n#if ONE\nint a;\n#endif\nROWS(X)\n#undef X\nint f(void)\n{\n#if ONE\n    g();\n#endif\n}\n"
        self.assertEqual([name for kind, name in named(text) if kind == "macro"], ["ONE", "ADD"])
        self.assertEqual(named(text)[-1], ("function", "f"))
        macro = c_text.definitions(text)[1]
        self.assertEqual(text[macro.start:macro.end], "#define ADD(x, y) \\\n    ((x) + (y))")

    def test_headers_for_both_languages(self):
        text = '#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n'
        self.assertEqual(named(text), [("declaration", "f")])

    def test_spans_of_the_tree(self):
        """Functions of the server begin and end as the layout has them: at the beginning of a line, with a brace there or empty."""
        count = 0
        for folder, _, names in os.walk(os.path.join(ROOT, "server")):
            for name in names:
                if not name.endswith(".c"):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8") as source:
                    text = source.read()
                for one in c_text.definitions(text):
                    if one.kind == "function":
                        count += 1
                        self.assertTrue(text[:one.start].endswith("\n"), one.name)
                        self.assertTrue(text[one.start:one.end].endswith(("\n}", "{}")), one.name)
        self.assertGreater(count, 500)


if __name__ == "__main__":
    tap.main()
