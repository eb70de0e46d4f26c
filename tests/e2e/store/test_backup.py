"""Tests `torqued backup`, `restore` and `verify` of a folder and of a database: backups are of one moment while PUTs run,
changed bytes are named, and a failure leaves the earlier file. BACKUPS sets the number of backups under load."""
import json
import os
import tempfile
import threading

import tap
from harness import MEMORY
from samples import pendulum
from stores import DatabaseCase, StoreCase

BACKUPS = int(os.environ.get("BACKUPS", "12"))
NAMES = "a", "m", "z"


class Writers:
    """In each round, puts models with the same new mass under three names, one after another, and creates and deletes a fourth."""

    def __init__(self, server):
        self.server, self.stopped, self.rounds, self.failed = server, False, 0, []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        client = self.server.client()
        while not self.stopped:
            mass = self.rounds + 1
            answers = [client.put(f"/v1/models/{name}", pendulum(mass)).status for name in NAMES]
            answers.append(client.put("/v1/models/fourth", pendulum(mass)).status)
            answers.append(client.delete("/v1/models/fourth").status)
            if not set(answers) <= {200, 201, 204}:
                self.failed.append(answers)
            self.rounds = mass

    def stop(self):
        self.stopped = True
        self.thread.join()


def mass_of(archive, name):
    return archive["models"][name]["document"]["links"][0]["inertial"]["mass"]


