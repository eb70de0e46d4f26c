"""Tests `torqued models`, `put`, `delete`, `call`, `bench` and `healthcheck` against a running server: in every input
and output format numbers have the bits of the service, and every error names a remedy."""
import io
import json
import os
import pty
import re
import select
import shutil
import ssl
import subprocess
import tempfile
import time
import unittest

import numpy as np
import tap
from command_line import Stub, torqued
from harness import BINARY, ROOT, Server, ServerCase
from urdf import ARM, robot

ROWS = 50


def states(seed=1):
    draws = np.random.default_rng(seed)
    made = {name: draws.uniform(-2, 2, (ROWS, 7)) for name in ("q", "qd", "qdd")}
    made["q"][3, 2], made["qd"][4, 0], made["qdd"][5] = -0.0, 1e-320, 1 / 3
    return made


def as_csv(made, number=repr):
    head = [f"{field}.panda_joint{i + 1}" for field in made for i in range(7)]
    rows = [",".join(number(float(x)) for field in made.values() for x in field[i]) for i in range(ROWS)]
    return "\n".join([",".join(head), *rows]) + "\n"


def as_lines(made):
    return "\n".join(json.dumps({field: rows[i].tolist() for field, rows in made.items()}) for i in range(ROWS)) + "\n"


def as_npz(made, save=np.savez):
    made_file = io.BytesIO()
    save(made_file, **made)
    return made_file.getvalue()


