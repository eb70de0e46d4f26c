"""Tests the server's HTTP on the wire through raw sockets: framing, pipelining, malformed requests and broken
connections."""
import json
import time

import tap
from wire import ASK, BODY, WireCase, post


class Framing(WireCase):
    def test_keep_alive(self):
        for _ in range(50):
            self.alive(self.raw)

    def test_connection_close(self):
        self.raw.send(post(BODY, "Connection: close"))
        self.assertEqual(self.raw.answer().headers["Connection"].lower(), "close")
        self.assertTrue(self.raw.closed(5))

    def test_http_1_0_closes(self):
        self.raw.send(b"POST " + ASK.encode() + b" HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY)
        self.assertEqual(self.raw.answer().json(), {"tau": [2]})
        self.assertTrue(self.raw.closed(5))

    def test_pipelining(self):
        """Twenty requests in one write get twenty answers in order, errors among them."""
        for i in range(20):
            self.raw.send(post(b'{"q":[0],"qdd":[%d]}' % i if i % 5 else b'{"q":[0],"qdd":[}'))
        for i in range(20):
            answer = self.raw.answer()
            self.assertEqual(answer.status, 200 if i % 5 else 400)
            if i % 5:
                self.assertEqual(answer.json(), {"tau": [i]})

    def test_pipelined_heavy_and_light(self):
        heavy = json.dumps({"q": [[0]] * 20000, "qdd": [1]}).encode()
        for _ in range(3):
            self.raw.send(post(heavy) + post())
        for _ in range(3):
            self.assertEqual(len(self.raw.answer().json()["tau"]), 20000)
            self.assertEqual(self.raw.answer().json(), {"tau": [2]})

    def test_byte_by_byte(self):
        for byte in post():
            self.raw.send(bytes([byte]))
        self.assertEqual(self.raw.answer().json(), {"tau": [2]})

    def test_chunked_bodies_on_one_connection(self):
        """Chunk extensions and trailers of one body do not affect the next request: nine bodies with different chunks, sent on one connection,
        get the same answer."""
        head = post(b"", "Transfer-Encoding: chunked", length=False)
        for request in range(1, 10):
            parts = [BODY[i:i + request] for i in range(0, len(BODY), request)][:4]
            parts.append(BODY[len(b"".join(parts)):])
            extension = lambda i: b";" + bytes([97 + i]) * (170 + 5 * request)
            chunks = b"".join(b"%x%s\r\n%s\r\n" % (len(part), extension(i), part) for i, part in enumerate(parts) if part)
            self.raw.send(head + chunks + b"0\r\nX-Trailer: " + b"t" * 3000 + b"\r\n\r\n")
            answer = self.raw.answer()
            self.assertEqual((answer.status, answer.json()), (200, {"tau": [2]}), request)

    def test_chunked_body(self):
        self.raw.send(post(b"", "Transfer-Encoding: chunked", length=False))
        for part in (BODY[:1], BODY[1:7], BODY[7:]):
            self.raw.send(b"%x\r\n%s\r\n" % (len(part), part))
        self.raw.send(b"0\r\n\r\n")
        self.assertEqual(self.raw.answer().json(), {"tau": [2]})
        self.alive(self.raw)

    def test_expect_100_continue(self):
        big = BODY[:-1] + b" " * 1_500_000 + b"}"
        self.raw.send(post(b"", "Expect: 100-continue", length=len(big)))
        self.assertEqual(self.raw.answer().status, 100)
        self.raw.send(big)
        self.assertEqual(self.raw.answer().json(), {"tau": [2]})
        self.alive(self.raw)

    def test_expect_100_continue_refused_on_the_head(self):
        """A client that waits for `100 Continue` gets the final refusal instead, and never sends the body."""
        for request, status in ((post(b"", "Expect: 100-continue", path="/v1/models/none/bias", length=10), 404),
                                (post(b"", "Expect: 100-continue", "Content-Type: text/plain", length=10), 415)):
            raw = self.server.socket()
            raw.send(request)
            answer = raw.answer()
            self.assertEqual((answer.status, answer.headers["Connection"].lower()), (status, "close"))
            raw.close()

    def test_a_refused_request_s_body_is_no_request(self):
        """404, 405 and 415 are decided before the body arrives. A short body is read, and the connection continues."""
        body = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3
        for request, status in ((post(body, path="/v1/models/none/bias"), 404),
                                (post(body, "Content-Type: text/plain"), 415),
                                (post(body, path="/v1/models"), 405)):
            raw = self.server.socket()
            raw.send(request + post())
            self.assertEqual(raw.answer().status, status)
            self.assertEqual(raw.answer().json(), {"tau": [2]})
            raw.close()

    def test_head_sends_no_body(self):
        self.raw.send(b"HEAD /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n" + post())
        answer = self.raw.answer(head=True)
        self.assertEqual(answer.status, 200)
        self.assertGreater(int(answer.headers["Content-Length"]), 10)
        self.assertEqual(self.raw.answer().json(), {"tau": [2]})


class Headers(WireCase):
    def test_repeated_headers_are_one_list(self):
        revision = self.client.get("/v1/models/slider").headers["ETag"]
        for headers, status in ((["Accept: text/html", "Accept: application/json"], 200),
                                (['If-Match: "stale"', f"If-Match: {revision}"], 200),
                                (["Accept: text/html", "Accept: text/plain", "Accept: application/json"], 200),
                                (["Accept: text/html", "Accept: text/plain", "Accept: text/css"], 406),
                                (['If-Match: "stale"', 'If-Match: "older"', f"If-Match: {revision}"], 200),
                                ([f"If-Match: {revision}", 'If-Match: "stale"', 'If-Match: "older"'], 200),
                                (['If-Match: "stale"', f"If-Match: {revision} ", 'If-Match: "older"'], 200),
                                (['If-Match: "stale"', 'If-Match: "older"'], 412),
                                (['If-Match: "stale"', 'If-Match: "older" ', 'If-Match: "oldest"'], 412)):
            self.raw.send(post(BODY, *headers))
            self.assertEqual(self.raw.answer().status, status, headers)
        self.raw.send(f'GET /v1/models/slider HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: "x"\r\nIf-None-Match: {revision}'
                      "\r\n\r\n")
        self.assertEqual(self.raw.answer().status, 304)

    def test_blanks_behind_a_value_are_none_of_it(self):
        revision = self.client.get("/v1/models/slider").headers["ETag"]
        for blanks in (" ", "\t", "  \t "):
            for header in ("Request-Timeout: 5", "Accept: application/json", "Content-Type: application/json",
                           f"If-Match: {revision}", "Content-Encoding: "):
                self.raw.send(post(BODY, header + blanks, "Request-Id: mine" + blanks))
                answer = self.raw.answer()
                self.assertEqual((answer.status, answer.headers["Request-Id"]), (200, "mine"), header)

    def test_what_may_stand_once_is_refused_twice(self):
        for headers, status in ((["Content-Type: application/json", "Content-Type: text/plain"], 415),
                                (["Content-Type: application/json"] * 3, 415),
                                (["Request-Timeout: 1", "Request-Timeout: 2"], 400),
                                (["Request-Timeout: 1"] * 3, 400)):
            self.raw.send(post(BODY, *headers))
            self.assertEqual(self.raw.answer().status, status, headers)

    def test_bodies_where_none_is_expected(self):
        for method, path, status in (("GET", "/v1/models", 200), ("HEAD", "/livez", 200),
                                     ("DELETE", "/v1/models/no", 404), ("OPTIONS", "/v1", 204)):
            for size in (5, 100_000):
                raw = self.server.socket()
                raw.send(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n" + "x" * size)
                self.assertEqual(raw.answer(head=method == "HEAD").status, status)
                self.alive(raw)
                raw.close()

    def test_strange_bytes_do_not_spoil_the_log(self):
        for target, code in ((b"/v1/%e9%ff", "no-such-path"), (b'/v1/models/"x\\"', "no-such-model"),
                             (b"/v1/models/%01%7f", "no-such-model"), (b"/%22%0a%00", "no-such-path")):
            raw = self.server.socket()
            raw.send(b"GET " + target + b' HTTP/1.1\r\nHost: localhost\r\nRequest-Id: \xe9"\\\r\nUser-Agent: \xff\r\n\r\n')
            self.assertEqual(self.assertProblem(raw.answer(), 404)["code"], code)
            raw.close()
        self.client.get("/v1", Request_Id="after-the-strange-bytes")
        self.server.await_log("after-the-strange-bytes")
        for event in self.server.events():
            self.assertIsInstance(event, dict)


class Malformed(WireCase):
    def test_conflicting_lengths(self):
        """Conflicting lengths, the means of request smuggling, are refused."""
        for header in ("Content-Length: 5", "Content-Length: 19", "Transfer-Encoding: chunked"):
            self.refused_on_the_wire(post(BODY, header))
        self.refused_on_the_wire(post(BODY, "Content-Length: 19, 19"))
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        self.refused_on_the_wire(post(chunks, "Transfer-Encoding: chunked"))
        self.refused_on_the_wire(post(chunks, "Transfer-Encoding: chunked", length=len(BODY)))

    def test_two_hosts(self):
        self.refused_on_the_wire(post(BODY, "Host: y"))
        self.refused_on_the_wire(post(BODY, "Host: localhost"))

    def test_transfer_coding_in_http_1_0(self):
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        request = post(chunks, "Transfer-Encoding: chunked", length=False)
        self.refused_on_the_wire(request.replace(b"HTTP/1.1", b"HTTP/1.0", 1))

    def test_bad_lengths(self):
        for length in ("-1", "+19", "19a", "0x13", "1e1", ""):
            self.refused_on_the_wire(post(BODY, length=length))
        self.refused_on_the_wire(post(BODY, length="99999999999999999999999999"), 413, "body-too-large")

    def test_bad_transfer_codings(self):
        for coding in ("gzip", "chunked, chunked", "gzip, chunked", "identity", "xchunked", "chunked;q=1",
                       "chunked, gzip"):
            self.refused_on_the_wire(post(b"0\r\n\r\n", f"Transfer-Encoding: {coding}", length=False))
        self.refused_on_the_wire(post(b"0\r\n\r\n", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked",
                                      length=False))

    def test_bad_chunks(self):
        for chunks, status in ((b"zz\r\n", 400), (b"-1\r\nx\r\n", 400), (b"5\r\nabc\r\n0\r\n\r\n", 400),
                               (b"ffffffffffffffffff\r\nx", 413), (b"3 \x00\r\nabc\r\n0\r\n\r\n", 400)):
            raw = self.server.socket()
            raw.send(post(b"", "Transfer-Encoding: chunked", length=False) + chunks)
            raw.half_close()
            self.assertEqual(raw.answer().status, status, chunks)
            self.assertEqual(raw.rest(), b"")
            raw.close()

    def test_header_names_with_spaces(self):
        for header in ("Content-Length : 19", " Content-Length: 19", "X Y: z", "Transfer-Encoding : chunked"):
            self.refused_on_the_wire(post(BODY, header, length=False if "ength" in header else None))

    def test_folded_headers(self):
        """Folded header lines are refused, since proxies interpret them differently."""
        for header in ("X-A: a\r\n b", "Content-Type: application/json;\r\n charset=utf-8", "Accept:\r\n text/html"):
            self.refused_on_the_wire(post(BODY, header))
        for header in ("Content-Length: 1\r\n 9", "Content-Length:\r\n 19", "Content-Length: \r\n\t19",
                       "Transfer-Encoding:\r\n chunked"):
            self.refused_on_the_wire(post(BODY, header, length=False))

    def test_no_host(self):
        """A request without Host is refused, except in HTTP/1.0."""
        self.raw.send(b"GET /livez HTTP/1.1\r\nRequest-Id: lost\r\n\r\n")
        answer = self.raw.answer()
        self.assertProblem(answer, 400)
        self.assertEqual((answer.json()["code"], answer.headers["Request-Id"]), ("bad-request", "lost"))
        self.assertIn("Host", answer.json()["detail"])
        self.assertEqual(self.raw.rest(), b"")
        old = self.server.socket()
        old.send(b"GET /livez HTTP/1.0\r\n\r\n")
        self.assertEqual(old.answer().status, 200)
        old.close()

    def test_blanks_in_the_target(self):
        for target in ("/v1/models/a b", "/livez /livez", "/livez\t"):
            self.refused_on_the_wire(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    def test_request_lines(self):
        for line, status in ((b"GARBAGE", 400), (b"GET", 400), (b"GET /livez", 400), (b"GET /livez HTTP/9.9", 505),
                             (b"\x00\x01\x02", 400), (b"GET  /livez  HTTP/1.1 x", 400),
                             (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400)):
            raw = self.server.socket()
            raw.send(line + b"\r\nHost: localhost\r\n\r\n")
            raw.half_close()
            self.assertEqual(raw.answer().status, status, line)
            self.assertEqual(raw.rest(), b"", line)
            raw.close()

    def test_long_uri(self):
        request = b"GET /v1/" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.assertEqual(self.first_answer(request).status, 414)

    def test_big_and_many_headers(self):
        for headers in (["X-Big: " + "a" * 200_000], [f"X-{i}: {'b' * 50}" for i in range(5000)]):
            self.assertEqual(self.first_answer(post(BODY, *headers)).status, 431)

    def test_ordinary_headers_are_fine(self):
        for empty in ("X-Empty:", "X-Empty: ", "X-Empty:\t", "User-Agent:"):
            self.raw.send(post(BODY, empty, "X-Last: y"))
            self.assertEqual(self.raw.answer().status, 200)
        self.raw.send(post(BODY, "User-Agent: " + "a" * 1000, "Cookie: " + "b" * 3000,
                           *[f"X-Forwarded-{i}: 10.0.0.1" for i in range(20)]))
        self.assertEqual(self.raw.answer().status, 200)

    def test_paths_are_split_before_they_are_decoded(self):
        for path, status in (("/v1/models/slider%2finverse-dynamics", 404), ("/v1/models%2fslider", 404),
                             ("/v1/models/slider%00", 404), ("/v1/models/%73lider", 200), ("/v1/models/slider%", 404),
                             ("/v1/models/%GG", 404), ("/%76%31/models", 200), ("/v1/models/sl%2fider", 404)):
            self.raw.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(self.raw.answer().status, status, path)

    def test_absolute_target(self):
        for path, status in (("/livez", 200), ("/nowhere", 404)):
            self.raw.send(f"GET http://localhost{path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(self.raw.answer().status, status, path)

    def test_cut_at_every_byte(self):
        request = post()
        for length in range(len(request)):
            raw = self.server.socket()
            raw.send(request[:length])
            raw.close()

    def test_an_end_before_the_request_s_end_abandons_it(self):
        """A client that closes its side before the end of its request gets no answer, whether the close arrives with the last bytes or later.
        The server closes the connection at once, before the read deadline."""
        request = post()
        for cut in (1, len(BODY) - 1, len(BODY), len(BODY) + 2, len(request) - 10):
            for pause in (0, 0.02):
                raws = [self.server.socket() for _ in range(10)]
                for raw in raws:
                    raw.send(request[:-cut])
                    time.sleep(pause)
                    raw.half_close()
                for raw in raws:
                    self.assertTrue(raw.closed(10), f"still open {cut} bytes before the end, pause {pause}")
                    raw.close()


class LargeBodies(WireCase):
    """A body beyond the limit is refused as soon as its length is known; bodies within the limit are accepted."""
    arguments = ("--max-body", "2000")

    def padded(self, length):
        return BODY + b" " * (length - len(BODY))

    def test_announced(self):
        """An announced length is refused after the head, before any byte of the body."""
        for headers in ([], ["Expect: 100-continue"]):
            raw = self.server.socket()
            raw.send(post(b"", *headers, length=2001))
            answer = raw.answer()
            self.assertEqual(self.assertProblem(answer, 413)["code"], "body-too-large")
            self.assertEqual(answer.headers["Connection"].lower(), "close")
            raw.send(self.padded(2001))  # after the refusal the server goes on reading the body, so that no reset destroys the answer
            self.assertEqual(raw.rest(), b"")
            raw.close()

    def test_the_largest(self):
        self.raw.send(post(self.padded(2000)))
        self.assertEqual(self.raw.answer().json(), {"tau": [2]})
        self.raw.send(post(b"", "Expect: 100-continue", length=2000))
        self.assertEqual(self.raw.answer().status, 100)
        self.raw.send(self.padded(2000))
        self.assertEqual(self.raw.answer().json(), {"tau": [2]})

    def test_in_chunks(self):
        """The length of a chunked body is unknown until the limit is exceeded; the server then refuses without waiting
        for the rest."""
        for length, status in ((2000, 200), (2001, 413)):
            raw = self.server.socket()
            body = self.padded(length)
            raw.send(post(b"", "Transfer-Encoding: chunked", length=False))
            for part in (body[:1000], body[1000:]):
                raw.send(b"%x\r\n%s\r\n" % (len(part), part))
            if status == 200:
                raw.send(b"0\r\n\r\n")
            answer = raw.answer()
            self.assertEqual(answer.status, status)
            if status == 413:
                self.assertEqual(self.assertProblem(answer, 413)["code"], "body-too-large")
                self.assertEqual(raw.rest(), b"")
            raw.close()

    def test_what_nobody_wants_is_not_too_large(self):
        """The body of a GET is read and ignored, up to one megabyte."""
        self.raw.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000 + post())
        self.assertEqual(self.raw.answer().status, 200)
        self.assertEqual(self.raw.answer().json(), {"tau": [2]})
        raw = self.server.socket()
        raw.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n")
        answer = raw.answer()
        self.assertEqual((answer.status, answer.headers["Connection"].lower()), (200, "close"))
        raw.close()
        for size, closes in ((1 << 20, False), ((1 << 20) + 1, True)):
            raw = self.server.socket()
            raw.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            for part in (size - 1000, 1000):
                raw.send(b"%x\r\n%s\r\n" % (part, b"x" * part))
            if not closes:
                raw.send(b"0\r\n\r\n")
            answer = raw.answer()
            self.assertEqual((answer.status, answer.headers.get("Connection", "").lower()), (200, "close" if closes else ""))
            raw.close()


if __name__ == "__main__":
    tap.main()
