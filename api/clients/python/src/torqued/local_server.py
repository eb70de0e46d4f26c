"""Start a server of one's own, for tests and notebooks."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Any, Mapping, Optional, Sequence

from .client import Client
from .errors import Error

PATIENCE = 20.0         # s, for start and end
# A child of the server waits for the end of its input, which comes when this process ends in whatever way, and then ends
# the server, if that is still its parent: a process id may be used again.
GUARD = """exec 3<&0 </dev/null
{ read -r _ <&3; read -r _ _ _ parent _ </proc/self/stat; [ "$parent" != "$$" ] || kill "$$"; } &
exec 3<&-
exec "$@"
"""


class ServerFailed(Error):
    """The server could not be started, or did not end cleanly. The text has the end of its log."""


def find_binary(given: Optional[str] = None) -> str:
    """Path of the program torqued: the given one, that of $TORQUED_BIN, or the first on $PATH."""
    name = given or os.environ.get("TORQUED_BIN") or "torqued"
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"there is no program {name}: install torqued, or name it by `binary` or $TORQUED_BIN")
    return os.path.abspath(found)


class LocalServer(Client):
    """A client of a private server, which ends with it. serve() makes it."""

    def __init__(self, binary: Optional[str], listen: Optional[str], arguments: Sequence[str],
                 environment: Optional[Mapping[str, str]], **options: Any) -> None:
        program = find_binary(binary)
        self.folder = tempfile.mkdtemp(prefix="torqued-")
        path = os.path.join(self.folder, "socket")
        super().__init__(f"unix:{path}", **options)
        listens = f"unix:{path}" + (f",{listen}" if listen else "")
        inherited = {name: value for name, value in os.environ.items()
                     if name == "TORQUED_MODELS" or not name.startswith("TORQUED_")}
        try:
            with open(self.log_path, "wb") as log:
                self.process = subprocess.Popen(
                    ["/bin/sh", "-c", GUARD, "torqued", program, "--store",
                     os.path.join(self.folder, "store"), *arguments, "--listen", listens],
                    stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                    env={**inherited, **(environment or {})})
            self._wait_until_ready()
        except BaseException:
            self._end(signal.SIGKILL)
            raise

    @property
    def log_path(self) -> str:
        return os.path.join(self.folder, "log")

    def log(self) -> str:
        """The log of the server so far."""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def _wait_until_ready(self) -> None:
        give_up = time.monotonic() + PATIENCE
        while not (os.path.exists(self._address.path or "") and self.ready()):
            if self.process.poll() is not None:
                raise ServerFailed(f"torqued ended with status {self.process.returncode}:\n{self.log()[-2000:]}")
            if time.monotonic() > give_up:
                raise ServerFailed(f"torqued is not ready after {PATIENCE:g} s:\n{self.log()[-2000:]}")
            time.sleep(0.01)

    def close(self) -> None:
        """Ends the server and removes its folder. Raises ServerFailed if the server did not end cleanly."""
        super().close()
        if not os.path.exists(self.folder):
            return
        try:
            log = self.log()
        finally:
            status = self._end(signal.SIGTERM)
        if status:
            raise ServerFailed(f"torqued ended with status {status}:\n{log[-2000:]}")

    def _end(self, number: int) -> Optional[int]:
        status = None
        process = getattr(self, "process", None)
        if process is not None:
            if process.poll() is None:
                process.send_signal(number)
            try:
                status = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            process.stdin.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status

    def __del__(self) -> None:
        if os.path.exists(getattr(self, "folder", "")):
            self._end(signal.SIGTERM)


def serve(binary: Optional[str] = None, *, listen: Optional[str] = None, arguments: Sequence[str] = (),
          environment: Optional[Mapping[str, str]] = None, **options: Any) -> LocalServer:
    """Starts a private server on a Unix socket, with a store of its own, and returns its client once it is ready.

        with torqued.serve() as server:
            arm = server.put("arm", "arm.urdf")

    `binary`: the program, else $TORQUED_BIN or the `torqued` on $PATH. `listen`: further addresses, such as
    "127.0.0.1:8088" for its console in a browser. `arguments`: flags of the server; `environment`: variables for it, which
    has none of the settings in this process's but $TORQUED_MODELS. `options` are those of Client.
    The server ends with the block, and with this process, however that ends.
    """
    return LocalServer(binary, listen, arguments, environment, **options)
