"""Tests that the file of --output holds either the complete answer or its earlier content, however the command ends:
refusals, full disks, signals at random instants. Also tests output over the input, directly or through links. Devices
and pipes are written in place."""
import io
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
import unittest

import numpy as np
import tap
from harness import BINARY, ServerCase

INTERRUPTIONS = int(os.environ.get("INTERRUPTIONS", "100"))
BEFORE = b"an earlier result\n"
TEMPORARY = re.compile(r"\.torqued-[a-z2-7]{6}$")
ROWS, CHUNKS = 400, ("4", "10", "50")
STATES = "q1,q2\n" + "".join(f"{i / ROWS},{-i / ROWS}\n" for i in range(ROWS))
MOUNT = ("unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount -t tmpfs -o size=64k none "$0" && exec "$@"')


def can_mount():
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([*MOUNT, folder, "true"], capture_output=True).returncode == 0


ARM = {"links": [{"name": name, "parent": parent, "joint": {"name": joint, "type": "revolute", "axis": [0, 1, 0], "origin": {"xyz": [0, 0, z]}},
                  "inertial": {"mass": mass, "com": [0.02, 0, -0.3], "inertia": {"xx": 0.02, "yy": 0.03, "zz": 0.01, "xy": 0, "xz": 0, "yz": 0}}}
                 for name, parent, joint, mass, z in (("upper", "base", "shoulder", 2, 0), ("lower", "upper", "elbow", 1.5, -0.7))]}


class Case(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.client().put("/v1/models/arm", ARM)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.states = self.write("states.csv", STATES)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def start(self, *arguments, **options):
        return subprocess.Popen([BINARY, *arguments, "--url", self.server.url()], stdin=options.pop("stdin", subprocess.DEVNULL),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, **options)

    def call(self, *arguments, status=0, **options):
        """Runs `call` and returns its standard error."""
        run = self.start("call", "arm", "inverse-dynamics", *arguments, **options)
        said = run.communicate(timeout=60)[1].decode()
        self.assertEqual(run.returncode, status, said)
        return said

    def temporaries(self, folder=None):
        return [name for name in os.listdir(folder or self.folder) if TEMPORARY.search(name)]

    def await_temporary(self, run):
        while run.poll() is None and not self.temporaries():
            time.sleep(0.0005)

    def answer(self, *arguments):
        """Returns what `call` writes to a new file."""
        path = self.path("expected." + (arguments[arguments.index("--to") + 1] if "--to" in arguments else "csv"))
        self.call(*arguments, "--output", path)
        content = self.read(path)
        os.unlink(path)
        return content


class Interrupted(Case):
    """Ends the command in each possible way, one after the other, at random instants."""

    def limit_file_size(self, most):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    def ways(self, draws):
        """Yields without end: the signal that ends the command (or None), its arguments, and options of its process."""
        signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU]
        while True:
            for number in signals:
                yield number, ("--chunk", draws.choice(CHUNKS)), {}
            yield None, (), {"preexec_fn": self.limit_file_size(draws.randrange(len(STATES)))}
            bad = STATES.splitlines(keepends=True)
            bad[draws.randrange(1, ROWS)] = draws.choice(("nan,1\n", "1\n", "x,1\n", "1e9,0\n"))
            yield None, ("--chunk", "10"), {"input": "".join(bad)}

    def test_at_random_instants(self):
        """The output is a file of its own, or the input: by its path, a symbolic link or a hard link."""
        draws = random.Random(39)
        whole = {form: self.answer("states.csv", "--to", form) for form in ("csv", "jsonl", "json", "npz")}
        ways, ended, kept, amid = self.ways(draws), 0, 0, 0
        lasted = {chunk: self.duration(chunk) for chunk in CHUNKS}
        for i in range(INTERRUPTIONS):
            number, arguments, options = next(ways)
            content = options.pop("input", STATES)
            target = draws.choice(("own", "own", "same", "symbolic", "hard"))
            form = draws.choice(list(whole)) if target == "own" else "csv"
            states, output, before = self.prepare(target, form, content)
            begun = time.monotonic()
            run = self.start("call", "arm", "inverse-dynamics", states, "--from", "csv", "--to", form, "--output", output, *arguments, **options)
            if number:
                most = lasted[arguments[1]]
                if draws.random() < 0.6:  # ends the command while it writes the answer, else before
                    self.await_temporary(run)
                    most /= 2
                time.sleep(draws.uniform(0, most))
                run.send_signal(number)
            said = run.communicate(timeout=60)[1].decode()
            what = (i, number, target, form, options, run.returncode, said)
            self.assertIn(run.returncode, (0, -number) if number else (1,) if content != STATES else (0, 1), what)
            if run.returncode == 0 and number:  # seconds that the command takes under the present load
                lasted[arguments[1]] = time.monotonic() - begun
            found = self.read(output)
            self.assertTrue(found == whole[form] or (found == before and run.returncode != 0), what)
            self.check_others(target, states, content, found, what)
            left = self.temporaries()
            self.assertEqual(left if number != signal.SIGKILL else [], [], what)
            for name in left:
                self.assertTrue(name.startswith(os.path.basename(os.path.realpath(output))), what)
                os.unlink(self.path(name))
            ended += run.returncode != 0
            kept += found == before
            amid += len(left)
        print(f"# {INTERRUPTIONS} runs: {ended} ended early, {amid} killed amid the answer; {kept} files with the earlier content")
        self.assertGreater(kept, INTERRUPTIONS // 4)
        self.assertGreaterEqual(amid, INTERRUPTIONS // 100)

    def duration(self, chunk):
        begun = time.monotonic()
        self.answer("states.csv", "--chunk", chunk)
        return time.monotonic() - begun

    def prepare(self, target, form, content):
        """Writes states and an earlier output. Returns both names, and the earlier content."""
        for name in ("states.csv", "out." + form, "other.csv"):
            if os.path.lexists(self.path(name)):
                os.unlink(self.path(name))
        self.write("states.csv", content)
        if target == "own":
            return "states.csv", self.write("out." + form, BEFORE), BEFORE
        if target == "same":
            return "states.csv", self.path("states.csv"), content.encode()
        if target == "symbolic":
            os.symlink("states.csv", self.path("other.csv"))
        else:
            os.link(self.states, self.path("other.csv"))
        return "states.csv", self.path("other.csv"), content.encode()

    def check_others(self, target, states, content, found, what):
        """Checks that the link is still a link, and that the states are unchanged unless they are the output."""
        self.assertEqual(os.path.islink(self.path("other.csv")), target == "symbolic", what)
        expected = found if target in ("same", "symbolic") else content.encode()
        self.assertTrue(self.read(self.path(states)) == expected, what)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
    def test_pictures(self):
        draws, whole = random.Random(7), None
        for i in range(max(6, INTERRUPTIONS // 25)):
            output = self.write("plot.svg", BEFORE)
            run = self.start("plot", "arm", "inverse-dynamics", "states.csv", "--output", output)
            if i > 0:
                time.sleep(draws.uniform(0, 0.3))
                run.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[i % 3])
            run.communicate(timeout=60)
            if i == 0:
                self.assertEqual(run.returncode, 0)
                whole = self.read(output)
                self.assertTrue(whole.rstrip().endswith(b"</svg>"))
            self.assertIn(self.read(output), (BEFORE, whole))
            self.assertEqual(self.temporaries() if i % 3 != 2 else [], [])
            for name in self.temporaries():
                os.unlink(self.path(name))

    def test_signals_that_are_ignored(self):
        """SIGHUP is ignored, as under nohup."""
        run = self.start("call", "arm", "inverse-dynamics", "-", "--from", "csv", "--output", "out.csv", stdin=subprocess.PIPE,
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.await_temporary(run)
        run.send_signal(signal.SIGHUP)
        self.assertEqual(run.communicate(STATES.encode(), timeout=60)[1], b"")
        self.assertEqual((run.returncode, self.read(self.path("out.csv"))), (0, self.answer("states.csv")))


class Refused(Case):
    """After a command that fails the output file has its earlier content."""

    def test_earlier_results(self):
        for arguments, said in ((("q=[0]",), "at /q of the request"), (("nothing.csv",), "cannot read nothing.csv"),
                                ((self.write("bad.csv", "q1,q2\n1\n"),), "line 2 has 1 values"), ((self.write("empty.csv", ""),), "is empty"),
                                (("states.csv", "gravity=[1]"), "gravity"), (("q=[0,0]", 'outputs=["x"]'), "outputs"),
                                (("q=[0,0]", "outputs=[\"tau\",\"joint_wrenches\"]", "--to", "npy"), "holds one")):
            for name in ("out.csv", "out.json", "out.npz"):
                output = self.write(name, BEFORE)
                self.assertIn(said, self.call(*arguments, "--output", output, status=1))
                self.assertEqual((self.read(output), self.temporaries()), (BEFORE, []))
                os.unlink(output)
                self.call(*arguments, "--output", output, status=1)
                self.assertFalse(os.path.lexists(output))
        output = self.write("out.csv", BEFORE)
        for command in (("call", "arm", "nonsense"), ("call", "nobody", "bias")):
            run = self.start(*command, "q=[0,0]", "--output", output)
            run.communicate(timeout=60)
            self.assertEqual((run.returncode, self.read(output), self.temporaries()), (1, BEFORE, []))
        picture = self.write("out.svg", BEFORE)
        for fields in (("q=[0]",), ("q=[0,0]", "--show", "nothing")):
            run = self.start("plot", "arm", "bias", *fields, "--output", picture)
            run.communicate(timeout=60)
            self.assertEqual((run.returncode, self.read(picture), self.temporaries()), (1, BEFORE, []))

    def test_where_nothing_can_be_written(self):
        for output, said in (("/nowhere/x.csv", "cannot write /nowhere/x.csv: cannot make a file in the folder /nowhere/: No such file"),
                             ("/proc/x.csv", "cannot make a file in the folder /proc/: "), (self.folder, "Is a directory"),
                             ("states.csv/x.csv", "Not a directory")):
            self.assertIn(said, self.call("states.csv", "--output", output, "--to", "csv", status=1))
        os.symlink("loop", self.path("loop"))
        self.assertIn("Too many levels of symbolic links", self.call("states.csv", "--output", "loop", "--to", "csv", status=1))

    def test_protected_files(self):
        """Files and folders without write permission stay unchanged, even where the folder would allow a rename."""
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        binary = shutil.copy(BINARY, self.path("torqued"))  # a folder that this user can enter
        os.chmod(self.folder, 0o777)
        os.mkdir(self.path("closed"), 0o755)
        os.chmod(self.path("closed"), 0o555)
        protected = self.write("out.csv", BEFORE)
        os.chmod(protected, 0o444)
        for output, said in (("out.csv", "cannot write out.csv: Permission denied"), ("closed/x.csv", "cannot make a file in the folder closed/: Permission denied")):
            run = subprocess.run([*user, binary, "call", "arm", "inverse-dynamics", "states.csv", "--output", output, "--url", self.server.url()],
                                 capture_output=True, cwd=self.folder, timeout=60, text=True)
            self.assertEqual(run.returncode, 1, run)
            self.assertIn(said, run.stderr)
        self.assertEqual((self.read(protected), self.temporaries(), os.listdir(self.path("closed"))), (BEFORE, [], []))

    @unittest.skipUnless(can_mount(), "no mount namespace here")
    def test_a_full_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        script = (f'printf "an earlier result\\n" >{disk}/out.csv; "$0" "$@" --output {disk}/out.csv; echo "status $?"; cat {disk}/out.csv; ls {disk}')
        many = self.write("many.csv", "q1,q2\n" + STATES.partition("\n")[2] * 10)
        run = subprocess.run([*MOUNT, disk, "sh", "-c", script, BINARY, "call", "arm", "inverse-dynamics", many, "--url", self.server.url()],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(run.stdout[:200], "status 1\nan earlier result\nout.csv\n")
        self.assertIn(f"cannot write {disk}/out.csv: No space left on device", run.stderr)

    def test_the_limit_of_file_sizes(self):
        said = self.call("states.csv", "--output", self.write("out.csv", BEFORE), status=1,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        self.assertEqual((said, self.read(self.path("out.csv")), self.temporaries()),
                         (f"torqued: cannot write {self.path('out.csv')}: File too large\n", BEFORE, []))


class Links(Case):
    def test_output_is_the_input(self):
        """The output replaces the input, for every input format and spelling of the path, and has the bytes of an
        output to another file."""
        expected = self.answer("states.csv")
        self.assertEqual(len(expected.splitlines()), ROWS + 1)
        for name in ("states.csv", self.path("states.csv"), "./states.csv", os.path.join("..", os.path.basename(self.folder), "states.csv")):
            self.write("states.csv", STATES)
            self.call("states.csv", "--output", name)
            self.assertEqual(self.read(self.states), expected)
        for form in ("jsonl", "json", "npy"):
            self.write("states.csv", STATES)
            self.call("states.csv", "--to", form, "--output", "s." + form)
            # the output file is the input of the next run, with the torques as positions
            torques = self.read(self.path("s." + form)).replace(b'"tau"', b'"q"')
            self.write("s." + form, torques)
            expected = self.answer("s." + form, "--to", form)
            self.call("s." + form, "--output", "s." + form)
            self.assertEqual(self.read(self.path("s." + form)), expected, form)
        packed = io.BytesIO()
        np.savez(packed, q=np.loadtxt(self.states, delimiter=",", skiprows=1))
        expected = self.answer(self.write("s.npz", packed.getvalue()), "--to", "npz")
        self.call("s.npz", "--output", "s.npz")
        self.assertEqual(self.read(self.path("s.npz")), expected)

    def test_standard_input_is_the_output(self):
        expected = self.answer("states.csv")
        with open(self.states, "rb") as states:
            self.call("--from", "csv", "--output", "states.csv", stdin=states)
        self.assertEqual(self.read(self.states), expected)

    def test_symbolic_links(self):
        """The link's target is replaced or created in its own folder; the links stay."""
        os.mkdir(self.path("far"))
        os.symlink("far/second", self.path("first"))
        os.symlink(self.path("far", "results.csv"), self.path("far", "second"))
        expected = self.answer("states.csv")
        for before in (None, BEFORE):
            if before:
                self.write("far/results.csv", before)
            self.call("states.csv", "--to", "csv", "--output", "first")
            self.assertEqual(self.read(self.path("far", "results.csv")), expected)
            self.assertEqual([os.path.islink(self.path(name)) for name in ("first", "far/second", "far/results.csv")], [True, True, False])
            self.assertEqual(self.temporaries() + self.temporaries(self.path("far")), [])

    def test_hard_links(self):
        """The given name gets the answer; other hard links keep the earlier content."""
        os.link(self.states, self.path("other.csv"))
        self.call("states.csv", "--output", "other.csv")
        self.assertEqual((self.read(self.states), self.read(self.path("other.csv"))), (STATES.encode(), self.answer("states.csv")))

    def test_long_names(self):
        for name in ("x" * 251 + ".csv", "é" * 125 + ".csv"):
            self.call("states.csv", "--output", name)
            self.assertEqual(self.read(self.path(name)), self.answer("states.csv"))

    def test_mode_and_owner(self):
        for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
            self.call("states.csv", "--output", f"new{mask}.csv", preexec_fn=lambda: os.umask(mask))
            self.assertEqual(stat.S_IMODE(os.stat(self.path(f"new{mask}.csv")).st_mode), mode)
        for mode in (0o600, 0o640, 0o755, 0o666):
            output = self.write("old.csv", BEFORE)
            os.chmod(output, mode)
            if os.getuid() == 0:
                os.chown(output, 1234, 4321)
            before = os.stat(output)
            self.call("states.csv", "--output", output)
            after = os.stat(output)
            self.assertEqual((stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid), (mode, before.st_uid, before.st_gid))
            self.assertNotEqual(self.read(output), BEFORE)
            os.unlink(output)


class AsTheyAre(Case):
    """Devices, FIFOs and file descriptors are written in place and never removed."""

    def read_fifo(self, *arguments, status):
        os.mkfifo(self.path("fifo"))
        taken = []
        reader = threading.Thread(target=lambda: taken.append(self.read(self.path("fifo"))), daemon=True)
        reader.start()
        said = self.call(*arguments, "--to", "csv", "--output", "fifo", status=status)
        reader.join(30)
        self.assertTrue(stat.S_ISFIFO(os.lstat(self.path("fifo")).st_mode))
        os.unlink(self.path("fifo"))
        return taken, said

    def test_fifo(self):
        self.assertEqual(self.read_fifo("states.csv", status=0), ([self.answer("states.csv")], ""))
        taken, said = self.read_fifo("states.csv", "gravity=[1]", status=1)
        self.assertEqual(taken, [b""])
        self.assertIn("gravity", said)

    def device(self, name, minor):
        """Returns a memory device such as /dev/null. A test that runs as root could replace the machine's devices, so it makes a device of its
        own, or returns None where mknod is not allowed."""
        if os.getuid() > 0:
            return f"/dev/{name}"
        try:
            os.mknod(self.path(name), stat.S_IFCHR | 0o666, os.makedev(1, minor))
            os.close(os.open(self.path(name), os.O_WRONLY))
        except OSError:
            return None
        return self.path(name)

    def test_devices(self):
        null, full = self.device("null", 3), self.device("full", 7)
        if null and full:
            self.call("states.csv", "--to", "csv", "--output", null)
            self.call("q=[0]", "--output", null, status=1)
            self.assertTrue(stat.S_ISCHR(os.lstat(null).st_mode))
            os.symlink(full, self.path("full.csv"))
            self.assertIn("cannot write full.csv: No space left on device", self.call("states.csv", "--output", "full.csv", status=1))
            self.assertTrue(os.path.islink(self.path("full.csv")) and stat.S_ISCHR(os.stat(full).st_mode))

    def test_descriptors(self):
        """/proc/self/fd/1, the target of /dev/stdout, is the file that the shell opened: the answer is appended to it,
        not put in its place."""
        whole = self.answer("states.csv")
        os.symlink("/proc/self/fd/1", self.path("stdout"))
        for opened, expected in (("ab", BEFORE + whole), ("wb", whole)):
            with open(self.write("log", BEFORE), opened) as log:
                run = subprocess.run([BINARY, "call", "arm", "inverse-dynamics", "states.csv", "--output", "stdout", "--url", self.server.url()],
                                     stdout=log, stderr=subprocess.PIPE, cwd=self.folder, timeout=60)
            self.assertEqual((run.returncode, self.read(self.path("log")), self.temporaries()), (0, expected, []), run)
            self.assertTrue(os.path.islink(self.path("stdout")))
        reading, writing = os.pipe()
        run = self.start("call", "arm", "inverse-dynamics", "states.csv", "--to", "csv", "--output", f"/proc/self/fd/{writing}", pass_fds=[writing])
        os.close(writing)
        with open(reading, "rb") as pipe:
            self.assertEqual(pipe.read(), whole)
        run.communicate(timeout=60)


if __name__ == "__main__":
    tap.main()
