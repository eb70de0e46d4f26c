"""Sends raw bytes through sockets to a server with one model."""
from harness import ServerCase
from samples import slider

ASK = "/v1/models/slider/inverse-dynamics"
BODY = b'{"q":[0],"qdd":[2]}'


def post(body=BODY, *headers, path=ASK, length=None):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", *headers]
    if length is not False:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class WireCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.put("/v1/models/slider", slider())

    def setUp(self):
        self.raw = self.server.socket()
        self.addCleanup(self.raw.close)

    def tearDown(self):
        self.alive()

    def alive(self, sock=None):
        """Checks that the server answers, on the given connection or on a new one."""
        raw = sock or self.server.socket()
        raw.send(post())
        answer = raw.answer()
        self.assertEqual((answer.status, answer.json()), (200, {"tau": [2]}))
        if sock is None:
            raw.close()

    def refused_on_the_wire(self, request, status=400, code="bad-request"):
        """Checks that a request is refused with that status for its framing, and that the server reads no request from
        the bytes after it."""
        raw = self.server.socket()
        raw.send(request + post())
        answer = raw.answer()
        self.assertEqual(answer.status, status, request[:200])
        self.assertEqual(answer.headers.get_content_type(), "application/problem+json")
        self.assertEqual(answer.json()["code"], code, request[:200])
        self.assertEqual(raw.rest(), b"", request[:200])
        raw.close()

    def first_answer(self, request):
        """Returns the answer to a request that is too long to be read completely. Tries again, since sometimes the reset of the connection
        arrives before the answer is read."""
        for _ in range(20):
            raw = self.server.socket()
            try:
                raw.send(request)
                return raw.answer()
            except ConnectionError:
                continue
            finally:
                raw.close()
        self.fail("twenty times no answer")
