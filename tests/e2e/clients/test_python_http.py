"""Tests HTTP and CBOR of the Python client against scripted servers, for answers that a healthy torqued does not send."""
import asyncio
import contextlib
import random
import shutil
import ssl
import struct
import subprocess
import tempfile
import time
import unittest
import warnings

import cbor2
import numpy as np
import tap
from python_client import Scripted, busy, ok, torqued

from torqued import cbor  # isort: skip  (python_client sets the path)

MODEL = {"name": "arm", "revision": "ab" * 16, "nq": 1, "nv": 1, "position_names": ["hinge"], "velocity_names": ["hinge"]}
REPLY = ok(b'{"name":"arm","revision":"' + b"ab" * 16 + b'","nq":1,"nv":1,"report":[]}')
TAU = ok(cbor2.dumps({"tau": cbor2.CBORTag(86, struct.pack("<d", 1.5))}), "application/cbor")
END = Scripted.END


def run(asynchronous, url, work, **options):
    """Runs work(client) with the blocking or the asyncio client; `work` is a coroutine function that awaits only
    awaitable results."""
    async def both():
        client = (torqued.AsyncClient if asynchronous else torqued.Client)(url, **{"timeout": 5, **options})
        try:
            return await work(client)
        finally:
            closing = client.close()
            if closing is not None:
                await closing
    return asyncio.run(both())


async def done(value):
    return await value if asyncio.iscoroutine(value) else value


def arm(client):
    return (torqued.AsyncModel if isinstance(client, torqued.AsyncClient) else torqued.Model)(client, MODEL)


async def evaluate(client):
    return (await done(arm(client).inverse_dynamics([1.0]))).tau.tolist()


