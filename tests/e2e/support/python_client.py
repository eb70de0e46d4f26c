"""The Python client of this tree, and a server with scripted answers, for tests of the client."""
import contextlib
import os
import socket
import sys
import threading

from harness import MODELS, ROOT

SOURCE = os.path.join(ROOT, "api", "clients", "python", "src")
sys.path.insert(0, SOURCE)
sys.dont_write_bytecode = True
if MODELS:  # a binary outside build/ does not find the bundled models
    os.environ["TORQUED_MODELS"] = MODELS[1]

import torqued  # noqa: E402, F401  (the path is set first)


def ok(body=b"{}", media_type="application/json", fields=""):
    return (f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n{fields}\r\n").encode() + body


def busy(fields="", status="503 Service Unavailable"):
    body = b'{"code":"queue-full","status":503,"title":"Busy","detail":"no place in the queue"}'
    return (f"HTTP/1.1 {status}\r\nContent-Type: application/problem+json\r\nContent-Length: {len(body)}\r\n"
            f"{fields}\r\n").encode() + body


class Scripted:
    """A server that answers each request with the next of the given byte strings. A list of bytes is sent piece by
    piece; END closes the connection instead of an answer, or after it. `requests` keeps the received requests."""

    END = object()

    def __init__(self, *script, context=None):
        self.script, self.requests, self.connections = list(script), [], 0
        self.context = context
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # makes accept() return
        self.listener.close()
        self.thread.join(5)

    def _serve(self):
        while self.script:
            try:
                connection, _ = self.listener.accept()
                self.connections += 1
                if self.context:
                    connection = self.context.wrap_socket(connection, server_side=True)
            except OSError:
                return
            with connection:
                self._answer(connection)

    def _answer(self, connection):
        while self.script:
            try:
                request = self._request(connection)
            except OSError:
                return
            if request is None:
                return
            self.requests.append(request)
            answer = self.script.pop(0)
            if answer is self.END:
                return
            for piece in answer if isinstance(answer, list) else [answer]:
                if piece is self.END:
                    return
                connection.sendall(piece)

    @staticmethod
    def _request(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return None
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        while len(body) < int(fields.get("Content-Length", 0)):
            body += connection.recv(65536)
        return head.decode().split("\r\n")[0], fields, body
