"""The store from outside: what is acknowledged survives kill -9 at any moment, what is refused leaves no trace."""
import http.client
import json
import os
import random
import re
import resource
import subprocess
import tempfile
import threading
import time
import unittest

import tap
from harness import BINARY, MODELS, PATIENCE, SANITIZED, Server, ServerCase
from samples import chain, pendulum, slider

KILLS = 1000 if "SOAK_SECONDS" in os.environ else 40 if SANITIZED else 200
REPLACEMENTS = 200 if SANITIZED else 1000


class StoreCase(unittest.TestCase):
    """A store of the test's own, on a real disk, and servers that come and go on it."""

    def setUp(self):
        self.store = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-store-"))
        self.server = None
        self.addCleanup(self.drop)

    def drop(self):
        if self.server:
            self.server.kill()
            self.server = None

    def start(self, *arguments):
        self.drop()
        self.server = Server("--store", self.store, *arguments)
        self.client = self.server.client()
        return self.client

    def stop(self):
        self.client.close()
        wrong = self.server.stop()
        self.server = None
        self.assertIsNone(wrong)

    def restart(self, *arguments):
        self.stop()
        return self.start(*arguments)

    def put(self, name, document, status):
        answer = self.client.put(f"/v1/models/{name}", document)
        self.assertEqual(answer.status, status, answer)
        return answer

    def names(self):
        return {model["name"] for model in self.client.get("/v1/models").json()["models"]}

    def path(self, file):
        return os.path.join(self.store, "models", file)

    def run_command(self, *arguments, **keywords):
        return subprocess.run([BINARY, *arguments, "--store", self.store, *MODELS], capture_output=True,
                              timeout=PATIENCE, **keywords)


