"""Tests that all parts of one `call` use the same revision of the model: a PUT by another client between two parts ends
the command, and no file is written."""
import os
import subprocess
import tempfile

import tap
from command_line import Stub, torqued
from harness import BINARY, PATIENCE, ServerCase
from samples import pendulum

BEFORE = "an earlier result\n"


class Revision(ServerCase):
    count = 0  # number of models so far, from which new names are made

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = os.path.join(folder.name, "out.csv")

    def put(self, document):
        self.assertIn(self.server.client().put(f"/v1/models/{self.model}", document).status, (200, 201))

    def call(self, change, *arguments, head="q1\n", row="1\n", after=1):
        """Starts `call`, sends `after` rows to a new model, waits for their answers, runs `change`, and sends two more
        rows. Returns the process and its standard error."""
        with open(self.output, "w") as file:
            file.write(BEFORE)
        type(self).count += 1
        self.model = f"bob{self.count}"
        self.put(pendulum())
        run = subprocess.Popen([BINARY, "call", self.model, "inverse-dynamics", "-", "--chunk", "1", "--output", self.output, "--url", self.server.url(), *arguments],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        run.stdin.write(head + row * after)
        run.stdin.flush()
        what = f"/{self.model}/inverse-dynamics" if after else f'"method":"GET","target":"/v1/models/{self.model}"'
        self.server.await_log(what)
        change()
        return run, run.communicate(row * 2, timeout=PATIENCE)[1]

    def content(self):
        with open(self.output) as file:
            return file.read()

    def assertReplaced(self, run, said):
        self.assertEqual(run.returncode, 1, said)
        self.assertIn("(precondition-failed, status 412)", said)
        self.assertIn("the model has been replaced since this command began, with the revision", said)
        self.assertEqual((self.content(), os.listdir(os.path.dirname(self.output))), (BEFORE, ["out.csv"]))

    def test_another_model(self):
        for to in ("csv", "json", "jsonl", "npz"):
            self.assertReplaced(*self.call(lambda: self.put(pendulum(3)), "--from", "csv", "--to", to))
        self.assertReplaced(*self.call(lambda: self.put(pendulum(3)), "--from", "jsonl", head="", row='{"q":[1]}\n'))

    def test_before_the_first_part(self):
        """A change of the model before the first part is detected too: the names of the columns belong to the revision for which they were
        read."""
        self.assertReplaced(*self.call(lambda: self.put(pendulum(3)), "--from", "csv", after=0))

    def test_the_same_model_again(self):
        run, said = self.call(lambda: self.put(pendulum()), "--from", "csv")
        self.assertEqual((run.returncode, said), (0, ""))
        self.assertEqual(len(set(self.content().splitlines()[1:])), 1)

    def test_deleted(self):
        run, said = self.call(lambda: self.server.client().delete(f"/v1/models/{self.model}"), "--from", "csv")
        self.assertEqual((run.returncode, self.content()), (1, BEFORE))
        self.assertIn("(no-such-model, status 404)", said)
        self.assertIn("models of this server:", said)

    def test_what_is_sent(self):
        """The first part is sent without If-Match, later parts and halves of a part with the revision of the first
        answer."""
        body = self.server.client().post("/v1/models/two_link/bias", {"q": [[0, 0], [1, 1]]}, accept="application/cbor; arrays=multidimensional").body

        def answer(method, path, headers, content):
            large = len(content) > 60
            return (413, {}, b'{"code":"too-many-rows","detail":"too many"}') if large else (200, {"Model-Revision": "abc"}, body)
        stub = Stub(answer)
        self.addCleanup(stub.close)
        rows = "".join('{"q":[1]}\n' for _ in range(8))
        done = torqued("call", "bob", "inverse-dynamics", "--from", "jsonl", "--chunk", "8", url=stub.url, given=rows)
        self.assertEqual(done.returncode, 0, done)
        pins = [headers.get("If-Match") for _, _, headers, _ in stub.requests]
        self.assertEqual(set(pins[:2]), {None})
        self.assertEqual(set(pins[pins.index('"abc"'):]), {'"abc"'})


if __name__ == "__main__":
    tap.main()
