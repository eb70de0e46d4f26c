#!/usr/bin/python3
"""Find a `default:` in a switch over an enumeration of the product's own.

Without a default the compiler names every switch that lacks a new value of the enumeration. Values of enumerations without
a name are numbers, over which a switch may have a default.
"""
import re
import subprocess
import sys

COMMENTS = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
NAMED = re.compile(r'\benum\s+\w+\s*\{([^}]*)\}')
LIST = re.compile(r'#define\s+(\w+)\(X\)((?:[^\n]*\\\n)*[^\n]*)')
MADE = re.compile(r'#define\s+X\([^)]*\)\s+(\w+)##[^\n]*\n\s*(\w+)\(X\)')
SWITCH = re.compile(r'\bswitch\s*\(')
LABEL = re.compile(r'\bcase\s+(\w+(?:##\w+)?)\s*:')


def without_comments(text):
    """Replace each comment by its newlines, so that line numbers stay."""
    return COMMENTS.sub(lambda found: '\n' * found[0].count('\n'), text)


def body_of(text, start):
    """Return the text between the braces of the switch that begins at `start`."""
    opening = text.index('{', start)
    depth = 0
    for end in range(opening, len(text)):
        depth += {'{': 1, '}': -1}.get(text[end], 0)
        if depth == 0:
            return text[opening + 1:end]
    return text[opening + 1:]


def outermost(body):
    """Leave out what is inside braces: the labels of switches within this one."""
    while (shorter := re.sub(r'\{[^{}]*\}', '', body)) != body:
        body = shorter
    return body


def owner(file):
    """Return the key of a file's values: its name for a source, else 'headers', or the folder for a client's header."""
    if file.endswith('.c'):
        return file
    return file.rpartition('/')[0] if file.startswith('api/clients/') else 'headers'


def named_values(sources):
    """Return the values of named enumerations, also of those that a list of rows X(NAME, ...) makes: by `owner` of the
    file."""
    rows = {}
    for text in sources.values():
        for name, body in LIST.findall(text):
            rows[name] = re.findall(r'\bX\((\w+)', body)
    values = {}
    for file, text in sources.items():
        mine = values.setdefault(owner(file), set())
        for found in NAMED.finditer(text):
            mine.update(re.findall(r'(?:^|,)\s*(\w+)\s*(?==|,|$)', found[1], re.M))
            for prefix, name in MADE.findall(found[1]):
                mine.update(prefix + row for row in rows.get(name, ()))
    return values


def main():
    names = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard', 'dynamics/*.[ch]', 'api/*.[ch]',
                            'server/*.[ch]'], capture_output=True, text=True, check=True).stdout.split()
    sources = {}
    for name in names:
        try:
            with open(name, encoding='utf-8') as file:
                sources[name] = without_comments(file.read())
        except FileNotFoundError:
            continue  # deleted and not yet committed
    values = named_values(sources)
    failed = False
    for name, text in sources.items():
        known = values.get(name, set()) | values.get(owner(name[:-1] + 'h'), set())
        for found in SWITCH.finditer(text):
            body = outermost(body_of(text, found.end()))
            labels = LABEL.findall(body)
            if re.search(r'\bdefault\s*:', body) and any(label in known or '##' in label for label in labels):
                line = text.count('\n', 0, found.start()) + 1
                print(f'{name}:{line}: a switch over an enumeration has a default: name the values instead')
                failed = True
    return failed


if __name__ == '__main__':
    sys.exit(main())
