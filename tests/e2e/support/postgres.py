"""Runs a PostgreSQL server for a test: it listens on a Unix socket in a temporary folder, runs as a user without
privileges, and ends with the test. fsync is off: the tests stop and kill processes, not the machine."""
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

import harness

BIN = "/usr/lib/postgresql/15/bin"
PATIENCE = 60  # s, timeout for start and end of a server and for states that tests await


def available():
    return os.access(os.path.join(BIN, "postgres"), os.X_OK)


def unprivileged():
    """Returns the command prefix that runs a program as a user without privileges, and the user's id: PostgreSQL
    refuses to run as root."""
    if os.geteuid() != 0:
        return (), os.geteuid()
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return ("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"), user.pw_uid


def await_state(state, what, patience=PATIENCE):
    """Waits until `state()` is true."""
    give_up = time.monotonic() + patience
    while not state():
        if time.monotonic() > give_up:
            raise AssertionError(f"{what}: not after {patience} s")
        time.sleep(0.02)


class Postgres:
    """A PostgreSQL server, which starts at once. `copy_of` is the server whose standby it becomes; `listen` is an
    address for TCP, used from the next start on."""

    def __init__(self, copy_of=None, **settings):
        self.prefix, self.user = unprivileged()
        self.folder = tempfile.mkdtemp(prefix="torqued-pg-", dir=harness.MEMORY)
        os.chown(self.folder, self.user, -1)
        self.data = os.path.join(self.folder, "data")
        self.settings = {"fsync": "off", "shared_buffers": "16MB", "max_connections": "40", **settings}
        self.process, self.listen = None, ""
        try:
            if copy_of is None:
                self.command("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--no-locale")
            else:
                self.copy(copy_of)
            self.start()
        except BaseException:
            self.close()
            raise

    def copy(self, other):
        """Makes this stopped server a standby of another one."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.command("pg_basebackup", "-D", self.data, "-h", other.folder, "-U", "postgres", "--no-sync", "-R", "-c", "fast")

    def command(self, name, *arguments):
        done = subprocess.run([*self.prefix, os.path.join(BIN, name), *arguments], capture_output=True, text=True,
                              cwd=self.folder, timeout=4 * PATIENCE)
        if done.returncode != 0:
            raise AssertionError(f"{name}: {done.stdout}{done.stderr}")
        return done.stdout

    def log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as log:
            return log.read()

    def start(self):
        """Starts the server and waits until it answers."""
        settings = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        death = ("--pdeathsig", "INT") if self.prefix else ()  # the kernel stops PostgreSQL if the test is killed
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, *death, os.path.join(BIN, "postgres"), "-D", self.data, "-k", self.folder,
                 "-c", f"listen_addresses={self.listen}", *settings], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        await_state(self.answers, f"PostgreSQL answers\n{self.log()[-2000:]}")

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"PostgreSQL has ended:\n{self.log()[-4000:]}")
        return subprocess.run([os.path.join(BIN, "pg_isready"), "-q", "-h", self.folder]).returncode == 0

    def stop(self, how=signal.SIGINT):
        """Ends the server and waits until all its processes are gone. SIGINT ends its sessions; SIGKILL kills only the
        main process."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(how)
        self.process.wait(PATIENCE)
        self.process = None
        if how == signal.SIGKILL:  # PostgreSQL's other processes exit when the main process has died
            await_state(lambda: not self.children(), "the processes of PostgreSQL have ended")

    def kill(self):
        self.stop(signal.SIGKILL)

    def children(self):
        """Returns the process numbers of PostgreSQL whose working folder is that of the data."""
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and os.readlink(f"/proc/{name}/cwd") == self.data:
                    found.append(int(name))
            except OSError:
                pass
        return found

    def pause(self, stopped=True):
        """Stops all processes of the server, as on a hanging machine, or continues them."""
        for process in [self.process.pid, *self.children()]:
            os.kill(process, signal.SIGSTOP if stopped else signal.SIGCONT)

    def url(self, *others, **parameters):
        hosts = ",".join(server.folder for server in (self, *others))
        more = "".join(f"&{name}={value}" for name, value in parameters.items())
        return f"postgresql:///postgres?host={hosts}&user={parameters.pop('user', 'postgres')}{more}"

    def sql(self, text, database="postgres"):
        """Runs an SQL text and returns the rows as lines with tabs between columns."""
        done = subprocess.run([os.path.join(BIN, "psql"), "-X", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", self.folder,
                               "-U", "postgres", "-d", database, "-c", text], capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise AssertionError(f"{text}: {done.stderr}")
        return done.stdout.rstrip("\n")

    def promote(self):
        self.command("pg_ctl", "promote", "-D", self.data, "-w", "-t", str(PATIENCE))

    def close(self):
        try:
            self.stop(signal.SIGQUIT)
        finally:
            if self.process is not None:
                self.process.kill()
                self.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)
