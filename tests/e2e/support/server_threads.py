"""Reads the threads of a server from /proc, and stops one of them."""
import ctypes
import glob
import os
import platform
import re
import sys
import time
import unittest

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # requests of ptrace(2)

# numbers of the system calls epoll_wait and epoll_pwait, and of futex, by processor
EPOLL_WAITS, FUTEX = {"x86_64": ((232, 281), 202), "aarch64": ((22,), 98)}[platform.machine()]
SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}[platform.machine()]  # number of the system call sched_getattr(2), by processor
FUTEX_COMMAND, FUTEX_WAIT_BITSET = 0x7f, 9  # mask of the command in the second argument of futex(2), and the command FUTEX_WAIT_BITSET


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


def time_slice(thread):
    """Returns the slice, in s, that the scheduler gives a thread without a real-time policy; None before Linux 6.12, whose kernel does not
    report it."""
    attributes = (ctypes.c_ubyte * 48)()  # sched_attr of sched_setattr(2): the runtime, in ns, is the 64-bit number at byte 24
    libc = ctypes.CDLL(None)
    if libc.syscall(SCHED_GETATTR, thread, attributes, len(attributes), 0) != 0:
        return None
    return int.from_bytes(bytes(attributes[24:32]), sys.byteorder) / 1e9 or None


class Held:
    """Stops one thread of a child process by ptrace, as a context manager. The thread is stopped where it waits for work. Stopped while it
    allocates memory or writes a log line, it would hold a lock that blocks all other threads, which no evaluation does. With `busy`, it is
    stopped wherever it is."""

    def __init__(self, thread, busy=False):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.thread, self.busy = thread, busy

    def __enter__(self):
        give_up = time.monotonic() + 10
        self.stop()
        while not (self.busy or self.waits()):
            self.libc.ptrace(DETACH, self.thread, None, None)
            if time.monotonic() > give_up:
                raise AssertionError(f"thread {self.thread} does not wait for work")
            time.sleep(0.01)
            self.stop()
        return self

    def __exit__(self, *_):
        self.libc.ptrace(DETACH, self.thread, None, None)

    def stop(self):
        for request in (SEIZE, INTERRUPT):
            if self.libc.ptrace(request, self.thread, None, None) != 0:
                raise unittest.SkipTest("no ptrace here")
        os.waitpid(self.thread, 0x40000000)  # __WALL of waitpid(2)

    def waits(self):
        """Returns True if the stopped thread waited for an event, in epoll_pwait(2), or for a condition, in futex(2). Other uses of futex, to
        wait for a lock or to wake threads, do not count: the thread may hold another lock there."""
        with open(f"/proc/{self.thread}/syscall") as syscall:
            number, *arguments = syscall.read().split()
        if int(number) == FUTEX:
            return int(arguments[1], 16) & FUTEX_COMMAND == FUTEX_WAIT_BITSET
        return int(number) in EPOLL_WAITS


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
