"""Private copies of the tree: building in them, running tests in them, and putting them back as they were.

The base is a copy of the checkout with everything built. Every worker has a copy of the base, puts a fault into it,
and afterwards gets back from the base the files that changed; so that a fault costs the objects that depend on it.
"""
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading

# Scalar and one vector width; no optimizer that takes minutes; a fault may leave a variable unused.
FLAGS = ["BUILD=build", "CFLAGS=-O1 -g0", "WARNINGS=-w", "FUZZ_CC="]
TARGETS = {"x86_64": "scalar scalar_unfused avx2", "aarch64": "scalar neon"}.get(os.uname().machine, "scalar")
FAILED = re.compile(r"not ok\b(?!.*# (SKIP|TODO))", re.IGNORECASE)
MEMORY_MOST = 12 << 30      # bytes of address space of a test's processes
FILE_MOST = 2 << 30         # bytes of a file that they write
SHARED = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class BuildFailed(Exception):
    pass


class Stopped(Exception):
    """The run was asked to end."""


class Children:
    """The processes that run now; a signal ends them, and no other is started."""

    def __init__(self):
        self.lock = threading.Lock()
        self.alive = set()
        self.stopped = False

    def start(self, command, **settings):
        with self.lock:
            if self.stopped:
                raise Stopped
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **settings)
            self.alive.add(child)
            return child

    def ended(self, child):
        kill_group(child)   # processes that the test left behind
        child.wait()
        with self.lock:
            self.alive.discard(child)
            stopped = self.stopped
        if stopped:
            raise Stopped

    def stop(self):
        with self.lock:
            self.stopped = True
            for child in self.alive:
                kill_group(child)


children = Children()


def program_of(test):
    """The program that `make` builds and tests/run runs for a test."""
    return "build/" + test[:-2] if test.endswith(".c") else test


def same(a, b):
    """True if two files have the same size and time, as copies have."""
    x, y = os.stat(a), os.stat(b)
    return (x.st_size, x.st_mtime_ns, x.st_mode) == (y.st_size, y.st_mtime_ns, y.st_mode)


def files_under(root):
    for folder, _, names in os.walk(root):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


def mirror(source, target):
    """Makes `target` a copy of `source`, copying only what differs."""
    wanted = set(files_under(source))
    for path in wanted:
        old, new = os.path.join(source, path), os.path.join(target, path)
        if not os.path.exists(new) or not same(old, new):
            os.makedirs(os.path.dirname(new), exist_ok=True)
            shutil.copy2(old, new + ".part")
            os.replace(new + ".part", new)      # a program that still runs cannot be written
    for path in set(files_under(target)) - wanted if os.path.isdir(target) else ():
        os.remove(os.path.join(target, path))


def tracked_files(root):
    """The checkout's files, new ones included, but none that git ignores."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                            check=True, capture_output=True).stdout.decode()
    return [path for path in listed.split("\0") if path and os.path.isfile(os.path.join(root, path))]


def copy_checkout(root, target):
    """Brings the copy up to date; a file whose content is the same keeps its time, so that make leaves it alone."""
    wanted = set(tracked_files(root))
    for path in wanted:
        old, new = os.path.join(root, path), os.path.join(target, path)
        os.makedirs(os.path.dirname(new), exist_ok=True)
        with open(old, "rb") as content:
            text = content.read()
        if os.path.exists(new):
            with open(new, "rb") as content:
                if content.read() == text:
                    continue
        shutil.copyfile(old, new)
        shutil.copymode(old, new)
    for path in set(files_under(target)) - wanted:
        if not path.startswith("build/"):
            os.remove(os.path.join(target, path))
    unpacked = os.path.join("build", "packages")    # packages unpacked by tests/deps, with which the product is built
    mirror(os.path.join(root, unpacked), os.path.join(target, unpacked))


def limit_child():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MOST, MEMORY_MOST))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MOST, FILE_MOST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Tree:
    def __init__(self, root):
        self.root = root

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def make(self, *goals, jobs=1):
        child = children.start(["make", "-s", f"-j{jobs}", *FLAGS, f"TARGETS={TARGETS}", *goals], cwd=self.root,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        said = child.communicate()[0]
        children.ended(child)
        if child.returncode != 0:
            raise BuildFailed(said[-3000:])

    def restore(self, base):
        mirror(base.path("build"), self.path("build"))

    def run(self, test, limit):
        """Runs one test; returns None if it passes, else how it failed. Stops it at the first failure."""
        folder = tempfile.mkdtemp(prefix="torqued-mutate-", dir=SHARED)
        child = children.start(["tests/run", program_of(test)], cwd=self.root, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, preexec_fn=limit_child, text=True, errors="replace",
                               env={**os.environ, "BUILD": "build", "NO_FUZZERS": "1", "TMPDIR": folder})
        overtime = threading.Event()
        timer = threading.Timer(limit, lambda: (overtime.set(), kill_group(child)))
        timer.start()
        try:
            failure = first_failure(child.stdout)
            if failure and test.endswith(".py"):
                kill_group(child)
            for _ in child.stdout:
                pass    # a C program is not killed at its first failure, since it ends soon and removes its files
            status = child.wait()
        finally:
            timer.cancel()
            child.stdout.close()
            shutil.rmtree(folder, ignore_errors=True)
            children.ended(child)
        if overtime.is_set():
            return f"not done after {limit:.0f} s"
        return failure or (f"status {status}" if status != 0 else None)


def kill_group(child):
    """The test and every process that it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def first_failure(lines):
    """Reads TAP until a test fails, or to its end; returns the failed line, or what is wrong with the plan."""
    plan, count = None, 0
    for line in lines:
        if FAILED.match(line):
            return line.strip()[:100]
        count += bool(re.match(r"ok\b|not ok\b", line))
        found = re.match(r"1\.\.(\d+)", line)
        plan = int(found.group(1)) if found else plan
    return None if plan == count else f"{count} of {plan} tests were run"
