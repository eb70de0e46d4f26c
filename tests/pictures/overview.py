"""Draws the README's picture: the clients, the steps from request to answer, and the sources of robots. SVG text made with the
standard library alone."""
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 860, 372
INK, SOFT, EDGE = "#1f2937", "#4b5563", "#9ca3af"
OUTSIDE, SERVER, API, DYNAMICS = "#f3f4f6", "#dbeafe", "#fef3c7", "#dcfce7"
ARROW = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">' \
        f'<path d="M0 0L8 4L0 8z" fill="{SOFT}"/></marker>'


def text(x, y, line, size=13, weight=400, anchor="middle", colour=INK):
    return f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="{colour}">{escape(line)}</text>'


def box(x, y, width, height, fill, title, *lines):
    """A title and smaller lines below it, centred."""
    top = y + height / 2 + 5 - 9 * len(lines)
    parts = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{fill}" stroke="{EDGE}"/>',
             text(x + width / 2, top, title, 15, 600)]
    return parts + [text(x + width / 2, top + 19 * (i + 1), line, 12, colour=SOFT) for i, line in enumerate(lines)]


def arrow(x1, y1, x2, y2):
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{SOFT}" stroke-width="1.6" fill="none" marker-end="url(#head)"/>'


def lanes(x, y):
    """Eight states side by side in one vector register."""
    return [f'<rect x="{x + 22 * i}" y="{y}" width="19" height="19" rx="3" fill="#86efac" stroke="#16a34a"/>' +
            text(x + 22 * i + 9.5, y + 14, f"q{i + 1}", 10) for i in range(8)]


def overview():
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
             f'font-family="system-ui, sans-serif"><defs>{ARROW}</defs>',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    parts += [text(95, 30, "your programs", 13, 600, colour=SOFT), text(765, 30, "your robots", 13, 600, colour=SOFT)]
    parts += box(20, 46, 150, 74, OUTSIDE, "planner", "Python, SciPy, MPC")
    parts += box(20, 146, 150, 74, OUTSIDE, "controller", "C++, Rust, Go, …")
    parts += box(20, 246, 150, 74, OUTSIDE, "shell", "curl, scripts")
    parts += [f'<rect x="300" y="12" width="270" height="348" rx="12" fill="#fff" stroke="{INK}" stroke-width="1.6"/>',
              text(435, 36, "torqued", 16, 700)]
    parts += box(318, 48, 234, 74, SERVER, "server", "sockets, threads, queue,", "deadlines, store")
    parts += box(318, 134, 234, 74, API, "api", "JSON, CBOR, models,", "18 operations, problems")
    parts += box(318, 220, 234, 96, DYNAMICS, "dynamics", "one core evaluates 8 states at once", "")
    parts += lanes(347, 283)
    parts.append(text(435, 344, "one process, any number of cores", 12, colour=SOFT))
    parts += [arrow(176, 160, 294, 160), arrow(294, 206, 176, 206)]
    parts += [text(235, 132, "POST states:", 12), text(235, 149, "q, qd, qdd or tau", 12),
              text(235, 226, "torques,", 12), text(235, 242, "accelerations,", 12), text(235, 258, "matrices,", 12),
              text(235, 274, "gradients", 12)]
    parts += box(690, 46, 150, 74, OUTSIDE, "URDF, MJCF, SDF", "CAD, ROS, MuJoCo,", "Gazebo")
    parts += box(690, 146, 150, 74, OUTSIDE, "document", "JSON: links, joints,", "motors, loops")
    parts += box(690, 246, 150, 74, OUTSIDE, "18 robots", "bundled, from", "published figures")
    parts += [arrow(684, 84, 576, 84), text(630, 74, "PUT", 12), arrow(684, 183, 576, 183), text(630, 173, "PUT", 12),
              arrow(684, 283, 576, 283)]
    return "\n".join(parts + ["</svg>"]) + "\n"
