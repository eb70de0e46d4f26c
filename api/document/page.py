#!/usr/bin/python3
"""page.py markdown|html|schema <openapi.yaml - makes the page about model documents, as api/DOCUMENT.md or as it is served at
/document, or the JSON schema of documents that is served at /document.schema.json.

Tables come from the contract, examples from examples.yaml, drawings from drawings.py."""
import html
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import yaml  # noqa: E402
from drawings import DRAWINGS  # noqa: E402
from openapi import StrictLoader  # noqa: E402

PREFIX = "#/components/schemas/"
INTRODUCTION = """A model document is a robot as one JSON object: links, each with its parent and the joint that carries it, and what else the
robot has. `PUT /v1/models/NAME` with `Content-Type: application/json` takes it, `torqued check FILE` reads it without a server, and `torqued
convert` writes it from URDF, MJCF and SDF. Units are SI and radians. A field that no table has is refused by name.

An editor that knows JSON schemas completes and checks a document whose first field is
`"$schema": "http://127.0.0.1:8088/document.schema.json"`; the server serves that schema, and reads `$schema` as a note."""
TABLES = (("The document", "Tree"), ("A link", "Link"), ("A joint", "Joint"), ("Limits of a joint", "JointLimits"), ("A torque-speed line", "EffortSpeed"),
          ("A mimic", "Mimic"), ("A spring and damper of a joint", "JointSpring"), ("An elastic joint", "Elastic"), ("Mass and inertia", "Inertial"), ("A shape that is drawn", "Visual"), ("A frame", "Frame"),
          ("A motor on a link", "Motor"), ("A transmission of several motors", "Transmission"), ("A loop", "Loop"),
          ("A position with a name", "Configuration"))
FORMS = {"Inertial": ("", ": a homogeneous solid"), "Visual": (": a solid", ": a mesh")}
SHAPES = {"Vector3": "3 numbers", "Vector6": "6 numbers", "Transform": "4 × 4 numbers", "Name": "name"}
LINKS = {"JointLimits": "limits of a joint", "Mimic": "mimic", "JointSpring": "spring and damper", "Elastic": "elastic joint", "Inertial": "mass and inertia", "Visual": "shape that is drawn", "Visuals": "list of: shape that is drawn", "Frame": "frame",
         "Motor": "motor", "Transmission": "transmission", "Loop": "loop", "Configuration": "position with a name", "Link": "link",
         "Joint": "joint", "Origin": "origin: see the forms above", "MotorLimits": "limits of a motor", "EffortSpeed": "torque-speed line", "Inertia": "xx yy zz xy xz yz",
         "LoopFrame": "name, or link and modified_dh", "ModifiedDh": "gamma b alpha d theta r"}


class Contract:
    """The schemas of the contract, and words for them."""

    def __init__(self, text):
        self.schemas = yaml.load(text, StrictLoader)["components"]["schemas"]

    def shape(self, schema):
        reference = schema.get("$ref") or (schema["allOf"][0].get("$ref") if "allOf" in schema else None)
        if reference:
            name = reference.removeprefix(PREFIX)
            return SHAPES.get(name) or LINKS[name]
        if "enum" in schema:
            return ", ".join(f"`{value}`" for value in schema["enum"])
        for alternatives in ("oneOf", "anyOf"):
            if alternatives in schema:
                return ", or ".join(dict.fromkeys(self.shape(one) for one in schema[alternatives]))
        if schema.get("type") == "array":
            if schema.get("minItems") == schema.get("maxItems") == 2:
                return "2 numbers"
            return "list of: " + self.shape(schema.get("items", {}))
        if schema.get("type") == "object" and schema.get("properties"):
            return "object with " + " ".join(f"`{name}`" for name in schema["properties"])
        return schema.get("type", "any")

    def meaning(self, schema):
        text = " ".join(schema.get("description", "").split())
        if "default" in schema:
            text = f"{text.rstrip('.')}. Default {json.dumps(schema['default'])}." if text else f"Default {json.dumps(schema['default'])}."
        return text

    def rows(self, schema):
        """Returns (field, value, needed, meaning) of an object; those of its members that have no table of their own follow."""
        for name, part in schema.get("properties", {}).items():
            needed = "yes" if name in schema.get("required", ()) else ""
            has_rows = part.get("type") == "object" and part.get("properties")
            yield f"`{name}`", "object" if has_rows else self.shape(part), needed, self.meaning(part)
            if has_rows:
                for field, value, also, meaning in self.rows(part):
                    yield f"`{name}.{field.strip('`')}`", value, also, meaning

    def tables(self):
        """Yields (title, text, rows)."""
        for title, name in TABLES:
            schema = self.schemas[name]
            for i, form in enumerate(schema.get("oneOf", [schema])):
                heading = title + FORMS.get(name, ("",))[i]
                yield heading, " ".join(schema.get("description", "").split()) if i == 0 else "", list(self.rows(form))


