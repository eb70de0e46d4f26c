#!/usr/bin/python3
"""mutate.py [--list] [--jobs N] [--layer LAYER] [FAULT...] - puts small faults into private copies of the tree, one
at a time, and looks whether a test notices.

Each fault meets the tests named with it and those of its layer in C; what none of these finds meets the layer's other
tests, then all others, at the end. A fault is done with at the first failure. A test that takes longer than it may counts as failed. The copies and results.json are in build/mutate; a run goes on
where the last one ended. Ends with a table by layer; the exit status is 0 if every layer has REQUIRED of its valid
faults found, 1 if not, 2 if the list is wrong.
"""
import argparse
import os
import queue
import signal
import sys
import threading
import time

import faults
from results import Results
from tree import BuildFailed, Stopped, Tree, children, copy_checkout, mirror, program_of

ROOT = os.path.dirname(os.path.dirname(faults.HERE))
FOLDER = os.path.join(ROOT, "build", "mutate")
REQUIRED = 0.97
PATIENCE = 60, 8    # time limit of a test: at least so many s, and so many times its duration without a fault
# Tests that do not test the sources, or that test the machine: installed packages, other processors, fuzzing, measured times.
NEVER = {"test_deploy.py", "test_processors.py", "test_fuzz.py", "test_dispatch.c", "test_load.py", "test_store_load.py",
         "test_clients.py", "test_readme.py"}


class Run:
    """State of a run, shared by all workers."""

    def __init__(self, layers, chosen, jobs):
        self.results = Results(os.path.join(FOLDER, "results.json"), ROOT)
        self.base = Tree(os.path.join(FOLDER, "base"))
        self.jobs = jobs
        self.own = {layer.name: layer.tests for layer in layers}
        self.waiting = queue.SimpleQueue()
        for fault in chosen:
            self.waiting.put((fault, False))
        self.left = len(chosen)
        self.begun = time.monotonic()
        self.done = 0
        self.busy = threading.Lock()
        self.measuring = threading.Lock()
        self.useless = set()    # tests that fail without a fault
        self.broken = []        # problems that make the run fail even if tests found all faults

    def prepare(self):
        copy_checkout(ROOT, self.base.root)
        print("building without faults", flush=True)
        self.base.make("build/torqued", *(program_of(test) for test in self.results.tests if test.endswith(".c")),
                       jobs=self.jobs)

    def order(self, fault, hint, all_tests):
        """Returns the tests of a fault in order: those named with it, the one that found it last, the layer's tests in C; or all tests, those of
        its layer first."""
        own = [*fault.tests, *([hint] if hint in self.results.tests else []),
               *(test for test in self.own[fault.layer] if all_tests or test.endswith(".c"))]
        others = sorted(self.results.tests, key=lambda test: (not test.endswith(".c"), test)) if all_tests else []
        return [test for test in dict.fromkeys([*own, *others]) if os.path.basename(test) not in NEVER]

    def limit(self, test):
        """Seconds that a test may take with a fault; None if the test fails without one. The first call runs the test."""
        with self.measuring:
            seconds = self.results.seconds(test)
            if seconds is None and test not in self.useless:
                begun = time.monotonic()
                failure = self.base.run(test, 600)
                seconds = time.monotonic() - begun
                if failure:
                    self.useless.add(test)
                    self.broken.append(f"{test} fails without a fault: {failure}")
                else:
                    self.results.keep_seconds(test, seconds)
            return None if test in self.useless else max(PATIENCE[0], PATIENCE[1] * seconds)

    def tell(self, fault, result):
        with self.busy:
            self.done += 1
            self.left -= 1
            left = (time.monotonic() - self.begun) / self.done * self.left / 60
            verdict = f"found by {result['found']}" if result["found"] else "missed by all tests"
            print(f"{fault.layer}/{fault.name}: {verdict}, {result['seconds']:.0f} s; "
                  f"{self.left} left, about {left:.0f} min", flush=True)