class Http(unittest.TestCase):
    def both(self, script, work, **options):
        """Yields the pair (function that runs `work`, scripted server) for the blocking and for the asyncio client, each with the same
        script."""
        for asynchronous in (False, True):
            with self.subTest(asynchronous=asynchronous), Scripted(*script) as peer:
                yield (lambda: run(asynchronous, peer.url, work, **options)), peer

    def test_connection_is_kept(self):
        async def twice(client):
            return [await evaluate(client) for _ in range(3)]
        for call, peer in self.both([TAU] * 3, twice):
            self.assertEqual(call(), [[1.5]] * 3)
            self.assertEqual((peer.connections, len(peer.requests)), (1, 3))
            line, fields, _ = peer.requests[0]
            self.assertEqual(line, "POST /v1/models/arm/inverse-dynamics HTTP/1.1")
            self.assertEqual((fields["Content-Type"], fields["Accept"]), 
                             ("application/cbor", "application/cbor; arrays=multidimensional"))
            self.assertRegex(fields["User-Agent"], r"^torqued-python/\d")
            self.assertEqual(fields["Host"], f"127.0.0.1:{peer.port}")

    def test_lost_connection(self):
        """An evaluation is sent again if the server closed before or during its answer, but only a limited number of
        times."""
        half = [TAU[:40], END]
        for script in ([END, TAU], [half, TAU], [[TAU[:-3], END], END, TAU], [TAU, END, TAU]):
            async def work(client):
                return [await evaluate(client) for _ in range(2 if script[0] is TAU else 1)][-1]
            for call, peer in self.both(script, work):
                self.assertEqual(call(), [1.5])
                self.assertEqual(len(peer.requests), len(script))
        for call, peer in self.both([END] * 5, evaluate):
            with self.assertRaises(torqued.ConnectionFailed):
                call()
            self.assertEqual(len(peer.requests), 3)
            peer.script.clear()

    def test_changes_are_not_repeated(self):
        """PUT and DELETE without a condition are never repeated; those with If-Match or If-None-Match are sent again."""
        document = {"links": []}
        for work in (lambda client: done(client.put("arm", document)), lambda client: done(client.delete("arm"))):
            for first, error in ((END, torqued.ConnectionFailed), (busy("Retry-After: 0\r\n"), torqued.Problem)):
                for call, peer in self.both([first, REPLY], work):
                    with self.assertRaises(error):
                        call()
                    self.assertEqual(len(peer.requests), 1)
                    peer.script.clear()
        for fields in ({"if_match": "cd" * 16}, {"if_absent": True}):
            for first in (END, busy("Retry-After: 0\r\n")):
                for call, peer in self.both([first, REPLY, ok(b'{"name":"arm"}')],
                                            lambda client: done(client.put("arm", document, **fields))):
                    call()
                    self.assertEqual([request[0].split()[0] for request in peer.requests], ["PUT", "PUT", "GET"])
                    sent = peer.requests[1][1]
                    self.assertEqual((sent.get("If-Match"), sent.get("If-None-Match")),
                                     ('"' + "cd" * 16 + '"', None) if "if_match" in fields else (None, "*"))

    def test_an_idle_connection_that_was_closed(self):
        """A change is not sent over a connection that the server has closed meanwhile."""
        async def work(client):
            await evaluate(client)
            await asyncio.sleep(0.1)
            return (await done(client.put("arm", {}))).name
        for call, peer in self.both([[TAU, END], REPLY, ok(b'{"name":"arm"}')], work):
            self.assertEqual(call(), "arm")
            self.assertEqual(peer.connections, 2)

    def test_retry_after(self):
        for script, least in (([busy("Retry-After: 1\r\n"), TAU], 1), ([busy(status="429 Too Many Requests"), TAU], 0.05),
                              ([busy("Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"), TAU], 0)):
            for call, peer in self.both(script, evaluate):
                started = time.monotonic()
                self.assertEqual(call(), [1.5])
                self.assertGreaterEqual(time.monotonic() - started, least)
        # Retry-After exceeds the caller's timeout
        for call, peer in self.both([busy("Retry-After: 3600\r\n"), TAU], evaluate):
            with self.assertRaises(torqued.Problem) as caught:
                call()
            self.assertEqual((caught.exception.code, caught.exception.retry_after), ("queue-full", 3600))
            peer.script.clear()
        for call, peer in self.both([busy("Retry-After: 0\r\n")] * 3, evaluate):
            with self.assertRaises(torqued.Problem):
                call()
            self.assertEqual(len(peer.requests), 3)

    def test_timeout(self):
        for script in ([[]], [[TAU[:50]]]):  # no answer; a part of an answer
            for call, peer in self.both(script * 2, evaluate, timeout=0.2):
                peer.script.append(TAU)  # a further script entry, so that the server keeps the connection open
                started = time.monotonic()
                with self.assertRaises(torqued.TimedOut) as caught:
                    call()
                self.assertIsInstance(caught.exception, TimeoutError)
                self.assertGreaterEqual(time.monotonic() - started, 0.19)
                self.assertEqual(len(peer.requests), 1)
                peer.script.clear()

    def test_forms_of_a_body(self):
        """Bodies by length, in chunks, and up to the connection's end; interim responses; one byte at a time."""
        body = cbor2.dumps({"tau": cbor2.CBORTag(86, struct.pack("<2d", 1.5, 2.5))})
        kind = b"Content-Type: application/cbor\r\n"
        chunked = (b"HTTP/1.1 200 OK\r\n" + kind + b"Transfer-Encoding: chunked\r\n\r\n5;a=b\r\n" + body[:5] + b"\r\n"
                   + f"{len(body) - 5:X}\r\n".encode() + body[5:] + b"\r\n0\r\nTrailer: 1\r\n\r\n")
        length = b"HTTP/1.1 200 OK\r\n" + kind + b"content-length: %d\r\n\r\n" % len(body) + body
        interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + length
        until_end = [b"HTTP/1.0 200 OK\r\n" + kind + b"\r\n" + body, END]
        closing = [length.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), END]
        for name, answer, connections in (
                ("chunked", chunked, 1), ("length", length, 1), ("interim", interim, 1), ("until the end", until_end, 2),
                ("closing", closing, 2), *((f"{name} by bytes", [bytes([b]) for b in answer], 1)
                                           for name, answer in (("chunked", chunked), ("length", length), ("interim", interim)))):
            async def work(client):
                return [await evaluate(client) for _ in range(2)]
            with self.subTest(form=name):
                for call, peer in self.both([answer, answer], work):
                    self.assertEqual(call(), [[1.5, 2.5]] * 2)
                    self.assertEqual(peer.connections, connections)

    def test_answers_that_are_none(self):
        for answer in (b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 2x0 OK\r\n\r\n",
                       b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                       b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 30 + b"\r\n\r\n",
                       b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70000,
                       b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", TAU + b"more", ok(b"{", "application/json"),
                       ok(b"<html>", "text/html"), ok(b"\xff", "application/cbor"), ok(b"\x01\x02", "application/cbor"), ok(b"hello", "text/plain"),
                       ok(b"[1]"), ok(b"")):
            for call, peer in self.both([answer], evaluate):
                with self.assertRaises(torqued.BadAnswer, msg=answer[:80]):
                    call()

    def test_a_problem_of_a_proxy(self):
        page = b"<html>bad gateway</html>"
        answer = b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page) + page
        for call, peer in self.both([answer], evaluate):
            with self.assertRaises(torqued.Problem) as caught:
                call()
            self.assertEqual((caught.exception.status, caught.exception.code, caught.exception.title), (403, "", "Forbidden"))
            self.assertIn("bad gateway", str(caught.exception))

    def test_token(self):
        for call, peer in self.both([TAU], evaluate, token="s3cret.token=="):
            call()
            line, fields, _ = peer.requests[0]
            self.assertEqual(fields["Authorization"], "Bearer s3cret.token==")
            self.assertNotIn("s3cret", line)
        for kind in (torqued.Client, torqued.AsyncClient):
            self.assertNotIn("s3cret", repr(kind(token="s3cret")) + str(vars(kind())))
            for token in ("", "two words", "line\r\nHost: x", "ü"):
                with self.assertRaises(ValueError):
                    kind(token=token)
            with self.assertWarnsRegex(UserWarning, "sent to robots.example without TLS"):
                kind("http://robots.example", token="s3cret")
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for url in ("https://robots.example", "http://localhost:8088", "http://[::1]:8088", "unix:/run/torqued"):
                    kind(url, token="s3cret")

    def test_addresses(self):
        for url in ("ftp://host", "http://", "http://user:word@host", "http://host?token=1", "http://host#x", "http://host:port",
                    "unix:", "http://host:99999"):
            with self.assertRaises(ValueError, msg=url):
                torqued.Client(url)
        with self.assertRaises(ValueError):
            torqued.Client("http://host", ssl_context=ssl.create_default_context())
        for url, host in (("host:1", "host:1"), ("http://host", "host"), ("https://host", "host"), ("https://[::1]:80/p/", "[::1]:80"),
                          ("unix:/run/x", "localhost"), ("unix:///run/x", "localhost")):
            self.assertEqual(torqued.Client(url)._common["Host"], host)
        for call, peer in self.both([TAU], evaluate):
            prefixed = peer.url + "/robots/"
            run(False, prefixed, evaluate)
            self.assertEqual(peer.requests[0][0], "POST /robots/v1/models/arm/inverse-dynamics HTTP/1.1")

    def test_tls(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl here")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                            "-keyout", "key", "-out", "cert", "-days", "2", "-subj", "/CN=x", "-addext",
                            "subjectAltName=IP:127.0.0.1"], cwd=folder, check=True, capture_output=True)
            served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            served.load_cert_chain(f"{folder}/cert", f"{folder}/key")
            trusted = ssl.create_default_context(cafile=f"{folder}/cert")
        large = np.arange(100000.0)

        async def work(client):
            await evaluate(client)
            return (await done(arm(client).inverse_dynamics(large))).tau.tolist()
        for asynchronous in (False, True):
            with self.subTest(asynchronous=asynchronous):
                body = cbor2.dumps({"tau": cbor2.CBORTag(86, large.tobytes())})
                with Scripted(TAU, ok(body, "application/cbor"), context=served) as peer:
                    self.assertEqual(run(asynchronous, peer.url, work, ssl_context=trusted, token="s"), large.tolist())
                    self.assertEqual(peer.connections, 1)
                    self.assertEqual(cbor2.loads(peer.requests[1][2])["q"].value, large.tobytes())
                with Scripted(TAU, context=served) as peer, self.assertRaisesRegex(torqued.ConnectionFailed, "certificate"):
                    run(asynchronous, peer.url, evaluate, retries=0)  # a certificate that no authority signed

    def test_a_request_that_is_refused_while_it_is_sent(self):
        """The client reads the answer although the server stops reading the request."""
        refusal = b'{"code":"body-too-large","status":413,"title":"x","detail":"y"}'
        answer = (b"HTTP/1.1 413 Content Too Large\r\nContent-Type: application/problem+json\r\nConnection: close\r\n"
                  b"Content-Length: %d\r\n\r\n" % len(refusal) + refusal)

        class Hasty(Scripted):
            def _answer(self, connection):
                connection.recv(1000)
                self.script.pop()
                connection.sendall(answer)
                connection.settimeout(5)
                with contextlib.suppress(OSError):
                    time.sleep(0.1)
                    while connection.recv(1 << 20):
                        pass

        async def work(client):
            return await done(arm(client).inverse_dynamics(np.zeros((500000, 1))))
        for asynchronous in (False, True):
            with self.subTest(asynchronous=asynchronous), Hasty(TAU) as peer, self.assertRaises(torqued.Problem) as caught:
                run(asynchronous, peer.url, work)
            self.assertEqual(caught.exception.code, "body-too-large")


