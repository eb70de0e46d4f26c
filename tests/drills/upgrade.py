#!/usr/bin/python3
"""upgrade.py [SECONDS [BEFORE]] - upgrades the program, and reloads its settings, under as many requests as the machine gives, and
prints how many requests were refused or lost. BEFORE is the program with which the service begins, such as one of an earlier
version; the present one takes its place, as a package does it.

One load keeps its connections until the server says that it closes them, another opens one for each request, and a client puts
models and reads each again. The service has a folder as its store, and then a database, which the old and the new program use side
by side. In the first half of each the service is handed over to a new process (SIGUSR2) every two seconds, in the second its
settings change (SIGHUP) every half second. The exit status is 1 if a request, a connection or a change was lost."""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e", folder) for folder in ("support", "net")]
import harness
import postgres
from harness import PATIENCE, ROOT, Server
from postgres import await_state
from samples import pendulum
from test_handover import QUESTION, Changes, end_all, is_running, mass_of, newest_of, processes_of

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
UPGRADE_EVERY, RELOAD_EVERY = 2, 0.5
LOADS = {"kept connections": ("-w", "50", 24), "a connection for each request": ("-c", 4)}


def install(program, path):
    """Replaces the file of the running program by another program."""
    shutil.copy(program, path + ".new")
    os.rename(path + ".new", path)


def upgrade(server, path):
    install(os.path.join(BUILD, "torqued"), path)
    before = server.log().count('"event":"handed-over"')
    os.kill(newest_of(server), signal.SIGUSR2)
    await_state(lambda: server.log().count('"event":"handed-over"') > before, "it is handed over: " + server.log()[-2000:])


def reload(server, config, number):
    with open(config + ".new", "w") as file:
        file.write(f"TORQUED_MAX_ROWS={1000 + number}\nTORQUED_QUEUE={5 + number % 2}\nTORQUED_INLINE_LIMIT={100 + number % 7}\n")
    os.rename(config + ".new", config)
    before = server.log().count('"event":"reloaded"')
    os.kill(newest_of(server), signal.SIGHUP)
    await_state(lambda: server.log().count('"event":"reloaded"') > before, "it is reloaded: " + server.log()[-2000:])


def loads(server, folder, seconds):
    """Starts the programs that send requests, and returns their processes."""
    body = os.path.join(folder, "body")
    with open(body, "w") as file:
        file.write(QUESTION)
    return {name: subprocess.Popen([os.path.join(BUILD, "tests/bench/load"), *options[:-1], str(server.port), "/v1/models/mine/bias", body,
                                    str(options[-1]), str(seconds)], stdout=subprocess.PIPE, text=True) for name, options in LOADS.items()}


def scene(what, server, folder, seconds, pause, act):
    """Calls `act` again and again while the loads run. Returns True if nothing was lost."""
    running, changes = loads(server, folder, seconds), Changes(server, True)
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end - pause:
        time.sleep(pause)
        act(count)
        count += 1
    good, total = True, 0
    for name, process in running.items():
        requests, took, p50, p99, refused, failed, _ = map(float, process.communicate()[0].split())
        total += requests / took
        good = good and refused == failed == 0
        print(f"{what}, {name}: {requests:.0f} requests, {requests / took:.0f}/s, p50 {p50:.0f} us, p99 {p99:.0f} us, {refused:.0f} refused, "
              f"{failed:.0f} lost", flush=True)
    changes.stopped = True
    changes.join()
    good = good and not changes.wrong and mass_of(server.client(), "changing") == changes.answers
    print(f"{what}, changes: {changes.answers}, lost or refused {changes.wrong or 'none'}; {count} times, {total:.0f} requests/s in all", flush=True)
    return good


def drill(store, name, seconds, before):
    """Upgrades and reloads a service with that store, which begins with the program `before`. Returns True if nothing was lost."""
    with tempfile.TemporaryDirectory() as folder:
        config, program = os.path.join(folder, "settings"), os.path.join(folder, "torqued")
        open(config, "w").close()
        install(before, program)
        harness.BINARY = program
        server = Server("--config", config, "--models", os.path.join(ROOT, "models"), "--store", store, "--drain", "5", "--log-level", "info",
                        "--log-sample", "100000")
        try:
            server.client().put("/v1/models/mine", pendulum(1))
            good = scene(f"upgrade, {name}", server, folder, seconds / 2, UPGRADE_EVERY, lambda _: upgrade(server, program))
            for process in processes_of(server)[:-1]:
                await_state(lambda: not is_running(process), f"process {process} ends within {PATIENCE} s")
            return scene(f"reload, {name}", server, folder, seconds / 2, RELOAD_EVERY, lambda number: reload(server, config, number)) and good
        finally:
            end_all(server)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("before", nargs="?", default=os.path.join(BUILD, "torqued"))
    chosen = parser.parse_args()
    good = drill("store", "a folder", chosen.seconds / 2, chosen.before)
    if not postgres.available():
        print("a database: left out, this machine lacks PostgreSQL")
        return 0 if good else 1
    base = postgres.Postgres()
    try:
        subprocess.run([os.path.join(BUILD, "torqued"), "store", "migrate", "--store", base.url()], check=True, capture_output=True)
        return 0 if drill(base.url(), "a database", chosen.seconds / 2, chosen.before) and good else 1
    finally:
        base.close()


if __name__ == "__main__":
    sys.exit(main())
