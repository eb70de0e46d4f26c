"""Reads from the changelog which version the tree becomes, and decides which changes that version may make."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOTHING, ADDITIONS, EVERYTHING = range(3)
HEADING = re.compile(r"^## (\d+)\.(\d+)\.(\d+) \((unreleased|\d{4}-\d\d-\d\d)\)$", re.M)


def next_version(changelog=None):
    """Returns (version, True if released) of the first section of the changelog."""
    if changelog is None:
        with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as file:
            changelog = file.read()
    first = HEADING.search(changelog)
    return ".".join(first.groups()[:3]), first.group(4) != "unreleased"


def allowed(before, after, released):
    """Returns which kinds of changes the version `after` may make, compared with `before`, the version of the baseline."""
    old, new = ([int(part) for part in version.split(".")] for version in (before, after))
    if new < old:
        raise ValueError(f"version {after} comes before {before}")
    if new[0] > old[0] or new[0] == 0 and new[1] > old[1]:  # before 1.0.0 a minor version may change everything
        return EVERYTHING
    if new[1] > old[1]:
        return ADDITIONS
    if new == old and not released:  # the baseline was written for this version, which is not released yet
        return ADDITIONS
    return NOTHING
