"""The rules of STYLE.md on C: parameters, names, static functions of one name, switches over enumerations."""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import c_text  # noqa: E402

Finding = collections.namedtuple("Finding", "path line text")
MOST_PARAMETERS = 6
MOST_LINES = 40
STATIC = {"static", "LANE_INLINE"}
# Words that may stand before an identifier in an expression, where a type would stand in a declaration.
NOT_TYPES = {"return", "else", "case", "goto", "sizeof", "do", "defined", "typeof"}

OUR_CONSTANT = re.compile(r"(?:DYN|API|SRV)_[A-Z0-9_]+$")


class Source:
    """One C file with its definitions; `layer` is the layer of the ratchet."""

    def __init__(self, path, text, layer):
        self.path, self.text, self.layer = path, text, layer
        self.definitions = c_text.definitions(text)

    def finding(self, start, text):
        return Finding(self.path, self.text.count("\n", 0, start) + 1, text)


def head_of(definition):
    """The tokens of a function before its body, and the index of the bracket that opens the parameters."""
    tokens = definition.tokens
    brace = next((i for i, text in c_text.outermost(tokens) if text == "{"), len(tokens))
    return tokens[:brace], c_text.parameters_start(tokens[:brace])


def parameters(tokens, start):
    """The parameters of a head as lists of texts; (void) has none."""
    found, depth = [[]], 0
    for token in tokens[start + 1:]:
        if depth == 0 and token.text == ")":
            break
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token.text)
    return [] if found in ([[]], [["void"]]) else found


def many_parameters(sources, exceptions):
    """A function is counted once, at its definition if the tree has it."""
    found = {}
    for source in sources:
        for one in source.definitions:
            if one.kind not in ("function", "declaration") or one.name in exceptions:
                continue
            tokens, start = head_of(one)
            count = len(parameters(tokens, start))
            if count > MOST_PARAMETERS:
                is_static = STATIC & {token.text for token in tokens[:start]}
                key = (one.name, source.path if is_static else None)
                if key not in found or one.kind == "function":
                    found[key] = source, source.finding(one.start, f"{one.name} has {count} parameters")
    return list(found.values())


def long_functions(source):
    for one in source.definitions:
        count = source.text.count("\n", one.start, one.end) + 1
        if one.kind == "function" and count > MOST_LINES:
            yield source.finding(one.start, f"{one.name} has {count} lines")


def type_of(parameter):
    """The texts of a parameter without its name."""
    names = [i for i, text in enumerate(parameter) if c_text.is_identifier(text)]
    if len(names) < 2 or parameter[names[-2]] in ("struct", "enum", "union") and len(names) == 2:
        return tuple(parameter)
    last = names[0] if parameter.count("(") else names[-1]
    if parameter.count("("):    # void (*f)(int): the name follows the star
        last = parameter.index("*") + 1 if "*" in parameter[:-1] else names[-1]
    return tuple(text for i, text in enumerate(parameter) if i != last)


def static_signatures(sources):
    """Static functions whose name has another signature elsewhere; the most frequent signature is not counted."""
    by_name = collections.defaultdict(lambda: collections.defaultdict(list))
    for source in sources:
        for one in source.definitions:
            if one.kind != "function" or not one.name:
                continue
            tokens, start = head_of(one)
            before = [token.text for token in tokens[:start]]
            if STATIC & set(before):
                result = tuple(text for text in before[:-1] if text not in STATIC | {"inline"})
                signature = result, tuple(type_of(parameter) for parameter in parameters(tokens, start))
                by_name[one.name][signature].append((source, one))
    for name, signatures in sorted(by_name.items()):
        ordered = sorted(signatures.values(), key=lambda places: (-len(places), places[0][0].path))
        for places in ordered[1:]:
            source, one = places[0]
            yield source, source.finding(one.start, f"{name} has {len(signatures)} signatures; another is in {ordered[0][0][0].path}")


def declares(tokens, i):
    """True if the identifier tokens[i] is declared there: a type or the stars of a pointer stand before it."""
    if tokens[i + 1].text not in (";", ",", "=", ")", "[", "(", ":"):
        return False
    before = tokens[i - 1]
    if c_text.is_identifier(before.text):
        return before.text not in NOT_TYPES
    k = i - 1
    while k > 0 and tokens[k].text == "*":
        k -= 1
    # the layout puts the star of a pointer beside the name, that of a product between blanks
    adjacent = before.text == "*" and before.start + 1 == tokens[i].start
    return adjacent and c_text.is_identifier(tokens[k].text) and tokens[k].text not in NOT_TYPES \
        and tokens[k].start + len(tokens[k].text) < tokens[k + 1].start


