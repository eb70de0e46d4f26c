"""A minimal load balancer: each request, on a connection of its own, goes to the next server in turn."""
import itertools
import re
import socket
import threading


class Relay:
    def __init__(self, servers):
        self.servers, self.heads = servers, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._run, daemon=True).start()

    def close(self):
        self.listener.close()

    def _run(self):
        for number in itertools.count():
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, self.servers[number % len(self.servers)].socket().sock as server:
                self._pass(client, server)

    def _pass(self, client, server):
        """Receives one request from the client and forwards the server's answer."""
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(65536)
        fields, body = head.split(b"\r\n\r\n", 1)
        length = re.search(rb"content-length: *(\d+)", fields, re.I)
        while length and len(body) < int(length.group(1)):
            body += client.recv(65536)
        self.heads.append(fields.decode())
        fields = re.sub(rb"\r\n(connection|expect):[^\r]*", b"", fields, flags=re.I)
        server.sendall(fields + b"\r\nConnection: close\r\n\r\n" + body)
        while data := server.recv(65536):
            client.sendall(data)

    def check(self):
        """Checks that the first request has no header Model-Change, and that each later request has one."""
        assert "model-change" not in self.heads[0].lower(), self.heads[0]
        for head in self.heads[1:]:
            assert re.search(r"(?i)Model-Change: *[1-9]", head), head
