"""Tests the kernels under qemu on processors that this machine is not: x86-64 without AVX, and 64-bit ARM.

Objects outside the wide targets must use baseline instructions only. Without fused operations the default is the class
`unfused`. On ARM the targets are `scalar` and `neon`; the tests there check that both give the same bits and the
numbers of the reference. Models have the same bits on all processors."""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys

BUILD = os.environ.get("BUILD", "build")
SANITIZED = os.path.basename(BUILD) in ("asan", "tsan")
ARM_COMPILER, ARM, PLAIN = "aarch64-linux-gnu-gcc", "qemu-aarch64", "qemu-x86_64"
TESTS = ["test_same_bits", "test_inverse_dynamics", "test_bias", "test_trigonometry", "test_double_double", "test_elementary"]
# sources that the tests share, except the one for complex numbers
SHARED = sorted(set(glob.glob("tests/dynamics/support/*.c") + glob.glob("tests/dynamics/reference/*.c")) -
                {"tests/dynamics/support/complex_step.c"})


os.environ.pop("TORQUED_TARGET", None)  # set by `make test TARGET=...`; the other processors have their own targets


class Skip(Exception):
    pass


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f"no {tool} here")


def run(*command):
    """Runs a command. Returns True if it succeeds; otherwise prints the end of its output."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print("".join(f"# {line}\n" for line in (done.stdout + done.stderr).splitlines()[-20:]), end="")
    return done.returncode == 0


def hashes(*command):
    """Returns the hashes that a test prints of its models or results."""
    said = subprocess.run(command, capture_output=True, text=True)
    return re.findall("# (?:models|bits): ([0-9a-f]{16})", said.stdout + said.stderr)


def baseline_objects():
    """Checks that only objects of the wide targets contain VEX or EVEX instructions."""
    need("objdump")
    wide = re.compile(r"^\s+[0-9a-f]+:\s+v[a-z0-9]+ .*%[xyz]mm", re.MULTILINE)
    objects = [o for layer in ("dynamics", "api", "server") for o in glob.glob(f"{BUILD}/{layer}/**/*.o", recursive=True)]
    assert objects, "nothing is built"
    clean = True
    for name in objects:
        if {"fma", "avx2", "avx512"} & set(re.split("[/_.]", name)):
            continue
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", name], capture_output=True, text=True, check=True)
        found = wide.search(text.stdout)
        if found:
            clean = False
            print(f"# {name}: {found.group().strip()}")
    return clean


def plain_processor():
    """On plain x86-64 the default is the class `unfused` (test_dispatch), and the kernels run."""
    need(PLAIN)
    if SANITIZED:
        raise Skip("the sanitizers do not run under qemu")
    return all(run(PLAIN, "-cpu", "core2duo", f"{BUILD}/tests/dynamics/{test}")
               for test in ("test_dispatch", "test_inverse_dynamics", "test_trigonometry", "test_double_double"))


def arm():
    """Builds the library for ARM by the Makefile's rules, with each test as one static program, and runs the tests. ARKODE, which Debian has
    only for this machine, is left out: none of the tests integrates."""
    need(ARM_COMPILER, ARM)
    if SANITIZED:
        raise Skip("the sanitizers do not run under qemu")
    folder = f"{BUILD}/neon"
    library = f"{folder}/libdynamics.a"
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    subprocess.run(["make", "-j2", f"BUILD={folder}", f"CC={ARM_COMPILER}", "TARGETS=scalar neon", "ARKODE=", library],
                   env=environment, check=True, stdout=subprocess.DEVNULL)
    good = True
    for test in TESTS:
        sources = [f"tests/dynamics/{test}.c", *SHARED]
        subprocess.run([ARM_COMPILER, "-O2", "-std=gnu11", "-ffp-contract=off", "-static", "-DSAME_BITS_ROBOTS=4", "-I.", "-Itests/dynamics/emulated", *sources,
                        library, "-lm", "-lpthread", "-o", f"{folder}/{test}"], check=True)
        good &= run(ARM, f"{folder}/{test}")
    return good


def same_models():
    """On this machine, on x86-64 without fused operations, and on ARM, a robot gives the same model and elementary
    functions the same bits."""
    need(PLAIN, ARM_COMPILER, ARM)
    if SANITIZED:
        raise Skip("the sanitizers do not run under qemu")
    good = True
    for test in ("test_double_double", "test_elementary"):
        said = [hashes(f"{BUILD}/tests/dynamics/{test}"), hashes(PLAIN, "-cpu", "core2duo", f"{BUILD}/tests/dynamics/{test}"),
                hashes(ARM, f"{BUILD}/neon/{test}")]
        print(f"# {said}")
        good &= len(said[0]) == 1 and said[0] == said[1] == said[2]
    return good


def main():
    if platform.machine() != "x86_64":
        print("1..0 # SKIP this machine is the other processor")
        return
    checks = [baseline_objects, plain_processor, arm, same_models]
    print(f"1..{len(checks)}", flush=True)
    failed = False
    for number, check in enumerate(checks, 1):
        try:
            good = check()
            print(f"{'ok' if good else 'not ok'} {number} - {check.__name__}", flush=True)
            failed |= not good
        except Skip as why:
            print(f"ok {number} - {check.__name__} # SKIP {why}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
