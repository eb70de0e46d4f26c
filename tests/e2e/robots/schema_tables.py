"""Reads from C sources the tables that say how the readers of URDF and SDF treat every element and attribute, and writes files that contain only
one of these."""
import collections
import os
import re

from harness import ROOT

CLASSES = {"API_XML_READ": "held", "API_XML_ONCE": "held", "API_XML_ELSEWHERE": "expanded", "API_XML_DROPPED": "irrelevant",
           "API_XML_NOT_HELD": "not held", "API_XML_ATTRIBUTE_READ": "held", "API_XML_ATTRIBUTE_DROPPED": "irrelevant",
           "API_XML_ATTRIBUTE_NOT_HELD": "not held"}
Row = collections.namedtuple("Row", "parents names use attributes dropped effect")
# An element `name` inside the last element of `path`, or one of its attributes.
Item = collections.namedtuple("Item", "path name attribute use dropped opaque")


def read_rows(format):
    """Returns the rows of the newest version's table."""
    with open(os.path.join(ROOT, "api", "robots", format, f"{format}_schema.c")) as file:
        text = file.read()
    words = dict(re.findall(r'#define (\w+)\s+"([^"]*)"', text))
    text = text[text.index("known[] = {"):]
    text = re.sub(r"/\*.*?\*/", "", text[:text.index("\n};")], flags=re.S)
    text = re.sub(r'"\s*\n\s*"', "", text)
    rows = []
    field = r'\s*("[^"]*"|\w+)\s*'
    for macro, fields in re.findall(r"(IRRELEVANT\(|\{)((?:\s*(?:\"[^\"]*\"|\w+)\s*,?)+)[)}]", text):
        given = [words.get(f, None if f == "NULL" else f.strip('"')) for f in re.findall(field, fields)]
        if macro == "{":
            rows.append(Row(given[0].split(), given[1].split(), *given[2:6]))
        else:
            rows.append(Row(given[0].split(), given[1].split(), "API_XML_DROPPED", given[2], None, None))
    return rows


class Table:
    def __init__(self, format, root, attributes):
        self.rows, self.root = read_rows(format), root
        self.root_attributes = attributes
        self.paths = self.find_paths()

    def row_of(self, path, name):
        """Returns the row that the reader uses: the first that lists the name in its parent."""
        for row in self.rows:
            if not row.use.startswith("API_XML_ATTRIBUTE") and name in row.names and self.is_in(row, path):
                return row

    def is_in(self, row, path):
        return path[-1] in row.parents or "/".join(path[-2:]) in row.parents

    def is_closed(self, row):
        """True if the reader looks at nothing inside this element, or reports the element as a whole."""
        return row.attributes is None or row.use not in ("API_XML_READ", "API_XML_ONCE", "API_XML_DROPPED")

    def find_paths(self):
        """Returns the shortest path to each element, keyed by its last two names."""
        found, waiting = {(None, self.root): (self.root,)}, [(self.root,)]
        for path in waiting:
            if len(path) > 1 and self.is_closed(self.row_of(path[:-1], path[-1])):
                continue
            for row in self.rows:
                if not self.is_in(row, path) or row.use.startswith("API_XML_ATTRIBUTE"):
                    continue
                for name in row.names:
                    if (path[-1], name) not in found and self.row_of(path, name) is row:
                        found[path[-1], name] = (*path, name)
                        waiting.append((*path, name))
        return found

    def items(self):
        """Yields each element and each attribute of the format once, at its shortest path."""
        for path in list(self.paths.values()):
            if len(path) == 1:
                for name in self.root_attributes:
                    yield Item(path, None, name, "held", None, False)
                continue
            row = self.row_of(path[:-1], path[-1])
            opaque = row.attributes is None and row.use == "API_XML_DROPPED"
            yield Item(path[:-1], path[-1], None, CLASSES[row.use], row.dropped, opaque)
            kind = "irrelevant" if row.use == "API_XML_DROPPED" else "held"
            for name in (row.attributes or "").split():
                yield Item(path, None, name, kind, None, False)
            for name in (row.dropped or "").split() if row.use in ("API_XML_READ", "API_XML_ONCE") else ():
                yield Item(path, None, name, "irrelevant", None, False)
            for other in () if self.is_closed(row) else self.rows:
                if other.use.startswith("API_XML_ATTRIBUTE") and self.is_in(other, path):
                    for name in other.names:
                        yield Item(path, None, name, CLASSES[other.use], None, False)

    def counts(self):
        return collections.Counter((item.use, "attribute" if item.attribute else "element") for item in self.items())


class Node:
    """An element of a file under construction; its name may have an undeclared prefix."""
    def __init__(self, name, attributes=None, children=None, text=""):
        self.name, self.attributes, self.children, self.text = name, dict(attributes or {}), list(children or []), text

    def find(self, name):
        return next((child for child in self.children if child.name == name), None)

    def reach(self, path, fill):
        """Returns the element at `path`, creating missing ones; `fill` gives the attributes of new elements."""
        node = self
        for n, name in enumerate(path):
            child = node.find(name)
            if child is None:
                child = Node(name, fill(name))
                node.children.append(child)
            node = child
        return node

    def write(self):
        attributes = "".join(f' {name}="{value}"' for name, value in self.attributes.items())
        return f"<{self.name}{attributes}>{self.text}" + "".join(child.write() for child in self.children) + f"</{self.name}>"


def parse(text):
    """Parses a small file without text between its elements into nodes."""
    import xml.etree.ElementTree
    def convert(element):
        return Node(element.tag, element.attrib, [convert(child) for child in element], (element.text or "").strip())
    return convert(xml.etree.ElementTree.fromstring(text))


def without_appearance(client, name):
    """Returns the document of a model without its name and the shapes of its links, which have no part in the dynamics."""
    document = client.get(f"/v1/models/{name}/document").json()
    document.pop("name", None)
    for link in (document["base"], *document["links"]):
        link.pop("visual", None)
    return document
