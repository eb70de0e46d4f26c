"""Writes a stick figure that walks one stride, from the right and from behind, as an SVG animation."""
import numpy as np

from stride import FIGURE

SCALE = 200                     # pixels per m
HEIGHT, MARGIN = 1.9, 0.25      # m, above and below the ground
FRAMES = 24                                 # pictures of a stride
COLOURS = {"left": "#c00", "right": "#888"}


def write_animation(path, stride):
    """The figure stays in the middle of the picture and the ground moves; the second step is the mirror image of the first."""
    chosen = np.round(np.linspace(0, len(stride.time) - 1, FRAMES // 2 + 1)).astype(int)[:-1]
    step = {name: values[chosen] for name, values in stride.places.items()}
    length = stride.schedule.length
    places = {name: np.concatenate([step[name], step[_other(name)] * (1, -1, 1) + (length, 0, 0)]) for name in step}
    ahead = 2 * length * np.arange(FRAMES) / FRAMES - length / 2
    side = {name: 0.9 + values[:, 0] - ahead for name, values in places.items()}
    behind = {name: 2.2 - values[:, 1] for name, values in places.items()}
    height = {name: HEIGHT - values[:, 2] for name, values in places.items()}
    lines = [_line(names, across, height, 2 * stride.schedule.duration) for across in (side, behind)
             for names in sorted(FIGURE, key=lambda names: "left" in names[-1])]
    size = f"{SCALE * 3:.0f}", f"{SCALE * (HEIGHT + MARGIN):.0f}"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}">'
                   f'<rect width="100%" height="100%" fill="#fff"/><path d="M0 {SCALE * HEIGHT:.0f}H{size[0]}" stroke="#000"/>'
                   f'{"".join(lines)}</svg>\n')


def _line(names, across, height, period):
    """A polyline through points whose coordinates (m) change from frame to frame."""
    frames = [" ".join(f"{SCALE * across[name][i]:.1f},{SCALE * height[name][i]:.1f}" for name in names) for i in range(FRAMES)]
    colour = COLOURS.get(names[-1].split("_")[0], "#000")
    return (f'<polyline points="{frames[0]}" fill="none" stroke="{colour}" stroke-width="3" stroke-linejoin="round">'
            f'<animate attributeName="points" dur="{period:.3f}s" repeatCount="indefinite" values="{";".join(frames + frames[:1])}"/>'
            f'</polyline>')


def _other(name):
    return name.replace("left", "*").replace("right", "left").replace("*", "right")
