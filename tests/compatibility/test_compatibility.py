"""Tests that the interfaces of this tree are compatible with the baseline, and that the comparison finds a planted break of every
interface: contract, document, C header, command line, settings, metrics, log, and the clients in Python and TypeScript."""
import copy
import os
import re
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e", "support")]
import compatibility  # noqa: E402
import tap  # noqa: E402
import versions  # noqa: E402


def member(contract, schema, name):
    return contract["components"]["schemas"][schema]["properties"][name]


def removed(tree, *path):
    for key in path[:-1]:
        tree = tree[key]
    if isinstance(tree, list):
        tree.remove(path[-1])
    else:
        del tree[path[-1]]


class Interfaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = compatibility.Sources()
        cls.lines = compatibility.lines_of(cls.sources.interfaces())

    def changed(self, change):
        """Returns the differences, (breaks users, text), after a change of the sources."""
        sources = copy.deepcopy(self.sources)
        change(sources)
        return list(compatibility.compare(self.lines, compatibility.lines_of(sources.interfaces())))

    def replaced(self, attribute, before, after):
        def change(sources):
            text = getattr(sources, attribute)
            if isinstance(text, dict):
                for key, one in text.items():
                    text[key] = re.sub(before, after, one)
            elif isinstance(text, list):
                text[:] = [re.sub(before, after, one) for one in text]
            else:
                setattr(sources, attribute, re.sub(before, after, text))
        return change

    def test_this_tree_is_compatible(self):
        """A difference that the version may not make is a decision: another version, or `make baseline` before a release."""
        found = compatibility.findings(compatibility.read_baseline(), self.lines, *versions.next_version())
        self.assertEqual(found, [])

    def test_each_interface_has_names(self):
        """Each interface must have at least so many names: a reader that finds none would compare nothing."""
        least = {"contract": 1000, "document": 150, "header": 45, "command": 100, "setting": 40, "metric": 50, "log": 80, "python": 150,
                 "typescript": 30}
        found = self.sources.interfaces()
        self.assertEqual(found.keys(), least.keys())
        for kind, names in found.items():
            self.assertGreaterEqual(len(names), least[kind], kind)

    def test_breaks_are_found(self):
        """Plants changes by which users of each interface would get errors, wrong results or missing figures."""
        schemas = ("components", "schemas")
        plants = {
            "contract: POST /v1/models/{model}/bias is gone": lambda s: removed(s.contract, "paths", "/v1/models/{model}/bias"),
            "contract: StepRequest.impact is gone": lambda s: removed(s.contract, *schemas, "StepRequest", "properties", "impact"),
            "contract: StepRequest.integrator: takes": lambda s: removed(member(s.contract, "StepRequest", "integrator"), "enum", "rk4"),
            "contract: StepRequest.integrator: default": lambda s: member(s.contract, "StepRequest", "integrator").update(default="rk4"),
            "contract: StepRequest.qd: needs": lambda s: s.contract["components"]["schemas"]["StepRequest"]["required"].append("qd"),
            "contract: StepRequest.held: longest": lambda s: member(s.contract, "StepRequest", "held").update(maxItems=31),
            "contract: BiasAnswer.bias is gone": lambda s: removed(s.contract, *schemas, "BiasAnswer", "properties", "bias"),
            "contract: Service.lanes: gives": lambda s: member(s.contract, "Service", "lanes").update(type=["integer", "null"]),
            "contract: Service.target: always": lambda s: removed(s.contract, *schemas, "Service", "required", "target"),
            "contract: GET /v1: headers": lambda s: removed(s.contract, "paths", "/v1", "get", "responses", "200", "headers", "Arithmetic"),
            "document: Joint.limits is gone": lambda s: removed(s.contract, *schemas, "Joint", "properties", "limits"),
            "header: torqued_server.unix_socket: place": self.replaced("header", r"const char \*unix_socket;", "int tries; const char *unix_socket;"),
            "header: torqued_get": self.replaced("header", r"torqued_get\(", "torqued_fetch("),
            "header: torqued_problem.row": self.replaced("header", r"long( +)row;", r"int\1row;"),
            "command: call --chunk is gone": self.replaced("helps", "--chunk N", "--rows N"),
            "command: convert --to: takes": self.replaced("helps", r"document\|urdf\|mjcf\|sdf", "document|urdf|sdf"),
            "setting: --max-rows: most": self.replaced("settings", "1 to 1000000000 \\| 131072", "1 to 100000000 | 131072"),
            "setting: --queue: variable": self.replaced("settings", "TORQUED_QUEUE", "TORQUED_QUEUED"),
            "metric: torqued_states_total is gone": self.replaced("metrics_page", "torqued_states_total", "torqued_rows_total"),
            "metric: torqued_requests_total: labels": self.replaced("metrics", r'(torqued_requests_total", COUNTER, NUMBER,) OPERATION', r"\1 THREAD"),
            "log: event slow-request is gone": self.replaced("log", '"slow-request"', '"slow"'),
            "log: field row": self.replaced("log", r'srv_log_\w+\(([^,]+), "row",', r'srv_log_ms(\1, "row",'),
            "python: Client.put(main) is gone": self.replaced("python", r"\bmain:", "robot:"),
            "python: Client.delete(name): place": self.replaced("python", r"def delete\(self, name", "def delete(self, force, name"),
            "typescript: Torqued.putModel is gone": self.replaced("typescript", r"\bputModel\b", "put"),
        }
        for expected, change in plants.items():
            with self.subTest(expected):
                self.assertTrue([text for broken, text in self.changed(change) if broken and text.startswith(expected)],
                                self.changed(change))

    def test_additions_break_nothing(self):
        def grow(sources):
            schemas = sources.contract["components"]["schemas"]
            schemas["StepRequest"]["properties"]["more"] = {"type": "number"}
            schemas["BiasAnswer"]["properties"]["more"] = {"type": "number"}
            schemas["StepRequest"]["required"].remove("step")
            member(sources.contract, "StepRequest", "integrator")["enum"].append("rk8")
            member(sources.contract, "StepRequest", "outputs")["default"].append("full")
            member(sources.contract, "StepRequest", "held")["maxItems"] = 64
            sources.contract["paths"]["/v1/models/{model}/bias2"] = sources.contract["paths"]["/v1/models/{model}/bias"]
            sources.helps["call"] = sources.helps["call"].replace("  --chunk N", "  --some X\n        text\n  --chunk N")
            sources.settings = sources.settings.replace("| 131072 |", "| 262144 |")
            sources.header = sources.header.replace("torqued_close(", "torqued_flush(torqued_client *client);\nvoid torqued_close(")
        found = self.changed(grow)
        self.assertGreaterEqual(len(found), 8)
        self.assertEqual([text for broken, text in found if broken], [])

    def test_a_version_allows_what_its_number_says(self):
        before = ("1.2.0", self.lines)
        less = {name: facts for name, facts in self.lines.items() if name != "command: call --chunk"}
        more = {**self.lines, "contract: new": {}}
        for version, released, after, refused in (
                ("1.2.1", False, self.lines, False), ("1.2.1", False, more, True), ("1.2.1", False, less, True),
                ("1.3.0", False, more, False), ("1.3.0", False, less, True), ("2.0.0", False, less, False),
                ("1.2.0", False, more, False), ("1.2.0", False, less, True), ("1.2.0", True, more, True)):
            with self.subTest(version=version, released=released):
                self.assertEqual(bool(compatibility.findings(before, after, version, released)), refused)
        self.assertFalse(compatibility.findings(("0.1.0", self.lines), less, "0.2.0", False))
        less = {name: facts for name, facts in self.lines.items() if name != "contract: StepRequest.impact"}
        self.assertTrue(compatibility.findings(before, less, "2.0.0", False))
        marked = {**self.lines, "contract: StepRequest.impact": {"deprecated": "yes"}}
        self.assertFalse(compatibility.findings(("1.2.0", marked), less, "2.0.0", False))
        self.assertRaises(ValueError, versions.allowed, "1.2.0", "1.1.9", False)

    def test_the_changelog_names_the_version(self):
        self.assertEqual(versions.next_version("# Changelog\n\n## 1.3.0 (unreleased)\n\n## 1.2.0 (2026-11-23)\n"), ("1.3.0", False))
        self.assertEqual(versions.next_version("## 1.2.0 (2026-11-23)\n"), ("1.2.0", True))

    def test_a_written_baseline_reads_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "baseline.txt")
            compatibility.write(path, "1.2.3", self.lines)
            version, lines = compatibility.read_baseline(path)
        self.assertEqual(version, "1.2.3")
        self.assertEqual(list(compatibility.compare(lines, self.lines)), [])

    def test_the_log_has_no_other_names(self):
        """Compares the names that are read from the sources with those of a running server, except for the settings."""
        server = compatibility.Server()
        self.addCleanup(server.kill)
        client = server.client()
        client.post("/v1/models/panda/bias", {"q": [0.1] * 7})
        client.post("/v1/models/none/bias", {"q": []})
        client.put("/v1/models/mine", {"links": []})
        server.await_log('"event":"change"')
        known = {name.split(": ")[1] for name in self.lines if name.startswith("log: ")}
        settings = {name.split("--")[1] for name in self.lines if name.startswith("setting: ")}
        for line in server.events():
            self.assertIn(f"event {line['event']}", known)
            names = {f"field {name}" for name in line.keys() - settings - {"time", "level", "event"}}
            self.assertLessEqual(names, known, line)


if __name__ == "__main__":
    tap.main()
