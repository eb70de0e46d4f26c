#!/usr/bin/python3
"""style.py [--write | --list RULE [GROUP]] - holds the rules of STYLE.md by numbers that only fall; `tests/lint style` runs it.

Counts the findings of each rule in each group of files and compares them with allowed.yaml. More is an error, and so is
fewer until --write has written the number back. Moving a file between groups changes two numbers: --write takes them as
long as no rule has more findings in the product (dynamics, api, server), in the tests or in the clients than before.
--list prints the findings themselves. Without allowed.yaml, --write begins with the numbers of today. rules.yaml has the lists of words, patterns and exceptions."""
import argparse
import collections
import os
import re
import subprocess
import sys

import yaml

import c_rules
import prose

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ALLOWED = "tests/style/allowed.yaml"
RULES = "tests/style/rules.yaml"
PRODUCT = ("dynamics", "api", "server", "product")
SOURCES = (".c", ".h", ".cc", ".py", ".ts", ".tsx", ".mjs", ".js")
BUILT = re.compile(r"/dist/|^tests/data/|/seeds/")
SHOWN = 30      # findings that are printed where a number has risen


def group_of(path):
    """The group whose number of findings includes this file: a layer, the clients, the tests, or other."""
    first = path.partition("/")[0]
    if path.startswith(("api/clients/", "clients/")):
        return "clients"
    return first if first in ("dynamics", "api", "server", "tests") else "other"


def kind_of(group):
    return "product" if group in PRODUCT else group


