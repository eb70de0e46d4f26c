"""Tests that all lists of file name endings agree with the table of formats in api/robots/formats.h. The console, tests/corpus and the remedy
for a path that is sent instead of a body have lists of their own, since they cannot read the table."""
import os
import re
import unittest

import tap
from harness import ROOT

# Endings that a list leaves out on purpose.
LEFT_OUT = {"server/console/src/pages/upload.tsx": {".world", ".config"}, "tests/corpus": {".config"},
            "api/codec/misread_bodies/other_format.c": {".mjcf", ".world", ".config"}}
LISTS = {"server/console/src/pages/upload.tsx": r"input\.accept = '([^']*)'", "tests/corpus": r"^ENDINGS = \(([^)]*)\)",
         "api/codec/misread_bodies/other_format.c": r"endings\[\] = \{([^}]*)\}"}


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as source:
        return source.read()


def formats():
    """Returns the endings of each XML format of the table, by its name."""
    found = {}
    for name in re.findall(r"^ +X\((\w+)\)", text("api/robots/formats.h"), re.M):
        path = f"api/robots/{name}/{name}.c"
        if os.path.exists(os.path.join(ROOT, path)) and ".root" in text(path):
            found[name] = set(re.findall(r'"(\.\w+)"', re.search(r"endings\[\] = \{([^}]*)\}", text(path)).group(1)))
    return found


class Endings(unittest.TestCase):
    def test_every_list_has_the_endings_of_all_formats(self):
        self.assertLessEqual({"urdf", "mjcf", "sdf"}, set(formats()))
        for path, pattern in LISTS.items():
            listed = set(re.findall(r"\.\w+", re.search(pattern, text(path), re.M).group(1)))
            for name, endings in formats().items():
                missing = endings - listed - LEFT_OUT[path]
                self.assertEqual(missing, set(), f"add the endings of {name} to the list in {path}, or to LEFT_OUT of this test")


if __name__ == "__main__":
    tap.main()