class Restarts(StoreCase):
    def test_models_come_back_as_they_were(self):
        self.start()
        for name, document in (("mine", pendulum(2)), ("long", chain(40)), ("ur5", slider(3))):
            self.put(name, document, 200 if name == "ur5" else 201)
        paths = [f"/v1/models/{name}{what}" for name in ("mine", "long", "ur5", "panda") for what in ("", "/document")]
        question = ("/v1/models/long/evaluate", {"q": [0.1] * 40, "operations": {"bias": {}, "mass-matrix": {}}})
        before = [self.client.get(path) for path in paths] + [self.client.post(*question)]
        self.restart()
        after = [self.client.get(path) for path in paths] + [self.client.post(*question)]
        for old, new in zip(before, after):
            self.assertEqual((old.status, old.body, old.headers["ETag"]), (200, new.body, new.headers["ETag"]))
        tag = after[0].headers["ETag"]
        self.assertEqual(self.client.get("/v1/models/mine", If_None_Match=tag).status, 304)
        self.assertEqual(self.client.delete("/v1/models/mine", If_Match=tag).status, 204)
        self.stop()

    def test_a_deleted_bundled_model_stays_deleted(self):
        self.start()
        self.assertEqual(self.client.delete("/v1/models/ur5").status, 204)
        self.restart()
        self.assertEqual(self.client.get("/v1/models/ur5").status, 404)
        self.assertIn("panda", self.names())
        self.put("ur5", slider(3), 201)
        self.restart()
        self.assertEqual(self.client.get("/v1/models/ur5").json()["nv"], 1)
        self.assertEqual(self.client.delete("/v1/models/ur5").status, 204)
        self.restart()
        self.assertNotIn("ur5", self.names())
        self.stop()

    def test_one_server_at_a_time(self):
        self.start()
        done = subprocess.run([BINARY, *MODELS, "--listen", "127.0.0.1:0", "--store", self.store], capture_output=True,
                              timeout=PATIENCE)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 1, said)
        self.assertIn(self.store, said)
        self.assertIn("--store", said)
        self.assertIn(str(self.server.process.pid), said)
        self.put("mine", pendulum(), 201)
        self.stop()

    def test_other_formats_are_refused(self):
        with open(os.path.join(self.store, "format"), "w") as file:
            file.write("torqued-store 99\n")
        done = self.run_command("--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"torqued-store 99", done.stderr)
        self.assertEqual(sorted(os.listdir(self.store)), ["format", "lock"])

    def test_the_default_store(self):
        """STATE_DIRECTORY goes before XDG_STATE_HOME, that before HOME; --store before all."""
        clean = {k: v for k, v in os.environ.items() if k not in ("STATE_DIRECTORY", "XDG_STATE_HOME", "HOME")}
        home, state, xdg = (os.path.join(self.store, name) for name in ("home", "state", "xdg"))
        for environment, folder in (({"HOME": home}, f"{home}/.local/state/torqued"),
                                    ({"HOME": home, "XDG_STATE_HOME": xdg}, f"{xdg}/torqued"),
                                    ({"HOME": home, "XDG_STATE_HOME": xdg, "STATE_DIRECTORY": f"{state}:/x"}, state)):
            self.assertFalse(os.path.exists(folder))
            done = subprocess.run([BINARY, "export", *MODELS], capture_output=True, env={**clean, **environment})
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(folder, "format")) as file:
                self.assertEqual(file.read(), "torqued-store 1\n")
        done = subprocess.run([BINARY, "export", *MODELS], capture_output=True,
                              env={**clean, "XDG_STATE_HOME": "relative"})
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--store", done.stderr)

    def test_unreadable_files_are_told_and_kept(self):
        self.start()
        for name in ("good", "torn", "ur5"):
            self.client.put(f"/v1/models/{name}", pendulum())
        self.stop()
        for name in ("torn", "ur5"):
            with open(self.path(name + ".json"), "r+") as file:
                file.truncate(100)
        self.start()
        self.assertIn("good", self.names())
        self.assertIn("panda", self.names())
        self.assertFalse({"torn", "ur5"} & self.names(), "rather no ur5 than another one")
        ready = self.client.get("/readyz")
        self.assertEqual((ready.status, ready.json()["status"]), (200, "ready"))
        for name in ("torn", "ur5"):
            self.assertTrue([r for r in ready.json()["reasons"] if f"{name}.json" in r], ready)
            self.server.await_log(f"{name}.json")
            self.assertEqual(os.path.getsize(self.path(name + ".json")), 100)
        self.assertEqual(self.run_command("export").returncode, 1)      # in use
        self.stop()
        done = self.run_command("export")
        self.assertEqual((done.returncode, done.stdout), (1, b""), "an archive is whole or is not written")
        self.start()
        for name in ("torn", "ur5"):
            self.put(name, pendulum(), 201)
        self.restart()
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.assertLessEqual({"good", "torn", "ur5"}, self.names())
        self.stop()


class Refusals(StoreCase):
    """PUT and DELETE fail cleanly, evaluation goes on, and nothing of what was refused comes back."""

    def check(self, status, code):
        before = self.client.get("/v1/models/mine").body
        for answer in (self.client.put("/v1/models/mine", pendulum(3)), self.client.put("/v1/models/new", pendulum(3)),
                       self.client.delete("/v1/models/ur5")):
            self.assertEqual((answer.status, answer.json()["code"]), (status, code), answer)
            self.assertEqual("Retry-After" in answer.headers, status == 503)
        self.assertEqual(self.client.get("/v1/models/mine").body, before)
        self.assertEqual(self.client.get("/v1/models/new").status, 404)
        self.assertEqual(self.client.post("/v1/models/ur5/mass-matrix", {"q": [0] * 6}).status, 200)
        self.assertEqual(self.client.post("/v1/models/mine/mass-matrix", {"q": [[0]] * 500}).status, 200)

    def test_a_full_disk(self):
        """Stood for by a limit on the size of files, which needs no disk of the test's own."""
        self.start()
        self.put("mine", pendulum(2), 201)
        pid = self.server.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (10, limits[1]))
        self.check(507, "store-full")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        self.put("mine", pendulum(3), 200)
        names = self.names()
        self.restart()
        self.assertEqual(self.names(), names)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.stop()

    def test_a_store_that_cannot_be_written(self):
        self.start()
        self.put("mine", pendulum(2), 201)
        folder, aside = os.path.join(self.store, "models"), os.path.join(self.store, "aside")
        os.mkdir(aside)
        for file in os.listdir(folder):
            os.rename(self.path(file), os.path.join(aside, file))
        os.rmdir(folder)
        self.check(503, "store-failed")
        self.server.await_log('"event":"store"')
        os.rename(aside, folder)
        self.restart()
        self.put("mine", pendulum(3), 200)
        self.stop()


