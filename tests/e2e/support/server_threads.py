"""Reads the threads of a server from /proc."""
import glob
import re


def stats(server, thread):
    """Returns, for each of the server's threads of that name, the fields after the name in its `stat` (proc(5))."""
    found = []
    for path in glob.glob(f"/proc/{server.process.pid}/task/*/stat"):
        with open(path) as stat:
            name, rest = re.fullmatch(r"\d+ \((.*)\) (.*)", stat.read().strip(), re.S).groups()
        if name == thread:
            found.append(rest.split())
    return found


def processor_time(server, thread):
    """Returns the processor time, in clock ticks, of each of the server's threads of that name."""
    return sorted(int(fields[11]) + int(fields[12]) for fields in stats(server, thread))


def seconds(server, thread):
    """Returns the processor time, in s, of all of the server's threads of that name together."""
    sum_of = 0
    for path in glob.glob(f"/proc/{server.process.pid}/task/*/comm"):
        with open(path) as comm:
            name = comm.read().strip()
        if name == thread:
            with open(path.replace("/comm", "/schedstat")) as schedstat:
                sum_of += int(schedstat.read().split()[0])
    return sum_of * 1e-9
