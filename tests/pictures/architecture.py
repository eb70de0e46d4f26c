"""Draws the pictures of ARCHITECTURE.md: the rooms of the product with the rooms that they include, from the #include
lines and the order in tests/rooms.py, and the way of one request. The SVG text is made with the standard library only."""
import importlib.util
import math
import os
import textwrap
from xml.sax.saxutils import escape

from overview import API, ARROW, DYNAMICS, EDGE, INK, SERVER, SOFT, arrow, text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WIDTH, MARGIN, BOX_HEIGHT, ROW, HEAD, GAP = 1120, 24, 30, 60, 44, 34
FILLS = {"server": SERVER, "api": API, "dynamics": DYNAMICS}


def room_order():
    """Loads the module tests/rooms.py."""
    spec = importlib.util.spec_from_file_location("room_order", os.path.join(ROOT, "tests", "rooms.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def layer_of(room):
    return room.split("/")[0]


def graph():
    """Returns {room: rooms that it includes}; rooms that include each other count as one. Leaves out includes that
    follow from others."""
    order = room_order()
    name = {room: rooms for rooms in order.ORDER for room in rooms.split("|")}
    below = {rooms: set() for rooms in order.ORDER}
    os.chdir(ROOT)
    for path, header in order.includes(order.sources()):
        upper, lower = name[order.room_of(path)], name[order.room_of(header)]
        if upper != lower:
            below[upper].add(lower)
    return below


def reached(below, room):
    """Returns all rooms that a room includes, directly or indirectly."""
    seen, waiting = set(), list(below[room])
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += below[one]
    return seen


def reduced(below):
    """Returns the graph without the edges that other edges imply."""
    far = {room: set().union(*(reached(below, one) for one in below[room])) if below[room] else set() for room in below}
    return {room: sorted(below[room] - far[room]) for room in below}


def levels(below, rooms):
    """Returns {room: length of the longest chain of rooms of its layer below it}."""
    level = {}
    for room in rooms:  # listed from the lowest room up
        level[room] = 1 + max((level[one] for one in below[room] if one in level), default=-1)
    return level


def rows_of(below, rooms):
    """Returns the rooms of a layer in rows from the top down; each row is ordered by the mean position of its
    neighbours below."""
    level = levels(below, rooms)
    rows = [[room for room in rooms if level[room] == k] for k in range(max(level.values()) + 1)]
    place = {}
    for row in rows:
        for i, room in enumerate(row):
            place[room] = (i + 1) / (len(row) + 1)
        if row is not rows[0]:
            middle = {room: math.fsum(place[one] for one in below[room] if one in level) /
                      max(1, sum(one in level for one in below[room])) for room in row}
            row.sort(key=lambda room: (middle[room], room))
            for i, room in enumerate(row):
                place[room] = (i + 1) / (len(row) + 1)
    return rows[::-1]


def label(room):
    """Returns a room's name without its layer; files of the layer's own folder keep theirs."""
    return " · ".join(one.split("/", 1)[1] if "/" in one else one + "/*.c" for one in room.split("|"))


def box_width(room):
    return 7.4 * len(label(room)) + 18


def place_rows(rows, top):
    """Returns {room: (x of its middle, y of its top)}."""
    places = {}
    for k, row in enumerate(rows):
        free = (WIDTH - 2 * MARGIN - 30 - sum(map(box_width, row))) / (len(row) + 1)
        x = MARGIN + 15 + free
        for room in row:
            places[room] = (x + box_width(room) / 2, top + HEAD + ROW * k)
            x += box_width(room) + free
    return places


def curve(start, end):
    (x1, y1), (x2, y2) = start, end
    y1 += BOX_HEIGHT
    bend = max(18, (y2 - y1) / 2)
    return f'<path d="M{x1:.1f} {y1}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2 - 2}" stroke="{EDGE}" ' \
           f'stroke-width="1.2" fill="none" marker-end="url(#head)"/>'


def room_box(room, place):
    width, (x, y) = box_width(room), place
    return [f'<rect x="{x - width / 2:.1f}" y="{y}" width="{width:.1f}" height="{BOX_HEIGHT}" rx="6" fill="#fff" stroke="{SOFT}"/>',
            text(round(x, 1), y + 20, label(room), 13)]


def between(below, upper, lower):
    """Returns the rooms of the lower layer whose headers the upper layer includes; single headers count as the layer's own."""
    names = {label(one) for room in below if layer_of(room) == upper for one in below[room] if layer_of(one) == lower}
    rooms = sorted(name for name in names if not name.endswith(".h"))
    return rooms + [f"headers of {lower}/ itself"] * any(name.endswith(".h") for name in names)


def frame(height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
                      f'font-family="system-ui, sans-serif"><defs>{ARROW}</defs>',
                      f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def rooms_picture():
    whole = graph()
    below, parts, top = reduced(whole), [], 16
    for layer, lower in (("server", "api"), ("api", "dynamics"), ("dynamics", None)):
        rooms = [room for room in whole if layer_of(room) == layer]
        rows = rows_of(below, rooms)
        height = HEAD + ROW * len(rows) - 8
        places = place_rows(rows, top)
        parts.append(f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{height}" rx="12" '
                     f'fill="{FILLS[layer]}" stroke="{EDGE}"/>')
        parts.append(text(MARGIN + 18, top + 27, layer + "/", 17, 700, "start"))
        parts += [curve(places[room], places[one]) for room in rooms for one in sorted(below[room]) if one in places]
        parts += [piece for room in rooms for piece in room_box(room, places[room])]
        top += height
        if lower:
            parts.append(arrow(WIDTH / 2, top + 2, WIDTH / 2, top + GAP - 3))
            lines = textwrap.wrap(f"{layer}/ includes of {lower}/: " + ", ".join(between(whole, layer, lower)), 92)
            parts += [text(WIDTH / 2 + 14, top + GAP / 2 + 4 + 13 * (i - (len(lines) - 1) / 2), line, 11 if lines[1:] else 12,
                           anchor="start", colour=SOFT) for i, line in enumerate(lines)]
        top += GAP if lower else 16
    return frame(top, parts)


STEPS = (
    ("server/net", "read the head", "libmicrohttpd parses; what it lets pass is refused here", SERVER, "loop"),
    ("api/service/http", "route and negotiate", "path, method, media types, deadline, revision", API, "loop"),
    ("server/net", "collect the body", "counted against the memory budget as it arrives", SERVER, "loop"),
    ("api/requests/cost", "estimate the time", "a peek at the body, rates measured at the start", API, "loop"),
    ("server/work", "run here or queue", "light: on the loop; heavy: suspend, worker, or 503", SERVER, "loop"),
    ("api/codec", "parse", "JSON or CBOR; arrays of numbers stay packed", API, "worker"),
    ("api/requests/fields", "decode into lanes", "shapes and names are checked; W states side by side", API, "worker"),
    ("dynamics", "run the kernel", "one text, compiled for 1, 2, 4 or 8 lanes", DYNAMICS, "worker"),
    ("api/requests/answer", "write the answer", "numbers that are not finite are refused", API, "worker"),
    ("server/net", "send", "the loop resumes the connection; slow readers have a limit", SERVER, "loop"),
)


def request_picture():
    step, left, wide, tall = 62, 170, 700, 46
    parts = [text(left / 2 + 8, 30, "thread", 13, 600, colour=SOFT), text(left + wide / 2, 30, "step of one request", 13, 600, colour=SOFT)]
    for k, (room, title, detail, fill, thread) in enumerate(STEPS):
        y = 46 + step * k
        parts.append(f'<rect x="{left}" y="{y}" width="{wide}" height="{tall}" rx="8" fill="{fill}" stroke="{EDGE}"/>')
        parts += [text(left + 16, y + 28, title, 15, 600, "start"), text(left + 200, y + 28, detail, 13, 400, "start", SOFT),
                  text(left + wide + 16, y + 28, room + "/", 13, 600, "start"),
                  text(left / 2 + 8, y + 28, "loop" if thread == "loop" else "loop or worker", 13, colour=INK)]
        if k:
            parts.append(arrow(left + wide / 2, y - step + tall + 1, left + wide / 2, y - 2))
    return frame(46 + step * len(STEPS) + 6, parts)
