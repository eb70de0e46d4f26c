"""Reads the threads of a server from /proc, and stops one of them."""
import ctypes
import glob
import os
import re
import unittest

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # requests of ptrace(2)


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


def named(server, name):
    """Returns the numbers of the server's threads of that name."""
    tasks = f"/proc/{server.process.pid}/task"
    return [int(t) for t in os.listdir(tasks) if open(f"{tasks}/{t}/comm").read() == name + "\n"]


class Held:
    """Stops one thread of a child process by ptrace, as a context manager."""

    def __init__(self, thread):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.thread = thread

    def __enter__(self):
        for request in (SEIZE, INTERRUPT):
            if self.libc.ptrace(request, self.thread, None, None) != 0:
                raise unittest.SkipTest("no ptrace here")
        os.waitpid(self.thread, 0x40000000)  # __WALL of waitpid(2)
        return self

    def __exit__(self, *_):
        self.libc.ptrace(DETACH, self.thread, None, None)


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
