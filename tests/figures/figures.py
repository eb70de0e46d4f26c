#!/usr/bin/python3
"""figures.py [--check] - counts tests, assertions, faults and fuzzers in the sources, and writes the table of tests/README.md
(`make figures`). Nothing is built or run.

With --check nothing is written: a figure of the table that is off by more than a tenth is an error, so that a branch which adds a test
needs no new table."""
import ast
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "tests", "README.md")
TOLERANCE = 0.1
LAYERS = "dynamics", "api", "server"


def texts(*patterns):
    """Returns the texts of the files of these patterns; ** is any number of folders."""
    found = sorted({path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern), recursive=True)})
    made = []
    for path in found:
        with open(path, encoding="utf-8", errors="replace") as file:
            made.append(file.read())
    return made


def count(pattern, sources):
    return sum(len(re.findall(pattern, text, re.M)) for text in sources)


def lines(sources):
    return sum(1 for text in sources for line in text.splitlines() if line.strip())


def names_of(path, name):
    """Returns the length of a list or tuple that a Python file assigns to a name."""
    for node in ast.parse(texts(path)[0]).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return len(node.value.elts)
    raise ValueError(f"{path} has no {name}")


def answers():
    return len(texts("tests/golden/answers.txt")[0].splitlines()) - 1


def figures():
    """Returns rows of (name, count)."""
    product = {layer: texts(f"{layer}/**/*.c", f"{layer}/**/*.h") for layer in LAYERS}
    in_c = texts("tests/*/*.c", "tests/dynamics/book/*.c")
    in_python = texts("tests/**/*.py")
    in_javascript = texts("tests/**/*.mjs")
    requests = "tests/e2e/requests/"
    return [
        ("lines of the product in C, without blank ones", sum(lines(sources) for sources in product.values())),
        ("lines of the tests", lines([*in_c, *in_python, *in_javascript])),
        ("test programs", len(glob.glob(f"{ROOT}/tests/*/test_*.[cpm]*")) + len(glob.glob(f"{ROOT}/tests/e2e/*/test_*.[cpm]*"))),
        ("test cases in C", count(r"^\s*cmocka_unit_test\w*\(", in_c)),
        ("test cases in Python", count(r"^    def test_\w+\(self", in_python)),
        ("test cases in JavaScript", count(r"^\s*(?:await )?(?:t\.)?test\(", in_javascript)),
        ("assertions in C", count(r"\bassert_\w+\(|\bcheck\w*\(", in_c)),
        ("assertions in Python", count(r"\bself\.(?:assert\w+|near|ok|close)\(|^\s*assert ", in_python)),
        ("assertions in JavaScript", count(r"\bassert\w*[.(]", in_javascript)),
        ("faults in the list of `make mutate`", count(r"^  - name:", texts("tests/mutate/faults/*.yaml"))),
        ("fuzzers", len(texts("tests/fuzz/fuzz_*.c"))),
        ("seeds of the fuzzers", sum(len(files) for _, _, files in os.walk(os.path.join(ROOT, "tests/fuzz/seeds")))),
        ("features of models and requests that are tried in pairs", names_of(requests + "combinations.py", "MODEL_FEATURES") +
         names_of(requests + "combinations.py", "REQUEST_FEATURES")),
        ("operations that each pair meets", count(r"^@operation\(", texts(requests + "combination_requests.py"))),
        ("worst cases of time", names_of(requests + "worst_cases.py", "ROWS")),
        ("codes of problems, each provoked", count(r"^ {4}X\(\w+, \"[a-z-]+\", \d+", texts("api/problem_codes.h"))),
        ("answers whose bits are kept, in two arithmetic classes", answers()),
        ("names of interfaces that stay compatible", len(texts("tests/compatibility/baseline.txt")[0].splitlines()) - 1),
    ]


def table(rows):
    return "".join(f"| {name} | {number:,} |\n".replace(f"{number:,}", f"{number:,}".replace(",", " ")) for name, number in rows)


def split(page):
    """Returns the text before the rows of the table, the rows, and the text after them."""
    begin = page.index("<!-- figures -->\n") + len("<!-- figures -->\n")
    begin = page.index("|--:|\n", begin) + len("|--:|\n")
    end = page.index("<!-- end of figures -->")
    return page[:begin], page[begin:end], page[end:]


def stale(rows, shown):
    """Yields a text for each figure that the shown rows lack, or that is off by more than TOLERANCE."""
    written = {name: int(number.replace(" ", "")) for name, number in re.findall(r"^\| (.+?) \| ([\d ]+) \|$", shown, re.M)}
    for name, number in rows:
        if abs(written.get(name, 0) - number) > TOLERANCE * number:
            yield f"{name}: the page has {written.get(name)}, the tree {number}"
    for name in written.keys() - dict(rows).keys():
        yield f"{name}: no such figure"


def main():
    rows = figures()
    with open(PAGE, encoding="utf-8") as file:
        before, shown, after = split(file.read())
    if "--check" in sys.argv:
        found = list(stale(rows, shown))
        print("".join(f"tests/README.md: {text}: `make figures`\n" for text in found), end="")
        return 1 if found else 0
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + table(rows) + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
