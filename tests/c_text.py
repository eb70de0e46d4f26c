"""Splits C sources into tokens and top-level definitions, for the checks of the tree that read C (style/, mutate/).

A small reader, no compiler: macros are not expanded, both branches of an #if are read, and the layout is that of
`make format`."""
import collections
import re

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      | (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|[^\n"])*)
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'
      | [A-Za-z_]\w*
      | \.?\d(?:[eEpP][+-]|[\w.])*
      | \.\.\. | -> | \+\+ | -- | <<= | >>= | << | >> | && | \|\| | \#\# | [-<>=!+*/%&|^]=
      | \\\n
      | [^\s\w]""", re.VERBOSE | re.DOTALL | re.MULTILINE)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*$")
CLOSING = {")": "(", "]": "[", "}": "{"}

Token = collections.namedtuple("Token", "text start")
# kind: function, declaration (of a function), variable, type, macro. `tokens` has no comments and no directives.
Definition = collections.namedtuple("Definition", "kind name start end tokens")


def tokenize(text, keep_directives=False):
    """The tokens without comments. A directive is one token if kept, else its parts are tokens like all others."""
    found = []
    position = 0
    while match := TOKEN.search(text, position):
        position = match.end()
        if match.lastgroup == "directive" and not keep_directives:
            position = match.start() + match.group().index("#") + 1
            found.append(Token("#", position - 1))
        elif match.lastgroup != "comment" and match.group() != "\\\n":
            found.append(Token(match.group().lstrip() if match.lastgroup == "directive" else match.group(), match.start()))
    return found


def is_identifier(token):
    return IDENTIFIER.match(token) is not None


def opening(tokens, index):
    """The index of the bracket that tokens[index] closes."""
    depth = 0
    for i in range(index, -1, -1):
        if tokens[i].text in CLOSING:
            depth += 1
        elif tokens[i].text in "([{":
            depth -= 1
            if depth == 0:
                return i
    return 0


def closing(tokens, index):
    """The index of the bracket that closes tokens[index]."""
    depth = 0
    for i in range(index, len(tokens)):
        depth += (tokens[i].text in ("(", "[", "{")) - (tokens[i].text in CLOSING)
        if depth == 0:
            return i
    return len(tokens) - 1


def parameters_start(tokens):
    """The index of the bracket that opens the parameters of a function's head, which ends at its `)`; None if none."""
    last = len(tokens) - 1
    while last > 0 and tokens[last].text != ")":
        last -= 1   # attributes that are macros without arguments
    return opening(tokens, last) if last > 0 else None


def function_name(tokens, start):
    """The name before the parameters: f(...) or LANE_NAME(f)(...)."""
    if start and is_identifier(tokens[start - 1].text):
        return tokens[start - 1].text
    if start and tokens[start - 1].text == ")":
        inner = [t.text for t in tokens[opening(tokens, start - 1) + 1:start - 1] if is_identifier(t.text)]
        return inner[0] if inner else None
    return None


def outermost(tokens):
    """The tokens outside all brackets, with their indices; opening brackets are among them."""
    depth = 0
    for i, token in enumerate(tokens):
        if token.text in CLOSING:
            depth -= 1
        if depth == 0 and token.text not in CLOSING:
            yield i, token.text
        if token.text in ("(", "[", "{"):
            depth += 1


def describe(tokens):
    """(kind, name) of one top-level item."""
    outer = list(outermost(tokens))
    texts = [text for _, text in outer]
    if "=" in texts:
        names = [text for text in texts[:texts.index("=")] if is_identifier(text)]
        return "variable", names[-1] if names else None
    if texts[0] == "typedef":
        names = [text for text in texts if is_identifier(text)]
        pointer = [tokens[i + 2].text for i, text in outer if text == "(" and tokens[i + 1].text == "*"]
        return "type", (pointer or names)[-1]
    brace = next((i for i, text in outer if text == "{"), None)
    if brace is not None and tokens[brace - 1].text != ")":
        if texts[0] in ("struct", "union", "enum"):
            # an enumeration without a tag is known by its first constant
            return "type", next((t.text for t in tokens[1:] if is_identifier(t.text)), None)
        names = [text for text in texts[texts.index("{") + 1:] if is_identifier(text)]
        return "variable", names[-1] if names else None
    head = tokens[:brace] if brace is not None else tokens
    start = parameters_start(head)
    if start is None or (brace is None and "(" not in texts):
        names = [text for text in texts if is_identifier(text)]
        return "variable", names[-1] if names else None
    return "function" if brace is not None else "declaration", function_name(head, start)


def definitions(text):
    """The top-level items of a source or header in their order."""
    found, item, depth = [], [], 0

    def end():
        if item and [t.text for t in item] != [";"]:
            kind, name = describe(item)
            found.append(Definition(kind, name, item[0].start, item[-1].start + len(item[-1].text), list(item)))
        item.clear()

    for token in tokenize(text, keep_directives=True):
        if token.text.startswith("#"):
            if depth == 0:
                end()
            macro = re.match(r"#\s*define\s+(\w+)", token.text)
            if macro:
                start = text.index("#", token.start)
                found.append(Definition("macro", macro.group(1), start, start + len(token.text), []))
            continue
        if token.text == "}" and not item:
            continue    # the end of extern "C"
        item.append(token)
        if [t.text for t in item[:3]] == ["extern", '"C"', "{"]:
            item.clear()
        elif token.text in ("{", "(", "["):
            depth += 1
        elif token.text in CLOSING:
            depth -= 1
            if depth == 0 and token.text == "}" and is_body(item):
                end()
        elif token.text == ";" and depth == 0:
            end()
    end()
    return found


def is_body(item):
    """True if the item's closing bracket ends the body of a function."""
    start = opening(item, len(item) - 1)
    return start > 0 and item[start - 1].text == ")" and not any(text == "=" for _, text in outermost(item))
