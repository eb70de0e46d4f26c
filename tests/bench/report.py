"""Formats the output of the benchmarks: the machine, Markdown tables, medians of pairs, SVG plots."""
import os
import platform
import statistics
import subprocess
import time

BUILD = os.environ.get("BUILD", "build")
FOLDER = os.path.join(BUILD, "bench")


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "?"


def machine():
    """Describes CPU, cores, load, compiler and commit, without which a figure has no meaning."""
    cpu = "?"
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith(("model name", "CPU part")):
                cpu = line.split(":", 1)[1].strip()
                break
    return (f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC · {cpu}, {len(os.sched_getaffinity(0))} cores, "
            f"{platform.machine()} · load {os.getloadavg()[0]:.1f} · {first_line(['gcc', '--version'])} · "
            f"commit {first_line(['git', 'describe', '--always', '--dirty'])}")


def table(head, rows):
    lines = ["| " + " | ".join(map(str, head)) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def median(values):
    return statistics.median(values)


def middle_ratio(ours, theirs):
    """Returns the median of each pair's ratio, for runs measured alternately."""
    return statistics.median(a / b for a, b in zip(ours, theirs))


def slope(xs, ys):
    """Returns the slope of the least-squares line."""
    x, y = statistics.fmean(xs), statistics.fmean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def plot(name, title, x, y, curves, logarithmic="both"):
    """Writes FOLDER/name.svg; `curves` maps a label to (xs, ys). Returns False without matplotlib."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return False
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for label, (xs, ys) in curves.items():
        axes.plot(xs, ys, marker="o", markersize=3.5, linewidth=1.4, label=label)
    if logarithmic in ("x", "both"):
        axes.set_xscale("log")
    if logarithmic in ("y", "both"):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend(fontsize=8)
    figure.savefig(os.path.join(FOLDER, name + ".svg"))
    pyplot.close(figure)
    return True