class Case(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def run_command(self, *arguments, status=0, given=None, url=None, **options):
        done = torqued(*arguments, url=url or self.server.url(), given=given, **options)
        self.assertEqual(done.returncode, status, done)
        return done

    def said(self, *arguments, **options):
        """Runs a command that must succeed without a word on standard error; returns its standard output."""
        done = self.run_command(*arguments, **options)
        self.assertEqual(done.stderr, b"")
        return done.stdout

    def refused(self, *arguments, status=1, **options):
        """Runs a command that must fail with an empty standard output; returns its standard error."""
        done = self.run_command(*arguments, status=status, **options)
        self.assertEqual(done.stdout, b"")
        self.assertTrue(done.stderr.startswith(b"torqued: "), done.stderr)
        return done.stderr.decode()


class Models(Case):
    def test_list(self):
        names = self.said("models", "--names").decode().split()
        self.assertEqual(names, [model["name"] for model in self.client.get("/v1/models").json()["models"]])
        table = self.said("models").decode().splitlines()
        self.assertEqual([line.split()[0] for line in table], ["name", *names])
        self.assertRegex(next(line for line in table if line.startswith("solo12")), r"^solo12 +19 +18  floating ")
        self.assertEqual(self.said("models", "--json"), self.client.get("/v1/models").body + b"\n")

    def test_put_and_delete(self):
        urdf = robot(*ARM)
        done = self.run_command("put", "my arm.1".replace(" ", "_"), self.path("arm.urdf", urdf))
        self.assertRegex(done.stdout.decode(), r"^my_arm.1: created, revision [0-9a-f]{32}, nq 1, nv 1\n")
        done = self.run_command("put", "my_arm.1", "-", "--base", "floating", "--mimic=coupled", given=urdf)
        self.assertIn(b"my_arm.1: replaced, revision ", done.stdout)
        self.assertIn(b", nq 8, nv 7\n", done.stdout)
        with open(os.path.join(ROOT, "models", "two_link.json"), "rb") as file:
            self.said("put", "my_arm.1", "-", given=b"\n  " + file.read())
        self.assertIn("my_arm.1", self.said("models", "--names").decode())
        self.assertEqual(self.said("delete", "my_arm.1"), b"my_arm.1: deleted\n")
        said = self.refused("delete", "my_arm.1")
        self.assertIn('there is no model "my_arm.1"; names are case-sensitive', said)
        self.assertIn("(no-such-model, status 404)", said)
        self.assertIn("models of this server: allegro_hand delta", said)
        self.assertIn("torqued put MODEL FILE", said)
        said = self.refused("put", "x", self.path("bad.json", '{"links":[{"name":1}]}'))
        self.assertIn("at /links/0/name", said)
        self.assertIn("nothing.urdf: cannot read it: No such file", self.refused("put", "x", "nothing.urdf", folder=self.folder))
        self.assertIn("status 404", self.refused("put", "a/b?c#d", self.path("arm.urdf")))


class Call(Case):
    def ask_server(self, fields, operation="inverse-dynamics", model="panda"):
        return self.client.post(f"/v1/models/{model}/{operation}", fields)

    def test_one_state(self):
        expected = self.client.post("/v1/models/two_link/inverse-dynamics", {"q": [0, 0.5], "qd": [1, 2]}).body + b"\n"
        self.assertEqual(self.said("call", "two_link", "inverse-dynamics", "q=[0,0.5]", "qd=[1,2]"), expected)
        body = '{"q": [0, 0.5],\n "qd": [1, 2]}'
        for given in (("-",), (), ("--from", "json"), (self.path("state.json", body),)):
            self.assertEqual(self.said("call", "two_link", "inverse-dynamics", *given, given=body), expected)
        self.assertEqual(self.said("call", "two_link", "inverse-dynamics", self.path("state.json"), "qd=[1,2]"), expected)
        self.assertNotEqual(self.said("call", "two_link", "inverse-dynamics", self.path("state.json"), "qd=[2,2]"), expected)
        text = self.said("call", "tx40", "inverse-dynamics", "q=[0,0,0,0,1,0]", 'outputs=["motor_tau"]', "--to", "csv").decode()
        self.assertEqual(text.splitlines()[0], "motor_tau.motor5,motor_tau.motor6")
        text = self.said("call", "two_link", "kinematics", "q=[0,0]", 'frames=["link2"]', "frame=link2", "--to", "csv").decode()
        self.assertEqual(text.splitlines()[0], ",".join([f"poses.link2.position.{i}" for i in (1, 2, 3)]
                                                        + [f"poses.link2.orientation.{i}" for i in (1, 2, 3, 4)]))
        self.assertEqual(self.said("call", "two_link", "mass-matrix", "q=[0,0]", "--to", "jsonl"),
                         self.said("call", "two_link", "mass-matrix", "q=[0,0]"))

    def test_every_format_has_the_bits_of_the_service(self):
        made = states()
        files = {"s.json": json.dumps({k: v.tolist() for k, v in made.items()}), "s.csv": as_csv(made), "s.jsonl": as_lines(made),
                 "s.npz": as_npz(made), "packed.npz": as_npz(made, np.savez_compressed)}
        expected = self.ask_server({k: v.tolist() for k, v in made.items()})
        tau = np.array(expected.json()["tau"])
        for name, content in files.items():
            path = self.path(name, content)
            for chunk in ("1", "7", "4096"):
                answer = self.said("call", "panda", "inverse-dynamics", path, "--to", "json", "--chunk", chunk)
                self.assertEqual(answer, expected.body + b"\n", (name, chunk))
            form = name.rsplit(".")[1]
            read = {"json": lambda b: json.loads(b)["tau"], "jsonl": lambda b: [json.loads(x)["tau"] for x in b.splitlines()],
                    "csv": lambda b: [[float(x) for x in line.split(b",")] for line in b.splitlines()[1:]],
                    "npz": lambda b: np.load(io.BytesIO(b))["tau"], "npy": lambda b: np.load(io.BytesIO(b))}
            with open(path, "rb") as file:  # reads standard input and answers in the same format
                answer = self.said("call", "panda", "inverse-dynamics", "--from", form, "--chunk", "20", given=file.read())
            self.assertEqual(np.array(read[form](answer)).tobytes(), tau.tobytes(), name)
            for other, parse in read.items():
                out = self.path("out." + other)
                self.assertEqual(self.said("call", "panda", "inverse-dynamics", path, "--output", out, "--chunk", "20"), b"")
                with open(out, "rb") as file:
                    self.assertEqual(np.array(parse(file.read())).tobytes(), tau.tobytes(), (name, other))

    def test_numpy_arrays_of_every_kind(self):
        q = np.arange(21.).reshape(3, 7) / 8  # exactly representable in single precision, too
        expected = self.ask_server({"q": q.tolist()}, "bias").body + b"\n"
        for kind in (q, np.asfortranarray(q), q.astype(">f8"), q.astype("<f4"), np.asfortranarray(q.astype(">f4"))):
            made = io.BytesIO()
            np.save(made, kind)
            self.assertEqual(self.said("call", "panda", "bias", "--from", "npy", "--to", "json", given=made.getvalue()), expected)
            self.assertEqual(self.said("call", "panda", "bias", "--to", "json", given=made.getvalue()), expected)
        made = io.BytesIO()
        np.save(made, q[0] * 8)
        expected = self.ask_server({"q": [0.] * 7, "qd": (q[0] * 8).tolist()}, "bias").body + b"\n"
        path = self.path("qd.npy", made.getvalue())
        self.assertEqual(self.said("call", "panda", "bias", path, "--field", "qd", "q=[0,0,0,0,0,0,0]", "--to", "json"), expected)
        whole = np.load(io.BytesIO(self.said("call", "panda", "sensitivity", path, "--to", "npz", "--field", "q")))
        self.assertEqual({name: whole[name].shape for name in whole}, {name: (7, 7) for name in ("dtau_dq", "dtau_dqd", "dtau_dqdd")})
        self.assertIn("outputs='[\"tau\"]'", self.refused("call", "panda", "sensitivity", path, "--to", "npy", "--field", "q"))

    def test_output_is_input(self):
        """`call` accepts its own output: torques of a file of states, matched by column names, give the accelerations
        again."""
        made = states(2)
        torques = self.said("call", "panda", "inverse-dynamics", "--from", "csv", given=as_csv(made)).decode().splitlines()
        rows = as_csv({k: made[k] for k in ("q", "qd")}).splitlines()
        joined = "\n".join(f"{a},{b}" for a, b in zip(rows, torques))
        back = self.said("call", "panda", "forward-dynamics", "--from", "csv", given=joined).decode().splitlines()
        self.assertTrue(back[0].startswith("qdd.panda_joint1,"))
        self.assertClose([[float(x) for x in line.split(",")] for line in back[1:]], made["qdd"].tolist(), 1e-9)

    def test_motions(self):
        fields = ("q=[0.3,0.2]", "duration=1", "tolerance=1e-8", "samples=5")
        answer = json.loads(self.said("call", "two_link", "simulate", *fields))
        lines = self.said("call", "two_link", "simulate", *fields, "--to", "csv").decode().splitlines()
        self.assertEqual(lines[0], "times,q.joint1,q.joint2,qd.joint1,qd.joint2,tau.joint1,tau.joint2,kinetic,potential")
        self.assertEqual([float(line.split(",")[0]) for line in lines[1:]], [0, 0.25, 0.5, 0.75, 1])
        self.assertEqual([[float(x) for x in line.split(",")[1:3]] for line in lines[1:]], answer["q"])
        points = "control_points=[[0,0],[0,0],[1,1],[1,1]]"
        arrays = np.load(io.BytesIO(self.said("call", "two_link", "trajectory", "degree=3", "duration=2", points, "samples=4",
                                              "--to", "npz")))
        self.assertEqual((arrays["times"].shape, arrays["tau_dot"].shape), ((4,), (4, 2)))
        many = np.load(io.BytesIO(self.said("call", "two_link", "simulate", "q=[[0,0],[0.3,0.2]]", *fields[1:], "--to", "npz")))
        self.assertEqual((many["q"].shape, many["q"][1].tolist()), ((2, 5, 2), answer["q"]))

    def test_whole_operations_are_sent_at_once(self):
        draws = np.random.default_rng(3)
        made = {k: draws.uniform(-1, 1, (60, 2)) for k in ("q", "qd", "qdd")}
        made["tau"] = np.array(self.ask_server({k: v.tolist() for k, v in made.items()}, model="two_link").json()["tau"])
        expected = self.ask_server({k: v.tolist() for k, v in made.items()}, "identify", "two_link").json()
        header = ",".join(f"{k}{i + 1}" for k in made for i in range(2))
        table = "\n".join([header, *(",".join(map(repr, row)) for row in np.hstack(list(made.values())).tolist())]) + "\n"
        for name, content in (("i.npz", as_npz(made)), ("i.json", json.dumps({k: v.tolist() for k, v in made.items()})),
                              ("i.csv", table)):
            answer = json.loads(self.said("call", "two_link", "identify", self.path(name, content), "--chunk", "7"))
            self.assertEqual(answer["residual"], expected["residual"])
            self.assertEqual(len(answer["base_parameters"]), len(expected["base_parameters"]))
        lines = self.said("call", "two_link", "identify", self.path("i.csv", table), "--to", "csv", 'outputs=["residual"]').decode()
        self.assertEqual(lines, f"residual\n{expected['residual']!r}\n")

    def test_rows_of_a_path_belong_together(self):
        """A motion along a path cannot be divided into parts: sharp friction jumps between two rows, which may lie in different parts."""
        hinge = {"name": "hinge", "type": "revolute", "axis": [0, 1, 0], "friction": {"coulomb": 2}}
        self.put_model("rubbing", {"links": [{"name": "rod", "parent": "base", "inertial": {"mass": 2, "com": [0, 0, -0.5]}, "joint": hinge}]})
        for last in (3, 6, 7, 13):      # index of the last row before the joint reverses
            made = {"q": np.linspace(0, 1, 20)[:, None], "qd": np.where(np.arange(20) <= last, 0.8, -0.3)[:, None]}
            outputs = ["tau_c", "jumps"]
            expected = self.ask_server({**{k: v.tolist() for k, v in made.items()}, "outputs": outputs}, "path", "rubbing").json()
            self.assertEqual([row for row, (jump,) in enumerate(expected["jumps"]) if jump >= 0], [last])
            for name, content in (("p.npz", as_npz(made)), ("p.csv", "q1,qd1\n" + "".join(f"{q!r},{v!r}\n" for q, v in zip(
                    made["q"][:, 0].tolist(), made["qd"][:, 0].tolist())))):
                answer = json.loads(self.said("call", "rubbing", "path", self.path(name, content), "outputs=" + json.dumps(outputs),
                                              "--chunk", "7", "--to", "json"))
                self.assertEqual(answer, expected, (name, last))

    def test_rows_that_fail_alone(self):
        made = states(4)
        made["q"][37, 5] = 1e9
        fields = ("call", "panda", "inverse-dynamics", self.path("bad.csv", as_csv(made)), "on_error=row", "--chunk", "10")
        expected = self.ask_server({**{k: v.tolist() for k, v in made.items()}, "on_error": "row"}).json()
        self.assertEqual(expected["errors"][0]["row"], 37)
        answer = json.loads(self.said(*fields, "--to", "json"))
        self.assertEqual(answer["tau"], expected["tau"])
        self.assertEqual(answer["errors"], expected["errors"])
        done = self.run_command(*fields)
        self.assertEqual(done.stdout.splitlines()[38], b",".join([b"nan"] * 7))
        self.assertIn(b"row 37: panda_joint6 is 1000000000", done.stderr)
        self.assertEqual(self.run_command(*fields, "--to", "jsonl").stdout.splitlines()[37], b'{"tau":null}')
        made["q"][37, 5] = np.nan
        answer = json.loads(self.said("call", "panda", "inverse-dynamics", self.path("nan.npz", as_npz(made)), "on_error=row",
                                      "--to", "json"))
        self.assertIsNone(answer["tau"][37])

    def test_errors_name_the_place(self):
        made = states(5)
        made["q"][37, 5] = 1e9
        path = self.path("bad.csv", "# a comment\n\n" + as_csv(made))
        said = self.refused("call", "panda", "inverse-dynamics", path, "--chunk", "10", "--to", "json")
        self.assertIn("panda_joint6 is 1000000000", said)
        self.assertIn(f"row 37, counted from 0: {path} line 41\n", said)
        said = self.refused("call", "panda", "nonsense", "q=[0]")
        self.assertIn('there is no operation "nonsense"; the nearest are: ', said)
        self.assertIn('there is no operation "gravity"; it is an output of bias', self.refused("call", "panda", "gravity", "q=[0]"))
        self.assertIn("at /q of the request", self.refused("call", "panda", "bias", "q=[0]"))
        self.assertIn("line 2 has 1 values; its header has 2 columns",
                      self.refused("call", "two_link", "bias", "--from", "csv", given="q1,q2\n1\n"))
        self.assertIn("has no rows", self.refused("call", "two_link", "bias", "--from", "csv", "--to", "json", given="q1,q2\n"))
        self.assertIn("standard input is empty", self.refused("call", "two_link", "bias", given=""))
        self.assertIn("does not tell its format; give it with --from", self.refused("call", "panda", "bias", self.path("s.dat", "x"), status=2))
        self.assertIn("is no JSON", self.refused("call", "panda", "bias", "q=[0", status=2))
        self.assertIn("there are two files", self.refused("call", "panda", "bias", "a.csv", "b.csv", status=2))
        self.assertIn('--from is "xml"; expected json|jsonl|csv|npy|npz', self.refused("call", "panda", "bias", "--from", "xml", status=2))
        self.assertIn("--chunk is \"0\"", self.refused("call", "panda", "bias", "--chunk", "0", status=2))
        self.assertIn("line 1, column", self.refused("call", "panda", "bias", self.path("cut.json", '{"q": [')))
        self.assertIn("cannot write /nowhere/x.json", self.refused("call", "panda", "bias", "q=[0,0,0,0,0,0,0]", "--output", "/nowhere/x.json"))
        out = self.path("out.npz")
        self.refused("call", "panda", "inverse-dynamics", path, "--output", out)
        self.assertFalse(os.path.exists(out))

    def test_rows_of_fields_must_agree(self):
        """A JSON object in which one of two fields has more rows than the other is refused, whichever it is."""
        for q, qd in ((2, 3), (3, 2)):
            text = json.dumps({"q": [[0.1, 0.2]] * q, "qd": [[0.3, 0.4]] * qd})
            said = self.refused("call", "two_link", "bias", "--from", "json", given=text)
            self.assertIn(f"qd has {qd} rows, and a field before it {q}", said)

    def test_hostile_npz(self):
        whole = as_npz(states(6))
        for content, said in ((whole[:-30], "no zip archive"), (b"PK" + b"x" * 500, "no zip archive"),
                              (whole.replace(b"(50, 7)", b"(51, 7)"), "checksum is wrong"), (as_npz({"q": np.array(["x"])}), "doubles"),
                              (as_npz({"q": np.zeros((2, 7)), "qd": np.zeros((3, 7))}), "qd has 3 rows"), (as_npz({}), "no array"),
                              (as_npz({"q": np.zeros((0, 7))}), "no rows")):
            self.assertIn(said, self.refused("call", "panda", "bias", self.path("hostile.npz", content)))
        self.assertIn("too short", self.refused("call", "panda", "bias", self.path(
            "huge.npy", b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 7), }".ljust(70))))

    def test_progress(self):
        """On a terminal progress is shown after one second; elsewhere it is not shown."""
        for terminal in (True, False):
            master, slave = pty.openpty()
            errors = slave if terminal else subprocess.PIPE
            run = subprocess.Popen([BINARY, "call", "two_link", "bias", "--from", "csv", "--chunk", "1", "--url", self.server.url()],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
            os.close(slave)
            run.stdin.write(b"q1,q2\n1,2\n1,2\n")
            run.stdin.flush()
            time.sleep(1.5)
            run.stdin.write(b"1,2\n1,2\n")
            run.stdin.close()
            self.assertEqual(len(run.stdout.read().splitlines()), 5)
            run.stdout.close()
            shown = run.stderr.read() if not terminal else b""
            while terminal and select.select([master], [], [], 1)[0]:
                try:
                    shown += os.read(master, 1000)
                except OSError:
                    break
            if not terminal:
                run.stderr.close()
            os.close(master)
            self.assertEqual(run.wait(60), 0)
            if terminal:
                self.assertRegex(shown, rb"two_link bias: [34] rows, .* rows/s")
                self.assertTrue(shown.endswith(b"\r\x1b[K"))
            else:
                self.assertEqual(shown, b"")


class Limits(Case):
    arguments = ("--max-rows", "8", "--listen", "127.0.0.1:0,unix:socket")

    def test_too_many_rows(self):
        """`call` halves parts that are too large for the server until they fit."""
        made = states(7)
        answer = self.said("call", "panda", "inverse-dynamics", self.path("s.npz", as_npz(made)), "--to", "json")
        parts = [self.client.post("/v1/models/panda/inverse-dynamics", {k: v[i:i + 8].tolist() for k, v in made.items()}).json()["tau"]
                 for i in range(0, ROWS, 8)]
        self.assertEqual(json.loads(answer)["tau"], sum(parts, []))

    def test_lines_of_parts_that_were_halved(self):
        """A message names the line in the file, also if `call` has divided the rows into parts and halves of parts."""
        for row in (0, 7, 8, 21, ROWS - 1):
            made = states(7)
            made["q"][row, 2] = 1e9
            for name, text in (("bad.csv", as_csv(made)), ("spaced.csv", as_csv(made).replace("\n", "\n# rows follow\n\n", 1))):
                line = row + 2 + (2 if name == "spaced.csv" else 0)
                said = self.refused("call", "panda", "inverse-dynamics", self.path(name, text), "--to", "json")
                self.assertRegex(said, rf"line {line}\b")

    def test_unix_socket(self):
        url = "unix:" + os.path.join(self.server.folder, "socket")
        self.assertIn("panda", self.said("models", "--names", url=url).decode())
        self.assertEqual(self.said("healthcheck", "--url", url), b"")
        self.assertIn("unix:", self.said("bench", "--requests", "5", url=url).decode())
        said = self.refused("models", url="unix:/nowhere/socket")
        self.assertIn("no server answers at unix:/nowhere/socket; start one with: torqued serve --listen unix:/nowhere/socket", said)


class Connections(Case):
    def test_no_server(self):
        said = self.refused("models", url="http://127.0.0.1:1")
        self.assertIn("no server answers at http://127.0.0.1:1; start one with: torqued serve --listen 127.0.0.1:1", said)
        self.assertIn("there is no such host", self.refused("models", url="http://no-such-host.invalid:8088"))
        for url in ("ftp://127.0.0.1", "127.0.0.1:8088", "http://", "http://user:secret@127.0.0.1:8088", "http://a?b", "unix:"):
            self.assertIn("expected", self.refused("models", url=url, status=2))
            self.assertIn("--url", self.refused("models", url=url, status=2))

    def test_a_server_that_is_no_torqued(self):
        stub = Stub(lambda *_: (200, {"Content-Type": "text/html"}, b"<html>"))
        self.addCleanup(stub.close)
        self.assertIn("is no torqued server", self.refused("models", url=stub.url))
        self.assertIn("is no torqued server", self.refused("call", "a", "bias", "--from", "csv", url=stub.url, given="q1\n"))
        self.assertIn("no CBOR", self.refused("call", "a", "bias", "q=[0]", "--to", "jsonl", url=stub.url))
        stub = Stub(lambda *_: (500, {}, b"oops"))
        self.addCleanup(stub.close)
        self.assertIn("answered status 500: oops", self.refused("models", url=stub.url))

    def test_token(self):
        """The token is sent in a header of every request, never in the URL. If the server refuses the token, the error gives advice."""
        stub = Stub(lambda method, path, headers, body: (200, {}, b'{"models":[]}') if headers["Authorization"] == "Bearer se-cret.1"
                    else (401, {}, b'{"code":"unauthorized","detail":"a token is needed","status":401}'))
        self.addCleanup(stub.close)
        token = self.path("token", "se-cret.1\n")
        self.said("models", "--token-file", token, url=stub.url)
        self.said("models", url=stub.url, environment={"TORQUED_TOKEN_FILE": token})
        self.assertIn("--token-file names the file", self.refused("models", url=stub.url))
        self.assertTrue(all("se-cret" not in path for _, path, _, _ in stub.requests))
        for content in ("", "two words\n", "a\nb", "\x01"):
            self.assertIn("must contain one token", self.refused("models", "--token-file", self.path("bad", content), url=stub.url))
        self.assertIn("cannot read the token file", self.refused("models", "--token-file", "/nowhere/token", url=stub.url))
        done = torqued("models", "--token-file", token, "--timeout", "0.2", url="http://192.0.2.1:9")
        self.assertIn(b"warning: the token crosses the network unencrypted", done.stderr)

    def test_a_busy_server_is_waited_for(self):
        answers = iter([(503, {"Retry-After": "1"}, b"{}"), (200, {}, b'{"tau":[1]}')])
        stub = Stub(lambda *_: next(answers))
        self.addCleanup(stub.close)
        self.assertEqual(self.said("call", "a", "bias", "q=[0]", url=stub.url), b'{"tau":[1]}\n')
        self.assertEqual(len(stub.requests), 2)

    def test_timeout(self):
        stub = Stub(lambda *_: time.sleep(3) or (200, {}, b""))
        self.addCleanup(stub.close)
        self.assertIn("gave no answer within 0.2 s; --timeout allows more", self.refused("models", "--timeout", "0.2", url=stub.url))

    @unittest.skipUnless(shutil.which("openssl"), "no openssl here")
    def test_tls(self):
        key, certificate = self.path("key.pem"), self.path("certificate.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(certificate)
        context.verify_mode = ssl.CERT_OPTIONAL
        stub = Stub(lambda *_: (200, {}, b'{"models":[]}'), context)
        self.addCleanup(stub.close)
        self.said("models", "--ca-file", certificate, url=stub.url)
        self.said("models", "--ca-file", certificate, "--certificate", certificate, "--key", key, url=stub.url)
        self.assertIn("--ca-file names the certificate", self.refused("models", url=stub.url))
        self.assertIn("--ca-file", self.refused("models", "--ca-file", "/nowhere.pem", url=stub.url))
        self.assertIn("--certificate and --key", self.refused("models", "--ca-file", certificate, "--certificate", "/nowhere.pem", url=stub.url))

    def test_variables_are_known_to_the_server(self):
        names = [f"TORQUED_{name}" for name in ("URL", "TOKEN_FILE", "CA_FILE", "CERTIFICATE", "KEY")]
        for name in names:
            self.assertIn(name, torqued("models", "--help").stdout.decode())
        server = Server(environment={name: "x" for name in names})
        self.assertNotIn("unknown-variable", server.log())
        self.assertIsNone(server.stop())


class Health(Case):
    def test_healthcheck(self):
        self.assertEqual(self.said("healthcheck"), b"")
        self.assertIn("no server answers", self.refused("healthcheck", url="http://127.0.0.1:1"))
        stub = Stub(lambda method, path, headers, body: (503, {"Retry-After": "5"}, b'{"code":"not-ready","detail":"not ready","status":503,'
                                                         b'"reasons":["draining"]}'))
        self.addCleanup(stub.close)
        started = time.monotonic()
        said = self.refused("healthcheck", url=stub.url)
        self.assertIn("draining", said)
        # healthcheck sends one request and does not repeat it
        self.assertEqual([path for _, path, _, _ in stub.requests], ["/readyz"])
        self.assertLess(time.monotonic() - started, 5)

    def test_percentiles_are_those_of_the_nearest_rank(self):
        """Of three requests the slowest covers the quantiles above 2/3, so that p90 and higher percentiles are the maximum."""
        for _ in range(3):
            text = self.said("bench", "--requests", "3").decode()
            times = dict(re.findall(r"(?m)^(p[0-9.]+|max) +([0-9.]+) ms", text))
            self.assertEqual(sorted(times), ["max", "p50", "p90", "p99", "p99.9"])
            self.assertEqual({times[name] for name in ("p90", "p99", "p99.9")}, {times["max"]})
            self.assertLessEqual(float(times["p50"]), float(times["max"]))

    def test_bench(self):
        text = self.said("bench", "panda", "--requests", "50").decode()
        self.assertIn(f"inverse dynamics of panda at {self.server.url()}: 50 requests", text)
        times = [float(text.split(f"\n{name} ")[1].split()[0]) for name in ("p50", "p90", "p99", "p99.9", "max")]
        self.assertEqual(times, sorted(times))
        counts = [int(line.split()[4]) for line in text.splitlines() if " ms " in line and "|" in line]
        self.assertEqual(sum(counts), 50)
        for model in self.said("models", "--names").decode().split():
            self.said("bench", model, "--requests", "1")
        self.assertIn("there is no model", self.refused("bench", "nobody"))
        self.assertIn("--requests is", self.refused("bench", "--requests", "0", status=2))


class WithoutLibcurl(Case):
    def test_hidden(self):
        """Without libcurl the server and the commands that need no network run; the others name the package to install.
        """
        for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
            self.path(name, b"no library")
        hidden = {"LD_LIBRARY_PATH": self.folder}
        said = self.refused("models", environment=hidden)
        self.assertIn("this command needs libcurl", said)
        self.assertIn("apt-get install libcurl4", said)
        self.assertNotIn("curl", subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=True).stdout)
        done = torqued("eval", "two_link", "bias", environment={**hidden, "XDG_STATE_HOME": self.folder,
                                                                 "TORQUED_MODELS": os.path.join(ROOT, "models")}, given='{"q":[0,0]}')
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        server = Server(environment=hidden)
        self.assertEqual(server.client().post("/v1/models/two_link/bias", {"q": [0, 0]}).status, 200)
        self.assertIsNone(server.stop())


if __name__ == "__main__":
    tap.main()
