"""Reads the list of faults, faults/*.yaml, and finds the place of every fault in the sources.

A fault is one small error of the kind a programmer makes: in the definition `in` of `file`, the tokens `find` become
`put`. A definition is a function, type, table or macro; an enumeration without a tag has the name of its first constant.
The tokens must occur exactly once in the definition; layout and comments do not matter.

`file` is the end of a path: the name of the file, after that of its folder where several files would fit. A definition
that `file` does not have is looked for in all sources, so that moved files and functions keep their faults; and so are
tokens that are DISTINCT, outside their definition too. A fault in a file that is not C has no `in`: its tokens occur once in the file. Tests are named by the end of their path, too.
"""
import functools
import os
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import c_text  # noqa: E402
from tree import tracked_files  # noqa: E402

DISTINCT = 6    # number of tokens that hardly occur twice by chance
REQUIRED = {"name", "file", "find", "put"}
MEMBERS = REQUIRED | {"in", "tests", "equivalent"}


class BadList(Exception):
    """Raised if the list of faults is inconsistent or does not fit the sources; the message has one line for each reason."""


@functools.lru_cache(maxsize=None)
def definitions(text):
    """{name: [texts of its definitions with their offsets]}; None stands for the whole text."""
    found = {None: [(0, text)]}
    for one in c_text.definitions(text):
        if one.kind == "declaration":
            continue
        found.setdefault(one.name, []).append((one.start, text[one.start:one.end]))
    return found


@functools.lru_cache(maxsize=None)
def tokens(text):
    return c_text.tokenize(text)


def words(text):
    return [token.text for token in tokens(text)]


class Fault:
    def __init__(self, layer, entry):
        if set(entry) - MEMBERS or not REQUIRED <= set(entry):
            raise BadList(f"{layer}: {entry.get('name', entry)}: members are {', '.join(sorted(MEMBERS))}")
        if "in" not in entry and entry["file"].endswith((".c", ".h")):
            raise BadList(f"{layer}: {entry['name']}: a fault in C names the definition it is in: `in`")
        self.layer = layer
        self.name = entry["name"]
        self.file = entry["file"]
        self.definition = entry.get("in")
        self.find = entry["find"].strip()
        self.put = entry["put"].strip()
        self.tests = entry.get("tests", [])
        self.equivalent = entry.get("equivalent")   # the reason why no test can notice the fault, or None

    def spans(self, text, definition):
        """(start, end) of each occurrence of the fault's tokens in the definitions of that name; None: in the text."""
        wanted, found = words(self.find), []
        for offset, body in definitions(text).get(definition, []):
            have = tokens(body)
            for i in range(len(have) - len(wanted) + 1):
                if have[i].text == wanted[0] and [token.text for token in have[i:i + len(wanted)]] == wanted:
                    last = have[i + len(wanted) - 1]
                    found.append((offset + have[i].start, offset + last.start + len(last.text)))
        return found

    def apply(self, text):
        """The text with the fault in it, once check() has found its place."""
        (start, end), = self.spans(text, self.place)
        return text[:start] + self.put + text[end:]


class Sources:
    """The sources of the product and the tests under `root`."""

    def __init__(self, root):
        self.root = root
        files = [path for path in tracked_files(root) if path.endswith((".c", ".h", ".py", ".mjs"))]
        self.paths = [path for path in files if not path.startswith("tests/")]
        self.by_name = {}   # {name of a file: paths of the tests with that name}
        for path in files:
            if path.startswith("tests/"):
                self.by_name.setdefault(os.path.basename(path), []).append(path)

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as source:
            return source.read()

    def tests(self, names):
        """The paths of the tests, and complaints about names that do not end the path of exactly one test."""
        found, complaints = [], []
        for name in names:
            paths = [path for path in self.by_name.get(os.path.basename(name), []) if path.endswith(f"/{name}") or path == name]
            found += paths[:1]
            if len(paths) != 1:
                complaints.append(f"{name} is {' and '.join(paths)}" if paths else f"there is no test {name}")
        return found, complaints

    def defining(self, name, paths):
        return [path for path in paths if not name or name in definitions(self.text(path))]

    def place(self, fault):
        """(path, definition, None) of the fault's tokens, or (None, None, complaint) if they do not occur exactly once.

        Looks in the definition of the file, else in all definitions of that name, else in the whole file and in all files.
        Few tokens are sought elsewhere only if there is no definition of that name before."""
        every = [path for path in self.paths if path.endswith((".c", ".h"))]
        named = [path for path in self.paths if f"/{path}".endswith(f"/{fault.file}")]
        scopes = [(fault.definition, named)]
        if fault.definition:
            scopes += [(fault.definition, every), (None, named), (None, every)]
        complaint = f"there is no {fault.definition + ' in the sources' if fault.definition else 'file ' + fault.file}"
        for number, (definition, paths) in enumerate(scopes):
            paths = self.defining(definition, paths)
            places = [path for path in paths for _ in fault.spans(self.text(path), definition)]
            if len(places) == 1:
                return places[0], definition, None
            if number < 2 and paths:
                complaint = (f"{definition or 'the text'} of {' and '.join(paths)} has the fault's tokens {len(places)} times, "
                             f"expected once: {' '.join(fault.find.split())}")
            if (paths or number == 1) and len(words(fault.find)) < DISTINCT:
                break
        return None, None, complaint


class Layer:
    """One file of faults/: a layer with its tests, in the order in which they run, and its faults."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as text:
            content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.tests = content["tests"]
        self.faults = [Fault(self.name, entry) for entry in content["faults"]]


def read(folder):
    return [Layer(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".yaml")]


def check(layers, root):
    """Sets path and place of every fault, and the paths of its tests; returns notes about faults that have moved.

    Raises BadList unless names are unique, tokens occur once and tests exist."""
    sources, reasons, notes, names = Sources(root), [], [], set()
    for layer in layers:
        layer.tests, complaints = sources.tests(layer.tests)
        reasons += [f"{layer.name}: {complaint}" for complaint in complaints]
        for fault in layer.faults:
            fault.path, fault.place, complaint = sources.place(fault)
            if not complaint and (fault.place != fault.definition or not f"/{fault.path}".endswith(f"/{fault.file}")):
                notes.append(f"{fault.name} is in {fault.path}, no more in {fault.definition} of {fault.file}: "
                             f"correct `file` or `in` of the fault in tests/mutate/faults/{layer.name}.yaml")
            if fault.name in names:
                complaint = "the name stands twice in the list"
            elif not complaint and words(fault.find) == words(fault.put):
                complaint = "the replacement is the text itself"
            names.add(fault.name)
            fault.tests, complaints = sources.tests(fault.tests)
            reasons += [f"{fault.name}: {one}" for one in [complaint, *complaints] if one]
    if reasons:
        raise BadList("\n".join(reasons))
    return notes
