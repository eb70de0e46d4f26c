"""The store from outside: what was stored comes back, what is refused leaves no trace, and archives of it."""
import json
import os
import resource
import subprocess
import tempfile

import tap
from harness import BINARY, MODELS, PATIENCE
from samples import chain, pendulum, slider
from stores import StoreCase


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

    def test_a_flipped_bit(self):
        """A record of which any bit is wrong is not served and is named, until the model is PUT again."""
        self.start()
        self.put("ur5", pendulum(), 200)
        self.stop()
        with open(self.path("ur5.json"), "rb") as file:
            good = file.read()
        for place in [*range(0, len(good), len(good) // 12), len(good) - 70, len(good) - 2]:
            with open(self.path("ur5.json"), "wb") as file:
                file.write(good[:place] + bytes([good[place] ^ 4]) + good[place + 1:])
            self.start()
            self.assertEqual(self.client.get("/v1/models/ur5").status, 404, place)
            self.assertEqual([r for r in self.client.get("/readyz").json()["reasons"] if "ur5.json" not in r], [])
            self.assertEqual(len(self.client.get("/readyz").json()["reasons"]), 1)
            self.stop()
        self.start()
        self.put("ur5", pendulum(), 201)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.restart()
        self.assertEqual(self.client.get("/v1/models/ur5").status, 200)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.stop()

    def test_a_store_that_vanishes(self):
        """Changes are refused, evaluation goes on; when the folder is back, so are changes, and the fault is forgotten."""
        self.start()
        self.put("mine", pendulum(), 201)
        for there, away in ((self.store, self.store + "-away"),
                            (os.path.join(self.store, "models"), os.path.join(self.store, "elsewhere"))):
            os.rename(there, away)
            self.assertEqual(self.client.put("/v1/models/lost", pendulum()).status, 503)
            self.assertEqual(self.client.delete("/v1/models/mine").status, 503)
            self.assertEqual(self.client.get("/v1/models/mine").status, 200)
            self.assertEqual(self.client.post("/v1/models/mine/bias", {"q": [0]}).status, 200)
            reasons = self.client.get("/readyz").json()["reasons"]
            self.assertEqual(len(reasons), 1)
            self.assertIn("the last change was not written: No such file or directory", reasons[0])
            os.rename(away, there)
            self.put("mine", pendulum(), 200)
            self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.assertEqual(self.client.get("/v1/models/lost").status, 404)
        self.stop()

    def test_an_upgrade_reads_the_records_of_before(self):
        """A record without a version is the oldest; it is replaced by one with a version when the model is PUT again."""
        self.start()
        self.put("mine", pendulum(), 201)
        self.stop()
        with open(self.path("mine.json")) as file:
            record = json.load(file)
        self.assertEqual(record.pop("version"), 1)
        record.pop("sha256")
        with open(self.path("mine.json"), "w") as file:
            json.dump(record, file)
        self.start()
        self.assertEqual(self.client.get("/v1/models/mine").status, 200)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        with open(self.path("mine.json")) as file:
            self.assertEqual(json.load(file), record, "reading changes nothing")
        self.put("mine", pendulum(3), 200)
        with open(self.path("mine.json")) as file:
            self.assertEqual(json.load(file)["version"], 1)
        self.stop()

    def test_a_downgrade_leaves_newer_records_alone(self):
        self.start()
        for name in ("mine", "ur5"):
            self.client.put(f"/v1/models/{name}", pendulum())
        self.stop()
        newer = {"version": 2, "machine": {"links": "in another form"}}
        for name in ("mine", "ur5"):
            with open(self.path(name + ".json"), "w") as file:
                json.dump(newer, file)
        self.start()
        self.assertFalse({"mine", "ur5"} & self.names(), "rather no ur5 than another one")
        for name in ("mine", "ur5"):
            reasons = [reason for reason in self.client.get("/readyz").json()["reasons"] if f"{name}.json" in reason]
            self.assertEqual(len(reasons), 1)
            self.assertIn("the record has version 2, and this torqued reads up to version 1", reasons[0])
            self.assertIn("left alone", reasons[0])
        self.stop()
        for name in ("mine", "ur5"):
            with open(self.path(name + ".json")) as file:
                self.assertEqual(json.load(file), newer)

    def test_a_folder_in_place_of_a_record(self):
        """A bundled model of that name is hidden, as it is by a record that is torn."""
        self.start()
        self.stop()
        os.mkdir(self.path("ur5.json"))
        self.start()
        self.assertEqual(self.client.get("/v1/models/ur5").status, 404)
        self.assertIn("panda", self.names())
        self.assertTrue([r for r in self.client.get("/readyz").json()["reasons"] if "ur5.json" in r])
        self.stop()
        self.assertTrue(os.path.isdir(self.path("ur5.json")))


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

    def test_import_onto_a_full_disk(self):
        """Stood for by a limit on the size of files: an error that is told, not a signal."""
        self.start()
        self.put("mine", pendulum(2), 201)
        self.stop()
        archive = self.run_command("export").stdout
        self.store = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-store-"))
        done = self.run_command("import", "-", input=archive,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"mine.json: File too large", done.stderr)
        done = self.run_command("import", "-", input=archive)
        self.assertIn(b"1 created", done.stderr)

    def test_import_beyond_the_limit_of_models(self):
        """What fits is imported and told, then the import ends with the model that does not fit."""
        self.start()
        bundled = len(self.names())
        for i in range(3):
            self.put(f"mine{i}", pendulum(1 + i), 201)
        self.stop()
        archive = self.run_command("export").stdout
        self.store = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-store-"))
        done = self.run_command("import", "-", "--max-models", str(bundled + 2), input=archive)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"2 created, 0 replaced, 0 deleted, ", done.stderr)
        self.assertIn(b"mine2: the limit of %d models is reached" % (bundled + 2), done.stderr)
        self.start()
        self.assertEqual(len(self.names()), bundled + 2)
        self.assertEqual({name for name in self.names() if name.startswith("mine")}, {"mine0", "mine1"})
        self.stop()
        done = self.run_command("import", "-", "--max-models", str(bundled + 3), input=archive)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"1 created, 0 replaced, 0 deleted, %d unchanged" % (bundled + 2), done.stderr)

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
