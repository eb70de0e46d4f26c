"""Tests the names in Host under which the server answers: the defence against DNS rebinding."""
import subprocess

import tap
from harness import BINARY, Server, ServerCase
from samples import slider

LITERALS = ("127.0.0.1", "127.0.0.1:80", "10.1.2.3:8088", "255.255.255.255", "[::1]", "[::1]:8088", "[2001:DB8::1]:1",
            "[::ffff:127.0.0.1]", "0.0.0.0:")
LOOPBACK = ("localhost", "localhost:8088", "LocalHost:1", "localhost.", "localhost.:80", "torqued.localhost:8088",
            "a.b.localhost.", "ip6-localhost", "ip6-loopback:80")
HOSTILE = ("evil.example", "evil.example:8088", "localhost.evil.example", "127.0.0.1.evil.example", "evillocalhost", "x",
           "evil.example.", "127.0.0.1.", "127.0.0.256", "127.0.0", "127.1", "0x7f.0.0.1", "2130706433", "127.0.0.1.5",
           "127.0.0." + "0" * 100 + "1")
# Values that are no authority by RFC 3986: the request is malformed.
IMPOSSIBLE = ("127.0.0.1:8088:80", "127.0.0.1:x", "127.0.0.1:-1", "localhost:80@evil.example", "localhost@evil.example", "[::1",
              "[::1]x", "[::1].evil.example", "[::1]evil.example:80", "[evil.example]", "[]", "[:]", "::1", ":8088", "",
              ".localhost", ".", "..", "localhost..", "localhost evil.example", "localhost,evil.example",
              "127.0.0.1/evil.example", "local host", "localhost\\", "evil.example#.localhost.", "\xe9vil", "lo\xffcalhost",
              "localhost:80,evil.example:80", "evil.example#.localhost", "evil.example\\.localhost", "e?.localhost:80",
              "/.localhost", "1" * 2000, "a." * 500 + "localhost.example", "%6cocalhost", "localhost%00")


def asks(server, host, target="/livez", method="GET"):
    """Returns the answer to a request with that Host; None sends an HTTP/1.0 request without Host."""
    raw = server.socket()
    head = f"{method} {target} HTTP/1.0" if host is None else f"{method} {target} HTTP/1.1\r\nHost: {host}"
    raw.send(head + "\r\nConnection: close\r\n\r\n")
    answer = raw.answer(head=method == "HEAD")
    raw.close()
    return answer


class HostCase(ServerCase):
    def check(self, hosts, status, **how):
        for host in hosts:
            with self.subTest(host=host):
                answer = asks(self.server, host, **how)
                if status != 200:
                    code = {400: "bad-request", 421: "misdirected-request"}[status]
                    self.assertEqual(self.assertProblem(answer, status)["code"], code)
                    self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])
                else:
                    self.assertEqual(answer.status, status)


class OnLoopback(HostCase):
    """By default, a server on 127.0.0.1 accepts the names of loopback addresses only."""

    def test_addresses_and_loopback_names(self):
        self.check((*LITERALS, *LOOPBACK, None), 200)

    def test_other_names(self):
        self.check(HOSTILE, 421)
        self.check(IMPOSSIBLE, 400)

    def test_before_anything_else(self):
        """A foreign host name is refused for every target and method, before anything is read or changed."""
        self.put_model("slider", slider())
        for method, target in (("GET", "/"), ("GET", "/v1/models"), ("GET", "/nowhere"), ("DELETE", "/v1/models/slider"),
                               ("PUT", "/v1/models/new"), ("POST", "/v1/models/slider/bias"), ("OPTIONS", "*"), ("BREW", "/v1"),
                               ("OPTIONS", "/v1"), ("GET", "/docs"), ("GET", "/v1/"), ("PATCH", "/v1")):
            self.check(["evil.example"], 421, method=method, target=target)
        head = asks(self.server, "evil.example", method="HEAD")
        self.assertEqual((head.status, head.body), (421, b""))
        self.assertEqual(self.client.get("/v1/models/slider").status, 200)
        self.assertEqual(self.client.get("/v1/models/new").status, 404)

    def test_a_page_is_not_sent(self):
        raw = self.server.socket()
        raw.send("GET / HTTP/1.1\r\nHost: evil.example\r\nAccept: text/html\r\n\r\n")
        self.assertProblem(raw.answer(), 421)
        raw.close()

    def test_absolute_targets(self):
        """The host of an absolute target is checked in place of the header (RFC 9112, section 3.2.2)."""
        for target, status in (("http://localhost/livez", 200), ("http://127.0.0.1:80/livez", 200), ("http://[::1]:80/livez", 200),
                               ("http://evil.example/livez", 421), ("https://evil.example", 421), ("http://evil.example?/", 421),
                               ("http://localhost@evil.example/livez", 400), ("http://evil.example:80/localhost", 421),
                               ("http:///livez", 400), ("HTTP://EVIL.example/livez", 421)):
            self.check(["localhost"], status, target=target)
            self.check(["evil.example"], status, target=target)

    def test_the_connection_goes_on(self):
        raw = self.server.socket()
        raw.send(b"GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual([raw.answer().status, raw.answer().status], [421, 200])
        raw.close()


class Elsewhere(HostCase):
    """On addresses other than loopback any name is accepted, since the server may be behind a proxy. This test uses a
    Unix socket."""
    arguments = ("--listen", "127.0.0.1:0,unix:socket")

    def ask(self, host, *arguments):
        return subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", self.server.folder + "/socket",
                               *arguments, f"http://{host}/livez"], capture_output=True, text=True).stdout

    def test_any_name(self):
        self.assertEqual(self.ask("robots.example"), "200")
        self.assertEqual(self.ask("localhost"), "200")


class WithNames(Elsewhere):
    """--host sets the names for every connection."""
    arguments = ("--listen", "127.0.0.1:0,unix:socket", "--host", "robots.example,Arm_2.local")

    def test_listed_names(self):
        self.check((*LITERALS, *LOOPBACK, None, "robots.example", "ROBOTS.example:8088", "robots.example.:80", "arm_2.LOCAL"), 200)
        self.check((*HOSTILE, "xrobots.example", "robots.example.evil", "robots.exampl", "arm_2", "a.robots.example"), 421)
        self.check(("robots.example,Arm_2.local", "robots.example..", ",", "robots.example@localhost"), 400)

    def test_any_name(self):
        self.assertEqual(self.ask("robots.example"), "200")
        self.assertEqual(self.ask("localhost"), "200")
        self.assertEqual(self.ask("evil.example"), "421")


class Setting(tap.unittest.TestCase):
    def test_lists_that_are_refused(self):
        for names in ("a,", ",a", "a,,b", "a:80", "http://a", "a b", "a, b", ".a", "a.", "*", "\xe9", "a/b", "x" * 254, ","):
            done = subprocess.run([BINARY, "--host", names], capture_output=True, text=True, timeout=20)
            self.assertEqual(done.returncode, 2, names)
            self.assertIn("--host is ", done.stderr)

    def test_the_variable(self):
        server = Server(environment={"TORQUED_HOST": "robots.example"})
        self.addCleanup(server.kill)
        self.assertEqual(asks(server, "robots.example").status, 200)
        self.assertEqual(asks(server, "evil.example").status, 421)


if __name__ == "__main__":
    tap.main()
