"""The rules of STYLE.md on comments: the first line of a file, and sentences without a subject of their own."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import c_text  # noqa: E402

STRING = r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'"
LINES = r"(?:[ \t]*{0}[^\n]*(?:\n[ \t]*{0}[^\n]*)*)"    # comments to the end of the line, joined if nothing is between
PATTERNS = {
    "c": re.compile(rf"{STRING}|(?P<comment>/\*.*?\*/|{LINES.format('//')})", re.DOTALL),
    "script": re.compile(rf"{STRING}|`(?:\\.|[^`\\])*`|(?P<comment>/\*.*?\*/|(?<![:\w/]){LINES.format('//')})", re.DOTALL),
    "python": re.compile(rf'^[ \t]*[rf]?(?P<docstring>"""(?:\\.|[^\\])*?""")|"""(?:\\.|[^\\])*?"""|{STRING}|'
                         rf"(?P<comment>(?<!\S){LINES.format('#')})", re.DOTALL | re.MULTILINE),
    "shell": re.compile(rf"(?P<comment>^{LINES.format('#')}|(?<=\s)#[ ][^\n]*)", re.MULTILINE),
}
SUFFIXES = {".c": "c", ".h": "c", ".cc": "c", ".ts": "script", ".tsx": "script", ".mjs": "script", ".js": "script",
            ".py": "python", ".sh": "shell", ".mk": "shell"}
DECORATION = re.compile(r"(?m)^[ \t]*(?:/\*+|\*+/?|//+|#+!?|\"\"\")|\*+/$|\"\"\"$")
SENTENCE = re.compile(r"(?<=[.?!;])\s+(?=[A-Z`\"(])|\n[ \t]*\n|\n[ \t]*- ")
TITLE = re.compile(r"[\w.-]+\.(?:c|h|cc|py|ts|tsx|mjs|js|sh|mk)(?: .*?)? - |[a-z][\w-]*(?: [^-]*?)? - ")


def language(path, text):
    """The language whose comments are read, or None."""
    kind = "shell" if os.path.basename(path) == "Makefile" else SUFFIXES.get(os.path.splitext(path)[1])
    first = text.partition("\n")[0]
    if kind is None and first.startswith("#!"):
        kind = "python" if "python" in first else "shell" if "sh" in first else None
    return kind


def comments(kind, text):
    """(offset, text) of each comment and docstring in a language."""
    for match in PATTERNS[kind].finditer(text):
        group = match.lastgroup
        if group == "comment" and not match.group().lstrip().startswith("/*"):
            yield from by_column(text, match.start(group), match.group(group))
        elif group:
            yield match.start(group), match.group(group)


def by_column(text, start, lines):
    """Parts comments to the end of the line that follow each other, where their columns differ."""
    part, column = start, None
    for line in re.finditer(r"[ \t]*([^\n]+)\n?", lines):
        at_line = start + line.start(1)
        now = at_line - text.rfind("\n", 0, at_line)
        if column not in (None, now):
            yield part, text[part:start + line.start()].rstrip()
            part = at_line
        column = now
    yield part, text[part:start + len(lines)]


def plain(comment):
    return DECORATION.sub("", comment).strip()


def sentences(comment):
    """(offset in the comment, text on one line) of each sentence; titles such as `--- options ---` are none."""
    blank = DECORATION.sub(lambda match: " " * len(match.group()), comment)
    start = 0
    for match in [*SENTENCE.finditer(blank), None]:
        sentence = blank[start:match.start() if match else len(blank)]
        text = " ".join(sentence.split())
        if text and not text.startswith("--"):
            yield start + len(sentence) - len(sentence.lstrip()), text
        start = match.end() if match else 0


def dialect(path, text, openings, anywhere):
    """(offset, text) of the sentences that a pattern of rules.yaml finds."""
    for offset, comment in comments(language(path, text), text):
        for number, (within, sentence) in enumerate(sentences(comment)):
            if number == 0:
                sentence = TITLE.sub("", sentence, count=1) if TITLE.match(sentence) else sentence
                sentence = sentence[:1].upper() + sentence[1:]
            for pattern, advice in [*((p.match(sentence), a) for p, a in openings), *((p.search(sentence), a) for p, a in anywhere)]:
                if pattern:
                    yield offset + within, f"{sentence[:60]!r}: {advice}"
                    break


def first_line(path, text):
    """None, or the reason why the first comment of the file does not say what the file does."""
    if not text.strip():
        return None
    kind = language(path, text)
    if text.startswith("#!"):
        text = text.partition("\n")[2]
    first = next(comments(kind, text), None) if text.strip() else None
    if first is None or text[:first[0]].strip():
        return "no first comment"
    said = plain(first[1])
    name = os.path.basename(path)
    if path.endswith((".c", ".h", ".cc")):
        if not said.startswith(f"{name} - "):
            return f"the first comment does not open with `{name} - `"
        said = said.removeprefix(f"{name} - ")
    else:
        said = TITLE.sub("", said, count=1) if TITLE.match(said) else said
    if re.match(r"[Ss]ee [\w./]+\.?$", said) or len(said.split()) < 3:
        return "the first comment does not say what the file does"
    return None
