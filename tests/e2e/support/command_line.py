"""Runs the command line for its tests, and provides a small server with scripted answers."""
import http.server
import os
import subprocess
import threading

from harness import BINARY


def torqued(*arguments, url=None, given=None, environment=None, folder=None):
    """Runs a sub-command with the caller's environment but without its TORQUED_* variables."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("TORQUED_")}
    if url:
        variables["TORQUED_URL"] = url
    return subprocess.run([BINARY, *arguments], input=given if isinstance(given, (bytes, type(None))) else given.encode(),
                          capture_output=True, timeout=120, env={**variables, **(environment or {})}, cwd=folder)


class Stub:
    """A server that passes (method, path, headers, body) of each request to a function, answers with the (status,
    headers, body) that it returns, and keeps the requests."""

    def __init__(self, answer, context=None):
        stub = self
        self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def reply(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                stub.requests.append((self.command, self.path, dict(self.headers), body))
                status, headers, content = answer(self.command, self.path, self.headers, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                try:
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:  # the client closed the connection before the answer
                    self.close_connection = True

            do_GET = do_PUT = do_POST = do_DELETE = reply

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.scheme = "https" if context else "http"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
