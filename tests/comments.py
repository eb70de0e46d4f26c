#!/usr/bin/python3
"""comments.py [--seed TEXT] [--count N] [--messages N] - draws random comments of each layer and of the tests, and random messages,
for a reader who knows robot dynamics and HTTP but not this code. The reader should understand nearly all of them without the code.

Comments of the tests are those in C and Python, docstrings included. Prints Markdown with one entry each: the place, the comment,
and the line of code that the comment belongs to. The seed is the hash of the last commit unless given."""
import argparse
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "style"))
import prose  # noqa: E402

LAYERS = {"dynamics": ("dynamics/*.[ch]",), "api": ("api/*.[ch]",), "server": ("server/*.[ch]",),
          "tests": ("tests/*.[ch]", "tests/*.py")}
STRING = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*|\'(?:\\.|[^\'\\\n])+\'', re.S)
SECTION = re.compile(r"(?:/\*|//|#) ?(-|clang-format|noqa)|#!")


def sources(layer):
    """(path, text) of the layer's files."""
    listed = subprocess.run(["git", "ls-files", "--", *LAYERS[layer]], check=True, capture_output=True, text=True)
    for path in listed.stdout.split():
        with open(path, encoding="utf-8") as source:
            yield path, source.read()


def code_beside(text, start, end):
    """The code on the line of a comment or, where there is none, the next line of code."""
    before = text[text.rfind("\n", 0, start) + 1:start]
    return before.strip() or next((line.strip() for line in text[end:].splitlines() if line.strip()), "")


def comments(layer):
    """Returns (place, comment, line of code that the comment belongs to)."""
    return [(f"{path}:{text.count(chr(10), 0, offset) + 1}", comment, code_beside(text, offset, offset + len(comment)))
            for path, text in sources(layer) for offset, comment in prose.comments(prose.language(path, text), text)
            if not SECTION.match(comment)]


def messages():
    """Strings of at least four words: problems, log entries, help. Parts of sentences and lists of names are left out: they
    begin with a blank or a brace."""
    strings = ((path, text, match) for layer in ("dynamics", "api", "server") for path, text in sources(layer)
               for match in STRING.finditer(text))
    return [(f"{path}:{text.count(chr(10), 0, match.start()) + 1}", match.group(), "") for path, text, match in strings
            if match.group().startswith('"') and match.group()[1] not in " {" and match.group().count(" ") >= 3]


def plain(text):
    return " ".join(prose.plain(text).split())


def show(title, drawn):
    print(f"\n## {title}\n")
    for number, (place, text, code) in enumerate(drawn, 1):
        print(f"{number}. `{place}` {plain(text)}" + (f"\n   Code: `{code}`" if code else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed")
    parser.add_argument("--count", type=int, default=50, help="comments of each layer")
    parser.add_argument("--messages", type=int, default=30)
    asked = parser.parse_args()
    seed = asked.seed or subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    draw = random.Random(seed)
    print(f"# Comments and messages drawn with the seed {seed}")
    for layer in LAYERS:
        every = comments(layer)
        show(f"{layer}/: {asked.count} of {len(every)} comments", draw.sample(every, asked.count))
    every = messages()
    show(f"{asked.messages} of {len(every)} messages", draw.sample(every, asked.messages))


if __name__ == "__main__":
    main()