class Worker(threading.Thread):
    def __init__(self, run, number):
        super().__init__()
        self.shared = run
        self.tree = Tree(os.path.join(FOLDER, f"worker-{number}"))

    def run(self):
        mirror(self.shared.base.root, self.tree.root)
        while True:
            try:
                fault, all_tests = self.shared.waiting.get_nowait()
            except queue.Empty:
                return
            try:
                self.try_fault(fault, all_tests)
            except BuildFailed as problem:
                self.shared.broken.append(f"{fault.name} does not compile:\n{problem}")
            except Stopped:
                return

    def try_fault(self, fault, all_tests):
        result, begun = self.shared.results.of(fault), time.monotonic()
        with open(self.tree.path(fault.path), encoding="utf-8") as source:
            text = source.read()
        original = os.stat(self.tree.path(fault.path))
        try:
            with open(self.tree.path(fault.path), "w", encoding="utf-8") as source:
                source.write(fault.apply(text))
            self.meet_tests(fault, result, all_tests)
        finally:
            with open(self.tree.path(fault.path), "w", encoding="utf-8") as source:
                source.write(text)
            os.utime(self.tree.path(fault.path), ns=(original.st_atime_ns, original.st_mtime_ns))
            self.tree.restore(self.shared.base)
        result["seconds"] += time.monotonic() - begun
        self.shared.results.keep(fault, result)
        if result["found"] or all_tests:
            self.shared.tell(fault, result)
        else:
            print(f"{fault.layer}/{fault.name}: not found yet, all tests follow at the end", flush=True)
            self.shared.waiting.put((fault, True))

    def meet_tests(self, fault, result, all_tests):
        for test in self.shared.order(fault, result.get("hint"), all_tests):
            if test in result["passed"]:
                continue
            if self.build(test):
                limit = self.shared.limit(test)
                if limit is None:
                    continue
                if self.tree.run(test, limit):
                    result["found"] = test
                    return
            result["passed"][test] = self.shared.results.tests[test]
            self.shared.results.keep(fault, result)

    def build(self, test):
        """Builds the program that a test runs. Returns False if the fault does not change this program."""
        program = program_of(test) if test.endswith(".c") else "build/torqued"
        self.tree.make(program)
        return os.stat(self.tree.path(program)).st_mtime_ns != os.stat(self.shared.base.path(program)).st_mtime_ns


def table(layers, results):
    """Prints a line for each layer and the missed faults. Returns True if enough faults were found and none remains to be tried."""
    good, missed = True, []
    print(f"\n{'layer':<16}{'valid':>7}{'found':>7}{'missed':>8}{'to try':>8}{'share':>9}{'equivalent':>12}")
    for layer in layers:
        valid = [fault for fault in layer.faults if not fault.equivalent]
        found = [fault for fault in valid if results.of(fault)["found"]]
        lost = [fault for fault in valid if fault not in found and is_done(results, fault)]
        left = len(valid) - len(found) - len(lost)
        share = len(found) / max(1, len(valid) - left)
        good &= share >= REQUIRED and left == 0
        print(f"{layer.name:<16}{len(valid):>7}{len(found):>7}{len(lost):>8}{left:>8}{share:>9.1%}"
              f"{len(layer.faults) - len(valid):>12}")
        missed += [f"missed: {layer.name}/{fault.name} ({fault.path})" for fault in lost]
    print("\n".join([f"required in each layer: {REQUIRED:.0%}", *missed]))
    return good


def is_done(results, fault):
    result = results.of(fault)
    return result["found"] or all(test in result["passed"] for test in results.tests if os.path.basename(test) not in NEVER)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true", help="check the list against the sources, run nothing")
    parser.add_argument("--jobs", type=int, default=2, help="copies of the tree that work side by side")
    parser.add_argument("--layer", action="append", help="the faults of that layer, or of several")
    parser.add_argument("fault", nargs="*", help="names of faults; all without")
    return parser.parse_args()


def choose(layers, asked):
    every = [fault for layer in layers if layer.name in (asked.layer or [layer.name]) for fault in layer.faults]
    unknown = set(asked.fault) - {fault.name for fault in every}
    if unknown:
        raise faults.BadList(f"no such fault: {', '.join(sorted(unknown))}")
    return [fault for fault in every if not fault.equivalent and asked.fault in ([], None) or fault.name in asked.fault]


def main():
    asked = arguments()
    try:
        layers = faults.read(os.path.join(ROOT, "tests", "mutate", "faults"))
        notes = faults.check(layers, ROOT)
        chosen = choose(layers, asked)
    except faults.BadList as problem:
        print(f"mutate: {problem}", file=sys.stderr)
        return 2
    if asked.list:
        print("".join(f"note: {note}\n" for note in notes), end="")
        print(f"{len(chosen)} faults in {len(layers)} layers, each with one place in the sources")
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: children.stop())
    os.makedirs(FOLDER, exist_ok=True)
    results = Results(os.path.join(FOLDER, "results.json"), ROOT)
    run = Run(layers, [fault for fault in chosen if not is_done(results, fault)], asked.jobs)
    try:
        if run.left:
            run.prepare()
    except (BuildFailed, Stopped) as problem:
        print(f"mutate: the sources do not compile without a fault:\n{problem}", file=sys.stderr)
        return 1
    workers = [Worker(run, number) for number in range(min(asked.jobs, run.left))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    good = table(layers, run.results)
    for problem in run.broken:
        print(f"mutate: {problem}", file=sys.stderr)
    return 0 if good and not run.broken else 1


if __name__ == "__main__":
    sys.exit(main())
