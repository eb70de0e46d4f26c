#!/usr/bin/python3
"""comments.py [--seed TEXT] [--count N] [--messages N] - draws random comments of each layer, and random messages, for
a reader who knows robot dynamics and HTTP but not this code. The reader should understand nearly all of them without
the code.

Prints Markdown with one entry each: the place, the comment, and the line of code that the comment belongs to. The seed
is the hash of the last commit unless given."""
import argparse
import random
import re
import subprocess

LAYERS = ("dynamics", "api", "server")
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*|\'(?:\\.|[^\'\\\n])+\'', re.S)
SECTION = re.compile(r"/\* (-|clang-format)")


def sources(layer):
    listed = subprocess.run(["git", "ls-files", "--", f"{layer}/*.[ch]"], check=True, capture_output=True,
                            text=True)
    return listed.stdout.split()


def tokens(path):
    """Yields (line, text, code on the same line or the next) of the comments and strings of a file."""
    with open(path, encoding="utf-8") as source:
        text = source.read()
    for match in TOKEN.finditer(text):
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        after = text[match.end():]
        code = before.strip() or next((line.strip() for line in after.splitlines() if line.strip()), "")
        yield text.count("\n", 0, match.start()) + 1, match.group(), code


def comments(layer):
    return [(f"{path}:{line}", text, code) for path in sources(layer) for line, text, code in tokens(path)
            if text.startswith("/*") and not SECTION.match(text)]


def messages():
    """Returns strings of at least four words: problems, log entries, help. Leaves out parts of sentences and lists of
    names, which begin with a blank or a brace."""
    return [(f"{path}:{line}", text, "") for layer in LAYERS for path in sources(layer) for line, text, _ in tokens(path)
            if text.startswith('"') and text[1] not in " {" and text.count(" ") >= 3]


def plain(text):
    return " ".join(re.sub(r"^\s*/?\*+/?|\*/$", "", line).strip() for line in text.splitlines()).strip()


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
