"""Clients of a server: one that keeps its connection, and one that sends and receives raw bytes."""
import http.client
import json
import socket


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode("utf-8")

    def json(self):
        return json.loads(self.body)

    def texts(self):
        """Returns the decoded JSON answer with every number as the text that was sent."""
        return json.loads(self.body, parse_float=str, parse_int=str)

    def __repr__(self):
        return f"{self.status} {self.body[:600]!r}"


class Client:
    """A client that keeps its connection open between requests, and opens a new one when the server has closed it."""

    def __init__(self, port, timeout, context=None, source=None):
        """`context` is an SSLContext, for TLS; `source` is the local address of the connection, such as 127.0.0.2."""
        own = (source, 0) if source else None
        self.connection = (
            http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, source_address=own, context=context) if context
            else http.client.HTTPConnection("127.0.0.1", port, timeout=timeout, source_address=own))

    def request(self, method, path, body=None, headers=None):
        """Sends `body`: bytes or text unchanged, other values as JSON. Sends Content-Type only for JSON or if `headers`
        name it."""
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode("utf-8")
        for attempt in (0, 1):
            fresh = self.connection.sock is None
            try:
                self.connection.request(method, path, body, headers)
                response = self.connection.getresponse()
                return Answer(response.status, response.headers, response.read())
            except (ConnectionError, http.client.BadStatusLine):
                self.connection.close()
                if fresh or attempt:
                    raise

    def get(self, path, **headers):
        return self.request("GET", path, headers=_header_names(headers))

    def put(self, path, body, **headers):
        return self.request("PUT", path, body, _header_names(headers))

    def post(self, path, body, **headers):
        return self.request("POST", path, body, _header_names(headers))

    def delete(self, path, **headers):
        return self.request("DELETE", path, headers=_header_names(headers))

    def close(self):
        self.connection.close()


def _header_names(keywords):
    return {name.replace("_", "-"): value for name, value in keywords.items()}


class RawSocket:
    """Sends raw bytes and parses HTTP answers: for requests that a correct client library would not send."""

    def __init__(self, port, timeout, context=None, source=None):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout, (source, 0) if source else None)
        if context:
            self.sock = context.wrap_socket(self.sock, server_hostname="127.0.0.1")
        self.buffer = b""

    def send(self, data):
        self.sock.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def close(self):
        self.sock.close()

    def _more(self):
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionError("closed by the server")
        self.buffer += data

    def answer(self, head=False):
        """Returns the next answer on the connection; raises ConnectionError when the server closes first."""
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        top, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        line, *fields = top.decode("latin-1").split("\r\n")
        headers = http.client.HTTPMessage()
        for field in fields:
            name, value = field.split(":", 1)
            headers[name] = value.strip()
        status = int(line.split()[1])
        if head or status < 200 or status in (204, 304):
            return Answer(status, headers, b"")
        return Answer(status, headers, self._body(headers))

    def _body(self, headers):
        if "Content-Length" not in headers:
            return self.rest()
        length = int(headers["Content-Length"])
        while len(self.buffer) < length:
            self._more()
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return body

    def rest(self):
        """Returns all bytes until the server closes."""
        try:
            while True:
                self._more()
        except ConnectionError:
            body, self.buffer = self.buffer, b""
            return body

    def closed(self, seconds):
        """True if the server closes within that time; all bytes before that are dropped."""
        self.sock.settimeout(seconds)
        try:
            self.rest()
            return True
        except TimeoutError:
            return False
