"""Tests that hold for every kind of store, a folder or a database. The test class of a store inherits this suite before
its StoreCase."""
import json
import re

from postgres import await_state
from samples import chain, pendulum, slider


class StoreSuite:
    def await_no_reasons(self):
        await_state(lambda: not self.client.get("/readyz").json()["reasons"], "no fault is named")

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

    def test_unreadable_records_are_told_and_kept(self):
        self.start()
        for name in ("good", "torn", "ur5"):
            self.client.put(f"/v1/models/{name}", pendulum())
        self.stop()
        for name in ("torn", "ur5"):
            self.write_record(name, self.read_record(name)[:100])
        self.start()
        self.assertIn("good", self.names())
        self.assertIn("panda", self.names())
        self.assertFalse({"torn", "ur5"} & self.names(), "rather no ur5 than another one")
        ready = self.client.get("/readyz")
        self.assertEqual((ready.status, ready.json()["status"]), (200, "ready"))
        for name in ("torn", "ur5"):
            self.assertTrue([r for r in ready.json()["reasons"] if self.place(name) in r], ready)
            self.server.await_log(self.log_of(name))
            self.assertEqual(len(self.read_record(name)), 100)
        unserved = self.client.get("/v1/models").json()["unserved"]
        self.assertEqual([(fault["name"], fault["code"]) for fault in unserved],
                         [("torn", "model-damaged"), ("ur5", "model-damaged")])
        self.stop()
        done = self.run_command("backup", "-")
        self.assertEqual((done.returncode, done.stdout), (1, b""), "an archive is whole or is not written")
        self.assertIn(b"torn", done.stderr)
        self.start()
        for name in ("torn", "ur5"):
            self.put(name, pendulum(), 201)
        self.restart()
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.assertLessEqual({"good", "torn", "ur5"}, self.names())
        self.stop()

    def test_a_flipped_bit(self):
        """A record with any flipped bit is not served, and /readyz names it until the model is PUT again."""
        self.start()
        self.put("ur5", pendulum(), 200)
        self.stop()
        good = self.read_record("ur5")
        for place in [*range(0, len(good), len(good) // 12), len(good) - 70, len(good) - 2]:
            self.write_record("ur5", good[:place] + bytes([good[place] ^ 4]) + good[place + 1:])
            self.start()
            answer = self.client.get("/v1/models/ur5")
            self.assertEqual((answer.status, answer.json()["code"]), (500, "model-damaged"), place)
            reasons = self.client.get("/readyz").json()["reasons"]
            self.assertEqual([self.place("ur5") in reason for reason in reasons], [True])
            self.stop()
        self.start()
        self.put("ur5", pendulum(), 201)
        self.await_no_reasons()
        self.restart()
        self.assertEqual(self.client.get("/v1/models/ur5").status, 200)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.stop()

    def test_a_store_that_vanishes(self):
        """While the store cannot be reached, changes are refused and evaluation goes on. When the store is back, changes succeed and /readyz no
        longer names the fault."""
        self.start()
        self.put("mine", pendulum(), 201)
        for part in self.parts:
            self.take_away(part)
            answers = [self.client.put("/v1/models/lost", pendulum()), self.client.delete("/v1/models/mine")]
            for answer in answers:
                self.assertEqual((answer.status, answer.json()["code"]), (503, "store-failed"), answer)
                self.assertIn("Retry-After", answer.headers)
            self.assertEqual(self.client.get("/v1/models/mine").status, 200)
            self.assertEqual(self.client.post("/v1/models/mine/bias", {"q": [0]}).status, 200)
            reasons = self.client.get("/readyz").json()["reasons"]
            self.assertEqual([self.fault in reason for reason in reasons], [True], reasons)
            self.give_back(part)
            await_state(lambda: self.client.put("/v1/models/mine", pendulum()).status == 200, "the store takes changes")
            self.await_no_reasons()
        self.assertEqual(self.client.get("/v1/models/lost").status, 404)
        self.stop()

    def test_an_upgrade_reads_the_records_of_before(self):
        """The oldest releases wrote records without a version, which are still read; the next PUT of the model replaces it by one with a
        version."""
        self.start()
        self.put("mine", pendulum(), 201)
        self.stop()
        record = json.loads(self.read_record("mine"))
        self.assertEqual(record.pop("version"), 1)
        record.pop("sha256")
        self.write_record("mine", json.dumps(record).encode())
        self.start()
        self.assertEqual(self.client.get("/v1/models/mine").status, 200)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.assertEqual(json.loads(self.read_record("mine")), record, "reading changes nothing")
        self.put("mine", pendulum(3), 200)
        self.assertEqual(json.loads(self.read_record("mine"))["version"], 1)
        self.stop()

    def test_a_downgrade_leaves_newer_records_alone(self):
        self.start()
        for name in ("mine", "ur5"):
            self.client.put(f"/v1/models/{name}", pendulum())
        self.stop()
        newer = {"version": 2, "machine": {"links": "in another form"}}
        for name in ("mine", "ur5"):
            self.write_record(name, json.dumps(newer).encode())
        self.start()
        self.assertFalse({"mine", "ur5"} & self.names(), "rather no ur5 than another one")
        for name in ("mine", "ur5"):
            reasons = [reason for reason in self.client.get("/readyz").json()["reasons"] if self.place(name) in reason]
            self.assertEqual(len(reasons), 1)
            self.assertIn("the record has version 2, and this torqued reads up to version 1", reasons[0])
            self.assertIn("left alone", reasons[0])
        self.stop()
        for name in ("mine", "ur5"):
            self.assertEqual(json.loads(self.read_record(name)), newer)

    def test_backup_and_restore(self):
        self.start()
        self.put("mine", pendulum(2), 201)
        self.put("panda", slider(3), 200)
        self.client.delete("/v1/models/ur5")
        before = {name: self.client.get(f"/v1/models/{name}").body for name in self.names()}
        self.stop()
        archive = self.run_command("backup", "-")
        self.assertEqual(archive.returncode, 0, archive.stderr)
        self.assertEqual(set(json.loads(archive.stdout)["models"]), set(before) | {"ur5"})

        self.renew()
        self.start()
        self.put("mine", pendulum(5), 201)
        self.put("other", pendulum(5), 201)
        self.stop()
        done = self.run_command("restore", "-", input=archive.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"0 created, 2 replaced, 1 deleted", done.stderr)
        self.start()
        self.assertEqual(self.names(), set(before) | {"other"})
        for name, body in before.items():
            self.assertEqual(self.client.get(f"/v1/models/{name}").body, body)
        self.stop()

    def test_restoring_beyond_the_limit_of_models(self):
        """Models up to the limit are restored and reported; at the first model beyond the limit the command ends with an error."""
        self.start()
        bundled = len(self.names())
        for i in range(3):
            self.put(f"mine{i}", pendulum(1 + i), 201)
        self.stop()
        archive = self.run_command("backup", "-").stdout
        self.renew()
        done = self.run_command("restore", "-", "--max-models", str(bundled + 2), input=archive)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"2 created, 0 replaced, 0 deleted, ", done.stderr)
        self.assertIn(b"mine2: the limit of %d models is reached" % (bundled + 2), done.stderr)
        self.start()
        self.assertEqual(len(self.names()), bundled + 2)
        self.assertEqual({name for name in self.names() if name.startswith("mine")}, {"mine0", "mine1"})
        self.stop()
        done = self.run_command("restore", "-", "--max-models", str(bundled + 3), input=archive)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"1 created, 0 replaced, 0 deleted, %d unchanged" % (bundled + 2), done.stderr)

    def test_what_is_no_archive_changes_nothing(self):
        self.start()
        self.put("mine", pendulum(2), 201)
        self.stop()
        archive = self.run_command("backup", "-").stdout
        for text in (b"", b"{}", archive[:-10], archive.replace(b'"version":2,"models"', b'"version":3,"models"')):
            done = self.run_command("restore", "-", input=text)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith(b"torqued: "), done.stderr)
        self.assertEqual(self.run_command("restore").returncode, 2)
        self.assertEqual(self.run_command("restore", "/nowhere").returncode, 1)
        self.assertEqual(self.run_command("backup", "-", "--stor").returncode, 2)
        made = re.compile(rb'"made":"[^"]*"|"sha256":"[^"]*"')
        self.assertEqual(made.sub(b"", self.run_command("backup", "-").stdout), made.sub(b"", archive))
