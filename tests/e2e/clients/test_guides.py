"""Tests the guides in api/guides and the page of the Python client: every Python snippet runs, in order, and prints
what the page shows.

A block ```python may be followed by a block ```text with its output. A block ```xml that begins with a comment `<!--
NAME -->` is a file that the snippets read."""
import contextlib
import glob
import importlib.util
import io
import os
import re
import tempfile

os.environ.update(MPLBACKEND="Agg")

import tap  # noqa: E402
from harness import BINARY, ROOT, ServerCase  # noqa: E402
from python_client import torqued  # noqa: E402, F401  (makes it importable)

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ADDRESS = "127.0.0.1:8088"


# guides without Python; the page in web-page.md is tested by tests/console/test_web_page.mjs
WITHOUT_PYTHON = ("console.md", "README.md", "robot-cell.md", "web-page.md")


def documents():
    return [os.path.join(ROOT, "api", "clients", "python", "README.md"), *sorted(set(glob.glob(os.path.join(ROOT, "api/guides/*.md"))) - {os.path.join(ROOT, "api/guides", name) for name in WITHOUT_PYTHON})]


def snippets(text):
    """Yields (line, source, expected output or None) of every Python block, and writes the XML files on the way."""
    blocks = [(match.group(1), match.group(2), text.count("\n", 0, match.start()) + 2) for match in BLOCK.finditer(text)]
    for i, (language, source, line) in enumerate(blocks):
        named = re.match(r"<!-- (\S+) -->\n", source)
        if language == "xml" and named:
            with open(named.group(1), "w", encoding="utf-8") as file:
                file.write(source[named.end():])
        if language == "python":
            shown = blocks[i + 1][1] if i + 1 < len(blocks) and blocks[i + 1][0] == "text" else None
            yield line, source, shown


class Guides(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        before = dict(os.environ)
        self.addCleanup(os.environ.update, before)
        os.environ["TORQUED_BIN"] = BINARY

    def run_document(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if "import PyKDL" in text and importlib.util.find_spec("PyKDL") is None:
            self.skipTest("no PyKDL here")
        names, ran = {"__name__": "__main__"}, 0
        for line, source, shown in snippets(text):
            place = f"{os.path.relpath(path, ROOT)}:{line}"
            printed = io.StringIO()
            code = compile("\n" * (line - 1) + source.replace(ADDRESS, f"127.0.0.1:{self.server.port}"), path, "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, names)
            if shown is not None or printed.getvalue():
                self.assertEqual(printed.getvalue(), shown or "", place)
            ran += 1
        return ran


def add(path):
    def test(self):
        self.assertGreater(self.run_document(path), 0)
    name = os.path.relpath(path, ROOT).removesuffix(".md").replace("/", "_").replace("-", "_")
    setattr(Guides, f"test_{name}", test)


for document in documents():
    add(document)

if __name__ == "__main__":
    tap.main()
