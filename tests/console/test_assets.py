#!/usr/bin/python3
"""Tests the built pages of the console: they are made from their sources byte for byte, keep their size limit, and have
permissive licences only."""
import filecmp
import gzip
import json
import os
import re
import subprocess
import sys
import unittest

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "support"))
import tap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONSOLE = os.path.join(ROOT, "server", "console")
DIST = os.path.join(CONSOLE, "dist")
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
TOTAL, FIRST = 320 * 1024, 230 * 1024   # bytes, gzip -9
REFERENCE = 900 * 1024


def files(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names)


def packed(name):
    with open(os.path.join(DIST, name), "rb") as source:
        return len(gzip.compress(source.read(), 9))


def text(name):
    with open(os.path.join(DIST, name), encoding="utf-8") as source:
        return source.read()


def named(page):
    """Returns the assets that a page names itself."""
    return set(re.findall(r'(?:href|src)="(assets/[^"]+)"', text(page)))


def imports(name):
    """Returns the chunks that a script imports, at once or on demand."""
    return {"assets/" + found for found in re.findall(r'["\']\./([\w-]+\.js)["\']', text(name))}


def reached(page):
    """Returns all assets that a page may ever load."""
    seen, front = set(), named(page)
    while front:
        one = front.pop()
        if one not in seen:
            seen.add(one)
            front |= imports(one) if one.endswith(".js") else set()
    return seen


class Assets(unittest.TestCase):
    def test_names_have_content_hashes_and_exist(self):
        for page in ("index.html", "docs.html"):
            for one in reached(page):
                self.assertRegex(one, r"-[0-9A-Z]{8}\.(js|css|svg)$")
                self.assertTrue(os.path.exists(os.path.join(DIST, one)), one)

    def test_no_other_host(self):
        for page in ("index.html", "docs.html"):
            self.assertNotRegex(text(page), r'(href|src)="(https?:)?//')

    def test_sizes(self):
        everything = reached("index.html")
        self.assertLess(packed("index.html") + sum(map(packed, everything)), TOTAL)
        # Assets needed before the first picture: the page, the assets that it names, and the view with its static
        # imports.
        view = next(name for name in everything if "/view-" in name)
        first = named("index.html") | {view} | imports(view)
        self.assertLess(packed("index.html") + sum(map(packed, first)), FIRST)
        self.assertLess(packed("docs.html") + sum(map(packed, reached("docs.html"))), REFERENCE)

    def test_licences(self):
        listed = re.findall(r"^(\S+) \d+\.\d+\.\d+ \((.+)\)$", text("THIRD_PARTY.txt"), re.M)
        self.assertTrue({"preact", "three"} <= {name for name, _ in listed})
        for name, licence in listed:
            self.assertIn(licence, ("MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"), name)

    def test_lock_file_names_no_host(self):
        with open(os.path.join(CONSOLE, "package-lock.json"), encoding="utf-8") as source:
            packages = json.load(source)["packages"]
        for name, package in packages.items():
            self.assertNotIn("resolved", package, name)
            if name:
                self.assertIn("integrity", package, name)


def numeric(contract, schema):
    """Tells whether a value of the schema is a number or an array of numbers."""
    while "$ref" in schema:
        schema = contract["components"]["schemas"][schema["$ref"].split("/")[-1]]
    if schema.get("type") == "array":
        return numeric(contract, schema.get("items", {}))
    ways = schema.get("allOf", schema.get("oneOf", schema.get("anyOf", ())))
    return schema.get("type") in ("number", "integer") or any(numeric(contract, way) for way in ways)


def numbers_of(contract, value):
    """Yields the names of all numeric properties."""
    if isinstance(value, list):
        for one in value:
            yield from numbers_of(contract, one)
    elif isinstance(value, dict):
        properties = value.get("properties")
        if isinstance(properties, dict):
            yield from (name for name, schema in properties.items() if isinstance(schema, dict) and numeric(contract, schema))
        for one in value.values():
            yield from numbers_of(contract, one)


class Reference(unittest.TestCase):
    def test_every_number_has_shape_and_unit(self):
        """The page /docs shows no unit and no frame of a field that fields.json lacks."""
        with open(os.path.join(ROOT, "api", "openapi.yaml"), encoding="utf-8") as source:
            contract = yaml.safe_load(source)
        with open(os.path.join(CONSOLE, "src", "reference", "fields.json"), encoding="utf-8") as source:
            facts = {name.split(".")[-1] for name in json.load(source)}
        missing = sorted(set(numbers_of(contract, contract["components"]["schemas"])) - facts)
        self.assertEqual(missing, [], "add shape, unit, frame and example to server/console/src/reference/fields.json")


class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([os.path.join(CONSOLE, "install")], capture_output=True, text=True)
        if done.returncode:
            raise unittest.SkipTest(done.stdout.strip())

    def run_there(self, *command):
        done = subprocess.run(command, cwd=os.path.join(BUILD, "console"), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_types_and_bytes(self):
        contract, made = os.path.join(BUILD, "console", "openapi.json"), os.path.join(BUILD, "console", "dist")
        with open(os.path.join(ROOT, "api", "openapi.yaml"), "rb") as source, open(contract, "wb") as out:
            subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "api", "openapi.py"), "0"], stdin=source, stdout=out, check=True)
        self.run_there("node", "build.mjs", "--types", contract, "--out", made)
        self.run_there("node", "node_modules/typescript/bin/tsc", "-p", ".")
        self.assertEqual(files(made), files(DIST), "make assets")
        _, different, errors = filecmp.cmpfiles(made, DIST, files(DIST), shallow=False)
        self.assertEqual(different + errors, [], "make assets")


tap.main()
