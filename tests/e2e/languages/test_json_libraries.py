"""Tests that JSON encoders write the digits that the table of api/clients/README.md names, and that the remedies keep all. An encoder
whose Debian package is missing is skipped."""
import unittest

import json_libraries
import tap
from debian_packages import missing_package


class Encoders(unittest.TestCase):
    def check(self, row):
        text = json_libraries.output(row["default"])
        stored = json_libraries.found()[row["library"]]["text"]
        self.assertEqual(json_libraries.keeps_all(text), json_libraries.keeps_all(stored), (text, stored))
        if "all" in row:
            self.assertTrue(json_libraries.keeps_all(json_libraries.output(row["all"])))
        if not json_libraries.keeps_all(text):
            self.assertIn("remedy", row)


def add_tests():
    """Gives the class a test for each encoder, so that each is skipped by itself."""
    for number, row in enumerate(json_libraries.rows()):
        if "package" in row:
            missing = missing_package([row["package"]])
            test = lambda self, row=row: self.check(row)
            test.__doc__ = row["library"]
            setattr(Encoders, f"test_{number:02}_{row['package'].replace('-', '_')}",
                    unittest.skipIf(missing, f"no package {missing} here")(test))


add_tests()
if __name__ == "__main__":
    tap.main()