def git_files(root, *command):
    listed = subprocess.run(["git", *command, "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    return [path for path in listed.split("\0") if path and os.path.isfile(os.path.join(root, path))]


def read_yaml(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as text:
        return yaml.safe_load(text)


class Tree:
    """The files that the rules read."""

    def __init__(self, root):
        self.texts, self.folders = {}, collections.defaultdict(int)
        for path in git_files(root, "ls-files", "--cached", "--others", "--exclude-standard"):
            if BUILT.search(path):
                continue
            if path.endswith(SOURCES):
                self.folders[os.path.dirname(path)] += 1
            if path.endswith(SOURCES) or os.path.splitext(path)[1] in (".sh", ".mk", ""):
                try:
                    with open(os.path.join(root, path), encoding="utf-8") as source:
                        text = source.read()
                except UnicodeDecodeError:
                    continue    # seeds of fuzzers, pictures
                if prose.language(path, text):
                    self.texts[path] = text
        self.c = [c_rules.Source(path, text, group_of(path)) for path, text in self.texts.items() if path.endswith((".c", ".h"))]


class Check:
    def __init__(self, root):
        self.tree = Tree(root)
        self.rules = read_yaml(root, RULES)
        self.found = collections.defaultdict(lambda: collections.defaultdict(list))     # {rule: {group: [Finding]}}
        self.mistakes = []      # exceptions in rules.yaml that name no function
        self.check_c()
        self.check_folders()
        self.check_lengths()
        self.check_prose()

    def check_c(self):
        rules, sources = self.rules, self.tree.c
        for source, finding in c_rules.many_parameters(sources, rules["parameters"]):
            self.found["parameters"][source.layer].append(finding)
        defined = {one.name for source in sources for one in source.definitions}
        self.mistakes += [f"{RULES}: parameters: no function {name}" for name in rules["parameters"] if name not in defined]
        constants = c_rules.Constants(sources)
        for source in sources:
            self.found["names"][source.layer] += c_rules.banned_names(source, rules["names"], rules["members"])
            self.found["defaults"][source.layer] += c_rules.defaults_of_enumerations(source, constants)
            self.found["function lines"][source.layer] += c_rules.long_functions(source)
        for kind in ("product", "clients", "tests"):
            among = [source for source in sources if kind_of(source.layer) == kind]
            self.found["signatures"][kind] += [finding for _, finding in c_rules.static_signatures(among)]

    def check_folders(self):
        for folder, count in sorted(self.tree.folders.items()):
            group = group_of(folder + "/")
            most = self.rules["folders"]["tests" if group == "tests" else "product"]
            self.found["folders"][group] += [c_rules.Finding(folder, 0, f"{count} sources, expected at most {most}")] * max(0, count - most)

    def check_lengths(self):
        """One finding for each hundred lines that a file has beyond the most, begun or full."""
        most, exceptions = self.rules["lines"]["most"], self.rules["lines"]["exceptions"]
        self.mistakes += [f"{RULES}: lines: no file {path}" for path in exceptions if path not in self.tree.texts]
        for path, text in self.tree.texts.items():
            count = text.count("\n")
            if count > most and path.endswith(SOURCES) and path not in exceptions and not self.is_generated(text):
                self.found["lines"][group_of(path)] += [c_rules.Finding(path, 0, f"{count} lines, expected at most {most}")] * \
                    -(-(count - most) // 100)

    def is_generated(self, text):
        return re.search(self.rules["generated"], text[:600]) is not None

    def check_prose(self):
        openings, anywhere = ([(re.compile(pattern), advice) for pattern, advice in self.rules[which]]
                              for which in ("openings", "anywhere"))
        for path, text in self.tree.texts.items():
            group = group_of(path)
            if self.is_generated(text):
                continue
            reason = prose.first_line(path, text)
            if reason:
                self.found["first lines"][group].append(c_rules.Finding(path, 1, reason))
            for offset, what in prose.dialect(path, text, openings, anywhere):
                self.found["dialect"][group].append(c_rules.Finding(path, text.count("\n", 0, offset) + 1, what))

    def numbers(self):
        return {rule: {group: len(found) for group, found in sorted(groups.items()) if found}
                for rule, groups in sorted(self.found.items()) if any(groups.values())}


def sums(numbers):
    """{(rule, kind): number}, with the layers of the product added."""
    total = collections.Counter()
    for rule, groups in numbers.items():
        for group, number in groups.items():
            total[rule, kind_of(group)] += number
    return total


def show(findings):
    for finding, times in collections.Counter(findings).items():
        print(f"  {finding.path}:{finding.line}: {finding.text}" if finding.line else f"  {finding.path}: {finding.text}")


def changed_files(root):
    """Returns the files that differ from the commit that last wrote allowed.yaml, and those that git does not know: a finding
    too many is in one of them. Without this commit, as in a shallow clone, those that differ from HEAD."""
    last = subprocess.run(["git", "log", "-1", "--format=%H", "--", ALLOWED], cwd=root, check=True, capture_output=True, text=True).stdout
    return {*git_files(root, "diff", "--name-only", last.strip() or "HEAD"), *git_files(root, "ls-files", "--others", "--exclude-standard")}


def compare(check, allowed, root):
    """Prints each number that differs, with the findings where it has risen. Returns True if none differs."""
    numbers, good = check.numbers(), True
    changed = changed_files(root)
    for rule in sorted({*numbers, *allowed}):
        for group in sorted({*numbers.get(rule, {}), *allowed.get(rule, {})}):
            number, most = numbers.get(rule, {}).get(group, 0), allowed.get(rule, {}).get(group, 0)
            if number == most:
                continue
            good = False
            if number < most:
                print(f"{rule}: {group} has {number}, fewer than the {most} of {ALLOWED}: run tests/style/style.py --write")
                continue
            findings = check.found[rule][group]
            recent = [one for one in findings if one.path in changed] or findings
            print(f"{rule}: {group} has {number}, allowed are {most}: mend {number - most} of these (STYLE.md). "
                  f"{f'In files changed since the numbers of {ALLOWED} were written' if len(recent) < len(findings) else 'All'}, "
                  f"the first {SHOWN}:")
            show(recent[:SHOWN])
    return good


def write(check, allowed, root):
    """Writes the numbers back unless one has risen. Returns True if they are written."""
    numbers = check.numbers()
    before, now = sums(allowed or {}), sums(numbers)
    risen = [key for key in sorted(now) if now[key] > before[key]] if allowed is not None else []
    for rule, kind in risen:
        print(f"{rule}: {kind} has {now[rule, kind]} in all, allowed are {before[rule, kind]}: not written")
    if risen:
        return False
    with open(os.path.join(root, ALLOWED), "w", encoding="utf-8") as out:
        out.write("# Findings of each rule that are left, by group of files. tests/style/style.py --write lowers these numbers.\n")
        yaml.safe_dump(numbers, out, default_flow_style=False)
    return True


def main(root=ROOT):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the numbers back where they have fallen")
    parser.add_argument("--list", nargs="+", metavar="RULE", help="print the findings of a rule, or of one of its groups")
    asked = parser.parse_args()
    check = Check(root)
    allowed = read_yaml(root, ALLOWED) if os.path.exists(os.path.join(root, ALLOWED)) else None
    for mistake in check.mistakes:
        print(mistake)
    if asked.list:
        for group, findings in sorted(check.found[asked.list[0]].items()):
            if group in (asked.list[1:] or [group]):
                show(findings)
        return 0
    good = write(check, allowed, root) if asked.write else compare(check, allowed or {}, root)
    return 0 if good and not check.mistakes else 1


if __name__ == "__main__":
    sys.exit(main())
