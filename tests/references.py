#!/usr/bin/python3
"""Checks the citations and file names in comments and documents; `tests/lint references` runs it.

- Every author and year ("Featherstone 2008", "Luh, Walker & Paul (1980)") and every RFC has an entry in REFERENCES.md.
- Every entry of REFERENCES.md is cited somewhere.
- Every source file or document that a comment names is in the tree, and nothing cites a document outside it.
- Every relative link of a document leads to a file and, with #, to a heading.
- Every folder that ARCHITECTURE.md or CONTRIBUTING.md names is in the tree, and the lists of kernels and mechanics in ARCHITECTURE.md
  have all folders of dynamics/.
- Every file that CONTRIBUTING.md names with a word of it ("`fixed` of `settings.c`") has the word.
- The table of models/README.md has a row for each bundled robot and no other, and README.md has their number.

Prints one line for each finding and returns 1 if there is any."""
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIBLIOGRAPHY = "REFERENCES.md"
PROSE = (".md", ".yaml", ".yml")           # files of these kinds are checked completely; of all others only the comments
C_LIKE = (".c", ".h", ".cc")
SCRIPTS = (".py", ".mk", ".sh", "Makefile", "tests/lint", "tests/run", "tests/deps")

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
SURNAME = rf"(?!(?:{MONTHS})\b)(?:(?:[Dd]e|von|[Vv]an|Guarino Lo|Lo|El) )?[A-ZÀ-Ý][\w’-]*[a-zà-ÿ][\w’-]*"
AND = r"(?:, (?:and |& )?| (?:and|&) )"
YEAR = r"(?:19[0-9]{2}|20[0-9]{2})"
CITATION = re.compile(rf"({SURNAME}(?:{AND}{SURNAME})*(?: et al\.| and others)?),? \(?({YEAR})\b(?!-[0-9])")
RFC = re.compile(r"RFC ?([0-9]{3,5})\b")
ENTRY = re.compile(r"^- \*\*(.+?)\.\*\* ", re.MULTILINE)

FILE_NAME = re.compile(r"(?<![\w./<*{$>-])((?:[\w-]+/)*[\w-]{2,}\.(?:c|h|cc|py|md|mk|sh))(?![\w/*(-]|\.[\w])")
# Headers of libraries, and `test_x.c` as a name for any test.
FOREIGN = re.compile(r"(?:microhttpd|uv|mujoco|zconf)\.h$|(?:^|_)x\.[a-z]+$")
ARCHITECTURE, CONTRIBUTING, ROBOTS, README = "ARCHITECTURE.md", "CONTRIBUTING.md", "models/README.md", "README.md"
WORD_OF_FILE = re.compile(r"`(\w+)`\s+of\s+`((?:[\w-]+/)*[\w-]+\.(?:c|h|py|ts))`")
FOLDER = re.compile(r"`((?:api|deploy|dynamics|findings|models|server|tests)(?:/[\w-]+)*/?)`")
FLOOR = re.compile(r"\b(?:kernels|mechanics) \(`([^`]*)`\)")
NO_FLOOR = {"memory", "samples"}           # folders of dynamics/ without mechanics, whose sources need no citation
LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
OUTSIDE = re.compile(r"\b(?:API|[A-Z]{5,}(?:\.md)?) §|\b(?:SEEDS|ANCHORS|ACCEPTANCE|DESIGN|API)\.md\b|\.\./shared\b|"
                     r"\b[Ii]ssue #?[0-9]+\b")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def tracked():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    return [path for path in listed if path and os.path.exists(os.path.join(ROOT, path))]


def comments(path, text):
    """Yields (line, prose) of a file: its comments, or the whole text of a document."""
    if path.endswith(PROSE):
        return [(1, text)]
    if path.endswith(C_LIKE):
        pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|(/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*)', re.DOTALL)
    elif path.endswith(SCRIPTS):
        pattern = re.compile(r'^[ \t]*("""(?:.|\n)*?""")|"""(?:.|\n)*?"""|((?<!\S)#[^\n]*(?:\n[ \t]*#[^\n]*)*)',
                             re.MULTILINE)
    else:
        return []
    found = ((m, m.lastindex) for m in pattern.finditer(text) if m.lastindex)
    return [(text.count("\n", 0, m.start(group)) + 1, m.group(group)) for m, group in found]


def flowing(text):
    """Returns the text with the marks of comments blanked and its lines joined; the length is unchanged."""
    blank = re.sub(r"(?m)^[ \t]*(?:/\*+|\*+/?|//|#+|>)", lambda m: " " * len(m.group()), text)
    return re.sub(r"\s", " ", blank)


def squeeze(text):
    """Joins runs of blanks. Returns the text and, for each of its characters, the offset in the original."""
    kept = [i for i, c in enumerate(text) if c != " " or i == 0 or text[i - 1] != " "]
    return "".join(text[i] for i in kept), kept


def names(citation):
    plain = re.sub(r" et al\.| and others", "", citation)
    return [name for name in re.split(AND, plain) if name]


def bibliography():
    """Yields (label, surnames or None, year or None) of each entry."""
    with open(os.path.join(ROOT, BIBLIOGRAPHY), encoding="utf-8") as file:
        labels = ENTRY.findall(file.read())
    for label in labels:
        match = CITATION.fullmatch(label)
        yield (label, names(match.group(1)), match.group(2)) if match else (label, None, None)


