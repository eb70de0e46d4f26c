"""Draws line and bar charts as SVG text with the standard library only. Every machine writes the same bytes, so a test
can compare a chart in the tree with its data."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 64, 56       # margins around the plotting area, px


def number(value):
    """Formats a number: 1000000 as "1 M", 0.5 as "0.5"."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:.3g}"


class Axis:
    """Maps values to pixels between `start` and `end`."""

    def __init__(self, values, start, end, logarithmic, ticks=None):
        self.log, self.start, self.end = logarithmic, start, end
        if logarithmic and ticks:
            self.low, self.high = math.log10(min(ticks)), math.log10(max(ticks))
        elif logarithmic:
            self.low, self.high = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
            self.high = max(self.high, self.low + 1)
        else:
            step = 10 ** math.floor(math.log10(max(values)))
            step = next(s for s in (step / 5, step / 2, step, 2 * step) if max(values) / s <= 6)
            self.low, self.high, self.step = 0, step * math.ceil(max(values) / step), step

    def at(self, value):
        place = math.log10(value) if self.log else value
        return self.start + (place - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        if self.log:
            return [10.0 ** power for power in range(self.low, self.high + 1)]
        return [i * self.step for i in range(round(self.high / self.step) + 1)]


class Drawing:
    def __init__(self, title, x, y, labels):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
                      'font-family="system-ui, sans-serif" font-size="13" fill="#222">',
                      f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
        self.text(LEFT, 22, title, size=16, weight=600)
        place = LEFT
        for i, label in enumerate(labels):
            self.parts.append(f'<rect x="{place}" y="36" width="14" height="10" rx="2" fill="{COLOURS[i]}"/>')
            self.text(place + 19, 45, label)
            place += 36 + 7 * len(label)
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x, anchor="middle")
        middle = (TOP + HEIGHT - BOTTOM) / 2
        self.parts.append(f'<text transform="translate(18 {middle:.0f}) rotate(-90)" text-anchor="middle">{escape(y)}</text>')

    def text(self, x, y, text, size=13, weight=400, anchor="start", colour="#222"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
                          f'fill="{colour}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, colour="#ddd"):
        self.parts.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" fill="none"/>')

    def y_axis(self, axis):
        for value in axis.ticks():
            y = axis.at(value)
            self.line(LEFT, y, WIDTH - RIGHT, y)
            self.text(LEFT - 8, y + 4, number(value), anchor="end", colour="#555")

    def done(self):
        return "\n".join(self.parts + ["</svg>"]) + "\n"


def lines(title, x, y, curves, x_ticks=None, logarithmic="xy"):
    """Draws a line chart; `curves` maps a label to a list of (x, y) points."""
    xs = [point[0] for points in curves.values() for point in points]
    ys = [point[1] for points in curves.values() for point in points]
    across = Axis(xs, LEFT, WIDTH - RIGHT, "x" in logarithmic, x_ticks)
    up = Axis(ys, HEIGHT - BOTTOM, TOP, "y" in logarithmic)
    drawing = Drawing(title, x, y, curves)
    drawing.y_axis(up)
    for value in x_ticks or across.ticks():
        place = across.at(value)
        drawing.line(place, TOP, place, HEIGHT - BOTTOM, "#eee")
        drawing.text(place, HEIGHT - BOTTOM + 18, number(value), anchor="middle", colour="#555")
    for colour, points in zip(COLOURS, curves.values()):
        path = "L".join(f"{across.at(a):.1f} {up.at(b):.1f}" for a, b in points)
        drawing.parts.append(f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"/>')
        for a, b in points:
            drawing.parts.append(f'<circle cx="{across.at(a):.1f}" cy="{up.at(b):.1f}" r="3.2" fill="{colour}"/>')
    return drawing.done()


def bars(title, y, groups, series, logarithmic=False):
    """Draws a bar chart; `series` maps a label to one value (or None) for each group. The value is written above its
    bar."""
    values = [value for of in series.values() for value in of if value is not None]
    up = Axis(values + ([min(values) / 2] if logarithmic else []), HEIGHT - BOTTOM, TOP + 14, logarithmic)
    drawing = Drawing(title, "", y, series)
    drawing.y_axis(up)
    room = (WIDTH - LEFT - RIGHT) / len(groups)
    width = min(52, room * 0.84 / len(series))
    for g, group in enumerate(groups):
        middle = LEFT + room * (g + 0.5)
        drawing.text(middle, HEIGHT - BOTTOM + 18, group, anchor="middle")
        shown = [(colour, of[g]) for colour, of in zip(COLOURS, series.values()) if of[g] is not None]
        for i, (colour, value) in enumerate(shown):
            x, top = middle + (i - len(shown) / 2) * width, up.at(value)
            drawing.parts.append(f'<rect x="{x + 1:.1f}" y="{top:.1f}" width="{width - 2:.1f}" '
                                 f'height="{HEIGHT - BOTTOM - top:.1f}" fill="{colour}"/>')
            drawing.text(x + width / 2, top - 4, number(value), size=11, anchor="middle", colour="#444")
    return drawing.done()