def examples():
    with open(os.path.join(HERE, "examples.yaml"), encoding="utf-8") as file:
        return yaml.load(file, StrictLoader)


def written(value, room=110, indent=0):
    """JSON, on one line where it fits."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= room or not isinstance(value, (dict, list)):
        return flat
    space = " " * (indent + 1)
    items = [f"{json.dumps(k)}: {written(v, room, indent + 1 + len(k) + 4)}" for k, v in value.items()] if isinstance(value, dict) else [
        written(v, room, indent + 1) for v in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return ends[0] + f",\n{space}".join(items) + ends[1]


def request(example):
    return (f"POST /v1/models/{example['name']}/{example['operation']}\n{written(example['body'])}\n\n{written(example['answer'])}")


def markdown(contract):
    parts = ["# Model documents\n", "<!-- Made by api/document/page.py from api/openapi.yaml and api/document/: change those, then `make "
             "reference`. -->\n", INTRODUCTION + "\n", "## Joints and forms\n"]
    for example in examples():
        parts += [f"### {example['title']}\n", f"![{example['title']}](document/drawings/{example['name']}.svg)\n", example["text"] + "\n",
                  f"```json\n{written(example['document'])}\n```\n", f"```http\n{request(example)}\n```\n"]
    parts.append("## Fields\n")
    for title, text, rows in contract.tables():
        parts += [f"### {title}\n", text + "\n" if text else "", "| field | value | needed | meaning |\n|---|---|---|---|"]
        parts += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows] + [""]
    return "\n".join(part for part in parts if part is not None)


def marked(text):
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))


def identifier(title):
    return re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")


def page(contract):
    body, contents = [], []
    for example in examples():
        contents.append(example["title"])
        body.append(f'<section id="{identifier(example["title"])}">\n<h3>{html.escape(example["title"])}</h3>\n'
                    f'<div class="example">{DRAWINGS[example["name"]]().svg(example["title"])}<div>\n<p>{marked(example["text"])}</p>\n'
                    f'<pre tabindex="0">{html.escape(written(example["document"], 80), quote=False)}</pre>\n'
                    f'<pre tabindex="0">{html.escape(request(example), quote=False)}</pre></div></div>\n</section>')
    body.append('<h2 id="fields">Fields</h2>')
    for title, text, rows in contract.tables():
        contents.append(title)
        cells = "".join("<tr>" + "".join(f"<td>{marked(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
        body.append(f'<section id="{identifier(title)}">\n<h3>{title}</h3>\n' + (f"<p>{marked(text)}</p>\n" if text else "") +
                    f'<div class="table" tabindex="0"><table><thead><tr><th>field</th><th>value</th><th>needed</th><th>meaning</th></tr></thead>\n<tbody>{cells}</tbody></table></div>\n</section>')
    links = "".join(f'<a href="#{identifier(title)}">{html.escape(title)}</a>' for title in contents)
    introduction = "".join(f"<p>{marked(' '.join(part.split()))}</p>\n" for part in INTRODUCTION.split("\n\n"))
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<title>Model documents - torqued</title>\n<link rel="icon" href="/favicon.ico">\n<link rel="stylesheet" href="/document.css">\n</head>\n<body>\n'
            f'<header><a href="/">Console</a><a href="/docs">Reference</a><a href="/document.schema.json">JSON schema</a></header>\n<main>\n'
            f'<h1>Model documents</h1>\n{introduction}<nav aria-label="Contents">{links}</nav>\n<h2>Joints and forms</h2>\n' + "\n".join(body) +
            "\n</main>\n</body>\n</html>\n")


def references(value):
    """Yields the names of schemas to which a schema refers."""
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from references(item)
    if isinstance(value, dict) and isinstance(value.get("$ref"), str):
        yield value["$ref"].removeprefix(PREFIX)


def renamed(value):
    if isinstance(value, dict):
        return {key: item.replace(PREFIX, "#/$defs/") if key == "$ref" else renamed(item) for key, item in value.items()}
    return [renamed(item) for item in value] if isinstance(value, list) else value


def schema(contract):
    """Returns the schema Document with all that it needs, by JSON Schema 2020-12."""
    needed, found = ["Document"], {}
    while needed:
        name = needed.pop()
        if name not in found:
            found[name] = renamed(contract.schemas[name])
            needed += references(contract.schemas[name])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Model document of torqued", "$ref": "#/$defs/Document",
            "$defs": dict(sorted(found.items()))}


def main():
    contract = Contract(sys.stdin.read())
    made = {"markdown": markdown, "html": page, "schema": lambda one: json.dumps(schema(one), ensure_ascii=False) + "\n"}[sys.argv[1]](contract)
    sys.stdout.buffer.write(made.encode())


if __name__ == "__main__":
    main()