def anchors(document):
    """Returns the anchors of a document: its headings in lower case, with hyphens for blanks."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", document, re.MULTILINE)}


class Check:
    def __init__(self):
        self.paths = tracked()
        self.known = collections.defaultdict(list)
        for path in self.paths:
            self.known[os.path.basename(path)].append("/" + path)
        self.entries = list(bibliography())
        self.labels = {label for label, _, _ in self.entries}
        self.cited = set()
        self.failed = False

    def say(self, path, line, text):
        print(f"{path}:{line}: {text}")
        self.failed = True

    def entry_of(self, authors, year):
        for label, surnames, of_year in self.entries:
            if of_year == year and authors[0] == surnames[0] and set(authors) <= set(surnames):
                return label
        return None

    def passage(self, path, line, prose):
        text, offsets = squeeze(flowing(prose))

        def at(match):
            return line + prose.count("\n", 0, offsets[match.start()])

        for match in CITATION.finditer(text):
            label = self.entry_of(names(match.group(1)), match.group(2))
            if label:
                self.cited.add(label)
            else:
                self.say(path, at(match), f"{match.group()!r} has no entry in {BIBLIOGRAPHY}")
        for match in RFC.finditer(text):
            label = f"RFC {match.group(1)}"
            self.cited.add(label)
            if label not in self.labels:
                self.say(path, at(match), f"{label} has no entry in {BIBLIOGRAPHY}")
        for match in OUTSIDE.finditer(text):
            self.say(path, at(match), f"{match.group()!r} is not in the tree")
        for match in FILE_NAME.finditer(text):
            name = match.group(1)
            there = self.known[os.path.basename(name)]
            if not FOREIGN.search(name) and not any(full.endswith("/" + name) for full in there):
                self.say(path, at(match), f"no file {name} in the tree")
        for label, surnames, _ in self.entries:
            if surnames is None and label in text:
                self.cited.add(label)

    def links(self, path, text):
        for match in LINK.finditer(text):
            target, _, anchor = match.group(1).partition("#")
            full = os.path.normpath(os.path.join(ROOT, os.path.dirname(path), target)) if target else os.path.join(ROOT, path)
            if os.path.exists(full) and not anchor:
                continue
            if os.path.isfile(full):
                with open(full, encoding="utf-8") as file:
                    if anchor in anchors(file.read()):
                        continue
            self.say(path, text.count("\n", 0, match.start()) + 1, f"the link {match.group(1)} leads nowhere")

    def folders(self):
        there = {os.path.dirname(path) for path in self.paths}
        there |= {folder[:i] for folder in there for i, c in enumerate(folder) if c == "/"}
        for document in (ARCHITECTURE, CONTRIBUTING):
            text = read(document)
            for match in FOLDER.finditer(text):
                name = match.group(1).rstrip("/")
                if name not in there and not any(path.startswith(name + ".") for path in self.paths) and name not in self.paths:
                    self.say(document, text.count("\n", 0, match.start()) + 1, f"no folder {name} in the tree")
        listed = {name for match in FLOOR.finditer(read(ARCHITECTURE)) for name in match.group(1).split()}
        for name in sorted(listed ^ {folder.split("/")[1] for folder in there if folder.startswith("dynamics/")} - NO_FLOOR):
            self.say(ARCHITECTURE, 1, f"dynamics/{name}: " + ("no such folder" if name in listed else "neither kernels nor mechanics"))

    def recipes(self):
        text = read(CONTRIBUTING)
        for match in WORD_OF_FILE.finditer(text):
            word, name = match.groups()
            files = [path for path in self.paths if ("/" + path).endswith("/" + name)]
            if not any(re.search(rf"\b{word}\b", read(path)) for path in files):
                self.say(CONTRIBUTING, text.count("\n", 0, match.start()) + 1, f"{name} has no {word}")

    def robots(self):
        files = {os.path.basename(path)[:-5] for path in self.paths if re.fullmatch(r"models/\w+\.json", path)}
        rows = set(re.findall(r"^\| `(\w+)` \|", read(ROBOTS).partition("\n## ")[0], re.MULTILINE))
        for name in sorted(files ^ rows):
            self.say(ROBOTS, 1, f"{name}: " + ("no row of the table" if name in files else f"no file models/{name}.json"))
        if f" has {len(files)} robots " not in read(README):
            self.say(README, 1, f"models/ has {len(files)} robots, README.md says otherwise")

    def run(self):
        for path in self.paths:
            if path == BIBLIOGRAPHY or not path.endswith(PROSE + C_LIKE + SCRIPTS):
                continue
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                text = file.read()
            if path.endswith(".md"):
                self.links(path, text)
            for line, prose in comments(path, text):
                self.passage(path, line, prose)
        self.folders()
        self.recipes()
        self.robots()
        for label in sorted(self.labels - self.cited):
            self.say(BIBLIOGRAPHY, 1, f"{label!r} is cited nowhere")
        return 1 if self.failed else 0


if __name__ == "__main__":
    sys.exit(Check().run())
