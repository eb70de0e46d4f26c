"""The threads of a server, as the kernel counts them in /proc."""
import glob
import re


def stats(server, thread):
    """Fields behind the name in `stat`, proc(5), of each of the server's threads of that name."""
    found = []
    for path in glob.glob(f"/proc/{server.process.pid}/task/*/stat"):
        with open(path) as stat:
            name, rest = re.fullmatch(r"\d+ \((.*)\) (.*)", stat.read().strip(), re.S).groups()
        if name == thread:
            found.append(rest.split())
    return found


def processor_time(server, thread):
    """Ticks of processor time of each of the server's threads of that name."""
    return sorted(int(fields[11]) + int(fields[12]) for fields in stats(server, thread))
