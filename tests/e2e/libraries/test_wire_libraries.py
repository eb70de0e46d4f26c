"""Tests that CBOR libraries read the default answer and write requests that the server accepts, and that the table in
api/clients/README.md says so. cbor2 is always here; `make wire-libraries` puts the others into the build folder."""
import os

import wire_libraries
import tap
from harness import ROOT, ServerCase


class Libraries(ServerCase):
    def test_default_answer_and_requests(self):
        with open(os.path.join(ROOT, "api/clients/README.md"), encoding="utf-8") as file:
            page = file.read()
        folder = os.path.join(ROOT, os.environ.get("BUILD", "build"), "wire-libraries")
        for library in wire_libraries.libraries(folder):
            found = wire_libraries.row(self.client, library)
            self.assertTrue(found["default"] and found["plain"] and found["writes"], (library.name, found))
            told = next(line for line in page.splitlines() if line.startswith(f"| {library.name} |")).split(" | ")[2:]
            self.assertEqual(wire_libraries.words(found), " | ".join(told), library.name)


if __name__ == "__main__":
    tap.main()
