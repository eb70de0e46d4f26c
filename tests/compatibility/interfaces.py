"""Lists the names of all interfaces except the contract, with their facts: the C header, the command line, the settings, the metrics, the log,
and the clients in Python and TypeScript. Each function takes the text that has them."""
import ast
import re

SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def plain_c(text):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern "C" \{', "", text)
    return re.sub(r"\s+", " ", text)


def c_header(text):
    """Facts include the position of members of structs and of constants, since programs initialise structs in order."""
    found, text = {}, plain_c(text)
    for kind, body, name in re.findall(r"typedef (struct|enum) \w+ \{([^}]*)\} (\w+);", text):
        parts = [part.strip() for part in body.split(";" if kind == "struct" else ",")]
        for place, part in enumerate(part for part in parts if part):
            member = re.search(r"(\w+)(\[\w+\])*$", part.split("=")[0].strip()).group(1)
            found[f"{name}.{member}"] = {"is": part, "place": place}
    for declared in re.sub(r"typedef (struct|enum) \w+ \{[^}]*\} \w+;", "", text).split(";"):
        declared = re.sub(r"\s*\*\s*", " *", declared.strip(" }"))
        function = re.search(r"(\w+)\(", declared)
        if declared.startswith("typedef"):
            found[declared.split()[-1]] = {"is": declared}
        elif function:
            found[function.group(1)] = {"is": declared}
    return found


def commands(helps):
    """`helps` maps the name of each command to the text of its --help."""
    found = {}
    for command, text in helps.items():
        found[command] = {"status": re.search(r"^exit status: (.*)$", text, re.M).group(1)}
        for option, value, variable in re.findall(r"^  --([a-z-]+)(?: (\S+))?\n(?:        .*\n)*?(?:        (TORQUED_\w+)\n)?(?=  --|\n|\Z)",
                                                  text, re.M):
            found[f"{command} --{option}"] = {"takes": set(value.split("|")) if value else {"nothing"}}
            if variable:
                found[f"{command} --{option}"]["variable"] = variable
    return found


def figure(text):
    return float(text[:-1]) * SIZES[text[-1]] if text[-1] in SIZES else float(text)


def settings(table):
    """`table`: the text of `torqued --settings-table`."""
    found = {}
    for line in table.splitlines()[2:]:
        flag, variable, values, default, _, changes, _ = (cell.strip() for cell in re.split(r"(?<!\\)\|", line[1:]))
        facts = found[flag.strip("`").split()[0]] = {"variable": variable.strip("`"), "may": default, "changes": changes}
        between = re.fullmatch(r"(\S+) to (\S+)", values)
        if between:
            facts["least"], facts["most"] = map(figure, between.groups())
        else:
            facts["takes"] = set(values.split("/")) if "/" in values else {values}
    return found


def metrics(header, page):
    """`header`: api/metrics.h, which has the labels; `page`: the text of GET /metrics."""
    labels = dict(re.findall(r'^ *X\((\w+), "(\w*)", [^"]*\)', header, re.M))
    rows = {name: [labels[label] for label in both if labels[label]] for name, *both in
            re.findall(r'X\(\w+, "(torqued_\w+)", \w+, \w+, (\w+), (\w+),', header)}
    return {name: {"is": kind, "labels": ",".join(rows.get(name, []))} for name, kind in re.findall(r"^# TYPE (\S+) (\w+)$", page, re.M)}


def log(sources):
    """`sources`: the texts of server/. Events are the texts that `srv_log_begin`, `srv_log_message` and the functions around
    them receive after the level; fields are those of `srv_log_text`, `srv_log_count` and `srv_log_ms`."""
    found = {}
    for text in sources:
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
        for call in re.findall(r"\bSRV_(?:ERROR|WARNING|INFO|DEBUG|AUDIT)\b,?([^;]*);", text):
            for event in re.findall(r'"([a-z]+(?:-[a-z]+)*)"', call.split("(")[0]):
                found[f"event {event}"] = {}
        for kind, name in re.findall(r'srv_log_(text|count|ms)\(\s*[^,;]+,\s*"([^"]+)"', text):
            found.setdefault(f"field {name}", {"is": kind})
    return found


def python(modules):
    """`modules`: the texts of the public modules by name. A module that the package imports from has the names in `__all__`
    of the package, another module all its names. A name with an underscore first is private."""
    package = ast.parse(modules["__init__"])
    exported = next(ast.literal_eval(node.value) for node in package.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    inside = {node.module for node in package.body if isinstance(node, ast.ImportFrom)}
    found = {name: {} for name in exported}
    for module, text in modules.items():
        prefix = "" if module in inside else module.split("/")[0] + "."
        for node in ast.parse(text).body:
            if getattr(node, "name", "_").startswith("_") or module in inside and node.name not in exported:
                continue
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = {}
                for member in node.body:
                    python_function(found, member, prefix + node.name + ".")
            else:
                python_function(found, node, prefix)
    return found


def python_function(found, node, prefix):
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name.startswith("_") and node.name != "__init__":
        return
    name, arguments = prefix + node.name, node.args
    found[name] = {"is": "property" if any(getattr(d, "id", "") == "property" for d in node.decorator_list) else "function"}
    placed = [*arguments.posonlyargs, *arguments.args]
    for place, one in enumerate(placed):
        if one.arg not in ("self", "cls"):
            found[f"{name}({one.arg})"] = {"needs": place < len(placed) - len(arguments.defaults), "place": place}
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found[f"{name}({one.arg})"] = {"needs": default is None}


def typescript(modules):
    """`modules`: the texts of the client's modules; names that they export, and public members of exported classes."""
    found = {}
    for text in modules:
        for kind, name, body in re.findall(r"^export (?:async )?(class|function|interface|type|const) (\w+)(.*?)(?=^\S|\Z)", text, re.M | re.DOTALL):
            found[name] = {"is": kind}
            if kind in ("class", "interface"):
                for member, optional in re.findall(r"^    (?:async |readonly |static |get )*(\w+)(\??)[(<:]", body, re.M):
                    found[f"{name}.{member}"] = {"needs": not optional} if kind == "interface" else {}
    return found