def declared_after_comma(tokens, i):
    """True if tokens[i] follows a comma in a statement that begins as a declaration."""
    depth = 0
    for k in range(i - 1, -1, -1):
        text = tokens[k].text
        depth += (text in (")", "]", "}")) - (text in ("(", "[", "{"))
        if depth < 0 and not (text == "(" and tokens[k - 1].text == "for"):
            # the opening brace of a block or struct begins the statement, that of an initializer or a call does not
            if text != "{" or tokens[k - 1].text in ("=", ",", "{", ")") and not begins_block(tokens, k):
                return False
        if depth < 0 or depth == 0 and text in (";", "}"):
            names = [t for t in range(k + 1, i) if declares(tokens, t) and c_text.is_identifier(tokens[t].text)]
            return bool(names) and all(is_type_part(tokens[t].text) for t in range(k + 1, names[0]))
    return False


def begins_block(tokens, k):
    """True if the brace tokens[k] follows the head of a function or of a statement, not the type of a compound literal."""
    if tokens[k - 1].text != ")":
        return False
    start = c_text.opening(tokens, k - 1)
    return start > 0 and c_text.is_identifier(tokens[start - 1].text) and tokens[start - 1].text not in NOT_TYPES


def is_type_part(text):
    return text == "*" or c_text.is_identifier(text) and text not in NOT_TYPES


def banned_names(source, banned, members):
    for one in source.definitions:
        tokens = one.tokens
        inside = struct_ranges(tokens)
        for i, token in enumerate(tokens):
            if token.text not in banned or i == 0 or i + 1 == len(tokens):
                continue
            if token.text in members and any(start < i < end for start, end in inside):
                continue
            if declares(tokens, i) or tokens[i - 1].text in (",", "*") and declared_after_comma(tokens, i):
                yield source.finding(token.start, f"`{token.text}` is not a name")


def struct_ranges(tokens):
    """(first, last) index of the bodies of structs and unions."""
    found, open_at = [], []
    for i, token in enumerate(tokens):
        if token.text == "{":
            words = {tokens[k].text for k in range(max(0, i - 2), i)}
            open_at.append((i, bool(words & {"struct", "union"})))
        elif token.text == "}" and open_at:
            start, is_struct = open_at.pop()
            if is_struct:
                found.append((start, i))
    return found


class Constants:
    """The constants of the tree: those of enumerations with a name, and all others."""

    def __init__(self, sources):
        self.named, self.others = set(), set()
        for source in sources:
            for one in source.definitions:
                if one.kind == "macro":
                    self.others.add(one.name)
                self.read(one.tokens)

    def read(self, tokens):
        for k, token in enumerate(tokens):
            if token.text != "enum" or "{" not in [t.text for t in tokens[k + 1:k + 3]]:
                continue
            start = k + 1 if tokens[k + 1].text == "{" else k + 2
            end = c_text.closing(tokens, start)
            target = self.named if start == k + 2 or tokens[0].text == "typedef" else self.others
            target |= {tokens[i].text for i in range(start + 1, end)
                       if tokens[i - 1].text in ("{", ",") and tokens[i + 1].text in (",", "=", "}")}

    def is_of_an_enumeration(self, name):
        """True also for constants that a macro with a list of rows makes, by their prefix."""
        return name in self.named or OUR_CONSTANT.match(name) is not None and name not in self.others


def defaults_of_enumerations(source, constants):
    """Enumerations without a name are lists of numbers: a switch over an int needs its default."""
    for one in source.definitions:
        tokens = one.tokens
        stack = []      # one entry for each open brace: None, or a switch as {"ours": bool, "default": token}
        for i, token in enumerate(tokens):
            if token.text == "{":
                head = c_text.opening(tokens, i - 1) if tokens[i - 1].text == ")" else 0
                stack.append({"ours": False, "default": None} if head and tokens[head - 1].text == "switch" else None)
            elif token.text == "}" and stack:
                switch = stack.pop()
                if switch and switch["ours"] and switch["default"]:
                    yield source.finding(switch["default"].start, "`default:` hides the constants that the switch does not name")
            elif stack and (switch := next((one for one in reversed(stack) if one), None)):
                if token.text == "default" and tokens[i + 1].text == ":":
                    switch["default"] = token
                elif token.text == "case":
                    switch["ours"] |= constants.is_of_an_enumeration(tokens[i + 1].text)
                elif [t.text for t in tokens[i + 1:i + 4]] == ["(", "X", ")"]:
                    switch["ours"] = True   # a list of rows
