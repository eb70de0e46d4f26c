"""Replicas that receive requests and close the connection instead of answering, so that tests see which requests a
balancer repeats."""
import http.server
import socket
import socketserver
import ssl
import threading

from balancers import loopback


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        if self.server.context is None:
            return super().setup()
        if self.server.has_proxy_header:
            head = self.request.recv(16, socket.MSG_WAITALL)
            self.request.recv(int.from_bytes(head[14:16], "big"), socket.MSG_WAITALL)
        self.request = self.server.context.wrap_socket(self.request, server_side=True)
        return super().setup()

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def fail(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.received.append(self.command)
        self.close_connection = True

    do_POST = do_PUT = do_DELETE = fail

    def log_message(self, *_):
        pass


class Health(socketserver.ThreadingTCPServer):
    """Answers health checks like --health-listen: plain HTTP."""
    daemon_threads, allow_reuse_address, context = True, True, None

    def handle_error(self, *_):
        pass


class FailingReplica(socketserver.ThreadingTCPServer):
    daemon_threads, allow_reuse_address = True, True

    def __init__(self, certificates, received, has_proxy_header):
        self.address, self.received, self.has_proxy_header = loopback(), received, has_proxy_header
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificates.path("server.pem"), certificates.path("server.key"))
        super().__init__((self.address, 8443), Handler)
        self.health = Health((self.address, 8087), Handler)
        for server in (self, self.health):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # the balancer may have closed the connection

    def stop(self):
        for server in (self, self.health):
            server.shutdown()
            server.server_close()