class Killed(StoreCase):
    """kill -9 while clients put and delete: afterwards each name is in the state that was last acknowledged, or in the
    one that was being asked for."""
    BUNDLED = ("ur5", "two_link", "stanford", "puma560")

    def documents(self):
        """What is put: revision by document, documents from a few hundred bytes to a hundred thousand."""
        return [pendulum(1 + i) for i in range(4)] + [chain(n) for n in (10, 100, 250)]

    def client_loop(self, index, rng):
        """Puts and deletes the names of its own until the server is gone."""
        client = self.server.client()
        try:
            while True:
                name = rng.choice(self.mine[index])
                wanted = rng.choice([None, *range(len(self.revisions))])
                self.asked[name] = wanted
                if wanted is None:
                    answer = client.delete(f"/v1/models/{name}")
                    fine = answer.status == (204 if self.held[name] is not None else 404)
                else:
                    answer = client.put(f"/v1/models/{name}", self.bodies[wanted])
                    fine = answer.status == (201 if self.held[name] is None else 200)
                if not fine:
                    self.wrong.append((name, self.held[name], wanted, answer))
                self.held[name] = wanted
                del self.asked[name]
                self.acknowledged += 1
        except (OSError, http.client.HTTPException):
            pass                    # killed: what was asked for last may have happened
        except Exception as error:
            self.wrong.append(repr(error))
        finally:
            client.close()

    def verify(self):
        """What is there now becomes what is held."""
        models = {m["name"]: m["revision"] for m in self.client.get("/v1/models").json()["models"]}
        for name in self.held:
            allowed = [self.held[name]] + ([self.asked[name]] if name in self.asked else [])
            found = self.revisions.index(models[name]) if name in models else None
            self.assertIn(found, allowed, name)
            self.unacknowledged += found != self.held[name]
            if found is not None and name in self.asked:
                self.assertEqual(self.client.get(f"/v1/models/{name}/document").json()["links"], self.links[found])
            self.held[name] = found
        self.assertEqual(set(models) - set(self.held), self.untouched)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.in_flight += len(self.asked)
        self.asked.clear()

    def prepare(self):
        """Each bundled name is put once, so that only the documents of this test are met."""
        self.start()
        bundled = self.names()
        documents = self.documents()
        self.bodies = [json.dumps(document) for document in documents]
        self.revisions, self.links = [], []
        for body in self.bodies:
            self.revisions.append(self.client.put("/v1/models/own0", body).json()["revision"])
            self.links.append(self.client.get("/v1/models/own0/document").json()["links"])
        self.held = {"own0": len(documents) - 1, "own1": None, "own2": None, "own3": None}
        for name in self.BUNDLED:
            self.put(name, self.bodies[0], 200)
            self.held[name] = 0
        self.mine = [list(self.held)[i::3] for i in range(3)]
        self.untouched = bundled - set(self.held)
        self.asked, self.wrong = {}, []
        self.acknowledged = self.in_flight = self.unacknowledged = 0

    def test_kill_at_random_moments(self):
        self.prepare()
        rng, starts = random.Random(int.from_bytes(os.urandom(4), "big")), []
        for _ in range(KILLS):
            threads = [threading.Thread(target=self.client_loop, args=(i, random.Random(rng.random())))
                       for i in range(len(self.mine))]
            for thread in threads:
                thread.start()
            time.sleep(rng.random() * 0.12)
            self.server.process.kill()
            for thread in threads:
                thread.join()
            began = time.monotonic()
            self.start()
            starts.append(time.monotonic() - began)
            self.assertEqual(self.wrong, [])
            self.verify()
        print(f"# {KILLS} kills, {self.acknowledged} changes acknowledged, {self.in_flight} in flight when killed, "
              f"{self.unacknowledged} of them in effect; ready again after {1e3 * sorted(starts)[KILLS // 2]:.0f} ms, "
              f"at most {1e3 * max(starts):.0f} ms")
        self.assertGreater(self.acknowledged, KILLS)
        self.assertGreater(self.in_flight, KILLS // 2)
        self.stop()

    def test_many_models_come_back_quickly(self):
        """Reported, not asserted: the machine may be busy."""
        self.start()
        clients = [self.server.client() for _ in range(4)]

        def fill(index):
            for i in range(index, 400, 4):
                clients[index].put(f"/v1/models/m{i}", chain(6 + i % 25))

        threads = [threading.Thread(target=fill, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        names = self.names()
        self.assertGreaterEqual(len(names), 400)
        self.server.process.kill()
        began = time.monotonic()
        self.start()
        print(f"# ready with {len(names)} models {1e3 * (time.monotonic() - began):.0f} ms after kill -9")
        self.assertEqual(self.names(), names)
        self.stop()


class Replaced(ServerCase):
    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s*(\d+) kB", status.read()).group(1)) / 1024

    def test_replacing_under_load(self):
        """Every answer is from one revision or the other, named in Model-Revision; memory stays flat."""
        tau = {self.put_model("turning", slider(mass))["revision"]: mass * 3.0 for mass in (1, 2)}
        wrong, answers, stop = [], {}, threading.Event()

        def ask(rows):
            client = self.server.client()
            while not stop.is_set():
                answer = client.post("/v1/models/turning/inverse-dynamics", {"q": [[0]] * rows, "qdd": [3]})
                revision = answer.headers.get("Model-Revision")
                if answer.status != 200 or answer.json()["tau"] != [[tau.get(revision)]] * rows:
                    wrong.append(answer)
                answers[revision] = answers.get(revision, 0) + 1
            client.close()

        threads = [threading.Thread(target=ask, args=(rows,)) for rows in (1, 1, 300, 3000)]
        for thread in threads:
            thread.start()
        try:
            for i in range(REPLACEMENTS):
                self.put_model("turning", slider(1 + i % 2))
                if i == REPLACEMENTS // 5:
                    before = self.resident()
            after = self.resident()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        print(f"# {REPLACEMENTS} replacements, answers by revision {sorted(answers.values())}, "
              f"resident {before:.1f} MB after a fifth of them, {after:.1f} MB at the end")
        self.assertEqual(wrong, [])
        self.assertEqual(set(answers), set(tau))
        if not SANITIZED:
            self.assertLess(after, before + 8)


class Archives(StoreCase):
    def test_export_and_import(self):
        self.start()
        self.put("mine", pendulum(2), 201)
        self.put("panda", slider(3), 200)
        self.client.delete("/v1/models/ur5")
        before = {name: self.client.get(f"/v1/models/{name}").body for name in self.names()}
        self.assertEqual(self.run_command("export").returncode, 1)
        self.stop()
        archive = self.run_command("export")
        self.assertEqual(archive.returncode, 0, archive.stderr)
        self.assertEqual(set(json.loads(archive.stdout)["models"]), set(before) | {"ur5"})

        self.store = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-store-"))
        self.start()
        self.put("mine", pendulum(5), 201)
        self.put("other", pendulum(5), 201)
        self.stop()
        done = self.run_command("import", "-", input=archive.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"0 created, 2 replaced, 1 deleted", done.stderr)
        self.start()
        self.assertEqual(self.names(), set(before) | {"other"})
        for name, body in before.items():
            self.assertEqual(self.client.get(f"/v1/models/{name}").body, body)
        self.stop()

    def test_what_is_no_archive_changes_nothing(self):
        self.start()
        self.put("mine", pendulum(2), 201)
        self.stop()
        archive = self.run_command("export").stdout
        for text in (b"", b"{}", archive[:-10], archive.replace(b'"version":1', b'"version":2')):
            done = self.run_command("import", "-", input=text)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith(b"torqued: "), done.stderr)
        self.assertEqual(self.run_command("import").returncode, 2)
        self.assertEqual(self.run_command("import", "/nowhere").returncode, 1)
        self.assertEqual(self.run_command("export", "--stor").returncode, 2)
        self.assertEqual(self.run_command("export").stdout, archive)


if __name__ == "__main__":
    tap.main()
