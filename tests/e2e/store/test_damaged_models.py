"""Tests that a model whose record is damaged, in a folder or a database, is named as damaged and never taken for
deleted, and that PUT and DELETE end the damage."""
import json
import os
import shutil
import subprocess
import tempfile

import tap
from harness import BINARY, PATIENCE, ROOT
from samples import pendulum, slider
from stores import DatabaseCase, StoreCase

CONDITIONS = {"If_None_Match": "*"}, {"If_Match": "*"}, {"If_Match": '"0"'}, {"Model_Revision": "0" * 32}


def flipped(record):
    return record[:20] + bytes([record[20] ^ 1]) + record[21:]


def unsealed(change):
    """Returns a fault that changes the record's JSON and leaves out its checksum."""
    def apply(record):
        value = json.loads(record)
        del value["sha256"]
        change(value)
        return json.dumps(value).encode()
    return apply


# Faults with a part of the reason that an answer gives. The record without a link's name loads no longer; only a
# newer torqued reads the record of version 2.
FAULTS = [(flipped, "checksum"), (lambda record: record[:100], ""), (lambda record: b"", "empty"),
          (unsealed(lambda value: value["document"]["links"][0].pop("name")), "/document/links/0"),
          (unsealed(lambda value: value.update(version=2)), "version 2")]


class DamageSuite:
    def damage(self, fault, *names):
        """Starts a server, puts models of these names, stops it, damages their records, and starts it again."""
        self.renew()
        self.start()
        for name in names:
            self.assertIn(self.client.put(f"/v1/models/{name}", pendulum(2)).status, (200, 201))
        self.stop()
        for name in names:
            self.write_record(name, fault(self.read_record(name)))
        self.start()

    def assertDamaged(self, answer, reason):
        self.assertEqual((answer.status, answer.json()["code"]), (500, "model-damaged"), answer)
        self.assertIn(reason, answer.json()["detail"])

    def unserved(self):
        return {fault["name"]: fault for fault in self.client.get("/v1/models").json()["unserved"]}

    def test_every_request_names_the_reason(self):
        for fault, reason in FAULTS:
            self.damage(fault, "mine", "ur5")
            for name in ("mine", "ur5"):
                path = f"/v1/models/{name}"
                for answer in (self.client.get(path), self.client.get(path + "/document"),
                               self.client.post(path + "/bias", {"q": [0]}), self.client.post(path + "/evaluate", {"q": [0]})):
                    self.assertDamaged(answer, reason)
                for condition in CONDITIONS:
                    self.assertDamaged(self.client.put(path, pendulum(3), **condition), reason)
                    self.assertDamaged(self.client.delete(path, **condition), reason)
                self.assertEqual(self.unserved()[name]["code"], "model-damaged")
                self.assertIn(reason, self.unserved()[name]["detail"])
                self.assertTrue([r for r in self.client.get("/readyz").json()["reasons"] if self.place(name) in r])
                self.server.await_log(self.log_of(name))
            self.assertFalse({"mine", "ur5"} & self.names())
            self.assertIn("torqued_unserved_models 2\n", self.client.get("/metrics").text)
            self.assertEqual(self.client.get("/v1/models/never").status, 404)
            self.assertEqual(self.client.request("HEAD", "/v1/models/mine").status, 500)
            self.stop()

    def test_put_and_delete_mend(self):
        self.damage(flipped, "mine", "other", "ur5")
        self.assertEqual(self.client.put("/v1/models/mine", slider(3)).status, 201)
        self.assertEqual(self.client.delete("/v1/models/other").status, 204)
        self.assertEqual(self.client.delete("/v1/models/ur5").status, 204)
        for again in (False, True):
            self.assertEqual(self.client.get("/v1/models/mine").status, 200)
            self.assertEqual(self.client.get("/v1/models/other").status, 404)
            self.assertEqual(self.client.get("/v1/models/ur5").status, 404, "the bundled robot does not come back")
            self.assertEqual(self.client.delete("/v1/models/other").status, 404)
            self.assertEqual(self.unserved(), {})
            self.assertIn("torqued_unserved_models 0\n", self.client.get("/metrics").text)
            if not again:
                self.restart()
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.stop()

    def test_the_command_names_it(self):
        self.damage(flipped, "mine")
        done = subprocess.run([BINARY, "models", "--url", self.server.url()], capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"mine is not served (model-damaged): it is damaged: its checksum is wrong", done.stderr)
        self.stop()


class Folder(DamageSuite, StoreCase):
    def test_a_bundled_file_that_does_not_load(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-models-"))
        shutil.copy(os.path.join(ROOT, "models/ur5.json"), folder)
        with open(os.path.join(folder, "torn.json"), "w") as file:
            file.write('{"links": [')
        self.start("--models", folder)
        self.assertDamaged(self.client.get("/v1/models/torn"), "near end of file")
        self.assertEqual((self.names(), set(self.unserved())), ({"ur5"}, {"torn"}))
        self.put("torn", pendulum(2), 201)
        self.assertEqual(self.unserved(), {})
        self.restart("--models", folder)
        self.assertEqual(self.client.get("/v1/models/torn").status, 200)
        self.assertEqual(self.client.delete("/v1/models/torn").status, 204)
        self.restart("--models", folder)
        self.assertEqual(self.client.get("/v1/models/torn").status, 404, "it was deleted")
        self.stop()

    def test_a_record_that_cannot_be_read(self):
        """A folder with the name of a record simulates a file that cannot be read."""
        self.start()
        self.stop()
        os.mkdir(self.path("mine.json"))
        self.start()
        self.assertDamaged(self.client.get("/v1/models/mine"), "Is a directory")
        self.stop()


class Database(DamageSuite, DatabaseCase):
    pass


if __name__ == "__main__":
    tap.main()
