"""Tests that libraries of CBOR and MessagePack read the default answer and write requests that the server accepts, and that they read
the forms that the tables of api/clients/README.md name. A library that is not here is skipped: `make wire-libraries` puts all into the
build folder."""
import os
import unittest

import tap
import wire_libraries
from harness import ROOT, ServerCase

FOLDER = os.path.join(ROOT, os.environ.get("BUILD", "build"), "wire-libraries")


class Stored(unittest.TestCase):
    def test_every_library_reads_the_default_and_writes_requests(self):
        stored = wire_libraries.found()
        self.assertEqual(sorted(stored), sorted(wire_libraries.key(row) for row in wire_libraries.rows()))
        self.assertTrue(all(row["default"] and row["writes"] for row in stored.values()), stored)
        self.assertGreaterEqual(sum(key.startswith("cbor ") for key in stored), 12)


class Libraries(ServerCase):
    def check(self, library):
        stored = wire_libraries.found()[wire_libraries.key(library.row)]
        now = wire_libraries.tried(self.client, library)
        self.assertEqual({**now, "version": ""}, {**stored, "version": ""})


def add_tests():
    """Gives the class a test for each library, so that each is skipped by itself."""
    for number, library in enumerate(wire_libraries.libraries(FOLDER)):
        test = lambda self, library=library: self.check(library)
        test.__doc__ = wire_libraries.key(library.row)
        setattr(Libraries, f"test_{number:02}_{library.row['format']}_{os.path.basename(library.out)}",
                unittest.skipIf(library.missing, f"no package {library.missing} here")(test))


add_tests()
if __name__ == "__main__":
    tap.main()