class BackupSuite:
    def file(self, name):
        return os.path.join(self.folder, name)

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-backup-"))

    def backup(self, name="models.backup"):
        done = self.run_command("backup", self.file(name))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        with open(self.file(name), "rb") as file:
            return file.read()

    def verify(self, archive):
        with open(self.file("changed"), "wb") as file:
            file.write(archive)
        return self.run_command("verify", self.file("changed"))

    def test_backups_while_models_change(self):
        """A change that was acknowledged before the command is in the backup, and a PUT of a client is in the backup only together with the
        client's earlier PUTs."""
        self.start()
        for name in NAMES:
            self.put(name, pendulum(1), 201)
        self.fill()
        writers = Writers(self.server)
        try:
            for _ in range(BACKUPS):
                before = writers.rounds
                archive = json.loads(self.backup())
                masses = [mass_of(archive, name) for name in NAMES]
                self.assertEqual(masses, sorted(masses, reverse=True))
                self.assertLessEqual(masses[0] - masses[-1], 1)
                self.assertGreaterEqual(masses[-1], before)
                done = self.run_command("verify", self.file("models.backup"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b"all %d models are whole" % len(archive["models"]), done.stdout)
                done = self.run_command("verify")
                self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            writers.stop()
        self.assertEqual(writers.failed, [])
        self.assertGreater(writers.rounds, BACKUPS // 4)
        self.assertEqual(os.listdir(self.folder), ["models.backup"])
        self.stop()

    def test_the_manifest(self):
        self.start()
        self.put("mine", pendulum(2), 201)
        self.client.delete("/v1/models/ur5")
        archive = json.loads(self.backup())
        manifest = archive["manifest"]
        self.assertEqual(manifest["count"], len(archive["models"]))
        self.assertEqual(set(manifest["sha256"]), set(archive["models"]))
        self.assertEqual(manifest["torqued"], self.client.get("/v1").json()["version"])
        self.assertRegex(manifest["made"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(archive["models"]["ur5"], {"deleted": True})
        self.stop()

    def test_changed_bytes_are_named(self):
        self.start()
        self.put("mine", pendulum(2.5), 201)
        self.stop()
        archive = self.backup()
        begin = archive.index(b'\n"mine":') + 1
        end = archive.index(b"\n", begin)
        for place in (begin + 10, archive.index(b"2.5", begin), archive.index(b"pendulum", begin) if b"pendulum" in archive[begin:end] else begin + 40, end - 3):
            done = self.verify(archive[:place] + bytes([archive[place] ^ 2]) + archive[place + 1:])
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(b"mine is damaged: its bytes differ from its checksum", done.stderr)
            done = self.run_command("restore", self.file("changed"))
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"at /models/mine", done.stderr)
        mass = archive.replace(b'"mass":2.5', b'"mass":2.6')
        done = self.run_command("restore", "-", "--unverified", input=mass)
        self.assertEqual(done.returncode, 1, "a wrong checksum is never accepted")
        listed = archive.rindex(b'"mine":"')
        for changed, said in ((archive.replace(b'\n"mine":', b'\n"mint":', 1), b"mine is missing"),
                              (archive[:begin] + archive[end + 1:], b"mine is missing"),
                              (archive[:listed + 9] + bytes([archive[listed + 9] ^ 1]) + archive[listed + 10:], b"mine is damaged"),
                              (archive.replace(b'"made":"2', b'"made":"3'), b"damaged outside its models"),
                              (archive.replace(b'"count":', b'"cound":'), b"damaged outside its models"),
                              (archive[:-2], b"damaged"), (archive + b" ", b"damaged"), (archive[:end], b"is no backup of torqued, or is cut off"),
                              (b"# torqued", b"is no backup of torqued")):
            done = self.verify(changed)
            self.assertEqual((done.returncode, done.stdout), (1, b""), said)
            self.assertIn(said, done.stderr)
        self.start()
        self.assertEqual(self.client.get("/v1/models/mine/document").json()["links"][0]["inertial"]["mass"], 2.5)
        self.stop()

    def test_archives_without_a_manifest(self):
        self.start()
        self.stop()
        text = json.dumps({"format": "torqued-archive", "version": 1, "models": {"mine": {"document": pendulum(3)}}}).encode()
        for command in ("verify", "restore"):
            done = self.run_command(command, "-", input=text)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"--unverified", done.stderr)
        done = self.run_command("verify", "-", "--unverified", input=text)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"nothing tells whether their bytes were changed", done.stdout)
        done = self.run_command("restore", "-", "--unverified", input=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"1 created", done.stderr)

    def test_a_damaged_store_leaves_the_earlier_backup(self):
        self.start()
        self.put("mine", pendulum(2), 201)
        self.stop()
        archive = self.backup()
        record = self.read_record("mine")
        self.write_record("mine", record[:30] + bytes([record[30] ^ 1]) + record[31:])
        for arguments in (("backup", self.file("models.backup")), ("verify",)):
            done = self.run_command(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertRegex(done.stderr, rb"mine(\.json)? is damaged: .*checksum")
        with open(self.file("models.backup"), "rb") as file:
            self.assertEqual(file.read(), archive)
        self.assertEqual(os.listdir(self.folder), ["models.backup"])


class Folder(BackupSuite, StoreCase):
    def renew(self):
        """Replaces the store by an empty one in a folder in memory, where a change takes less time than opening all files."""
        self.store = self.enterContext(tempfile.TemporaryDirectory(prefix="torqued-store-", dir=MEMORY))

    def fill(self):
        """Puts many models whose names sort between those that change, so that opening all files takes as long as several changes."""
        self.stop()
        record = self.read_record("m")
        for i in range(400):
            self.write_record(f"b{i:03}", record)
            self.write_record(f"n{i:03}", record)
        self.start()

    def test_the_store_is_only_read(self):
        self.start()
        self.put("mine", pendulum(2), 201)
        self.stop()
        os.remove(os.path.join(self.store, "lock"))
        open(self.path(".next"), "w").close()
        self.backup()
        self.assertEqual(sorted(os.listdir(self.store)), ["format", "models"])
        self.assertEqual(sorted(os.listdir(self.path(""))), [".next", "mine.json"])

    def test_root_restores_for_the_user_of_the_folder(self):
        """A store that root restores belongs to the owner of its folder, even with a strict umask, so that a service under
        another user reads and changes the models."""
        self.start()
        self.put("mine", pendulum(2), 201)
        self.stop()
        self.backup()
        self.renew()
        owner = 65534 if os.getuid() == 0 else os.getuid()
        os.chown(self.store, owner, -1)
        done = self.run_command("restore", self.file("models.backup"), umask=0o077)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = [self.store, *(os.path.join(folder, name) for folder, folders, files in os.walk(self.store) for name in folders + files)]
        self.assertEqual({os.path.relpath(path, self.store): os.stat(path).st_uid for path in made},
                         dict.fromkeys((".", "format", "lock", "models", "models/mine.json"), owner))

    def test_no_store(self):
        done = self.run_command("backup", self.file("x"), "--store", self.file("nowhere"))
        self.assertEqual(done.returncode, 1)
        done = self.run_command("verify", "--store", self.file("nowhere"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(os.listdir(self.folder), [])


class Database(BackupSuite, DatabaseCase):
    def fill(self):
        """Puts many rows, so that a backup reads several parts of the table while the other models change."""
        self.database.sql("INSERT INTO torqued.models (name, change, revision, record) SELECT "
                          "'b' || n, 1000000 + n, revision, record FROM torqued.models, generate_series(1, 200) n WHERE name = 'm'; "
                          "UPDATE torqued.counter SET change = 1000200; NOTIFY torqued")


if __name__ == "__main__":
    tap.main()