class Cbor(unittest.TestCase):
    """Compares the client's CBOR codec with cbor2."""

    def value(self, draw, depth=0):
        kinds = [lambda: draw.choice([None, True, False]), lambda: draw.choice(["", "tau", "ä" * draw.randint(1, 300)]),
                 lambda: draw.choice([0, 23, 24, 255, 256, 65536, 2**32, 2**63, -1, -24, -25, -2**40]), lambda: draw.gauss(0, 1e3)]
        if depth < 4:
            kinds += [lambda: {f"k{i}": self.value(draw, depth + 1) for i in range(draw.choice([0, 1, 5, 30]))},
                      lambda: ["text", *(self.value(draw, depth + 1) for _ in range(draw.choice([0, 3, 25])))]]
        return draw.choice(kinds)()

    def test_plain_values(self):
        draw = random.Random(5)
        for _ in range(300):
            value = self.value(draw)
            data = b"".join(map(bytes, cbor.encode(value)))
            self.assertEqual(cbor2.loads(data), value)
            self.assertEqual(cbor.decode(cbor2.dumps(value)), value)

    def test_arrays(self):
        for shape in ((1,), (5,), (3, 4), (2, 3, 4), (0,), (700,), (300, 7), (0, 7)):
            for dtype, tag in (("<f8", 86), ("<f4", 85), (">f8", 86), ("i4", 86), ("f2", 86), ("u1", 86)):
                array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
                data = b"".join(map(bytes, cbor.encode({"a": array})))
                tagged = cbor2.loads(data)["a"]
                if len(shape) > 1:
                    self.assertEqual((tagged.tag, tagged.value[0]), (40, list(shape)))
                    tagged = tagged.value[1]
                self.assertEqual(tagged.tag, tag)
                back = cbor.decode(data)["a"]
                self.assertEqual((back.shape, back.tolist()), (shape, array.tolist()))
                self.assertTrue(back.flags.aligned)

    def test_large_arrays_are_not_copied(self):
        array = np.zeros((1000, 7))
        buffers = cbor.encode({"q": array, "qd": array[0]})
        self.assertEqual(sum(np.shares_memory(np.frombuffer(b, np.uint8), array) for b in buffers if len(b) > 1000), 1)

    def test_every_cut_and_every_flipped_byte(self):
        """A message that is cut off is refused; a message with a changed byte is refused or decodes to another value."""
        data = cbor2.dumps({"tau": cbor2.CBORTag(40, [[2, 3], cbor2.CBORTag(86, struct.pack("<6d", *range(6)))]),
                            "errors": [{"row": 3, "detail": "x"}], "kinetic": 1.5, "none": None})
        for end in range(len(data)):
            with self.assertRaises(torqued.BadAnswer):
                cbor.decode(data[:end])
        for at in range(len(data)):
            for flip in range(1, 256):
                changed = bytearray(data)
                changed[at] ^= flip
                with contextlib.suppress(torqued.BadAnswer):
                    cbor.decode(changed)
        for bomb in (b"\x81" * 5000, b"\xd8\x28" * 5000, b"\x9b" + b"\xff" * 8, b"\xbb" + b"\x7f" * 8, b"\x5b" + b"\x7f" * 8,
                     b"\x9f\xff", b"\xc0\x00", b"\xf8\x20", b"\xa1\x80\x01", b"\xd8\x56\x47" + b"x" * 7,
                     b"\xd8\x28\x82\x81\x20\xd8\x56\x40", b"\x1c"):
            with self.assertRaises(torqued.BadAnswer):
                cbor.decode(bomb)


if __name__ == "__main__":
    tap.main()
